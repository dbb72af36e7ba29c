#pragma once
/// What operators, calls and definitions take: anything that stands for an expression, with the line it was written on.

#include <concepts>
#include <source_location>

#include "drawloom/ir/node.h"

namespace drawloom {

/// Var, RVar, Param, a call of a Func, ... : a class of the front end that stands for an expression.
template <typename T>
concept StandsForExpr = requires(const T& t, const Loc& loc) {
  { t.to_expr(loc) } -> std::same_as<Expr>;
};

/// Made implicitly, never by hand: `x + 1` calls operator+(Arg, Arg), and the conversions note the line of the `+`. A C++
/// number is a literal: it takes the type of what it meets.
class Arg {
 public:
  /// No argument: ends the list of a call.
  Arg() = default;
  Arg(const Expr& e, const std::source_location& at = std::source_location::current()) : expr_(e), loc_(at) {}
  template <StandsForExpr T>
  Arg(const T& value, const std::source_location& at = std::source_location::current())
      : expr_(value.to_expr(at)), loc_(at) {}
  template <std::integral T>
  Arg(T value, const std::source_location& at = std::source_location::current())
      : expr_(literal(value, at)), loc_(at) {}
  Arg(float value, const std::source_location& at = std::source_location::current());
  Arg(double value, const std::source_location& at = std::source_location::current());

  auto expr() const -> const Expr& { return expr_; }
  auto loc() const -> const Loc& { return loc_; }
  auto given() const -> bool { return loc_.known(); }

 private:
  template <std::integral T>
  static auto literal(T value, const std::source_location& at) -> Expr {
    return integer(static_cast<int64_t>(value), static_cast<int>(sizeof(T)), T(-1) < T(0), __is_same(T, bool), at);
  }
  static auto integer(int64_t value, int bytes, bool is_signed, bool is_bool, const std::source_location& at) -> Expr;

  Expr expr_;
  Loc loc_;
};

/// The expression of a comparison or a logical operator. It has no conversion to bool: `if (x == y)` does not compile, and
/// neither does a search for an Expr by `==`, which would build an expression.
class Condition {
 public:
  explicit Condition(Expr e) : expr_(std::move(e)) {}
  operator Expr() const { return expr_; }
  auto to_expr(const Loc&) const -> Expr { return expr_; }

 private:
  Expr expr_;
};

}  // namespace drawloom
