#pragma once
#include "drawloom/lower/pass.h"

namespace drawloom {

/// Writes out Unrolled loops: one copy of the body per iteration, every binder in it made anew.
/// Needs: unique names. Gives: no unrolled loops; unique names.
auto unroll_loops(Stmt body, PassContext& ctx) -> Stmt;

}  // namespace drawloom
