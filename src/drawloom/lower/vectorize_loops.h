#pragma once
#include "drawloom/lower/pass.h"

namespace drawloom {

/// Turns each Vectorized loop into vectors: the loop variable becomes a ramp, what depends on it becomes lanes, an If that
/// depends on it becomes masks on the loads and stores below, and storage allocated inside gets an innermost dimension of
/// one slot per lane. What does not depend on the loop variable stays scalar.
/// A loop inside whose trip count differs between lanes (a reduction over a region that a tail cuts) has no vector form: the loop around
/// it then stays serial, with the same results.
/// Needs: unique names, constant extents of vector loops.
/// Gives: no vector loops.
auto vectorize_loops(Stmt body, PassContext& ctx) -> Stmt;

}  // namespace drawloom
