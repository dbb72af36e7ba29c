#pragma once
/// Checks of our own invariants. A failure is a bug of the compiler, never of the user's program.

#include <stdexcept>
#include <string>

#include "drawloom/support/text.h"

namespace drawloom {

/// Thrown by DRAWLOOM_CHECK; caught only at the C and Python borders and by test runners.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* condition, const char* file, int line, const std::string& what);

}  // namespace drawloom

/// DRAWLOOM_CHECK(condition, "pattern {}", args...)
#define DRAWLOOM_CHECK(condition, ...) \
  ((condition) ? (void)0 : ::drawloom::fail_check(#condition, __FILE__, __LINE__, ::drawloom::str(__VA_ARGS__)))
