#include "need.h"

#include <algorithm>

#include "random_schedule.h"

namespace drawloom::fuzz {
namespace {

auto asks_for_more(const Step& step) -> bool {
  if (const auto* s = std::get_if<Split>(&step))
    return s->tail.kind == Tail::Kind::round_up || s->tail.kind == Tail::Kind::filled;
  return std::holds_alternative<Align>(step) || std::holds_alternative<Bound>(step);
}

/// Nothing inlined, nothing nested: every need is over whole boxes.
auto all_at_root(const Nest& start) -> Nest {
  Schedule root;
  for (const auto& f : start.graph->funcs)
    if (!f->is_output) root.steps.push_back({ComputeRoot{f->name()}, {}});
  return replay(start, root).nest;
}

auto sizes_as_run(const PipelineDef& p, const Sizes& sizes, const Arguments& arguments) -> Sizes {
  Sizes out = sizes;
  out.obey = false;
  const auto take = [&](const std::string& name, const std::vector<ArrayDim>& dims) {
    auto& box = out.boxes[name];
    box.clear();
    for (const auto& d : dims) box.push_back({d.min, d.extent});
  };
  for (size_t i = 0; i < p.inputs.size(); ++i) take(p.inputs[i]->name, arguments.inputs[i].dims);
  for (size_t i = 0; i < p.output_buffers.size(); ++i) take(p.output_buffers[i]->name, arguments.outputs[i]);
  return out;
}

}  // namespace

auto excess_need(const Nest& start, const ScheduledNest& scheduled, const Sizes& sizes, const Arguments& arguments)
    -> std::string {
  const auto& steps = scheduled.schedule.steps;
  if (std::any_of(steps.begin(), steps.end(), [](const auto& line) { return asks_for_more(line.step); })) return {};
  const auto& p = *start.graph->pipeline;
  const auto plain = make_arguments(all_at_root(start), sizes_as_run(p, sizes, arguments));
  for (size_t i = 0; i < p.inputs.size(); ++i)
    for (size_t d = 0; d < arguments.inputs[i].dims.size(); ++d) {
      const auto& asked = arguments.inputs[i].dims[d];
      const auto& enough = plain.inputs[i].dims[d];
      if (asked.extent == 0) continue;
      if (asked.min < enough.min || asked.min + asked.extent > enough.min + enough.extent)
        return str("{} has to hold {}..{} in dimension {}, though {}..{} is all that the unscheduled pipeline reads",
                   p.inputs[i]->name, asked.min, asked.min + asked.extent - 1, d, enough.min,
                   enough.min + enough.extent - 1);
    }
  return {};
}

}  // namespace drawloom::fuzz
