#pragma once
/// What a schedule asks of the inputs, against what the pipeline does by itself.

#include <string>

#include "arguments.h"
#include "random_schedule.h"

namespace drawloom::fuzz {

/// A schedule decides where and in what order things are computed, not how much of the inputs they need: only rounding,
/// aligning and bounding (round_up, filled, align, bound) should ask for more than the pipeline with every Func at root. The
/// first input dimension where this one does; else empty. About one schedule in a thousand does: intervals of forms forget
/// what recurrences and splits of splits have in common. That is no wrong result, so it only fails where asked for.
auto excess_need(const Nest& start, const ScheduledNest& scheduled, const Sizes& sizes, const Arguments& arguments)
    -> std::string;

}  // namespace drawloom::fuzz
