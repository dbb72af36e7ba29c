// Values of forms at given symbol values, in checked arithmetic.
//
// Absent is what overflows, a symbol that the environment does not know, and opaque data. A choice needs only the side
// that is taken, and a conjunction is false as soon as one term is, whatever the others are. Nodes that are shared are
// evaluated once, so a graph costs its size.

#include <unordered_map>

#include "drawloom/analysis/form_internal.h"
#include "drawloom/ir/build.h"

namespace drawloom {
namespace {

using Value = std::optional<int64_t>;

auto divide(int64_t a, int64_t b) -> Value {
  if (b == 0) return 0;
  if (b == INT64_MIN || (b < 0 && a == INT64_MIN)) return {};
  return b > 0 ? forms::floor_divide(a, b) : -forms::floor_divide(a, -b);
}
auto remainder(int64_t a, int64_t b) -> Value {
  if (b == 0) return 0;
  if (b == INT64_MIN) return {};
  return forms::modulo(a, b < 0 ? -b : b);
}

class Evaluator {
 public:
  explicit Evaluator(const FormEnv& env) : env_(env) {}

  auto form(const Form& f) -> Value {
    int64_t sum = f.constant();
    for (const auto& t : f.terms()) {
      int64_t value = t.factor;
      for (const auto& s : t.symbols) {
        const Value v = env_(s);
        if (!v || __builtin_mul_overflow(value, *v, &value)) return {};
      }
      if (t.atom) {
        const Value v = atom(*t.atom);
        if (!v || __builtin_mul_overflow(value, *v, &value)) return {};
      }
      if (__builtin_add_overflow(sum, value, &sum)) return {};
    }
    return sum;
  }

  auto condition(const Cond& c) -> std::optional<bool> {
    if (c.is_never()) return false;
    bool known = true;
    for (const auto& f : c.terms()) {
      const Value v = form(f);
      if (v && *v < 0) return false;
      known = known && v.has_value();
    }
    return known ? std::optional(true) : std::nullopt;
  }

 private:
  /// What has one user cannot be met twice: no entry for it.
  auto atom(const Atom& a) -> Value {
    if (a.ref_count() < 2) return compute(a);
    if (const auto hit = atoms_.find(&a); hit != atoms_.end()) return hit->second;
    const Value v = compute(a);
    atoms_.emplace(&a, v);
    return v;
  }

  auto compute(const Atom& a) -> Value {
    switch (a.kind) {
      case AtomKind::None: return {};
      case AtomKind::Opaque: return expr(a.expr);
      case AtomKind::Choose: {
        const auto c = condition(a.condition);
        return c ? form(a.operands[*c ? 0 : 1]) : Value();
      }
      case AtomKind::FloorDiv:
      case AtomKind::Mod: {
        const Value x = form(a.operands[0]), y = form(a.operands[1]);
        if (!x || !y) return {};
        return a.kind == AtomKind::FloorDiv ? divide(*x, *y) : remainder(*x, *y);
      }
      case AtomKind::Min:
      case AtomKind::Max: break;
    }
    Value best;
    for (const auto& f : a.operands) {
      const Value v = form(f);
      if (!v) return {};
      if (!best || (a.kind == AtomKind::Min ? *v < *best : *v > *best)) best = v;
    }
    return best;
  }

  /// Expressions of index arithmetic; data types are left alone.
  auto expr(const Expr& e) -> Value {
    if (const auto hit = exprs_.find(e.get()); hit != exprs_.end()) return hit->second;
    const Value v = compute(e);
    exprs_.emplace(e.get(), v);
    return v;
  }

  auto compute(const Expr& e) -> Value {
    const bool whole = e.type().is_index() || e.type().is_bool();
    if (const auto* imm = e.as<IntImm>()) return imm->value;
    if (const auto* var = e.as<VarRef>()) return env_(var->symbol);
    if (const auto* c = e.as<Cast>()) return e.type().is_index() ? expr(c->value) : Value();
    if (!whole || !e.type().is_scalar()) return {};
    if (const auto* s = e.as<Select>()) {
      const Value c = expr(s->condition);
      return c ? expr(*c ? s->yes : s->no) : Value();
    }
    if (const auto* b = e.as<Binary>()) {
      if (!b->a.type().is_index() && !b->a.type().is_bool()) return {};
      const Value x = expr(b->a), y = expr(b->b);
      return x && y ? binary_value(b->op, *x, *y) : Value();
    }
    if (const auto* u = e.as<Unary>()) {
      const Value x = expr(u->a);
      int64_t negated = 0;
      if (!x) return {};
      if (u->op == UnaryOp::Not) return *x == 0;
      if (u->op == UnaryOp::BitNot) return ~*x;
      return __builtin_sub_overflow(int64_t{0}, *x, &negated) ? Value() : Value(negated);
    }
    return {};
  }

  static auto binary_value(BinaryOp op, int64_t x, int64_t y) -> Value {
    int64_t out = 0;
    switch (op) {
      case BinaryOp::Add: return __builtin_add_overflow(x, y, &out) ? Value() : Value(out);
      case BinaryOp::Sub: return __builtin_sub_overflow(x, y, &out) ? Value() : Value(out);
      case BinaryOp::Mul: return __builtin_mul_overflow(x, y, &out) ? Value() : Value(out);
      case BinaryOp::Div: return divide(x, y);
      case BinaryOp::Mod: return remainder(x, y);
      case BinaryOp::Min: return x < y ? x : y;
      case BinaryOp::Max: return x > y ? x : y;
      case BinaryOp::BitAnd: return x & y;
      case BinaryOp::BitOr: return x | y;
      case BinaryOp::BitXor: return x ^ y;
      case BinaryOp::Shl:
      case BinaryOp::Shr: return {};
      case BinaryOp::EQ: return x == y;
      case BinaryOp::NE: return x != y;
      case BinaryOp::LT: return x < y;
      case BinaryOp::LE: return x <= y;
      case BinaryOp::GT: return x > y;
      case BinaryOp::GE: return x >= y;
      case BinaryOp::And: return x && y;
      case BinaryOp::Or: return x || y;
    }
    return {};
  }

  const FormEnv& env_;
  std::unordered_map<const Atom*, Value> atoms_;
  std::unordered_map<const ExprNode*, Value> exprs_;
};

}  // namespace

auto evaluate(const Form& f, const FormEnv& env) -> std::optional<int64_t> { return Evaluator(env).form(f); }
auto evaluate(const Cond& c, const FormEnv& env) -> std::optional<bool> { return Evaluator(env).condition(c); }

}  // namespace drawloom
