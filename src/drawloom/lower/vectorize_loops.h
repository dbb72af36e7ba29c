#pragma once
#include "drawloom/lower/pass.h"

namespace drawloom {

/// Turns each Vectorized loop into vectors: the loop variable becomes a ramp, what depends on it becomes lanes, an If that
/// depends on it becomes masks on the loads and stores below, and storage allocated inside gets an innermost dimension of
/// one slot per lane. What does not depend on the loop variable stays scalar.
/// Needs: unique names, constant extents of vector loops, trip counts inside them that are the same for all lanes.
/// Gives: no vector loops.
auto vectorize_loops(Stmt body, PassContext& ctx) -> Stmt;

}  // namespace drawloom
