#pragma once
/// The first step of lowering: a nest becomes statements.

#include "drawloom/ir/program.h"
#include "drawloom/nest/nest.h"

namespace drawloom {

/// Loops, storage and stages of `nest` as statements, with multi-dimensional subscripts.
/// Gives: unique names; Vectorized and Unrolled loops with constant extents; tails as If inside the loop their clip is tied to, or as shorter loops;
/// a split loop's steady state apart from its tail (nest clips are closed forms: nothing is analysed here).
/// Two versions stand side by side under a test that all argument buffers are dense in dimension 0: the scheduled one, and a plain one without
/// vectors and unrolling for any strides.
/// Checks of the call (input regions, demands on outputs) come first.
auto emit_nest(const Nest& nest) -> Program;

}  // namespace drawloom
