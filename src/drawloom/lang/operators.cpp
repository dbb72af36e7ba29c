#include "drawloom/lang/operators.h"

#include "drawloom/ir/build.h"
#include "drawloom/lang/typing.h"

namespace drawloom {
namespace {

auto apply(BinaryOp op, const Arg& a, const Arg& b) -> Expr {
  return typed_binary(op, a.expr(), b.expr(), a.loc()).or_throw();
}
auto apply(UnaryOp op, const Arg& a) -> Expr { return typed_unary(op, a.expr(), a.loc()).or_throw(); }
auto apply(Intrinsic function, const Arg& a) -> Expr { return typed_call(function, {a.expr()}, a.loc()).or_throw(); }
auto apply(Intrinsic function, const Arg& a, const Arg& b) -> Expr {
  return typed_call(function, {a.expr(), b.expr()}, a.loc()).or_throw();
}

/// zero * (1 - w) + one * w.
auto lerp_floats(const Expr& zero, const Expr& one, const Expr& weight, const Loc& loc) -> Expr {
  ExprList all = {zero, one, weight};
  DRAWLOOM_CHECK(match_types("lerp", all, loc).ok(), "lerp of floats");
  const Expr rest = binary(BinaryOp::Sub, constant(all[2].type(), 1, loc), all[2], loc);
  return binary(BinaryOp::Add, binary(BinaryOp::Mul, all[0], rest, loc), binary(BinaryOp::Mul, all[1], all[2], loc),
                loc);
}

/// (zero * (M - w) + one * w) / M to nearest, M the largest weight. Signed values move up to unsigned ones and back. With b
/// bits for value and weight together the sum stays below 2^b - 2^(b/2), so it fits.
auto lerp_integers(const Expr& zero, const Expr& one, const Expr& weight, const Loc& loc) -> Expr {
  const Type type = zero.type();
  const Type wide = uint_type(type.bits + weight.type().bits <= 32 ? 32 : 64);
  const int64_t most = wrap_int(uint_type(64), (int64_t{1} << weight.type().bits) - 1);
  const int64_t bias = type.is_int() ? int64_t{1} << (type.bits - 1) : 0;
  const auto widen = [&](const Expr& e) {
    const Expr up = cast(uint_type(type.bits), e, loc);
    const Expr moved = bias ? binary(BinaryOp::BitXor, up, constant(up.type(), bias, loc), loc) : up;
    return cast(wide, moved, loc);
  };
  const Expr m = constant(wide, most, loc), w = cast(wide, weight, loc);
  const Expr left = binary(BinaryOp::Mul, widen(zero), binary(BinaryOp::Sub, m, w, loc), loc);
  const Expr sum = binary(BinaryOp::Add, left, binary(BinaryOp::Mul, widen(one), w, loc), loc);
  const Expr rounded = binary(BinaryOp::Div, binary(BinaryOp::Add, sum, constant(wide, most / 2, loc), loc), m, loc);
  const Expr narrow = cast(uint_type(type.bits), rounded, loc);
  return cast(type, bias ? binary(BinaryOp::BitXor, narrow, constant(narrow.type(), bias, loc), loc) : narrow, loc);
}

}  // namespace

Arg::Arg(float value, const std::source_location& at) : expr_(float_imm(Float(32), value, at)), loc_(at) {}
Arg::Arg(double value, const std::source_location& at) : expr_(float_imm(Float(64), value, at)), loc_(at) {}
auto Arg::integer(int64_t value, int bytes, bool is_signed, bool is_bool, const std::source_location& at) -> Expr {
  if (is_bool) return bool_imm(value != 0, 1, at);
  const int bits = bytes <= 4 ? 32 : 64;
  // What C++ promotes to int is an int here.
  return int_imm(is_signed || bytes < 4 ? int_type(bits) : uint_type(bits), value, at);
}

auto operator+(Arg a, Arg b) -> Expr { return apply(BinaryOp::Add, a, b); }
auto operator-(Arg a, Arg b) -> Expr { return apply(BinaryOp::Sub, a, b); }
auto operator*(Arg a, Arg b) -> Expr { return apply(BinaryOp::Mul, a, b); }
auto operator/(Arg a, Arg b) -> Expr { return apply(BinaryOp::Div, a, b); }
auto operator%(Arg a, Arg b) -> Expr { return apply(BinaryOp::Mod, a, b); }
auto operator&(Arg a, Arg b) -> Expr { return apply(BinaryOp::BitAnd, a, b); }
auto operator|(Arg a, Arg b) -> Expr { return apply(BinaryOp::BitOr, a, b); }
auto operator^(Arg a, Arg b) -> Expr { return apply(BinaryOp::BitXor, a, b); }
auto operator<<(Arg a, Arg b) -> Expr { return apply(BinaryOp::Shl, a, b); }
auto operator>>(Arg a, Arg b) -> Expr { return apply(BinaryOp::Shr, a, b); }
auto operator-(Arg a) -> Expr { return apply(UnaryOp::Neg, a); }
auto operator~(Arg a) -> Expr { return apply(UnaryOp::BitNot, a); }

auto operator+=(Expr& a, Arg b) -> Expr& { return a = typed_binary(BinaryOp::Add, a, b.expr(), b.loc()).or_throw(); }
auto operator-=(Expr& a, Arg b) -> Expr& { return a = typed_binary(BinaryOp::Sub, a, b.expr(), b.loc()).or_throw(); }
auto operator*=(Expr& a, Arg b) -> Expr& { return a = typed_binary(BinaryOp::Mul, a, b.expr(), b.loc()).or_throw(); }
auto operator/=(Expr& a, Arg b) -> Expr& { return a = typed_binary(BinaryOp::Div, a, b.expr(), b.loc()).or_throw(); }

auto operator==(Arg a, Arg b) -> Condition { return Condition(apply(BinaryOp::EQ, a, b)); }
auto operator!=(Arg a, Arg b) -> Condition { return Condition(apply(BinaryOp::NE, a, b)); }
auto operator<(Arg a, Arg b) -> Condition { return Condition(apply(BinaryOp::LT, a, b)); }
auto operator<=(Arg a, Arg b) -> Condition { return Condition(apply(BinaryOp::LE, a, b)); }
auto operator>(Arg a, Arg b) -> Condition { return Condition(apply(BinaryOp::GT, a, b)); }
auto operator>=(Arg a, Arg b) -> Condition { return Condition(apply(BinaryOp::GE, a, b)); }
auto operator&&(Arg a, Arg b) -> Condition { return Condition(apply(BinaryOp::And, a, b)); }
auto operator||(Arg a, Arg b) -> Condition { return Condition(apply(BinaryOp::Or, a, b)); }
auto operator!(Arg a) -> Condition { return Condition(apply(UnaryOp::Not, a)); }
// These operands carry no line of the operator: that of the left one.
auto combined(BinaryOp op, const Expr& a, const Expr& b) -> Condition {
  return Condition(typed_binary(op, a, b, a.defined() ? a.loc() : Loc()).or_throw());
}
auto combined(BinaryOp op, const Expr& a, bool b) -> Condition { return combined(op, a, bool_imm(b)); }
auto combined(BinaryOp op, bool a, const Expr& b) -> Condition { return combined(op, bool_imm(a), b); }
auto negated(const Expr& a) -> Condition {
  return Condition(typed_unary(UnaryOp::Not, a, a.defined() ? a.loc() : Loc()).or_throw());
}

auto min(Arg a, Arg b) -> Expr { return apply(BinaryOp::Min, a, b); }
auto min(Arg a, Arg b, Arg c) -> Expr { return typed_binary(BinaryOp::Min, min(a, b), c.expr(), a.loc()).or_throw(); }
auto max(Arg a, Arg b) -> Expr { return apply(BinaryOp::Max, a, b); }
auto max(Arg a, Arg b, Arg c) -> Expr { return typed_binary(BinaryOp::Max, max(a, b), c.expr(), a.loc()).or_throw(); }

auto clamp(Arg a, Arg low, Arg high) -> Expr {
  ExprList all = {a.expr(), low.expr(), high.expr()};
  if (auto matched = match_types("clamp", all, a.loc()); !matched.ok()) throw Error(matched.diag());
  const auto below = typed_binary(BinaryOp::Min, all[0], all[2], a.loc()).or_throw();
  return typed_binary(BinaryOp::Max, below, all[1], a.loc()).or_throw();
}

auto select(Arg condition, Arg yes, Arg no) -> Expr {
  return typed_select(condition.expr(), yes.expr(), no.expr(), condition.loc()).or_throw();
}
auto select(Arg c1, Arg v1, Arg c2, Arg v2, Arg otherwise) -> Expr {
  const Expr rest = select(std::move(c2), std::move(v2), std::move(otherwise));
  return typed_select(c1.expr(), v1.expr(), rest, c1.loc()).or_throw();
}
auto select(Arg c1, Arg v1, Arg c2, Arg v2, Arg c3, Arg v3, Arg otherwise) -> Expr {
  const Expr rest = select(std::move(c2), std::move(v2), std::move(c3), std::move(v3), std::move(otherwise));
  return typed_select(c1.expr(), v1.expr(), rest, c1.loc()).or_throw();
}

auto abs(Arg a) -> Expr { return apply(Intrinsic::Abs, a); }
auto absd(Arg a, Arg b) -> Expr { return apply(Intrinsic::Absd, a, b); }

auto lerp(Arg zero, Arg one, Arg weight) -> Expr {
  const Loc& loc = zero.loc();
  ExprList ends = {zero.expr(), one.expr()};
  if (auto matched = match_types("lerp", ends, loc); !matched.ok()) throw Error(matched.diag());
  if (!weight.expr().defined()) throw Error(Diag(DiagKind::expr_undefined, loc, "lerp"));
  const Type type = ends[0].type(), w = weight.expr().type();
  const bool whole = type.is_data_int() && !type.is_bool() && type.bits <= 32;
  if (type.is_float() && w.is_float()) return lerp_floats(ends[0], ends[1], weight.expr(), loc);
  if (whole && w.is_uint() && !w.is_bool() && w.bits <= 32) {
    return lerp_integers(ends[0], ends[1], weight.expr(), loc);
  }
  if (whole && w == Float(32)) {
    const auto real = [&](const Expr& e) { return cast(Float(32), e, loc); };
    const Expr value = lerp_floats(real(ends[0]), real(ends[1]), weight.expr(), loc);
    return cast(type, call(Intrinsic::Round, {value}, loc), loc);
  }
  throw Error(
      Diag(DiagKind::type_clash, loc, "lerp", type, w)
          .with_help(
              "integers of up to 32 bits take an unsigned weight of up to 32 bits or a float32, floats a float"));
}

auto floor(Arg a) -> Expr { return apply(Intrinsic::Floor, a); }
auto ceil(Arg a) -> Expr { return apply(Intrinsic::Ceil, a); }
auto round(Arg a) -> Expr { return apply(Intrinsic::Round, a); }
auto trunc(Arg a) -> Expr { return apply(Intrinsic::Trunc, a); }
auto sqrt(Arg a) -> Expr { return apply(Intrinsic::Sqrt, a); }
auto exp(Arg a) -> Expr { return apply(Intrinsic::Exp, a); }
auto log(Arg a) -> Expr { return apply(Intrinsic::Log, a); }
auto pow(Arg base, Arg exponent) -> Expr { return apply(Intrinsic::Pow, base, exponent); }
auto sin(Arg a) -> Expr { return apply(Intrinsic::Sin, a); }
auto cos(Arg a) -> Expr { return apply(Intrinsic::Cos, a); }
auto is_nan(Arg a) -> Expr { return apply(Intrinsic::IsNan, a); }

auto cast(Type type, Arg a) -> Expr { return typed_cast(type, a.expr(), a.loc()).or_throw(); }

}  // namespace drawloom
