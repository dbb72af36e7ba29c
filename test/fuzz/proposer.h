#pragma once
/// Draws one random schedule, step by step, from what the nest offers at the time.

#include "random_schedule.h"

namespace drawloom::fuzz {

/// Consumers first: shape the loops of a Func, then hang its producers into them; kinds of loops, storage and promises come
/// last, as people write schedules. One proposal in ten is drawn without any plan, at any time: steps that meet a nest in
/// an odd state find what planned ones never do.
class Proposer {
 public:
  Proposer(const Nest& start, CounterRandom random, const ScheduleOptions& options)
      : nest_(start), r_(random), options_(options) {}
  auto run() -> ScheduledNest;

 private:
  auto func_name(int f) const -> const std::string& { return nest_.graph->func(f).name(); }
  auto pick(size_t n) -> size_t { return static_cast<size_t>(r_.uniform(0, static_cast<int64_t>(n) - 1)); }
  auto any_func() -> int { return static_cast<int>(pick(nest_.graph->funcs.size())); }
  auto leaves() const -> std::vector<const StageLeaf*>;
  auto leaf_of(int f) -> const StageLeaf*;
  auto any_leaf() -> const StageLeaf*;
  auto stage_name(const StageLeaf& leaf) const -> StageName { return {func_name(leaf.what.func), leaf.stage - 1, -1}; }
  auto loop_name(const StageLeaf& leaf, size_t i) const -> LoopName { return {stage_name(leaf), leaf.loops[i].name}; }
  /// The loop as a stage names it that has it.
  auto loop_name(const SymbolRef& id) const -> std::optional<LoopName>;
  auto attempt(Step step) -> bool;
  void anything();

  // propose_places.cpp
  void place(int f, bool busy);
  /// Loops around all stages that read f, outermost first.
  auto enclosing_loops(int f) const -> std::vector<const LoopNode*>;
  auto place_inside(int f) -> bool;
  void store_outside(int f);
  auto random_warm() -> WarmUp;

  // propose_loops.cpp
  auto factor() -> Amount;
  auto tail() -> Tail;
  void shape_loops(int f);
  void split(const StageLeaf& leaf);
  void reorder(const StageLeaf& leaf);
  void fuse(const StageLeaf& leaf);
  void rename(const StageLeaf& leaf);
  void loop_kind(const StageLeaf& leaf);
  void vectorize(const StageLeaf& leaf, size_t i);

  // propose_storage.cpp
  void decorate();
  auto stored_func() -> int;
  auto slid_func() -> int;
  void fold();
  void store_in();
  void write_out_loops(int f);
  void align();
  void bound();

  Nest nest_;
  CounterRandom r_;
  ScheduleOptions options_;
  Schedule schedule_;
};

}  // namespace drawloom::fuzz
