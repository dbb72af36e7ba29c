#pragma once
// An index expression's value, worked out by the shortest code that can do it; shares nothing with the code under test.

#include <map>

#include "drawloom/analysis/form.h"
#include "drawloom/ir/build.h"
#include "drawloom/support/hash.h"

namespace drawloom::testing {

using Point = std::map<const Symbol*, int64_t>;

inline auto reference_div(int64_t a, int64_t b) -> int64_t {
  if (b == 0) return 0;
  int64_t q = a / b;
  if (a - q * b < 0) q += b > 0 ? -1 : 1;
  return q;
}

inline auto reference_value(const Expr& e, const Point& at) -> int64_t {
  const auto value = [&](const Expr& x) { return reference_value(x, at); };
  if (const auto* imm = e.as<IntImm>()) return imm->value;
  if (const auto* var = e.as<VarRef>()) return at.at(var->symbol.get());
  if (const auto* c = e.as<Cast>()) return value(c->value);
  if (const auto* s = e.as<Select>()) return value(value(s->condition) ? s->yes : s->no);
  if (const auto* u = e.as<Unary>()) return u->op == UnaryOp::Not ? !value(u->a) : -value(u->a);
  const auto& b = e.to<Binary>();
  const int64_t x = value(b.a), y = value(b.b);
  switch (b.op) {
    case BinaryOp::Add: return x + y;
    case BinaryOp::Sub: return x - y;
    case BinaryOp::Mul: return x * y;
    case BinaryOp::Div: return reference_div(x, y);
    case BinaryOp::Mod: return y == 0 ? 0 : x - y * reference_div(x, y);
    case BinaryOp::Min: return x < y ? x : y;
    case BinaryOp::Max: return x > y ? x : y;
    case BinaryOp::EQ: return x == y;
    case BinaryOp::NE: return x != y;
    case BinaryOp::LT: return x < y;
    case BinaryOp::LE: return x <= y;
    case BinaryOp::GT: return x > y;
    case BinaryOp::GE: return x >= y;
    case BinaryOp::And: return x && y;
    case BinaryOp::Or: return x || y;
    case BinaryOp::Shl: return x << y;
    case BinaryOp::Shr: return x >> y;
    case BinaryOp::BitAnd: return x & y;
    case BinaryOp::BitOr: return x | y;
    case BinaryOp::BitXor: return x ^ y;
  }
  return 0;
}

/// A few symbols, and random index expressions and forms over them.
struct Generator {
  CounterRandom random;
  SymbolRef n, m, p, x, y, z;
  std::vector<SymbolRef> all;

  explicit Generator(uint64_t seed) : random(seed) {
    n = make_symbol(SymbolKind::BufferExtent, "n");
    auto promised = make_ref<Symbol>(SymbolKind::Param, "m", int_type(32), Loc());
    promised->min = 1;
    promised->max = 9;
    m = promised;
    p = make_symbol(SymbolKind::BufferMin, "p");
    x = make_symbol(SymbolKind::Loop, "x");
    y = make_symbol(SymbolKind::Loop, "y");
    z = make_symbol(SymbolKind::Var, "z");
    all = {n, m, p, x, y, z};
  }

  auto point() -> Point {
    Point at;
    for (const auto& s : all) at[s.get()] = random.uniform(-20, 20);
    at[n.get()] = random.uniform(0, 20);
    at[m.get()] = random.uniform(1, 9);
    return at;
  }

  auto leaf() -> Expr {
    if (random.chance(30)) return index_imm(random.uniform(-9, 9));
    return cast(kIndex, var_ref(all[static_cast<size_t>(random.uniform(0, 5))]));
  }

  auto comparison(int depth) -> Expr {
    constexpr BinaryOp ops[] = {BinaryOp::EQ, BinaryOp::NE, BinaryOp::LT, BinaryOp::LE, BinaryOp::GT, BinaryOp::GE};
    if (depth > 0 && random.chance(25)) {
      return binary(random.chance(50) ? BinaryOp::And : BinaryOp::Or, comparison(depth - 1), comparison(depth - 1));
    }
    if (random.chance(10)) return unary(UnaryOp::Not, comparison(depth - 1));
    return binary(ops[random.uniform(0, 5)], expr(depth - 1), expr(depth - 1));
  }

  auto divisor() -> Expr {
    switch (random.uniform(0, 7)) {
      case 0: return cast(kIndex, var_ref(m));
      case 1: return var_ref(n);
      case 2: return binary(BinaryOp::Add, var_ref(n), index_imm(1));
      case 3: return index_imm(random.uniform(-4, 0));
      default: return index_imm(random.uniform(1, 12));
    }
  }

  auto expr(int depth) -> Expr {
    if (depth <= 0 || random.chance(10)) return leaf();
    const auto two = [&](BinaryOp op) { return binary(op, expr(depth - 1), expr(depth - 1)); };
    switch (random.uniform(0, 11)) {
      case 0:
      case 1:
      case 2: return two(BinaryOp::Add);
      case 3:
      case 4: return two(BinaryOp::Sub);
      case 5:
        return binary(BinaryOp::Mul, expr(depth - 1), random.chance(70) ? index_imm(random.uniform(-9, 9)) : leaf());
      case 6: return two(BinaryOp::Min);
      case 7: return two(BinaryOp::Max);
      case 8: return binary(BinaryOp::Div, expr(depth - 1), divisor());
      case 9: return binary(BinaryOp::Mod, expr(depth - 1), divisor());
      case 10: return unary(UnaryOp::Neg, expr(depth - 1));
      default: return select(comparison(depth - 1), expr(depth - 1), expr(depth - 1));
    }
  }
};

inline auto env_of(const Point& at) -> FormEnv {
  return [&at](const SymbolRef& s) -> std::optional<int64_t> { return at.at(s.get()); };
}

}  // namespace drawloom::testing
