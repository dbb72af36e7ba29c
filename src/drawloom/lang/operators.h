#pragma once
/// Operators and functions on expressions. Types follow design section 3: docs/language.md has the table.
///
/// Errors of all of them: expr_undefined, type_clash, type_unsupported, literal_range, thrown as Error with the line of
/// the operator.

#include "drawloom/ir/nodes.h"
#include "drawloom/lang/arg.h"
#include "drawloom/lang/types.h"

namespace drawloom {

auto operator+(Arg a, Arg b) -> Expr;
auto operator-(Arg a, Arg b) -> Expr;
auto operator*(Arg a, Arg b) -> Expr;
/// Rounds so that the remainder is never negative; x / 0 is 0 for integers.
auto operator/(Arg a, Arg b) -> Expr;
/// Never negative for integers, x % 0 is 0; x - y * floor(x / y) for floats.
auto operator%(Arg a, Arg b) -> Expr;
auto operator&(Arg a, Arg b) -> Expr;
auto operator|(Arg a, Arg b) -> Expr;
auto operator^(Arg a, Arg b) -> Expr;
/// The result has the type of `a`. A negative amount shifts the other way; one beyond the width gives 0 (sign fill for a
/// signed right shift).
auto operator<<(Arg a, Arg b) -> Expr;
auto operator>>(Arg a, Arg b) -> Expr;
auto operator-(Arg a) -> Expr;
auto operator~(Arg a) -> Expr;

auto operator+=(Expr& a, Arg b) -> Expr&;
auto operator-=(Expr& a, Arg b) -> Expr&;
auto operator*=(Expr& a, Arg b) -> Expr&;
auto operator/=(Expr& a, Arg b) -> Expr&;

auto operator==(Arg a, Arg b) -> Condition;
auto operator!=(Arg a, Arg b) -> Condition;
auto operator<(Arg a, Arg b) -> Condition;
auto operator<=(Arg a, Arg b) -> Condition;
auto operator>(Arg a, Arg b) -> Condition;
auto operator>=(Arg a, Arg b) -> Condition;
auto operator&&(Arg a, Arg b) -> Condition;
auto operator||(Arg a, Arg b) -> Condition;
auto operator!(Arg a) -> Condition;
// Exact matches, lest the handle's own identity `==` or its explicit conversion to bool win.
auto combined(BinaryOp op, const Expr& a, const Expr& b) -> Condition;
auto combined(BinaryOp op, const Expr& a, bool b) -> Condition;
auto combined(BinaryOp op, bool a, const Expr& b) -> Condition;
auto negated(const Expr& a) -> Condition;
template <std::same_as<Expr> A, std::same_as<Expr> B>
auto operator==(const A& a, const B& b) -> Condition {
  return combined(BinaryOp::EQ, a, b);
}
template <std::same_as<Expr> A, std::same_as<Expr> B>
auto operator!=(const A& a, const B& b) -> Condition {
  return combined(BinaryOp::NE, a, b);
}
template <typename A, typename B>
concept ExprAndBool = (std::same_as<A, Expr> && (std::same_as<B, Expr> || std::same_as<B, bool>)) ||
                      (std::same_as<A, bool> && std::same_as<B, Expr>);
template <typename A, typename B>
  requires ExprAndBool<A, B>
auto operator&&(const A& a, const B& b) -> Condition {
  return combined(BinaryOp::And, a, b);
}
template <typename A, typename B>
  requires ExprAndBool<A, B>
auto operator||(const A& a, const B& b) -> Condition {
  return combined(BinaryOp::Or, a, b);
}
template <std::same_as<Expr> A>
auto operator!(const A& a) -> Condition {
  return negated(a);
}

/// Either operand when one is NaN or both are zeros.
auto min(Arg a, Arg b) -> Expr;
auto min(Arg a, Arg b, Arg c) -> Expr;
auto max(Arg a, Arg b) -> Expr;
auto max(Arg a, Arg b, Arg c) -> Expr;
/// max(min(a, high), low): `low` where they cross.
auto clamp(Arg a, Arg low, Arg high) -> Expr;
/// `yes` where `condition` holds; further pairs of condition and value are tried in turn. Both sides are evaluated.
auto select(Arg condition, Arg yes, Arg no) -> Expr;
auto select(Arg c1, Arg v1, Arg c2, Arg v2, Arg otherwise) -> Expr;
auto select(Arg c1, Arg v1, Arg c2, Arg v2, Arg c3, Arg v3, Arg otherwise) -> Expr;
/// Of a signed integer: unsigned of the same width.
auto abs(Arg a) -> Expr;
/// |a - b|, unsigned for integers.
auto absd(Arg a, Arg b) -> Expr;
/// From `zero` (weight 0) to `one` (weight 1). Floats: zero * (1 - w) + one * w. Integers of up to 32 bits with an unsigned
/// weight of up to 32 bits, whose largest value M means 1: (zero * (M - w) + one * w) / M rounded to nearest, exactly.
/// Integers with a float weight: the float formula in float32, rounded to nearest even and saturated.
auto lerp(Arg zero, Arg one, Arg weight) -> Expr;

// Of a float; other numbers become float32 first. round goes to even.
auto floor(Arg a) -> Expr;
auto ceil(Arg a) -> Expr;
auto round(Arg a) -> Expr;
auto trunc(Arg a) -> Expr;
auto sqrt(Arg a) -> Expr;
auto exp(Arg a) -> Expr;
auto log(Arg a) -> Expr;
auto pow(Arg base, Arg exponent) -> Expr;
auto sin(Arg a) -> Expr;
auto cos(Arg a) -> Expr;
auto is_nan(Arg a) -> Expr;

/// Conversion: integers wrap, float to integer truncates and saturates, to bool is != 0.
auto cast(Type type, Arg a) -> Expr;
template <typename T>
auto cast(Arg a) -> Expr {
  return cast(type_of<T>(), std::move(a));
}

}  // namespace drawloom
