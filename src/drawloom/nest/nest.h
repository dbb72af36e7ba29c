#pragma once
/// A nest: what a schedule has made of a pipeline so far. A value; `apply` returns a new one.

#include <string>
#include <vector>

#include "drawloom/nest/tree_index.h"
#include "drawloom/steps/schedule.h"
#include "drawloom/support/target.h"

namespace drawloom {

struct Nest {
  GraphRef graph;
  TreeRef tree;
  Target target;

  auto func(RealisationId id) const -> const GraphFunc& { return graph->func(id.func); }
};

/// The unscheduled nest: outputs at root in definition order, everything else open.
auto make_nest(const PipelineRef& pipeline, const Target& target) -> Result<Nest>;

/// One step. Decisions recorded in the tree (constant extents, fold depths, store places, memory kinds) are obligations: every step asks all
/// of them again and is refused if one fails, naming both lines. Refused: a Diag of severity refused with the reason, a witness and the nearest legal alternatives; `nest` is unchanged by type.
auto apply(const Nest& nest, const ScheduleLine& line) -> Result<Nest>;
auto apply(Nest nest, const Schedule& schedule) -> Result<Nest>;

/// Open Funcs given the place lowering gives them: updates inside the innermost loop of each consumer. What remains open is inlined.
auto close_nest(const Nest& nest) -> Result<Nest>;

/// The closed nest without clips that never cut anything off: the factor of their split divides the extent. Steps leave such clips in place, because
/// a later step may change the extent; whoever prints or lowers has them taken away.
auto settle_clips(const Nest& closed) -> Nest;

/// The nest as text with loops, storage, and per Func its need, cover, when, new part and fold.
auto print_nest(const Nest& nest) -> std::string;

}  // namespace drawloom
