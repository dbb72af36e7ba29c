#pragma once
/// Random pipelines, made as data: no front end is involved, so its errors cannot hide here.

#include "drawloom/lang/function.h"
#include "drawloom/support/hash.h"

namespace drawloom::fuzz {

struct PipelineShape {
  int min_funcs = 2, max_funcs = 7;
  bool transcendentals = true;  ///< exp, sin, ..: the machine's libm
};

/// 2 to 7 Funcs of 1 to 3 dimensions: pointwise, stencils, resampling, clamped accesses, reductions, histograms, scans,
/// recurrences, tuples, parameters, several outputs. Everything has a bounded region. The same seed gives the same pipeline.
auto random_pipeline(CounterRandom random, const PipelineShape& shape = {}) -> PipelineRef;

/// One Func on its way into a pipeline. Accesses in it may point at Funcs of another pipeline: `close_pipeline` sends
/// them to the draft of the same name.
struct DraftFunc {
  std::string name;
  std::vector<SymbolRef> args;
  std::vector<Type> types;
  std::vector<Definition> stages;  ///< the pure one first; `contracted` is filled by close_pipeline
  bool output = false;
  int ordered_dim = -1;  ///< of a recurrence, while it is drawn
  int64_t first = 0;     ///< its first step
};

/// The pipeline of these Funcs, producers first: those that no output needs are left out. Null where a Func reads itself along no
/// dimension in order, as happens to a recurrence that is simplified.
auto close_pipeline(const std::vector<DraftFunc>& drafts) -> PipelineRef;
auto drafts_of(const PipelineDef& pipeline) -> std::vector<DraftFunc>;

/// For people: one line per stage.
auto pipeline_text(const PipelineDef& pipeline) -> std::string;

}  // namespace drawloom::fuzz
