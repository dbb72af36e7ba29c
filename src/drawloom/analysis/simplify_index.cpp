// Index arithmetic through forms.
//
//   known: 0 <= xi <= 7.   (8*xo + xi)/8 + min(xi, 9)   ->  xo + xi
//   known: 0 <= x < n.     x < n                        ->  true
//
// The expression becomes a form, which the facts simplify, and an expression again. That one is taken only if it has
// fewer nodes: a form spells products out, and expressions that share parts would otherwise grow.

#include <unordered_set>

#include "drawloom/analysis/simplify_expr.h"
#include "drawloom/ir/build.h"
#include "drawloom/ir/rewrite.h"

namespace drawloom {
namespace {

constexpr int kMaxSize = 200;  // larger expressions are left to the rules, which look at one node at a time

auto size_of(const Node& node, std::unordered_set<const Node*>& seen, int limit) -> void {
  if (static_cast<int>(seen.size()) > limit || !seen.insert(&node).second) return;
  each_child(node, [&](const auto& child) { size_of(*child.get(), seen, limit); });
}

}  // namespace

auto bounded_size(const Expr& e, int limit) -> int {
  std::unordered_set<const Node*> seen;
  size_of(*e.get(), seen, limit);
  return static_cast<int>(seen.size());
}

auto is_index_arithmetic(const Expr& e) -> bool {
  if (e.type() != kIndex) return false;
  switch (e.kind()) {
    case Kind::Unary: return e.to<Unary>().op == UnaryOp::Neg;
    case Kind::Select: return true;
    case Kind::Binary: {
      const BinaryOp op = e.to<Binary>().op;
      return op == BinaryOp::Add || op == BinaryOp::Sub || op == BinaryOp::Mul || op == BinaryOp::Div ||
             op == BinaryOp::Mod || op == BinaryOp::Min || op == BinaryOp::Max;
    }
    case Kind::IntImm:
    case Kind::FloatImm:
    case Kind::VarRef:
    case Kind::Cast:
    case Kind::Call:
    case Kind::Access:
    case Kind::Load:
    case Kind::Ramp:
    case Kind::Broadcast:
    case Kind::Let:
    case Kind::Address:
    case Kind::Reinterpret:
#include "drawloom/ir/statement_cases.def"
      break;
  }
  return false;
}

auto IndexSimplifier::value(const Expr& e, const Facts& facts) -> Expr {
  if (!is_index_arithmetic(e)) return e;
  const int size = bounded_size(e, kMaxSize);
  if (size > kMaxSize) return e;
  const Expr again = to_expr(facts.simplify(to_form(e)));
  return bounded_size(again, size) < size ? again : e;
}

auto IndexSimplifier::condition(const Expr& e, const Facts& facts) -> Expr {
  const auto* b = e.as<Binary>();
  if (!b || !is_compare(b->op) || b->a.type() != kIndex) return e;
  const bool differs = b->op == BinaryOp::NE;
  const int size = bounded_size(e, kMaxSize);
  if (size > kMaxSize) return e;
  const auto cond = to_cond(differs ? binary(BinaryOp::EQ, b->a, b->b) : e);
  if (!cond) return e;
  const Cond simple = facts.simplify(*cond);
  if (simple.is_always() || simple.is_never()) return bool_imm(simple.is_always() != differs, 1, e.loc());
  // An equality is two inequalities in a form: worth it only where it is decided.
  if (b->op == BinaryOp::EQ || differs) return e;
  const Expr again = to_expr(simple);
  return bounded_size(again, size) < size ? again : e;
}

}  // namespace drawloom
