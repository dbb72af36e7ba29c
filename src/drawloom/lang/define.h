#pragma once
/// The checks behind `f(x, y) = ...`. Results, not exceptions: the fluent door and the parser of pipelines share them.

#include "drawloom/lang/function.h"
#include "drawloom/support/result.h"

namespace drawloom {

/// Gives `f` its pure definition, or one more update when it has one. `lhs` and `values` as written: subscripts become
/// index, stored indices i32, literals take declared types; Vars are matched by name; self-reads stop owning `f`; every
/// other Func that is read is frozen. On failure `f` is unchanged.
/// Errors: the section "the algorithm language" of diags.def, from expr_undefined to recurrence_unstarted.
auto define(FunctionDef& f, const ExprList& lhs, const ExprList& values, const Loc& loc) -> Status;

/// A call of `f` as a value. `args` as written. Errors: func_undefined, func_arity, name_missing (component), subscript_type.
auto call_func(const Ref<FunctionDef>& f, int component, const ExprList& args, const Loc& loc) -> Result<Expr>;

/// No more definitions for `f`, since it is used at `loc`.
void freeze(const FunctionDef& f, const Loc& loc);

/// "1 dimension", "2 dimensions".
auto counted(int n, std::string_view what) -> std::string;

}  // namespace drawloom
