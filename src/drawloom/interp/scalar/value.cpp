// Integers are computed as 64 bits without sign, where C++ defines everything, and wrapped to their type at the end: i8
// 100 + 100 = 200, whose low 8 bits are -56. Floats are computed in their own type, never wider.
#include "drawloom/interp/scalar/value.h"

#include <cmath>
#include <limits>

#include "drawloom/support/check.h"

namespace drawloom {
namespace {

auto bits(int64_t v) -> uint64_t { return static_cast<uint64_t>(v); }

/// Keeps the bits below the width and extends them by the type's sign.
auto wrap(Type t, uint64_t v) -> int64_t {
  if (t.bits == 64) return static_cast<int64_t>(v);
  const int unused = 64 - t.bits;
  const uint64_t top = v << unused;
  return t.is_uint() ? static_cast<int64_t>(top >> unused) : static_cast<int64_t>(top) >> unused;
}
auto wrapped(Type t, uint64_t v) -> Value { return {.type = t, .i = wrap(t, v)}; }
auto truth(bool b) -> Value { return {.type = kBool, .i = b}; }
auto is_single(Type t) -> bool { return t.bits == 32; }

// --- integers

/// The pair with a = quotient * b + remainder and 0 <= remainder < |b|; both 0 when b is 0.
struct Division {
  uint64_t quotient, remainder;
};
auto divide_signed(int64_t a, int64_t b) -> Division {
  if (b == 0) return {0, 0};
  if (b == -1) return {0 - bits(a), 0};  // apart, since the host traps on the smallest a
  const int64_t q = a / b, r = a % b;
  if (r >= 0) return {bits(q), bits(r)};
  return b > 0 ? Division{bits(q) - 1, bits(r) + bits(b)} : Division{bits(q) + 1, bits(r) - bits(b)};
}
auto divide(Type t, int64_t a, int64_t b) -> Division {
  if (!t.is_uint()) return divide_signed(a, b);
  if (b == 0) return {0, 0};
  return {bits(a) / bits(b), bits(a) % bits(b)};
}

auto shift_left(Type t, int64_t a, uint64_t amount) -> Value {
  return wrapped(t, amount >= t.bits ? 0 : bits(a) << amount);
}
auto shift_right(Type t, int64_t a, uint64_t amount) -> Value {
  if (t.is_uint()) return wrapped(t, amount >= t.bits ? 0 : bits(a) >> amount);
  return wrapped(t, bits(a >> (amount >= t.bits ? 63 : amount)));
}
auto shift(Type t, int64_t a, int64_t amount, bool left) -> Value {
  uint64_t count = bits(amount);
  if (!t.is_uint() && amount < 0) left = !left, count = 0 - count;
  return left ? shift_left(t, a, count) : shift_right(t, a, count);
}

auto less(Type t, int64_t a, int64_t b) -> bool { return t.is_uint() ? bits(a) < bits(b) : a < b; }

auto int_binary(BinaryOp op, Type t, int64_t a, int64_t b) -> Value {
  switch (op) {
    case BinaryOp::Add: return wrapped(t, bits(a) + bits(b));
    case BinaryOp::Sub: return wrapped(t, bits(a) - bits(b));
    case BinaryOp::Mul: return wrapped(t, bits(a) * bits(b));
    case BinaryOp::Div: return wrapped(t, divide(t, a, b).quotient);
    case BinaryOp::Mod: return wrapped(t, divide(t, a, b).remainder);
    case BinaryOp::Min: return {.type = t, .i = less(t, b, a) ? b : a};
    case BinaryOp::Max: return {.type = t, .i = less(t, a, b) ? b : a};
    case BinaryOp::BitAnd: return wrapped(t, bits(a) & bits(b));
    case BinaryOp::BitOr: return wrapped(t, bits(a) | bits(b));
    case BinaryOp::BitXor: return wrapped(t, bits(a) ^ bits(b));
    case BinaryOp::Shl: return shift(t, a, b, true);
    case BinaryOp::Shr: return shift(t, a, b, false);
    case BinaryOp::EQ: return truth(a == b);
    case BinaryOp::NE: return truth(a != b);
    case BinaryOp::LT: return truth(less(t, a, b));
    case BinaryOp::LE: return truth(!less(t, b, a));
    case BinaryOp::GT: return truth(less(t, b, a));
    case BinaryOp::GE: return truth(!less(t, a, b));
    case BinaryOp::And: return truth(a && b);
    case BinaryOp::Or: return truth(a || b);
  }
  __builtin_unreachable();
}

// --- floats: F is float or double, so that every operation rounds once, to the type

auto open_min_max(double a, double b) -> bool {
  return std::isnan(a) || std::isnan(b) || (a == 0 && b == 0 && std::signbit(a) != std::signbit(b));
}

template <typename F>
auto float_binary(BinaryOp op, Type t, F a, F b, bool& ambiguous) -> Value {
  const auto number = [&](F v) -> Value { return {.type = t, .f = v}; };
  switch (op) {
    case BinaryOp::Add: return number(a + b);
    case BinaryOp::Sub: return number(a - b);
    case BinaryOp::Mul: return number(a * b);
    case BinaryOp::Div: return number(a / b);
    case BinaryOp::Mod: return number(a - b * std::floor(a / b));
    case BinaryOp::Min: ambiguous |= open_min_max(a, b); return number(b < a ? b : a);
    case BinaryOp::Max: ambiguous |= open_min_max(a, b); return number(a < b ? b : a);
    case BinaryOp::EQ: return truth(a == b);
    case BinaryOp::NE: return truth(a != b);
    case BinaryOp::LT: return truth(a < b);
    case BinaryOp::LE: return truth(a <= b);
    case BinaryOp::GT: return truth(a > b);
    case BinaryOp::GE: return truth(a >= b);
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
    case BinaryOp::Shl:
    case BinaryOp::Shr:
    case BinaryOp::And:
    case BinaryOp::Or: break;
  }
  DRAWLOOM_CHECK(false, "operator {} on {}", static_cast<int>(op), t);
  return {};
}

template <typename F>
auto float_call(Intrinsic function, F a, F b, F c) -> F {
  switch (function) {
    case Intrinsic::Abs: return std::fabs(a);
    case Intrinsic::Absd: return std::fabs(a - b);
    case Intrinsic::Fma: return std::fma(a, b, c);
    case Intrinsic::Floor: return std::floor(a);
    case Intrinsic::Ceil: return std::ceil(a);
    case Intrinsic::Round: return std::nearbyint(a);
    case Intrinsic::Trunc: return std::trunc(a);
    case Intrinsic::Sqrt: return std::sqrt(a);
    case Intrinsic::Exp: return std::exp(a);
    case Intrinsic::Log: return std::log(a);
    case Intrinsic::Pow: return std::pow(a, b);
    case Intrinsic::Sin: return std::sin(a);
    case Intrinsic::Cos: return std::cos(a);
    case Intrinsic::IsNan:
    case Intrinsic::WarpUniform: break;
  }
  __builtin_unreachable();
}

auto int_call(Intrinsic function, const Value* args) -> Value {
  const Type t = args[0].type, result = t.is_int() ? uint_type(t.bits) : t;
  const int64_t a = args[0].i;
  if (function == Intrinsic::Abs) return wrapped(result, !t.is_uint() && a < 0 ? 0 - bits(a) : bits(a));
  DRAWLOOM_CHECK(function == Intrinsic::Absd, "intrinsic {} on {}", static_cast<int>(function), t);
  const int64_t b = args[1].i;
  return wrapped(result, less(t, a, b) ? bits(b) - bits(a) : bits(a) - bits(b));
}

// --- conversions

auto int_to_float(Type to, Value a) -> Value {
  // Straight to the type: a step over double would round twice (to 16 bits it may, from integers of 64).
  if (to.bits == 16)
    return float_value(to, a.type.is_uint() ? static_cast<double>(bits(a.i)) : static_cast<double>(a.i));
  if (is_single(to))
    return {.type = to, .f = a.type.is_uint() ? static_cast<float>(bits(a.i)) : static_cast<float>(a.i)};
  return {.type = to, .f = a.type.is_uint() ? static_cast<double>(bits(a.i)) : static_cast<double>(a.i)};
}

/// Truncates, then saturates. The limits are exact in double except the largest of 63 and 64 bits, where the first
/// double beyond stands in.
auto float_to_int(Type to, double v, bool& ambiguous) -> Value {
  if (std::isnan(v)) {
    ambiguous = true;
    return {.type = to, .i = 0};
  }
  const double x = std::trunc(v);
  const int width = to.is_uint() ? to.bits : to.bits - 1;
  const double beyond = std::ldexp(1.0, width);
  const uint64_t largest = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  if (x >= beyond) return wrapped(to, largest);
  if (to.is_uint()) return wrapped(to, x <= 0 ? 0 : static_cast<uint64_t>(x));
  return x <= -beyond ? wrapped(to, ~largest) : wrapped(to, bits(static_cast<int64_t>(x)));
}

}  // namespace

auto Value::text() const -> std::string {
  if (type.is_float()) return to_text(f);
  if (type.is_bool()) return to_text(i != 0);
  return type.is_uint() ? to_text(bits(i)) : to_text(i);
}

auto int_value(Type type, int64_t value) -> Value { return wrapped(type.element(), bits(value)); }
auto float_value(Type type, double value) -> Value {
  return {.type = type.element(), .f = is_single(type) ? static_cast<float>(value) : value};
}
auto number_value(Type type, int64_t value) -> Value {
  return type.is_float() ? int_to_float(type.element(), int_value(int_type(64), value)) : int_value(type, value);
}
auto same_value(const Value& a, const Value& b) -> bool {
  if (a.type != b.type) return false;
  return a.i == b.i || (a.type.is_float() && std::isnan(a.f) && std::isnan(b.f));
}

auto eval_unary(UnaryOp op, Value a) -> Value {
  switch (op) {
    case UnaryOp::Neg: return a.type.is_float() ? Value{.type = a.type, .f = -a.f} : wrapped(a.type, 0 - bits(a.i));
    case UnaryOp::Not: return truth(!a.i);
    case UnaryOp::BitNot: return wrapped(a.type, ~bits(a.i));
  }
  __builtin_unreachable();
}

auto eval_binary(BinaryOp op, Value a, Value b, bool& ambiguous) -> Value {
  if (!a.type.is_float()) return int_binary(op, a.type, a.i, b.i);
  if (!is_single(a.type)) return float_binary<double>(op, a.type, a.f, b.f, ambiguous);
  return float_binary<float>(op, a.type, static_cast<float>(a.f), static_cast<float>(b.f), ambiguous);
}

auto eval_call(Intrinsic function, const Value* args) -> Value {
  const Type t = args[0].type;
  if (function == Intrinsic::IsNan) return truth(t.is_float() && std::isnan(args[0].f));
  if (!t.is_float()) return int_call(function, args);
  double v[3] = {args[0].f, 0, 0};
  const bool two = function == Intrinsic::Absd || function == Intrinsic::Pow || function == Intrinsic::Fma;
  if (two) v[1] = args[1].f;
  if (function == Intrinsic::Fma) v[2] = args[2].f;
  if (!is_single(t)) return {.type = t, .f = float_call<double>(function, v[0], v[1], v[2])};
  return {
      .type = t,
      .f = float_call<float>(function, static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2]))};
}

auto eval_cast(Type to, Value a, bool& ambiguous) -> Value {
  to = to.element();
  if (to.is_float()) return a.type.is_float() ? float_value(to, a.f) : int_to_float(to, a);
  if (to.is_bool()) return truth(a.type.is_float() ? a.f != 0 : a.i != 0);
  return a.type.is_float() ? float_to_int(to, a.f, ambiguous) : wrapped(to, bits(a.i));
}

}  // namespace drawloom
