#pragma once
/// Reductions inside an expression: each is an anonymous Func over the free Vars of the expression, with one update over
/// the domain of its RVars.

#include "drawloom/lang/func.h"

namespace drawloom {

/// Over all RVars of `value`, which are of one domain. The sum has the type of `value` and wraps as that does.
/// Errors: rdom_missing, rdom_mixed.
auto sum(Arg value) -> Expr;
auto product(Arg value) -> Expr;
/// Over no point: the largest value of the type for minimum, the smallest for maximum, infinities for floats.
auto maximum(Arg value) -> Expr;
auto minimum(Arg value) -> Expr;

/// Over `domain`; RVars of other domains in `value` stay as they are.
auto sum(const RDom& domain, Arg value) -> Expr;
auto product(const RDom& domain, Arg value) -> Expr;
auto maximum(const RDom& domain, Arg value) -> Expr;
auto minimum(const RDom& domain, Arg value) -> Expr;

}  // namespace drawloom
