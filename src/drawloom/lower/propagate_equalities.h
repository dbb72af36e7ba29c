#pragma once
#include "drawloom/lower/pass.h"

namespace drawloom {

/// Inside the branch of an If whose condition is a conjunction with terms `symbol == constant`, the symbol is replaced by the constant.
/// (The test that all arguments are dense in dimension 0 makes their strides 1 in the scheduled version.)
auto propagate_equalities(Stmt body, PassContext& ctx) -> Stmt;

}  // namespace drawloom
