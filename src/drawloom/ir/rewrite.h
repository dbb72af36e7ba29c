#pragma once
/// Walking and rewriting. A rewrite returns the same handle where nothing changed, and visits a shared node once.

#include <concepts>
#include <unordered_map>

#include "drawloom/ir/nodes.h"

namespace drawloom {

/// Base of rewriting passes. Derive and write a public `on` for each kind that is treated specially:
///
/// struct Doubler : Rewriter<Doubler> {
///   auto on(const IntImm& n, const Expr& self) -> Expr { return int_imm(n.type, 2 * n.value, n.loc); }
///   auto on(const For& n, const Stmt& self) -> Stmt {
///     return n.how == ForKind::Serial ? rewrite_children(self) : self;
///   }
/// };
/// Stmt doubled = Doubler().rewrite(stmt);
///
/// `self` is the handle of `n`. Which `on` applies is settled at compile time by overload resolution, so
/// `on(const ExprNode&, const Expr&)` would take every expression kind that has no closer one. A kind without an `on` is
/// rebuilt from its rewritten children, with its location, and its type follows from theirs; ill-typed results fail a
/// DRAWLOOM_CHECK. Binders and buffers are kept.
///
/// Results are memoised by node. Symbols are unique objects, so what a node means does not depend on where it stands;
/// a Derived whose answer *does* depend on where it is (a guard, a mask in force) calls `clear_memo()` when that changes.
/// A statement is removed by returning `make_block({})`.
template <typename Derived>
class Rewriter {
 public:
  auto rewrite(const Expr& e) -> Expr;
  auto rewrite(const Stmt& s) -> Stmt;
  auto rewrite(const ExprList& list) -> ExprList;
  /// The node rebuilt from its rewritten children; the same handle when none changed.
  auto rewrite_children(const Expr& e) -> Expr;
  auto rewrite_children(const Stmt& s) -> Stmt;

 protected:
  void clear_memo();

 private:
  template <typename H>
  struct Entry {
    H key, result;  // the key is kept alive: a later node at its address must not find its result
  };
  std::unordered_map<const Node*, Entry<Expr>> expr_memo_;
  std::unordered_map<const Node*, Entry<Stmt>> stmt_memo_;
};

/// Calls `visit(e)` for each child expression and `visit(s)` for each child statement, in field order; undefined
/// optional children are skipped. F takes both `const Expr&` and `const Stmt&`.
template <typename F>
void each_child(const Node& node, F&& visit);

/// Calls `visit(node)` once for every node reachable from the root, parents before their children; a `visit` that returns
/// false keeps the walk from the children of that node. F takes a `const Node&` and returns bool.
template <typename F>
void each_node(const Node& root, F&& visit);

/// Replaces free symbols by expressions of their types, all at once. Bound symbols are unique objects, so nothing is
/// captured.
using Substitution = std::unordered_map<const Symbol*, Expr>;
auto substitute(const Expr& e, const Substitution& map) -> Expr;
auto substitute(const Stmt& s, const Substitution& map) -> Stmt;
auto uses_symbol(const Expr& e, const Symbol* symbol) -> bool;
auto uses_symbol(const Stmt& s, const Symbol* symbol) -> bool;

}  // namespace drawloom

#include "drawloom/ir/rewrite_inl.h"
