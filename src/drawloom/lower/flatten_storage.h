#pragma once
#include "drawloom/lower/pass.h"

namespace drawloom {

/// Turns the subscripts of every Load and Store into one linear index in elements, and the extents of every Allocate into
/// one element count. Argument buffers: sum of (i - min) * stride. Others: dimension 0 innermost, dense.
/// Needs: unique names. Gives: flat storage. (Overflow is a check at the call.)
auto flatten_storage(Stmt body, PassContext& ctx) -> Stmt;

}  // namespace drawloom
