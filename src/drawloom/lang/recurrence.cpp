// Example: g(x, t) = select(t == 0, in(x), g(x - 1, t - 1) + 1).
//
// Along x all self-reads are at distance 1, but no guard says where x starts; along t they are too, and the outermost
// select is a guard `t == 0` whose first branch does not read g: dimension t, first step 0. With reads at t - 1 and t -
// 2 the guards t == 0 and t == 1 must follow each other, or one guard `t <= 1` covers both steps.
//
// Only this form is recognised, by pattern: guard outermost, bound constant at the call, distances constant. Whatever
// needs a proof is left to updates over an RDom, whose order is written down.
#include "drawloom/lang/recurrence.h"

#include <algorithm>

#include "drawloom/ir/build.h"
#include "drawloom/ir/node_ops.h"
#include "drawloom/lang/walk.h"

namespace drawloom {
namespace {

auto self_reads(const FunctionDef& f, const ExprList& roots) -> std::vector<const Access*> {
  std::vector<const Access*> out;
  for_each_node(roots, [&](const Expr& e) {
    if (const auto* a = e.as<Access>(); a && a->func == &f) out.push_back(a);
  });
  return out;
}
auto is_same_point(const Access& read, const ExprList& lhs) -> bool {
  for (size_t d = 0; d < lhs.size(); ++d) {
    if (!equal(read.args[d], lhs[d])) return false;
  }
  return true;
}
auto is_constant_at_call(const Expr& e) -> bool {
  bool constant = true;
  for_each_node(e, [&](const Expr& n) {
    const auto* v = n.as<VarRef>();
    constant = constant && !n.as<Access>() && !n.as<Load>() && (!v || is_runtime_symbol(*v->symbol));
  });
  return constant;
}
auto plus(const Expr& e, int64_t n) -> Expr {
  if (int64_t c; as_int(e, c)) return index_imm(c + n, e.loc());
  return n == 0 ? e : binary(BinaryOp::Add, e, index_imm(n, e.loc()), e.loc());
}

/// The condition under which a step is a first one: t == bound, or t <= bound.
struct Guard {
  bool equals;
  Expr bound;
  Expr first_steps, later_steps;  ///< the branches
};

auto mirrored(BinaryOp op) -> BinaryOp {
  if (op == BinaryOp::LT) return BinaryOp::GT;
  if (op == BinaryOp::LE) return BinaryOp::GE;
  if (op == BinaryOp::GT) return BinaryOp::LT;
  if (op == BinaryOp::GE) return BinaryOp::LE;
  return op;
}

auto guard_of(const Expr& e, const Symbol* t) -> std::optional<Guard> {
  const auto* s = e.as<Select>();
  const auto* c = s ? s->condition.as<Binary>() : nullptr;
  if (!c || !is_compare(c->op) || !c->a.type().is_index()) return {};
  const bool on_left = offset_from(c->a, t) == 0;
  if (!on_left && offset_from(c->b, t) != 0) return {};
  const BinaryOp op = on_left ? c->op : mirrored(c->op);
  const Expr& bound = on_left ? c->b : c->a;
  if (!is_constant_at_call(bound)) return {};
  if (op == BinaryOp::EQ) return Guard{true, bound, s->yes, s->no};
  if (op == BinaryOp::NE) return Guard{true, bound, s->no, s->yes};
  if (op == BinaryOp::LE) return Guard{false, bound, s->yes, s->no};
  if (op == BinaryOp::LT) return Guard{false, plus(bound, -1), s->yes, s->no};
  if (op == BinaryOp::GT) return Guard{false, bound, s->no, s->yes};
  return Guard{false, plus(bound, -1), s->no, s->yes};  // GE
}

/// First step along t of one component, or undefined. `reach`: the largest distance of a self-read.
auto first_step(const FunctionDef& f, const Expr& value, const Symbol* t, int64_t reach) -> Expr {
  auto guard = guard_of(value, t);
  if (!guard || !self_reads(f, {guard->first_steps}).empty()) return {};
  if (!guard->equals) return plus(guard->bound, 1 - reach);
  const Expr first = guard->bound;
  for (int64_t covered = 1; covered < reach; ++covered) {
    guard = guard_of(guard->later_steps, t);
    const bool next = guard && guard->equals && equal(guard->bound, plus(first, covered));
    if (!next || !self_reads(f, {guard->first_steps}).empty()) return {};
  }
  return first;
}

/// The largest distance along `dim`, or 0 when some self-read is not at a smaller value.
auto reach_along(const std::vector<const Access*>& reads, size_t dim, const Symbol* t) -> int64_t {
  int64_t reach = 0;
  for (const auto* read : reads) {
    const auto offset = offset_from(read->args[dim], t);
    if (!offset || *offset >= 0) return 0;
    reach = std::max(reach, -*offset);
  }
  return reach;
}

auto first_step(const FunctionDef& f, const ExprList& values, const Symbol* t, int64_t reach) -> Expr {
  Expr first;
  for (const auto& value : values) {
    if (self_reads(f, {value}).empty()) continue;
    const Expr here = first_step(f, value, t, reach);
    if (!here.defined() || (first.defined() && !equal(first, here))) return {};
    first = here;
  }
  return first;
}

}  // namespace

auto offset_from(const Expr& e, const Symbol* symbol) -> std::optional<int64_t> {
  if (const auto* v = e.as<VarRef>()) return v->symbol.get() == symbol ? std::optional<int64_t>(0) : std::nullopt;
  const auto* n = e.as<Binary>();
  int64_t c = 0;
  if (!n || (n->op != BinaryOp::Add && n->op != BinaryOp::Sub)) return {};
  if (as_int(n->b, c)) {
    const auto inner = offset_from(n->a, symbol);
    if (inner) return n->op == BinaryOp::Add ? *inner + c : *inner - c;
  }
  if (n->op == BinaryOp::Add && as_int(n->a, c)) {
    const auto inner = offset_from(n->b, symbol);
    if (inner) return *inner + c;
  }
  return {};
}

auto order_of_pure(const FunctionDef& f, const Definition& def) -> Result<Order> {
  const auto reads = self_reads(f, def.values);
  if (reads.empty()) return Order{};
  std::optional<size_t> unstarted;
  for (size_t d = 0; d < f.args.size(); ++d) {
    const Symbol* t = f.args[d].get();
    const int64_t reach = reach_along(reads, d, t);
    if (reach == 0) continue;
    if (const Expr first = first_step(f, def.values, t, reach); first.defined())
      return Order{static_cast<int>(d), first};
    if (!unstarted) unstarted = d;
  }
  if (unstarted) {
    const auto& t = f.args[*unstarted]->name;
    return Diag(DiagKind::recurrence_unstarted, def.loc, f.name, t)
        .with_help(str("define the first step outermost, as in select({} == 0, .., ..)", t));
  }
  return Diag(DiagKind::recurrence_unordered, def.loc, f.name)
      .with_note(reads[0]->loc, "it reads itself here")
      .with_help(
          "read it at v - 1 for one dimension v, under select(v == 0, .., ..); or make it an update over an RDom");
}

auto starts_at_one_step(const FunctionDef& f) -> bool {
  for (const auto& value : f.pure.values) {
    if (self_reads(f, {value}).empty()) continue;
    const auto guard = guard_of(value, f.args[static_cast<size_t>(f.ordered_dim)].get());
    if (!guard || guard->equals) return true;
  }
  return false;
}

auto order_of_update(const FunctionDef& f, const Definition& def) -> Order {
  const auto reads = self_reads(f, def.values);
  for (size_t d = 0; d < def.lhs.size(); ++d) {
    const auto* v = def.lhs[d].as<VarRef>();
    if (!v || v->symbol->kind != SymbolKind::RVar) continue;
    bool ordered = true, moves = false;
    for (const auto* read : reads) {
      if (is_same_point(*read, def.lhs)) continue;
      const auto offset = offset_from(read->args[d], v->symbol.get());
      ordered = ordered && offset && *offset < 0;
      moves = true;
    }
    if (!ordered || !moves) continue;
    for (const auto& dim : def.rdom->dims) {
      if (dim.symbol == v->symbol) return {static_cast<int>(d), dim.min};
    }
  }
  return {};
}

}  // namespace drawloom
