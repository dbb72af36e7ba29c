// The simplifier: one walk, operands before users. Each node is folded and rewritten by rules; index arithmetic is
// looked at as a whole where it ends (a subscript, a loop bound, a comparison). Statements bring facts: the range of a
// loop variable, the condition of a branch.
//
//   for x = 0 : n {                                for x = 0 : n {
//     if x < n {                              ->     store out[x] = in[x]
//       store out[x + 4 - 4] = in[x] * 1           }
//     }
//   }
//
// Three means, since each sees what the others do not: a rule one node and a little below it, of any type; a form a
// whole sum of indices, but no data; facts what stands around. Results found under facts are forgotten at the end of
// their scope, where they may not hold. There is no second walk: what a rule makes is simplified by rules as it is
// made. So an index sum that a rule puts inside a ramp meets no form: ramp(x + y - x, 1, 8) stays.

#include "drawloom/analysis/simplify.h"

#include <unordered_set>

#include "drawloom/analysis/simplify_expr.h"
#include "drawloom/ir/build.h"
#include "drawloom/ir/rewrite.h"

namespace drawloom {
namespace {

constexpr int kMaxLetFacts = 32;  // a proof looks at every fact

/// Rewrites the direct operands of a node.
template <typename F>
struct Operands : Rewriter<Operands<F>> {
  using Rewriter<Operands<F>>::rewrite_children;
  explicit Operands(F f) : change(f) {}
  auto on(const ExprNode&, const Expr& e) -> Expr { return change(e); }
  auto on(const StmtNode&, const Stmt& s) -> Stmt { return s; }
  F change;
};

auto is_empty(const Stmt& s) -> bool { return !s || (s.kind() == Kind::Block && s.to<Block>().stmts.empty()); }
auto nothing() -> Stmt { return make_block({}); }
auto is_true(const Expr& e) -> bool {
  int64_t v = 0;
  return e && as_int(e, v) && v != 0;
}
auto is_false(const Expr& e) -> bool { return e && is_int(e, 0); }

class Simplifier : public Rewriter<Simplifier> {
 public:
  auto on(const VarRef& n, const Expr& self) -> Expr {
    const auto known = values_.find(n.symbol.get());
    return known == values_.end() ? self : known->second;
  }

  auto on(const ExprNode&, const Expr& self) -> Expr {
    // Sums below a user that is no index arithmetic are complete; those inside larger sums are left for the larger one.
    Expr e = with_simple_subscripts(rewrite_children(self));
    e = simplify_node(e);
    const Expr decided = index_.condition(e, facts_);
    return decided == e ? e : simplify_node(decided);
  }

  auto on(const Let& n, const Expr& self) -> Expr {
    const Expr value = index_.value(rewrite(n.value), facts_);
    if (is_trivial(value)) {
      values_[n.symbol.get()] = value;
      return rewrite(n.body);
    }
    const Expr body = index_.value(rewrite(n.body), facts_);
    if (!uses_symbol(body, n.symbol.get())) return body;
    return value == n.value && body == n.body ? self : let(n.symbol, value, body, n.loc);
  }

  // ---- statements

  auto on(const Block& n, const Stmt& self) -> Stmt {
    StmtList kept;
    bool changed = false;
    for (const auto& s : n.stmts) {
      const Stmt t = rewrite(s);
      changed = changed || t != s;
      if (!is_empty(t)) kept.push_back(t);
    }
    return changed ? make_block(std::move(kept), n.loc) : self;
  }

  auto on(const For& n, const Stmt& self) -> Stmt {
    const Expr min = index(n.min), extent = index(n.extent);
    const Form count = to_form(extent), first = to_form(min);
    // The loops at the head of a launch say its shape, whatever they run.
    const bool head = n.how == ForKind::Block || n.how == ForKind::Thread;
    if (!head && facts_.proves_le(count, 0)) return nothing();
    if (!head && count.as_constant() == 1) return rewrite(let_stmt(n.symbol, min, n.body, n.loc));
    const Facts outer = facts_;
    // inside, the loop runs: its extent is at least 1
    facts_ = facts_.with(Cond::less_equal(1, count)).with_range(n.symbol, first, first + count - 1);
    const Stmt body = rewrite(n.body);
    leave(outer);
    if (!head && is_empty(body)) return nothing();
    const bool same = min == n.min && extent == n.extent && body == n.body;
    return same ? self : make_for(n.symbol, min, extent, n.how, body, n.loc);
  }

  auto on(const If& n, const Stmt& self) -> Stmt {
    const Expr condition = rewrite(n.condition);
    if (is_true(condition)) return rewrite(n.then);
    if (is_false(condition)) return n.otherwise ? rewrite(n.otherwise) : nothing();
    const auto known = to_cond(condition);
    const auto opposite = to_cond(simplify_node(unary(UnaryOp::Not, condition)));
    const Stmt then = under(known, n.then);
    const Stmt otherwise = n.otherwise ? under(opposite, n.otherwise) : n.otherwise;
    if (is_empty(then) && is_empty(otherwise)) return nothing();
    // only the else side is left: it stands under the opposite
    if (is_empty(then)) return make_if(simplify_node(unary(UnaryOp::Not, condition)), otherwise, {}, n.loc);
    const bool same = condition == n.condition && then == n.then && otherwise == n.otherwise;
    return same ? self : make_if(condition, then, is_empty(otherwise) ? Stmt() : otherwise, n.loc);
  }

  auto on(const LetStmt& n, const Stmt& self) -> Stmt {
    const Expr value = n.value.type() == kIndex ? index(n.value) : rewrite(n.value);
    if (is_trivial(value)) {
      values_[n.symbol.get()] = value;
      return rewrite(n.body);
    }
    const Facts outer = facts_;
    if (value.type() == kIndex && let_facts_ < kMaxLetFacts) {
      // True wherever the symbol is known, so nothing has to be forgotten on leaving.
      ++let_facts_;
      facts_ = facts_.with(Cond::equals(Form(n.symbol), to_form(value)));
    }
    const Stmt body = rewrite(n.body);
    facts_ = outer;
    if (is_empty(body)) return nothing();
    return value == n.value && body == n.body ? self : let_stmt(n.symbol, value, body, n.loc);
  }

  auto on(const Allocate& n, const Stmt& self) -> Stmt {
    ExprList extents;
    bool same = true;
    for (const auto& e : n.extents) {
      extents.push_back(index(e));
      same = same && extents.back() == e;
    }
    const Stmt body = rewrite(n.body);
    if (is_empty(body)) return nothing();
    return same && body == n.body ? self : allocate(n.buffer, std::move(extents), body, n.loc);
  }

  auto on(const Stage& n, const Stmt& self) -> Stmt {
    const Stmt body = rewrite(n.body);
    if (is_empty(body)) return nothing();
    return body == n.body ? self : stage(n.name, body, n.loc);
  }

  auto on(const Store& n, const Stmt& self) -> Stmt {
    const Stmt s = with_simple_subscripts(rewrite_children(self));
    const auto& m = s.to<Store>();
    if (is_false(m.mask)) return nothing();
    return is_true(m.mask) ? store(m.buffer, m.index, m.value, {}, m.origin, m.nontemporal, n.loc) : s;
  }

  auto on(const Load& n, const Expr& self) -> Expr {
    const Expr e = with_simple_subscripts(rewrite_children(self));
    const auto& m = e.to<Load>();
    return is_true(m.mask) ? load(m.buffer, m.index, {}, m.origin, n.loc) : e;
  }

  /// What holds in every call is not asked in any.
  auto on(const Check& n, const Stmt& self) -> Stmt {
    const Stmt s = rewrite_children(self);
    return is_true(s.to<Check>().condition) ? nothing() : s;
  }

  auto index(const Expr& e) -> Expr { return index_.value(rewrite(e), facts_); }

 private:
  static auto is_trivial(const Expr& e) -> bool {
    return e.kind() == Kind::IntImm || e.kind() == Kind::FloatImm || e.kind() == Kind::VarRef;
  }

  /// What the facts of a scope said must not be found again outside.
  void leave(const Facts& outer) {
    facts_ = outer;
    clear_memo();
  }

  auto under(const std::optional<Cond>& condition, const Stmt& body) -> Stmt {
    if (!condition) return rewrite(body);
    const Facts outer = facts_;
    facts_ = facts_.with(*condition);
    const Stmt out = rewrite(body);
    leave(outer);
    return out;
  }

  /// The operands of a node with index arithmetic that ends here made simple.
  template <typename H>
  auto with_simple_subscripts(const H& node) -> H {
    if constexpr (std::is_same_v<H, Expr>) {
      if (is_index_arithmetic(node)) return node;
    }
    bool any = false;
    each_child(*node.get(), [&](const auto& child) {
      if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) any = any || is_index_arithmetic(child);
    });
    if (!any) return node;
    const auto change = [this](const Expr& e) { return index_.value(e, facts_); };
    return Operands<decltype(change)>(change).rewrite_children(node);
  }

  Facts facts_;
  IndexSimplifier index_;
  int let_facts_ = 0;
  std::unordered_map<const Symbol*, Expr> values_;  ///< lets that are constants or other names
};

/// Removes lets whose symbol nobody reads, innermost first, in one walk.
class LetDropper : public Rewriter<LetDropper> {
 public:
  auto on(const LetStmt& n, const Stmt& self) -> Stmt {
    const Stmt body = rewrite(n.body);
    // the body was walked first, so all readers are known; the value is not counted for one that goes
    if (used_.count(n.symbol.get()) == 0) return body;
    note(n.value);
    return body == n.body ? self : let_stmt(n.symbol, n.value, body, n.loc);
  }
  /// Expressions stay as they are; what they read counts.
  auto on(const ExprNode&, const Expr& self) -> Expr {
    note(self);
    return self;
  }

 private:
  void note(const Expr& e) { visit(*e.get()); }
  void visit(const Node& node) {
    if (!seen_.insert(&node).second) return;
    if (node.kind == Kind::VarRef) used_.insert(static_cast<const VarRef&>(node).symbol.get());
    each_child(node, [this](const auto& child) { visit(*child.get()); });
  }
  std::unordered_set<const Node*> seen_;
  std::unordered_set<const Symbol*> used_;
};

}  // namespace

auto simplify(const Expr& e) -> Expr {
  Simplifier s;
  return s.index(e);
}

auto simplify(const Stmt& s) -> Stmt { return LetDropper().rewrite(Simplifier().rewrite(s)); }

}  // namespace drawloom
