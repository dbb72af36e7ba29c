#pragma once
/// Constants of floating types, for folding and rules.

#include "drawloom/ir/nodes.h"

namespace drawloom {

/// The constant behind a FloatImm or a Broadcast of one.
auto as_float(const Expr& e, double& out) -> bool;
/// `value` rounded to the element type of t, in all its lanes.
auto float_constant(Type t, double value, Loc loc = {}) -> Expr;

}  // namespace drawloom
