#pragma once
/// From Funcs to a closed pipeline, and from recorded steps to a schedule.

#include "drawloom/lang/function.h"
#include "drawloom/steps/schedule.h"
#include "drawloom/support/result.h"

namespace drawloom {

/// Everything reachable from `outputs`, in an order that depends on the definitions alone; all Funcs are frozen. Funcs that
/// share a name get `name_1`, `name_2`, ... in that order, those that the user named first; so building the same Funcs again
/// gives the same names. Images likewise. `name` empty: that of the first output.
/// Errors: pipeline_empty, func_undefined, name_clash, symbol_unbound.
auto close_pipeline(const std::vector<FunctionRef>& outputs, const std::string& name, Effect allowed, const Loc& loc)
    -> Result<PipelineRef>;

/// The steps recorded on the pipeline's Funcs so far, in the order in which text is applied. A loop that compute_at or
/// store_at name without a stage is sought in the stages of its Func. Errors: schedule_target.
auto recorded_schedule(const PipelineDef& pipeline) -> Result<Schedule>;

}  // namespace drawloom
