#pragma once
/// Diagnostics: registered kinds, a location, arguments, notes and help. Kinds and their words live in `diags.def`.

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "drawloom/support/loc.h"
#include "drawloom/support/ref.h"
#include "drawloom/support/text.h"

namespace drawloom {

enum class DiagKind : uint16_t {
#define DIAG(name, severity, words) name,
#include "drawloom/support/diags.def"
#undef DIAG
};

/// error: the user's program is wrong. refused: a schedule step does not apply; the nest is unchanged.
/// target_limit: a back end cannot fit what was scheduled (registers, shared bytes).
enum class Severity : uint8_t { error, refused, target_limit, warning };

auto diag_name(DiagKind kind) -> std::string_view;
auto diag_severity(DiagKind kind) -> Severity;
/// All kinds in the order of diags.def.
auto all_diag_kinds() -> std::vector<DiagKind>;

/// One message. An immutable value; `with_note` and `with_help` return extended copies.
class Diag {
 public:
  template <typename... Args>
  Diag(DiagKind kind, Loc loc, const Args&... args)
      : Diag(kind, std::move(loc), std::vector<std::string>{to_text(args)...}) {}
  Diag(DiagKind kind, Loc loc, std::vector<std::string> args);

  auto with_note(Loc loc, std::string words) const -> Diag;
  auto with_help(std::string words) const -> Diag;

  auto kind() const -> DiagKind;
  auto name() const -> std::string_view { return diag_name(kind()); }
  auto severity() const -> Severity { return diag_severity(kind()); }
  auto loc() const -> const Loc&;
  auto args() const -> const std::vector<std::string>&;
  auto help() const -> const std::string&;
  /// The sentence alone: words of the kind with the arguments in place.
  auto message() const -> std::string;
  /// `file:line:col: error: message [kind]`, notes and help on lines of their own.
  auto text() const -> std::string;

 private:
  struct Body;
  explicit Diag(Ref<const Body> body);
  friend void drop_node(const Body* body);
  Ref<const Body> body_;

 public:
  Diag(const Diag&);
  Diag(Diag&&) noexcept;
  auto operator=(Diag) noexcept -> Diag&;
  ~Diag();
};

/// The exception of the fluent C++ and Python doors. Holds the Diag; what() is its text.
class Error : public std::exception {
 public:
  explicit Error(Diag diag) : diag_(std::move(diag)), text_(diag_.text()) {}
  auto diag() const -> const Diag& { return diag_; }
  auto what() const noexcept -> const char* override { return text_.c_str(); }

 private:
  Diag diag_;
  std::string text_;
};

}  // namespace drawloom
