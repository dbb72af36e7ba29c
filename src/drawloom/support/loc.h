#pragma once
/// Where something was written: a C++ source line, or a line of a text file that we parsed.

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

#include "drawloom/support/ref.h"

namespace drawloom {

/// Owns the name of a parsed file for as long as a location needs it.
struct FileName : RefCounted {
  explicit FileName(std::string t) : text(std::move(t)) {}
  std::string text;
};

/// A line and column, both from 1; line 0 means unknown. Cheap to copy.
class Loc {
 public:
  Loc() = default;
  Loc(const std::source_location& s) : file_(s.file_name()), line_(s.line()), column_(s.column()) {}
  Loc(Ref<FileName> file, uint32_t line, uint32_t column)
      : file_(file->text.c_str()), owner_(std::move(file)), line_(line), column_(column) {}

  auto known() const -> bool { return line_ != 0; }
  auto file() const -> std::string_view { return file_; }
  auto line() const -> uint32_t { return line_; }
  auto column() const -> uint32_t { return column_; }
  /// The place `columns` further on the same line.
  auto shifted(size_t columns) const -> Loc {
    Loc out = *this;
    if (known()) out.column_ += static_cast<uint32_t>(columns);
    return out;
  }
  /// `file:line:column`, or `<unknown>`.
  auto text() const -> std::string;

 private:
  const char* file_ = "";
  Ref<FileName> owner_;
  uint32_t line_ = 0, column_ = 0;
};

}  // namespace drawloom
