#pragma once
/// Templates of rules.h.

#include "drawloom/analysis/rules.h"
#include "drawloom/analysis/simplify.h"

namespace drawloom {
namespace rules {

/// The type that a row's type means under a match. `vectors`: the row has vectors of its own.
auto actual_type(Type row, const Bindings& b, bool vectors) -> Type;
auto has_vectors(const Rule& rule) -> bool;
/// Built from wildcards for constants and literals alone, so that it folds.
auto is_constant_side(const Expr& side) -> bool;
/// A literal of a row in its actual type.
auto literal(const Expr& side, Type t) -> Expr;
/// A copy of node `side` of a row with other operands.
auto with_operands(const Expr& side, Type t, const ExprList& operands, const Loc& loc) -> Expr;
auto operands_of(const Expr& side) -> ExprList;

}  // namespace rules

template <typename Finish>
auto instantiate(const Rule& rule, const Expr& side, const Bindings& b, const Finish& finish) -> Expr {
  const Type t = rules::actual_type(side.type(), b, rules::has_vectors(rule));
  if (const auto* var = side.as<VarRef>()) return b.bound[static_cast<int>(wildcard_of(*var->symbol))];
  const ExprList given = rules::operands_of(side);
  if (given.empty()) return rules::literal(side, t);
  ExprList operands;
  for (const auto& o : given) {
    operands.push_back(instantiate(rule, o, b, finish));
    if (!operands.back()) return {};
  }
  const Expr made = rules::with_operands(side, t, operands, b.loc);
  if (!rules::is_constant_side(side)) return finish(made);
  const Expr folded = fold_constants(made);
  return folded == made ? Expr() : folded;
}

}  // namespace drawloom
