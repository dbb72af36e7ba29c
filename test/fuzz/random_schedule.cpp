#include "random_schedule.h"

#include "drawloom/support/check.h"
#include "proposer.h"

namespace drawloom::fuzz {

auto Proposer::run() -> ScheduledNest {
  const auto& funcs = nest_.graph->funcs;
  const bool busy = r_.chance(80);  // else a short schedule, where single steps stand alone
  for (int f = static_cast<int>(funcs.size()) - 1; f >= 0; --f) {
    if (!funcs[static_cast<size_t>(f)]->is_output) place(f, busy);
    for (int64_t n = r_.uniform(0, options_.deep ? 4 : busy ? 2 : 1); n > 0; --n) shape_loops(f);
    if (r_.chance(10)) anything();
  }
  const int64_t decorations = r_.uniform(0, busy ? 9 : 3);
  for (int64_t i = 0; i < decorations; ++i) decorate();
  return {nest_, schedule_};
}

auto Proposer::leaves() const -> std::vector<const StageLeaf*> {
  std::vector<const StageLeaf*> out;
  for (const auto& l : stage_leaves(nest_.tree)) out.push_back(l.node->as<StageLeaf>());
  return out;
}

auto Proposer::leaf_of(int f) -> const StageLeaf* {
  std::vector<const StageLeaf*> out;
  for (const auto* l : leaves())
    if (l->what.func == f) out.push_back(l);
  return out.empty() ? nullptr : out[pick(out.size())];
}

auto Proposer::any_leaf() -> const StageLeaf* {
  const auto all = leaves();
  return all[pick(all.size())];
}

auto Proposer::loop_name(const SymbolRef& id) const -> std::optional<LoopName> {
  for (const auto* l : leaves())
    for (size_t i = 0; i < l->loops.size(); ++i)
      if (l->loops[i].id == id) return loop_name(*l, i);
  return {};
}

auto Proposer::attempt(Step step) -> bool {
  ScheduleLine line{std::move(step), {}};
  try {
    const auto next = apply_checked(nest_, line, r_.chance(15));
    if (options_.coverage) options_.coverage->add_step(line.step, next.ok() ? nullptr : &next.diag());
    if (!next.ok()) {
      if (options_.refused) options_.refused->push_back({schedule_, line, next.diag().kind()});
      return false;
    }
    nest_ = next.value();
    schedule_.steps.push_back(std::move(line));
    return true;
  } catch (const ScheduleBroke& broke) {
    Schedule all = schedule_;
    all.steps.push_back(line);
    throw ScheduleBroke{broke.what, std::move(all)};
  }
}

void Proposer::anything() {
  const auto* leaf = any_leaf();
  const int f = any_func();
  switch (r_.uniform(0, 9)) {
    case 0: attempt(ComputeInline{func_name(f)}); return;
    case 1: attempt(ComputeRoot{func_name(f)}); return;
    case 2:
      if (!leaf->loops.empty()) attempt(ComputeAt{func_name(f), loop_name(*leaf, pick(leaf->loops.size()))});
      return;
    case 3:
      if (!leaf->loops.empty())
        attempt(StoreAt{func_name(f), loop_name(*leaf, pick(leaf->loops.size())), random_warm()});
      return;
    case 4: attempt(StoreRoot{func_name(f), random_warm()}); return;
    case 5:
      if (!nest_.graph->func(f).is_output) place(f, true);
      return;
    default: shape_loops(f);
  }
}

auto apply_checked(const Nest& nest, const ScheduleLine& line, bool prints) -> Result<Nest> {
  const auto broke = [&](const std::string& what) { return ScheduleBroke{what, Schedule{"fuzzed", "", {line}}}; };
  const auto text = print(line.step);
  const auto back = parse_step(text, {});
  if (!back.ok()) throw broke(str("schedule text: `{}` does not parse: {}", text, back.diag().message()));
  if (!(back.value() == line.step))
    throw broke(str("schedule text: `{}` reads back as `{}`", text, print(back.value())));
  try {
    auto next = apply(nest, line);
    if (!next.ok()) {
      if (next.diag().message().empty()) throw broke("apply refused without words");
      return next;
    }
    if (prints && print_nest(next.value()).empty()) throw broke("the nest prints as nothing");
    return next;
  } catch (const InternalError& e) {
    throw broke(str("apply broke: {}", e.what()));
  } catch (const Error& e) {
    throw broke(str("apply threw: {}", e.what()));
  }
}

auto random_schedule(const Nest& start, CounterRandom random, const ScheduleOptions& options) -> ScheduledNest {
  auto out = Proposer(start, random, options).run();
  out.schedule.pipeline = start.graph->pipeline->name;
  return out;
}

auto replay(const Nest& start, const Schedule& schedule) -> ScheduledNest {
  ScheduledNest out{start, schedule};
  out.schedule.steps.clear();
  for (const auto& line : schedule.steps) {
    try {
      const auto next = apply_checked(out.nest, line, false);
      if (!next.ok()) continue;
      out.nest = next.value();
      out.schedule.steps.push_back(line);
    } catch (const ScheduleBroke& broke) {
      out.schedule.steps.push_back(line);
      throw ScheduleBroke{broke.what, out.schedule};
    }
  }
  return out;
}

}  // namespace drawloom::fuzz
