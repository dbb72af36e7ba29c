#pragma once
// Values of data expressions, lane by lane, by the words of ops.def; shares nothing with constant folding.

#include <cmath>
#include <map>
#include <vector>

#include "drawloom/ir/build.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/support/hash.h"

namespace drawloom::testing {

/// One lane: an integer with all its mathematical digits, or a float.
struct Lane {
  __int128 i = 0;
  double f = 0;
};
using Lanes = std::vector<Lane>;
using DataPoint = std::map<const Symbol*, Lanes>;

inline auto power_of_two(int k) -> __int128 { return static_cast<__int128>(1) << k; }

/// The member of the type that is congruent to v.
inline auto wrapped(Type t, __int128 v) -> __int128 {
  if (t.is_index()) return v;
  const __int128 modulus = power_of_two(t.bits);
  v = ((v % modulus) + modulus) % modulus;
  return t.is_int() && v >= modulus / 2 ? v - modulus : v;
}

struct DataReference {
  const DataPoint& at;
  bool open = false;  ///< met a case that the language leaves open (min of a NaN, of two zeros)

  auto value(const Expr& e) -> Lanes {
    const Type t = e.type();
    Lanes out(t.lanes);
    if (const auto* imm = e.as<IntImm>())
      return Lanes(t.lanes,
                   Lane{t.is_uint() ? static_cast<__int128>(static_cast<uint64_t>(imm->value)) : imm->value, 0});
    if (const auto* imm = e.as<FloatImm>()) return Lanes(t.lanes, Lane{0, imm->value});
    if (const auto* var = e.as<VarRef>()) return at.at(var->symbol.get());
    if (const auto* b = e.as<Broadcast>()) return Lanes(t.lanes, value(b->value)[0]);
    if (const auto* r = e.as<Ramp>()) {
      const Lane base = value(r->base)[0], stride = value(r->stride)[0];
      for (int k = 0; k < t.lanes; ++k) out[static_cast<size_t>(k)].i = wrapped(t, base.i + k * stride.i);
      return out;
    }
    if (const auto* s = e.as<Select>()) {
      const Lanes c = value(s->condition), a = value(s->yes), b = value(s->no);
      for (size_t k = 0; k < out.size(); ++k) out[k] = c[k].i ? a[k] : b[k];
      return out;
    }
    if (const auto* c = e.as<Cast>()) {
      const Lanes a = value(c->value);
      for (size_t k = 0; k < out.size(); ++k) out[k] = converted(t, c->value.type(), a[k]);
      return out;
    }
    if (const auto* u = e.as<Unary>()) {
      const Lanes a = value(u->a);
      for (size_t k = 0; k < out.size(); ++k) {
        if (u->op == UnaryOp::Not) out[k].i = !a[k].i;
        if (u->op == UnaryOp::BitNot) out[k].i = wrapped(t, -a[k].i - 1);
        if (u->op == UnaryOp::Neg) out[k] = {wrapped(t, -a[k].i), -a[k].f};
      }
      return out;
    }
    if (const auto* c = e.as<Call>()) {
      std::vector<Lanes> args;
      for (const auto& arg : c->args) args.push_back(value(arg));
      for (size_t k = 0; k < out.size(); ++k) {
        std::vector<Lane> one;
        for (const auto& a : args) one.push_back(a[k]);
        out[k] = called(c->function, c->args[0].type(), one);
      }
      return out;
    }
    const auto& n = e.to<Binary>();
    const Lanes a = value(n.a), b = value(n.b);
    for (size_t k = 0; k < out.size(); ++k) {
      out[k] = n.a.type().is_float() ? float_binary(n.op, n.a.type(), a[k].f, b[k].f)
                                     : Lane{int_binary(n.op, n.a.type(), a[k].i, b[k].i), 0};
    }
    return out;
  }

  static auto narrowed(Type t, double v) -> double {
    return t.bits == 32 ? static_cast<double>(static_cast<float>(v)) : v;
  }

  static auto quotient(__int128 a, __int128 b) -> __int128 {
    if (b == 0) return 0;
    const __int128 size = b < 0 ? -b : b;
    const __int128 rest = ((a % size) + size) % size;
    return (a - rest) / b;
  }

  static auto shifted(Type t, __int128 a, __int128 by) -> __int128 {
    if (by >= t.bits) return 0;
    if (by >= 0) return wrapped(t, a * power_of_two(static_cast<int>(by)));
    if (by <= -t.bits) return a < 0 ? -1 : 0;
    return quotient(a, power_of_two(static_cast<int>(-by)));
  }

  static auto int_binary(BinaryOp op, Type t, __int128 a, __int128 b) -> __int128 {
    const auto bits = [&](__int128 v) { return static_cast<uint64_t>(v); };
    switch (op) {
      case BinaryOp::Add: return wrapped(t, a + b);
      case BinaryOp::Sub: return wrapped(t, a - b);
      case BinaryOp::Mul:
        return t.bits == 64 && !t.is_index() ? wrapped(t, static_cast<__int128>(bits(a) * bits(b))) : wrapped(t, a * b);
      case BinaryOp::Div: return wrapped(t, quotient(a, b));
      case BinaryOp::Mod: return b == 0 ? 0 : wrapped(t, a - b * quotient(a, b));
      case BinaryOp::Min: return a < b ? a : b;
      case BinaryOp::Max: return a < b ? b : a;
      case BinaryOp::BitAnd: return wrapped(t, static_cast<__int128>(static_cast<int64_t>(bits(a) & bits(b))));
      case BinaryOp::BitOr: return wrapped(t, static_cast<__int128>(static_cast<int64_t>(bits(a) | bits(b))));
      case BinaryOp::BitXor: return wrapped(t, static_cast<__int128>(static_cast<int64_t>(bits(a) ^ bits(b))));
      case BinaryOp::Shl: return shifted(t, a, b);
      case BinaryOp::Shr: return shifted(t, a, -b);
      case BinaryOp::EQ: return a == b;
      case BinaryOp::NE: return a != b;
      case BinaryOp::LT: return a < b;
      case BinaryOp::LE: return a <= b;
      case BinaryOp::GT: return a > b;
      case BinaryOp::GE: return a >= b;
      case BinaryOp::And: return a && b;
      case BinaryOp::Or: return a || b;
    }
    return 0;
  }

  auto float_binary(BinaryOp op, Type t, double a, double b) -> Lane {
    const auto f = [&](double v) { return Lane{0, narrowed(t, v)}; };
    const auto truth = [](bool v) { return Lane{v, 0}; };
    switch (op) {
      case BinaryOp::Add: return f(a + b);
      case BinaryOp::Sub: return f(a - b);
      case BinaryOp::Mul: return f(a * b);
      case BinaryOp::Div: return f(a / b);
      case BinaryOp::Mod: return f(a - narrowed(t, b * std::floor(narrowed(t, a / b))));
      case BinaryOp::Min:
      case BinaryOp::Max:
        open = open || std::isnan(a) || std::isnan(b) || (a == 0 && b == 0);
        return f((op == BinaryOp::Min) == (a < b) ? a : b);
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
    return {};
  }

  auto converted(Type to, Type from, const Lane& a) -> Lane {
    if (to.is_float()) {
      if (from.is_float()) return {0, narrowed(to, a.f)};
      return {0, to.bits == 32 ? static_cast<double>(static_cast<float>(a.i)) : static_cast<double>(a.i)};
    }
    if (to.is_bool()) return {from.is_float() ? a.f != 0 : a.i != 0, 0};
    if (!from.is_float()) return {wrapped(to, a.i), 0};
    open = open || std::isnan(a.f);
    const __int128 least = to.is_uint() ? 0 : -power_of_two(to.bits - 1),
                   most = power_of_two(to.is_uint() ? to.bits : to.bits - 1) - 1;
    if (!(a.f > -1e30)) return {least, 0};
    if (!(a.f < 1e30)) return {most, 0};
    const auto whole = static_cast<__int128>(a.f);
    return {whole < least ? least : whole > most ? most : whole, 0};
  }

  auto called(Intrinsic f, Type t, const std::vector<Lane>& a) -> Lane {
    const Type result = t.is_int() ? uint_type(t.bits) : t;
    switch (f) {
      case Intrinsic::Abs: return {wrapped(result, a[0].i < 0 ? -a[0].i : a[0].i), std::fabs(a[0].f)};
      case Intrinsic::Absd:
        return {wrapped(result, a[0].i < a[1].i ? a[1].i - a[0].i : a[0].i - a[1].i),
                narrowed(t, std::fabs(a[0].f - a[1].f))};
      case Intrinsic::Fma:
        return {0, t.bits == 32 ? static_cast<double>(std::fma(static_cast<float>(a[0].f), static_cast<float>(a[1].f),
                                                               static_cast<float>(a[2].f)))
                                : std::fma(a[0].f, a[1].f, a[2].f)};
      case Intrinsic::Floor: return {0, std::floor(a[0].f)};
      case Intrinsic::Ceil: return {0, std::ceil(a[0].f)};
      case Intrinsic::Round: return {0, std::nearbyint(a[0].f)};
      case Intrinsic::Trunc: return {0, std::trunc(a[0].f)};
      case Intrinsic::Sqrt: return {0, narrowed(t, std::sqrt(a[0].f))};
      case Intrinsic::IsNan: return {std::isnan(a[0].f), 0};
      case Intrinsic::WarpUniform: return a[0];
      case Intrinsic::Exp:
      case Intrinsic::Log:
      case Intrinsic::Pow:
      case Intrinsic::Sin:
      case Intrinsic::Cos: break;
    }
    open = true;
    return {};
  }
};

inline auto same_bits(Type t, const Lanes& a, const Lanes& b) -> bool {
  for (size_t k = 0; k < a.size(); ++k) {
    if (!t.is_float() && a[k].i != b[k].i) return false;
    if (!t.is_float() || (std::isnan(a[k].f) && std::isnan(b[k].f))) continue;
    if (a[k].f != b[k].f || std::signbit(a[k].f) != std::signbit(b[k].f)) return false;
  }
  return a.size() == b.size();
}

/// Nodes that compute something, shared ones once: what rules may not increase.
inline auto operation_count(const Expr& e) -> int {
  int n = 0;
  each_node(*e.get(), [&](const Node& node) {
    bool leaf = true;
    each_child(node, [&](const auto&) { leaf = false; });
    n += !leaf;
    return true;
  });
  return n;
}

/// Values that break things more often than uniform ones.
inline auto interesting(CounterRandom& random, Type t) -> Lane {
  if (t.is_bool()) return {random.chance(50), 0};
  if (t.is_index()) return {random.uniform(-40, 40), 0};
  if (t.is_float()) {
    static const double edges[] = {0.0, -0.0, 1, -1, 0.5, INFINITY, -INFINITY, NAN, 1e-40, 3.4e38, 16777217, -2.5};
    const double v = random.chance(50) ? edges[random.uniform(0, 11)]
                                       : std::ldexp(static_cast<double>(random.uniform(-999999, 999999)),
                                                    static_cast<int>(random.uniform(-30, 10)));
    return {0, DataReference::narrowed(t, v)};
  }
  if (random.chance(40)) return {wrapped(t, random.uniform(-9, 9)), 0};
  if (random.chance(40))
    return {wrapped(t, power_of_two(static_cast<int>(random.uniform(0, t.bits - 1))) + random.uniform(-1, 1)), 0};
  return {wrapped(t, static_cast<__int128>(random.next())), 0};
}
inline auto interesting_lanes(CounterRandom& random, Type t) -> Lanes {
  Lanes out;
  for (int k = 0; k < t.lanes; ++k) out.push_back(interesting(random, t));
  return out;
}
inline auto constant_of(Type t, const Lane& v) -> Expr {
  return t.is_float() ? broadcast(float_imm(t.element(), v.f), t.lanes) : int_imm(t, static_cast<int64_t>(v.i));
}

}  // namespace drawloom::testing
