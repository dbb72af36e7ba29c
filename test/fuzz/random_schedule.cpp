#include "random_schedule.h"

#include <algorithm>

#include "drawloom/nest/region_box.h"
#include "drawloom/support/check.h"

// Consumers first: shape the loops of a Func, then hang its producers into them; kinds of loops, storage and promises come
// last, as people write schedules. One proposal in ten is drawn without any plan, at any time: steps that meet a nest in
// an odd state find what planned ones never do.

namespace drawloom::fuzz {
namespace {

using Where = std::pair<RealisationId, int>;  ///< a stage

class Proposer {
 public:
  Proposer(const Nest& start, CounterRandom random, Coverage* coverage) : nest_(start), r_(random), coverage_(coverage) {}

  auto run() -> ScheduledNest {
    const auto& funcs = nest_.graph->funcs;
    const bool busy = r_.chance(75);  // else a short schedule, where single steps stand alone
    for (int f = static_cast<int>(funcs.size()) - 1; f >= 0; --f) {
      if (!funcs[static_cast<size_t>(f)]->is_output) place(f, busy);
      for (int64_t n = r_.uniform(0, busy ? 3 : 1); n > 0; --n) shape_loops(f);
      if (r_.chance(10)) anything();
    }
    const int64_t decorations = r_.uniform(0, busy ? 8 : 3);
    for (int64_t i = 0; i < decorations; ++i) decorate();
    return {nest_, schedule_};
  }

 private:
  auto func_name(int f) const -> const std::string& { return nest_.graph->func(f).name(); }
  auto pick(size_t n) -> size_t { return static_cast<size_t>(r_.uniform(0, static_cast<int64_t>(n) - 1)); }
  auto any_func() -> int { return static_cast<int>(pick(nest_.graph->funcs.size())); }

  auto leaves() const -> std::vector<const StageLeaf*> {
    std::vector<const StageLeaf*> out;
    for (const auto& l : stage_leaves(nest_.tree)) out.push_back(l.node->as<StageLeaf>());
    return out;
  }
  auto stage_name(const StageLeaf& leaf) const -> StageName { return {func_name(leaf.what.func), leaf.stage - 1, -1}; }
  auto loop_name(const StageLeaf& leaf, size_t i) const -> LoopName { return {stage_name(leaf), leaf.loops[i].name}; }

  auto attempt(Step step) -> bool {
    ScheduleLine line{std::move(step), {}};
    try {
      const auto next = apply_checked(nest_, line, r_.chance(15));
      if (coverage_) coverage_->add_step(line.step, next.ok() ? nullptr : &next.diag());
      if (!next.ok()) return false;
      nest_ = next.value();
      schedule_.steps.push_back(std::move(line));
      return true;
    } catch (const ScheduleBroke& broke) {
      Schedule all = schedule_;
      all.steps.push_back(line);
      throw ScheduleBroke{broke.what, std::move(all)};
    }
  }

  // ---- placement

  void place(int f, bool busy) {
    const auto& name = func_name(f);
    const int64_t k = r_.uniform(0, 99);
    if (k < (busy ? 10 : 30)) {
      if (r_.chance(50)) attempt(ComputeInline{name});
      return;
    }
    if (k < 25) {
      attempt(ComputeRoot{name});
      return;
    }
    for (int tries = 0; tries < 4; ++tries) {
      const auto consumer = reader_of(f);
      if (!consumer || consumer->loops.empty()) break;
      const size_t i = pick(consumer->loops.size());
      if (!attempt(ComputeAt{name, loop_name(*consumer, i)})) continue;
      if (r_.chance(75)) store_outside(f);
      return;
    }
    if (attempt(ComputeRoot{name}) || r_.chance(80)) return;
    attempt(ComputeInline{name});
  }

  /// A leaf that reads f, itself or through Funcs without a place.
  auto reader_of(int f) -> const StageLeaf* {
    std::vector<const StageLeaf*> out;
    for (const auto* l : leaves())
      for (const auto& a : nest_.graph->func(l->what.func).reads[static_cast<size_t>(l->stage)])
        if (a.func == f) out.push_back(l);
    if (out.empty()) return nullptr;
    return out[pick(out.size())];
  }

  auto random_warm() -> WarmUp { return r_.chance(60) ? WarmUp::automatic : r_.chance(50) ? WarmUp::whole : WarmUp::gradual; }

  void store_outside(int f) {
    const Site site = site_of(nest_.tree, place_of(nest_, {f, 0}).group);
    if (!site) return;
    // A name of a loop around the compute place, from any stage that has it.
    const auto at = find_loop(nest_.tree, site);
    auto around = loops_around(nest_.tree, at->path);
    if (around.empty() || r_.chance(35)) {
      attempt(StoreRoot{func_name(f), random_warm()});
      return;
    }
    const auto* loop = around[pick(around.size())];
    for (const auto* l : leaves())
      for (size_t i = 0; i < l->loops.size(); ++i)
        if (l->loops[i].id == loop->id) {
          attempt(StoreAt{func_name(f), loop_name(*l, i), random_warm()});
          return;
        }
  }

  // ---- loops

  auto factor() -> Amount {
    static const int64_t kFactors[] = {1, 2, 2, 3, 4, 4, 5, 8, 8, 16};
    if (r_.chance(4))
      for (const auto& p : nest_.graph->pipeline->params)
        if (!p->type.is_float() && r_.chance(50)) return {0, p->name};
    if (r_.chance(1)) return {r_.uniform(-1, 0), ""};
    return {kFactors[pick(std::size(kFactors))], ""};
  }
  auto tail() -> Tail {
    Tail t;
    const int64_t k = r_.uniform(0, 99);
    t.kind = k < 55 ? Tail::Kind::predicate : k < 70 ? Tail::Kind::round_up : k < 96 ? Tail::Kind::shrink : Tail::Kind::filled;
    if (t.kind == Tail::Kind::filled) t.fill = r_.uniform(-1, 1);
    return t;
  }

  auto leaf_of(int f) -> const StageLeaf* {
    std::vector<const StageLeaf*> out;
    for (const auto* l : leaves())
      if (l->what.func == f) out.push_back(l);
    return out.empty() ? nullptr : out[pick(out.size())];
  }
  auto any_leaf() -> const StageLeaf* {
    const auto all = leaves();
    return all[pick(all.size())];
  }

  void shape_loops(int f) {
    const auto* leaf = leaf_of(f);
    if (!leaf || leaf->loops.empty()) return;
    const int64_t k = r_.uniform(0, 99);
    if (k < 60)
      split(*leaf);
    else if (k < 85)
      reorder(*leaf);
    else if (k < 93)
      fuse(*leaf);
    else
      rename(*leaf);
  }

  void split(const StageLeaf& leaf) {
    const size_t i = pick(leaf.loops.size());
    const auto name = leaf.loops[i].name;
    attempt(Split{loop_name(leaf, i), r_.chance(20) ? name : name + "o", r_.chance(20) ? name : name + "i", factor(), tail()});
  }

  void reorder(const StageLeaf& leaf) {
    std::vector<std::string> names;
    for (const auto& l : leaf.loops) names.push_back(l.name);
    for (size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[pick(i)]);
    if (names.size() > 2 && r_.chance(40)) names.resize(2);
    attempt(Reorder{stage_name(leaf), names});
  }

  void fuse(const StageLeaf& leaf) {
    if (leaf.loops.size() < 2) return;
    const size_t i = 1 + pick(leaf.loops.size() - 1);
    const size_t o = r_.chance(90) ? i - 1 : pick(leaf.loops.size());
    attempt(Fuse{loop_name(leaf, i), leaf.loops[o].name, r_.chance(30) ? leaf.loops[i].name : leaf.loops[i].name + "f"});
  }

  void rename(const StageLeaf& leaf) {
    const size_t i = pick(leaf.loops.size());
    attempt(Rename{loop_name(leaf, i), r_.chance(90) ? leaf.loops[i].name + "r" : leaf.loops[pick(leaf.loops.size())].name});
  }

  // ---- kinds of loops, storage, promises

  void decorate() {
    const auto* leaf = any_leaf();
    const int64_t k = r_.uniform(0, 99);
    if (k < 50 && !leaf->loops.empty())
      loop_kind(*leaf);
    else if (k < 60)
      fold();
    else if (k < 70)
      store_in();
    else if (k < 75)
      align();
    else if (k < 80)
      bound();
    else if (k < 84)
      attempt(Nontemporal{func_name(r_.chance(70) ? static_cast<int>(nest_.graph->funcs.size()) - 1 : any_func())});
    else
      anything();
  }

  void loop_kind(const StageLeaf& leaf) {
    const auto last = leaf.loops.size() - 1;
    switch (r_.uniform(0, 3)) {
      case 0: vectorize(leaf, r_.chance(60) ? last : pick(last + 1)); return;
      case 1: attempt(Unroll{loop_name(leaf, r_.chance(50) ? last : pick(last + 1))}); return;
      case 2: attempt(Parallel{loop_name(leaf, r_.chance(70) ? 0 : pick(last + 1))}); return;
      default: break;
    }
    static const PartitionMode kModes[] = {PartitionMode::automatic, PartitionMode::always, PartitionMode::never};
    attempt(Partition{loop_name(leaf, pick(last + 1)), kModes[pick(3)]});
  }

  /// Mostly after a split that gives it a constant extent.
  void vectorize(const StageLeaf& leaf, size_t i) {
    const LoopName name = loop_name(leaf, i);
    if (attempt(Vectorize{name})) return;
    const LoopName inner{name.stage, name.loop + "v"};
    static const int64_t kLanes[] = {2, 3, 4, 4, 8, 8, 16};
    if (attempt(Split{name, name.loop, inner.loop, {kLanes[pick(std::size(kLanes))], ""}, tail()})) attempt(Vectorize{inner});
  }

  auto stored_func() -> int {
    const auto stores = store_nodes(nest_.tree);
    if (stores.empty() || r_.chance(5)) return any_func();
    return stores[pick(stores.size())].node->as<StoreNode>()->what.func;
  }

  void fold() {
    const int f = stored_func();
    const auto& func = nest_.graph->func(f);
    if (func.def->args.empty()) return;
    size_t d = pick(func.def->args.size());
    int64_t depth = r_.uniform(1, 9);
    if (func.placement == PlacementState::Placed && !func.is_output) {
      QueryCache cache;
      const Nest closed = close_nest(nest_).or_throw();  // open Funcs with updates read too
      const auto& facts = realisation_facts(closed, {f, 0}, cache);
      if (!facts.slides.empty() && r_.chance(85)) d = static_cast<size_t>(facts.slides[pick(facts.slides.size())].dim);
      if (facts.window[d]) depth = *facts.window[d] + r_.uniform(-1, 3);
    }
    attempt(FoldStorage{func_name(f), func.def->args[d]->name, depth});
  }

  void store_in() {
    static const MemoryKind kKinds[] = {MemoryKind::Heap, MemoryKind::Stack, MemoryKind::Register};
    attempt(StoreIn{func_name(stored_func()), kKinds[pick(3)]});
  }

  void align() {
    const int f = any_func();
    const auto& args = nest_.graph->func(f).def->args;
    if (args.empty()) return;
    attempt(Align{func_name(f), args[pick(args.size())]->name, r_.chance(95) ? r_.uniform(2, 8) : r_.uniform(-1, 1)});
  }

  void bound() {
    const int f = r_.chance(50) ? static_cast<int>(nest_.graph->funcs.size()) - 1 : any_func();
    const auto& args = nest_.graph->func(f).def->args;
    if (args.empty()) return;
    attempt(Bound{func_name(f), args[pick(args.size())]->name, {r_.uniform(-6, 1), ""}, {r_.uniform(1, 30), ""}});
  }

  void anything() {
    const auto* leaf = any_leaf();
    const int f = any_func();
    switch (r_.uniform(0, 9)) {
      case 0: attempt(ComputeInline{func_name(f)}); return;
      case 1: attempt(ComputeRoot{func_name(f)}); return;
      case 2:
        if (!leaf->loops.empty()) attempt(ComputeAt{func_name(f), loop_name(*leaf, pick(leaf->loops.size()))});
        return;
      case 3:
        if (!leaf->loops.empty()) attempt(StoreAt{func_name(f), loop_name(*leaf, pick(leaf->loops.size())), random_warm()});
        return;
      case 4: attempt(StoreRoot{func_name(f), random_warm()}); return;
      case 5: place(f, true); return;
      default: shape_loops(f);
    }
  }

  Nest nest_;
  CounterRandom r_;
  Coverage* coverage_;
  Schedule schedule_;
};

}  // namespace

auto apply_checked(const Nest& nest, const ScheduleLine& line, bool prints) -> Result<Nest> {
  const auto broke = [&](const std::string& what) { return ScheduleBroke{what, Schedule{"fuzzed", "", {line}}}; };
  const auto text = print(line.step);
  const auto back = parse_step(text, {});
  if (!back.ok()) throw broke(str("schedule text: `{}` does not parse: {}", text, back.diag().message()));
  if (!(back.value() == line.step)) throw broke(str("schedule text: `{}` reads back as `{}`", text, print(back.value())));
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

auto random_schedule(const Nest& start, CounterRandom random, Coverage* coverage) -> ScheduledNest {
  auto out = Proposer(start, random, coverage).run();
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
