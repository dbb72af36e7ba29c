#pragma once
/// Where a product and a sum become one rounding. Decided on the definition, so no schedule, vector width or target can
/// change the bits (design section 3).
///
/// The rule, for f32 and f64, from the operands up:
///   a sum or difference of which an operand is a single-use product becomes an fma; of two such operands the left one:
///     a*b + c  ->  fma(a, b, c)          c + a*b  ->  fma(a, b, c)
///     a*b - c  ->  fma(a, b, -c)         c - a*b  ->  fma(-a, b, c)
///   a product is single-use when, with structurally equal expressions of the definition counted as one, exactly one
///   operand place in the definition (its left side and all its values) refers to it.
/// So a*b + c*d is fma(a, b, c*d); a*b + a*b has no fma, since its product is used twice; and it makes no difference
/// whether the C++ program shared the Expr or wrote it twice.

#include "drawloom/ir/nodes.h"

namespace drawloom {

/// `values` with fma nodes; the same handles where none applies. `lhs` counts as uses only.
auto contract(const ExprList& lhs, const ExprList& values) -> ExprList;

}  // namespace drawloom
