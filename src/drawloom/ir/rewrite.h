#pragma once
/// Walking and rewriting. A rewrite returns the same handle where nothing changed, and visits a shared node once.

#include <unordered_map>

#include "drawloom/ir/nodes.h"

namespace drawloom {

/// Derive with CRTP-free overriding by template: a Rewriter calls `derived.visit(const T&, Handle)`... see below.
///
/// struct Doubler : Rewriter<Doubler> {
///   using Rewriter::rewrite;
///   auto on(const IntImm& n, const Expr& self) -> Expr { return int_imm(n.type, 2 * n.value, n.loc); }
/// };
/// Doubler().rewrite(stmt);
///
/// A kind without an `on` is rebuilt from its rewritten children. `on` may call `rewrite_children(self)`.
/// Results are memoised by node; `clear_memo()` when the meaning of a symbol changes with scope.
template <typename Derived>
class Rewriter;

/// Calls `visit(e)` for each child expression and `visit(s)` for each child statement, in field order; undefined
/// optional children are skipped. F takes both `const Expr&` and `const Stmt&`.
template <typename F>
void each_child(const Node& node, F&& visit);

/// Replaces free symbols by expressions, all at once. Bound symbols are unique objects, so nothing is captured.
using Substitution = std::unordered_map<const Symbol*, Expr>;
auto substitute(const Expr& e, const Substitution& map) -> Expr;
auto substitute(const Stmt& s, const Substitution& map) -> Stmt;
auto uses_symbol(const Expr& e, const Symbol* symbol) -> bool;
auto uses_symbol(const Stmt& s, const Symbol* symbol) -> bool;

}  // namespace drawloom

#include "drawloom/ir/rewrite_inl.h"
