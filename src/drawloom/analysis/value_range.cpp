#include "drawloom/analysis/value_range.h"

#include <algorithm>
#include <cmath>

#include "drawloom/ir/build.h"

// Constant ranges of data and indices from the expressions that compute them. No search and no facts: what clamps,
// masks and types say, and what the caller's hooks know.
//
//   in u8:  cast<i32>(in[x]) + 3                     [3, 258]
//           in[x] + 3, which wraps                   [0, 255]
//           cast<i32>(in[x]) & 12                    [0, 12]
//   f32:    cast<i32>(clamp(f[x], 0, 255) * 0.5)     [0, 127]
//
// This is what gives a subscript that depends on data its region. The exact range of the mathematical result counts if
// it lies in the type; else the operation may wrap, and the range is that of the type. Floats have ranges of their own,
// in double, for the way from a clamp to the conversion. One look at each node.

namespace drawloom {
namespace {

constexpr double kInfinity = HUGE_VAL;

/// The exact range when it lies in the type, else all of the type.
auto within(Type t, const Range& exact) -> Range {
  const Range all = range_of_type(t);
  if (!exact.hi && !t.is_index()) return all;  // u64: no upper end may mean beyond 2^64
  return all.contains(exact) ? exact : all;
}

/// The least 2^k - 1 that is not below v >= 0.
auto ones_above(int64_t v) -> int64_t {
  uint64_t m = static_cast<uint64_t>(v);
  for (int s = 1; s < 64; s *= 2) m |= m >> s;
  return static_cast<int64_t>(m);
}

/// The nearest doubles that are not above, and not below. (2^63 as a double is no int64, but above all of them.)
auto double_below(int64_t v) -> double {
  const auto d = static_cast<double>(v);
  return d >= 0x1p63 || static_cast<int64_t>(d) > v ? std::nextafter(d, -kInfinity) : d;
}
auto double_above(int64_t v) -> double {
  const auto d = static_cast<double>(v);
  return d < 0x1p63 && static_cast<int64_t>(d) < v ? std::nextafter(d, kInfinity) : d;
}

auto is_nonnegative(const Range& r) -> bool { return r.lo && *r.lo >= 0; }

auto and_range(const Range& a, const Range& b, Type t) -> Range {
  const auto least = [](const Range& x, const Range& y) {
    if (!x.hi) return y.hi;
    return y.hi ? std::optional(std::min(*x.hi, *y.hi)) : x.hi;
  };
  // a & b has no bit that a has not
  if (is_nonnegative(a) && is_nonnegative(b)) return {0, least(a, b)};
  if (is_nonnegative(a)) return {0, a.hi};
  if (is_nonnegative(b)) return {0, b.hi};
  return range_of_type(t);
}
auto or_range(const Range& a, const Range& b, Type t) -> Range {
  if (!is_nonnegative(a) || !is_nonnegative(b) || !a.hi || !b.hi) return range_of_type(t);
  // no bit above the highest of either: 5 | 2 may be 7
  return {0, ones_above(std::max(*a.hi, *b.hi))};
}

/// x >> by for constant amounts within the width; by < 0 shifts left.
auto shift_range(const Range& a, int64_t by, Type t) -> Range {
  if (by >= 0 && by < std::min<int64_t>(t.bits, 63)) return div_of(a, Range::point(int64_t{1} << by));
  if (by < 0 && by > -63) return within(t, a * Range::point(int64_t{1} << -by));
  return range_of_type(t);
}

auto absolute(const Range& r) -> Range {
  if (is_nonnegative(r)) return r;
  if (r.hi && *r.hi <= 0) return -r;
  return max_of(Range{0, r.hi}, -Range{r.lo, 0});
}

}  // namespace

auto ValueRanges::of(const Expr& e) -> Range {
  if (const auto hit = memo_.find(e.get()); hit != memo_.end()) return hit->second.second;
  const Range r = compute(e);
  memo_.emplace(e.get(), std::pair(e, r));
  return r;
}

auto ValueRanges::compute(const Expr& e) -> Range {
  const Type t = e.type();
  const Range all = range_of_type(t);
  switch (e.kind()) {
    case Kind::IntImm: {
      const int64_t v = e.to<IntImm>().value;
      return t.is_uint() && v < 0 ? all : Range::point(v);  // u64 beyond int64
    }
    case Kind::VarRef: {
      const auto& s = *e.to<VarRef>().symbol;
      Range r = t.is_index() ? promised_range(s) : intersection_of(all, promised_range(s));
      if (const auto let = lets_.find(&s); let != lets_.end()) r = intersection_of(r, let->second);
      const auto known = hooks_.symbol ? hooks_.symbol(s) : std::nullopt;
      return known ? intersection_of(r, *known) : r;
    }
    case Kind::Cast: return conversion(e);
    case Kind::Unary: {
      const auto& n = e.to<Unary>();
      if (n.op == UnaryOp::Not || t.is_bool()) return {0, 1};
      if (n.op == UnaryOp::Neg) return within(t, -of(n.a));
      // ~x is all ones minus x, and for signed x that is -x - 1
      if (t.is_uint()) return all.hi ? Range::point(*all.hi) - of(n.a) : all;
      return -of(n.a) - Range::point(1);
    }
    case Kind::Binary: return binary_range(e);
    case Kind::Select: {
      const auto& n = e.to<Select>();
      return union_of(of(n.yes), of(n.no));
    }
    case Kind::Call: return call_range(e);
    case Kind::Access:
    case Kind::Load: {
      const auto known = hooks_.element ? hooks_.element(e) : std::nullopt;
      return known ? intersection_of(all, *known) : all;
    }
    case Kind::Ramp: {
      const auto& n = e.to<Ramp>();
      return within(t, of(n.base) + of(n.stride) * Range{0, t.lanes - 1});
    }
    case Kind::Broadcast: return of(e.to<Broadcast>().value);
    case Kind::Let: {
      const auto& n = e.to<Let>();
      if (n.value.type().is_float()) {
        float_lets_.insert_or_assign(n.symbol.get(), float_of(n.value));
      } else {
        lets_.insert_or_assign(n.symbol.get(), of(n.value));
      }
      return of(n.body);
    }
    case Kind::FloatImm:
    case Kind::Address:
    case Kind::Reinterpret:
#include "drawloom/ir/statement_cases.def"
      break;
  }
  return all;
}

auto ValueRanges::binary_range(const Expr& e) -> Range {
  const auto& n = e.to<Binary>();
  const Type t = e.type();
  if (t.is_bool()) return {0, 1};
  const Range a = of(n.a), b = of(n.b);
  switch (n.op) {
    case BinaryOp::Add: return within(t, a + b);
    case BinaryOp::Sub: return within(t, a - b);
    case BinaryOp::Mul: return within(t, a * b);
    case BinaryOp::Div: return within(t, div_of(a, b));
    case BinaryOp::Mod: return within(t, mod_of(a, b));
    case BinaryOp::Min: return min_of(a, b);
    case BinaryOp::Max: return max_of(a, b);
    case BinaryOp::BitAnd: return and_range(a, b, t);
    case BinaryOp::BitOr:
    case BinaryOp::BitXor: return or_range(a, b, t);
    case BinaryOp::Shl: return b.is_point() && *b.lo != INT64_MIN ? shift_range(a, -*b.lo, t) : range_of_type(t);
    case BinaryOp::Shr: return b.is_point() ? shift_range(a, *b.lo, t) : range_of_type(t);
    case BinaryOp::EQ:
    case BinaryOp::NE:
    case BinaryOp::LT:
    case BinaryOp::LE:
    case BinaryOp::GT:
    case BinaryOp::GE:
    case BinaryOp::And:
    case BinaryOp::Or: break;
  }
  return range_of_type(t);
}

/// Intrinsics on floats that give a float have no integer range; compute_float knows the monotone ones.
auto ValueRanges::call_range(const Expr& e) -> Range {
  const auto& n = e.to<Call>();
  if (n.args[0].type().is_float()) return range_of_type(e.type());
  if (n.function == Intrinsic::Abs) return within(e.type(), absolute(of(n.args[0])));
  if (n.function == Intrinsic::Absd) return within(e.type(), absolute(of(n.args[0]) - of(n.args[1])));
  return range_of_type(e.type());
}

auto ValueRanges::conversion(const Expr& e) -> Range {
  const Expr& from = e.to<Cast>().value;
  const Type t = e.type();
  if (t.is_bool()) return {0, 1};
  if (t.is_float()) return {};
  if (!from.type().is_float()) return within(t, of(from));
  // Truncated, then saturated. Ends beyond 2^62 say nothing.
  const FloatRange f = float_of(from);
  Range r;
  if (f.lo > -0x1p62 && f.lo < 0x1p62) r.lo = static_cast<int64_t>(std::trunc(f.lo));
  if (f.hi > -0x1p62 && f.hi < 0x1p62) r.hi = static_cast<int64_t>(std::trunc(f.hi));
  const Range all = range_of_type(t);
  return {all.lo && r.lo ? std::clamp(*r.lo, *all.lo, all.hi.value_or(INT64_MAX))
          : all.lo       ? all.lo
                         : r.lo,
          all.hi && r.hi ? std::clamp(*r.hi, all.lo.value_or(INT64_MIN), *all.hi)
          : all.hi       ? all.hi
                         : r.hi};
}

// ---- floats: ends of clamps, moved by monotone operations

auto ValueRanges::float_of(const Expr& e) -> FloatRange {
  if (const auto hit = floats_.find(e.get()); hit != floats_.end()) return hit->second.second;
  FloatRange r = compute_float(e);
  // infinity - infinity and the like: the end says nothing
  if (std::isnan(r.lo) || std::isnan(r.hi)) r = {-kInfinity, kInfinity};
  floats_.emplace(e.get(), std::pair(e, r));
  return r;
}

auto ValueRanges::compute_float(const Expr& e) -> FloatRange {
  const FloatRange all = {-kInfinity, kInfinity};
  // Rounding is monotone, so rounded ends bound rounded values.
  const auto rounded = [&](double lo, double hi) {
    return FloatRange{round_float(e.type(), lo), round_float(e.type(), hi)};
  };
  if (const auto* imm = e.as<FloatImm>()) return {imm->value, imm->value};
  if (const auto* b = e.as<Broadcast>()) return float_of(b->value);
  if (const auto* s = e.as<Select>()) {
    const FloatRange a = float_of(s->yes), b = float_of(s->no);
    return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
  }
  if (const auto* v = e.as<VarRef>()) {
    const auto let = float_lets_.find(v->symbol.get());
    return let == float_lets_.end() ? all : let->second;
  }
  if (const auto* c = e.as<Cast>()) {
    if (c->value.type().is_float()) {
      const FloatRange f = float_of(c->value);
      return rounded(f.lo, f.hi);
    }
    const Range r = of(c->value);
    // To the nearest double and then on would be two roundings, which may end on the other side of the one that is meant.
    return rounded(r.lo ? double_below(*r.lo) : -kInfinity, r.hi ? double_above(*r.hi) : kInfinity);
  }
  if (const auto* u = e.as<Unary>()) {
    const FloatRange a = float_of(u->a);
    return u->op == UnaryOp::Neg ? FloatRange{-a.hi, -a.lo} : all;
  }
  if (const auto* c = e.as<Call>()) {
    const FloatRange a = float_of(c->args[0]);
    if (c->function == Intrinsic::Floor) return {std::floor(a.lo), std::floor(a.hi)};
    if (c->function == Intrinsic::Ceil) return {std::ceil(a.lo), std::ceil(a.hi)};
    if (c->function == Intrinsic::Round) return {std::nearbyint(a.lo), std::nearbyint(a.hi)};
    if (c->function == Intrinsic::Trunc) return {std::trunc(a.lo), std::trunc(a.hi)};
    if (c->function == Intrinsic::Abs) {
      return {std::max({0.0, a.lo, -a.hi}), std::max(std::abs(a.lo), std::abs(a.hi))};
    }
    return all;
  }
  const auto* n = e.as<Binary>();
  if (!n) return all;
  const FloatRange a = float_of(n->a), b = float_of(n->b);
  if (n->op == BinaryOp::Add) return rounded(a.lo + b.lo, a.hi + b.hi);
  if (n->op == BinaryOp::Sub) return rounded(a.lo - b.hi, a.hi - b.lo);
  if (n->op == BinaryOp::Min) return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
  if (n->op == BinaryOp::Max) return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
  const bool divides = n->op == BinaryOp::Div && (b.lo > 0 || b.hi < 0);
  if (n->op != BinaryOp::Mul && !divides) return all;
  // The product of a zero and an infinite end is 0: the end is only unknown, each value is a number.
  const auto of_corner = [&](double x, double y) { return divides ? x / y : x == 0 || y == 0 ? 0 : x * y; };
  const double corners[] = {of_corner(a.lo, b.lo), of_corner(a.lo, b.hi), of_corner(a.hi, b.lo), of_corner(a.hi, b.hi)};
  for (double c : corners) {
    if (std::isnan(c)) return all;
  }
  return rounded(*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4));
}

auto value_range(const Expr& e, const RangeHooks& hooks) -> Range { return ValueRanges(hooks).of(e); }

}  // namespace drawloom
