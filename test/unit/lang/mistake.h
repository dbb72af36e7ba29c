#pragma once
/// Catches what a line of user code throws.

#include <catch2/catch.hpp>

#include "drawloom/drawloom.h"

using namespace drawloom;

template <typename F>
auto caught(F&& program) -> Diag {
  try {
    program();
  } catch (const Error& e) {
    return e.diag();
  }
  FAIL("no error");
  __builtin_unreachable();
}

/// The Diag of a mistake that is made on `line` of the calling file.
template <typename F>
auto mistake(F&& program, int line, std::string_view file = __builtin_FILE()) -> Diag {
  const Diag d = caught(program);
  INFO(d.text());
  CHECK(d.loc().line() == static_cast<uint32_t>(line));
  CHECK(d.loc().file() == file);
  return d;
}

/// Kind and message.
inline auto words(const Diag& d) -> std::string { return str("{}: {}", d.name(), d.message()); }
