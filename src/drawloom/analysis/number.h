#pragma once
/// The operations that region code needs of its numbers, for each number type. A result is absent when it does not exist (overflow of int64).

#include "drawloom/analysis/form.h"

namespace drawloom {

template <typename N>
struct Number;

template <>
struct Number<Form> {
  using Result = std::optional<Form>;
  static auto add(const Form& a, const Form& b) -> Result { return a + b; }
  static auto multiply(const Form& a, const Form& b) -> Result { return a * b; }
  static auto divide(const Form& a, const Form& b) -> Result { return floor_div(a, b); }
  static auto min(const Form& a, const Form& b) -> Result { return drawloom::min(a, b); }
  static auto max(const Form& a, const Form& b) -> Result { return drawloom::max(a, b); }
  static auto constant(int64_t v) -> Form { return Form(v); }
  /// Value of a form, or of a choice, at `fixed`.
  template <typename Fixed>
  static auto value(const Form& f, const Fixed& fixed) -> Result {
    return substitute(f, [&fixed](const SymbolRef& s) { return std::optional<Form>(fixed(s)); });
  }
  template <typename Fixed>
  static auto pick(const Cond& c, const Form& yes, const Form& no, const Fixed& fixed) -> Result {
    const Cond here = substitute(c, [&fixed](const SymbolRef& s) { return std::optional<Form>(fixed(s)); });
    return choose(here, yes, no);
  }
};

template <>
struct Number<int64_t> {
  using Result = std::optional<int64_t>;
  static auto add(int64_t a, int64_t b) -> Result {
    int64_t out = 0;
    return __builtin_add_overflow(a, b, &out) ? Result() : Result(out);
  }
  static auto multiply(int64_t a, int64_t b) -> Result {
    int64_t out = 0;
    return __builtin_mul_overflow(a, b, &out) ? Result() : Result(out);
  }
  static auto divide(int64_t a, int64_t b) -> Result { return b <= 0 ? 0 : a / b - (a % b < 0 ? 1 : 0); }
  static auto min(int64_t a, int64_t b) -> Result { return a < b ? a : b; }
  static auto max(int64_t a, int64_t b) -> Result { return a > b ? a : b; }
  static auto constant(int64_t v) -> int64_t { return v; }
  template <typename Fixed>
  static auto value(const Form& f, const Fixed& fixed) -> Result {
    return evaluate(f, [&fixed](const SymbolRef& s) { return std::optional<int64_t>(fixed(s)); });
  }
  template <typename Fixed>
  static auto pick(const Cond& c, int64_t yes, int64_t no, const Fixed& fixed) -> Result {
    const auto here = evaluate(c, [&fixed](const SymbolRef& s) { return std::optional<int64_t>(fixed(s)); });
    if (!here) return yes == no ? Result(yes) : Result();
    return *here ? yes : no;
  }
};

}  // namespace drawloom
