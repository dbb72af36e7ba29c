#pragma once
/// The Funcs as one schedule sees them, and what each stage reads. Persistent: a step that changes a Func's placement
/// rebuilds that Func and those that reach it through inlined Funcs, and shares the rest.

#include <algorithm>
#include <string>
#include <vector>

#include "drawloom/analysis/interval.h"
#include "drawloom/lang/function.h"
#include "drawloom/nest/lazy.h"
#include "drawloom/support/result.h"

namespace drawloom {

using Box = std::vector<Interval<Form>>;

/// What one stage reads of one producer: per producer dimension an interval of Forms over the consumer stage's args and
/// RVars (and runtime symbols). `boxes` has more than one entry only where it is not known which ends are lower.
struct AccessSummary {
  int func = -1;    ///< producer's index in the graph, or -1
  BufferRef input;  ///< else the input buffer
  std::vector<Box> boxes;
  Loc loc;  ///< of the first access
  auto same_producer(const AccessSummary& o) const -> bool { return func == o.func && input == o.input; }
};

/// How a Func gets its values in this schedule.
/// Open: nothing decided; lowered as inline when pure, with updates as deep as possible at each consumer.
/// Inlined: by a step. Placed: it has Stage leaves in the tree.
enum class PlacementState : uint8_t { Open, Inlined, Placed };

struct DimDecision {
  std::optional<std::pair<Amount, Amount>> bound;  ///< min, extent
  int64_t align = 1;
  Loc bound_loc, align_loc;
};

struct GraphFunc : RefCounted {
  FunctionRef def;
  bool is_output = false;
  PlacementState placement = PlacementState::Open;
  Loc placement_loc;
  bool nontemporal = false;
  std::vector<DimDecision> dims;
  std::vector<std::vector<AccessSummary>> written;  ///< per stage: what it reads, as written
  std::vector<std::vector<int>> producers;          ///< per stage: Funcs that it reads, itself or through inlined ones
  /// Per stage: where an update writes or reads its own Func; each access a box over the stage's own dimensions.
  std::vector<std::vector<Box>> self_accesses;

  auto name() const -> const std::string& { return def->name; }
  /// Pure Funcs can stand as an expression in their consumers.
  auto can_inline() const -> bool { return def->updates.empty() && def->ordered_dim < 0 && !is_output; }
  auto is_inlined() const -> bool { return can_inline() && placement != PlacementState::Placed; }
  auto reads_func(int stage, int producer) const -> bool {
    const auto& all = producers[static_cast<size_t>(stage)];
    return std::find(all.begin(), all.end(), producer) != all.end();
  }

  Lazy<std::vector<std::vector<AccessSummary>>> summaries;  ///< Graph::reads
};
using GraphFuncRef = Ref<const GraphFunc>;

struct Graph : RefCounted {
  PipelineRef pipeline;
  std::vector<GraphFuncRef> funcs;  ///< producers before consumers

  auto find(std::string_view name) const -> int;  ///< index, or -1
  auto func(int i) const -> const GraphFunc& { return *funcs[static_cast<size_t>(i)]; }
  /// What a stage reads, with inlined producers replaced by what they read. Found when asked for: most states of a
  /// schedule between its first step and its last are not asked.
  auto reads(int func, int stage) const -> const std::vector<AccessSummary>&;
};
using GraphRef = Ref<const Graph>;

/// Errors: unbounded_access (a subscript into a Func without a range).
auto make_graph(const PipelineRef& pipeline) -> Result<GraphRef>;
/// The graph with func `i` replaced, and with those that look through it where that changes.
auto with_func(const GraphRef& graph, int i, GraphFuncRef changed) -> GraphRef;

/// Hull of two boxes when it is known in every dimension which ends are lower.
auto merge_boxes(const Box& a, const Box& b) -> std::optional<Box>;

}  // namespace drawloom
