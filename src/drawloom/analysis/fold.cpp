// Constant folding: the value of one node whose operands are constants, by the semantics of ops.def. Floating results
// are folded only where every machine gives the same bits (one NaN is as good as another); an index operation that
// would overflow stays as it is.
//
//   200:u8 + 100:u8  ->  44:u8           data wraps
//   7 / -2 -> -3,  -7 % 4 -> 1           the remainder is never negative
//   min(0.0, -0.0)   stays               either zero may come out, so the target decides
//
// Integers are computed in 128 bits, where no sum, quotient or product of two indices overflows, and brought back to
// their type at the end; data multiply modulo 2^64.

#include <cmath>
#include <optional>

#include "drawloom/analysis/fold.h"
#include "drawloom/analysis/simplify.h"
#include "drawloom/ir/build.h"

namespace drawloom {
namespace {

using Int = std::optional<int64_t>;

auto as_u(int64_t v) -> uint64_t { return static_cast<uint64_t>(v); }
auto as_s(uint64_t v) -> int64_t { return static_cast<int64_t>(v); }

/// Wraps data integers; an index that does not fit stays unfolded.
auto finish(Type t, __int128 v) -> Int {
  if (!t.is_index()) return wrap_int(t, static_cast<int64_t>(v));
  if (v < INT64_MIN || v > INT64_MAX) return {};
  return static_cast<int64_t>(v);
}
/// The mathematical value.
auto wide(Type t, int64_t v) -> __int128 {
  return t.is_uint() ? static_cast<__int128>(as_u(v)) : static_cast<__int128>(v);
}

/// Quotient with a remainder that is never negative.
auto euclid(__int128 a, __int128 b) -> __int128 {
  if (b == 0) return 0;
  const __int128 q = a / b;
  if (a - q * b >= 0) return q;
  return b > 0 ? q - 1 : q + 1;
}

auto shift(Type t, int64_t v, __int128 by) -> Int {
  // An index is not cut off at 64 bits: what may not fit is left to run time.
  if (t.is_index() && (by < -62 || by > 62)) return {};
  if (by >= t.bits) return 0;
  if (by <= -t.bits) return t.is_uint() ? 0 : (v < 0 ? -1 : 0);
  if (by >= 0 && t.is_index()) return finish(t, wide(t, v) * (__int128{1} << static_cast<int>(by)));
  if (by >= 0) return wrap_int(t, as_s(as_u(v) << static_cast<int>(by)));
  const int right = static_cast<int>(-by);
  return t.is_uint() ? as_s(as_u(v) >> right) : v >> right;
}

auto fold_int(BinaryOp op, Type t, int64_t x, int64_t y) -> Int {
  const __int128 a = wide(t, x), b = wide(t, y);
  switch (op) {
    case BinaryOp::Add: return finish(t, a + b);
    case BinaryOp::Sub: return finish(t, a - b);
    case BinaryOp::Mul: return t.is_index() ? finish(t, a * b) : Int(wrap_int(t, as_s(as_u(x) * as_u(y))));
    case BinaryOp::Div: return finish(t, euclid(a, b));
    case BinaryOp::Mod: return b == 0 ? Int(0) : finish(t, a - b * euclid(a, b));
    case BinaryOp::Min: return a < b ? x : y;
    case BinaryOp::Max: return a > b ? x : y;
    case BinaryOp::BitAnd: return x & y;
    case BinaryOp::BitOr: return x | y;
    case BinaryOp::BitXor: return x ^ y;
    case BinaryOp::Shl: return shift(t, x, b);
    case BinaryOp::Shr: return shift(t, x, -b);
    case BinaryOp::EQ: return a == b;
    case BinaryOp::NE: return a != b;
    case BinaryOp::LT: return a < b;
    case BinaryOp::LE: return a <= b;
    case BinaryOp::GT: return a > b;
    case BinaryOp::GE: return a >= b;
    case BinaryOp::And: return x && y;
    case BinaryOp::Or: return x || y;
  }
  return {};
}

/// + - * / in double and one more rounding is the correct rounding for every narrower format (they have fewer than half
/// its digits).
auto fold_float(BinaryOp op, double a, double b) -> std::optional<double> {
  switch (op) {
    case BinaryOp::Add: return a + b;
    case BinaryOp::Sub: return a - b;
    case BinaryOp::Mul: return a * b;
    case BinaryOp::Div: return a / b;
    case BinaryOp::Min:
    case BinaryOp::Max:
      if (std::isnan(a) || std::isnan(b) || (a == 0 && b == 0)) return {};
      return (op == BinaryOp::Min) == (a < b) ? a : b;
    case BinaryOp::Mod:
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
    case BinaryOp::Shl:
    case BinaryOp::Shr:
    case BinaryOp::EQ:
    case BinaryOp::NE:
    case BinaryOp::LT:
    case BinaryOp::LE:
    case BinaryOp::GT:
    case BinaryOp::GE:
    case BinaryOp::And:
    case BinaryOp::Or: break;
  }
  return {};
}
auto compare_float(BinaryOp op, double a, double b) -> std::optional<bool> {
  if (op == BinaryOp::EQ) return a == b;
  if (op == BinaryOp::NE) return a != b;
  if (op == BinaryOp::LT) return a < b;
  if (op == BinaryOp::LE) return a <= b;
  if (op == BinaryOp::GT) return a > b;
  if (op == BinaryOp::GE) return a >= b;
  return {};
}

auto fold_call(Intrinsic f, double a) -> std::optional<double> {
  switch (f) {
    case Intrinsic::Abs: return std::fabs(a);
    case Intrinsic::Floor: return std::floor(a);
    case Intrinsic::Ceil: return std::ceil(a);
    case Intrinsic::Round: return std::nearbyint(a);
    case Intrinsic::Trunc: return std::trunc(a);
    case Intrinsic::Sqrt: return a >= 0 ? std::optional(std::sqrt(a)) : std::nullopt;
    case Intrinsic::Absd:
    case Intrinsic::Fma:
    case Intrinsic::Exp:
    case Intrinsic::Log:
    case Intrinsic::Pow:
    case Intrinsic::Sin:
    case Intrinsic::Cos:
    case Intrinsic::IsNan:
    case Intrinsic::WarpUniform: break;
  }
  return {};
}

auto fold(const Binary& n, const Expr& self) -> Expr {
  int64_t x = 0, y = 0;
  if (as_int(n.a, x) && as_int(n.b, y)) {
    const Int v = fold_int(n.op, n.a.type(), x, y);
    return v ? int_imm(n.type, *v, n.loc) : self;
  }
  double a = 0, b = 0;
  if (!as_float(n.a, a) || !as_float(n.b, b)) return self;
  if (const auto c = compare_float(n.op, a, b)) return int_imm(n.type, *c, n.loc);
  const auto v = fold_float(n.op, a, b);
  return v ? float_constant(n.type, *v, n.loc) : self;
}

auto fold(const Unary& n, const Expr& self) -> Expr {
  int64_t x = 0;
  double a = 0;
  if (as_int(n.a, x)) {
    switch (n.op) {
      case UnaryOp::Neg: {
        const Int v = finish(n.type, -static_cast<__int128>(x));
        return v ? int_imm(n.type, *v, n.loc) : self;
      }
      case UnaryOp::Not: return int_imm(n.type, x == 0, n.loc);
      case UnaryOp::BitNot: return int_imm(n.type, ~x, n.loc);
    }
  }
  return n.op == UnaryOp::Neg && as_float(n.a, a) ? float_constant(n.type, -a, n.loc) : self;
}

/// A float truncates and saturates as an integer; what integer a NaN becomes is left open, so it is not folded.
auto fold(const Cast& n, const Expr& self) -> Expr {
  const Type from = n.value.type(), to = n.type;
  int64_t x = 0;
  double a = 0;
  if (as_int(n.value, x)) {
    if (to.is_bool()) return int_imm(to, x != 0, n.loc);
    if (!to.is_float()) return int_imm(to, x, n.loc);
    // Beyond 2^53 a second rounding could differ from the one that is meant.
    const bool exact = wide(from, x) >= -(int64_t{1} << 53) && wide(from, x) <= (int64_t{1} << 53);
    return exact ? float_constant(to, static_cast<double>(x), n.loc) : self;
  }
  if (!as_float(n.value, a)) return self;
  if (to.is_float()) return float_constant(to, a, n.loc);
  if (std::isnan(a)) return self;
  if (to.is_bool()) return int_imm(to, a != 0, n.loc);
  const int bits = to.is_uint() ? to.bits : to.bits - 1;
  const double limit = std::ldexp(1.0, bits), whole = std::trunc(a);
  if (whole >= limit) return int_imm(to, to.is_uint() ? -1 : as_s((uint64_t{1} << bits) - 1), n.loc);
  if (whole < (to.is_uint() ? 0.0 : -limit)) return int_imm(to, to.is_uint() ? 0 : as_s(~uint64_t{0} << bits), n.loc);
  return int_imm(to, to.is_uint() ? as_s(static_cast<uint64_t>(whole)) : static_cast<int64_t>(whole), n.loc);
}

auto fold(const Call& n, const Expr& self) -> Expr {
  const Type t = n.args[0].type();
  int64_t x = 0, y = 0;
  double a = 0;
  if (n.function == Intrinsic::Abs && as_int(n.args[0], x)) {
    return t.is_index() && x == INT64_MIN ? self
                                          : int_imm(n.type, t.is_uint() || x >= 0 ? x : as_s(0 - as_u(x)), n.loc);
  }
  if (n.function == Intrinsic::Absd && as_int(n.args[0], x) && as_int(n.args[1], y)) {
    const __int128 d = wide(t, x) - wide(t, y);
    const Int v = finish(n.type, d < 0 ? -d : d);
    return v ? int_imm(n.type, *v, n.loc) : self;
  }
  if (n.function == Intrinsic::IsNan && as_float(n.args[0], a)) return int_imm(n.type, std::isnan(a), n.loc);
  if (n.args.size() != 1 || !as_float(n.args[0], a)) return self;
  const auto v = fold_call(n.function, a);
  return v ? float_constant(n.type, *v, n.loc) : self;
}

auto fold(const Select& n, const Expr& self) -> Expr {
  int64_t c = 0;
  return as_int(n.condition, c) ? (c ? n.yes : n.no) : self;
}

}  // namespace

auto as_float(const Expr& e, double& out) -> bool {
  if (const auto* b = e.as<Broadcast>()) return as_float(b->value, out);
  const auto* imm = e.as<FloatImm>();
  if (imm) out = imm->value;
  return imm != nullptr;
}

auto float_constant(Type t, double value, Loc loc) -> Expr {
  return broadcast(float_imm(t.element(), value, loc), t.lanes, loc);
}

auto fold_constants(const Expr& e) -> Expr {
  switch (e.kind()) {
    case Kind::Binary: return fold(e.to<Binary>(), e);
    case Kind::Unary: return fold(e.to<Unary>(), e);
    case Kind::Cast: return fold(e.to<Cast>(), e);
    case Kind::Call: return fold(e.to<Call>(), e);
    case Kind::Select: return fold(e.to<Select>(), e);
    case Kind::Broadcast: {
      int64_t v = 0;
      return as_int(e, v) ? int_imm(e.type(), v, e.loc()) : e;
    }
    case Kind::IntImm:
    case Kind::FloatImm:
    case Kind::VarRef:
    case Kind::Access:
    case Kind::Load:
    case Kind::Ramp:
    case Kind::Let:
    case Kind::Address:
    case Kind::Reinterpret:
#include "drawloom/ir/statement_cases.def"
      break;
  }
  return e;
}

}  // namespace drawloom
