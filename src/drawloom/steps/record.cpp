// From the free order of the fluent API to the order in which text is applied (design section 4).
//
// Example, as recorded and as applied, where blur is the output:
//     blur_x.compute_at(blur, yi)     split blur.y -> y, yi by 32
//     blur.split(y, y, yi, 32)        compute_at blur_x blur.yi
// Funcs nearer to the outputs come first, since a loop must be there before something is put into it. Within a Func
// where it is computed comes first, then where it is stored, then its loops, each stage in the order in which it was
// written.

#include <algorithm>
#include <unordered_map>

#include "drawloom/steps/schedule.h"

namespace drawloom {
namespace {

enum class Phase { bounds, funcs, storage };
/// Inside one Func: where it is computed, where it is stored, then loops.
enum class Part { compute, store, loops };

struct Place {
  Phase phase;
  Part part = Part::loops;
  const std::string* func;
  int stage = -1;  ///< -1: the pure stage
};

auto loop_place(const StageName& stage) -> Place { return {Phase::funcs, Part::loops, &stage.func, stage.update}; }

auto place_of(const Split& s) -> Place { return loop_place(s.loop.stage); }
auto place_of(const Fuse& s) -> Place { return loop_place(s.inner.stage); }
auto place_of(const Reorder& s) -> Place { return loop_place(s.stage); }
auto place_of(const Rename& s) -> Place { return loop_place(s.loop.stage); }
auto place_of(const Unroll& s) -> Place { return loop_place(s.loop.stage); }
auto place_of(const Vectorize& s) -> Place { return loop_place(s.loop.stage); }
auto place_of(const Parallel& s) -> Place { return loop_place(s.loop.stage); }
auto place_of(const Partition& s) -> Place { return loop_place(s.loop.stage); }
auto place_of(const ComputeAt& s) -> Place { return {Phase::funcs, Part::compute, &s.func}; }
auto place_of(const ComputeRoot& s) -> Place { return {Phase::funcs, Part::compute, &s.func}; }
auto place_of(const ComputeInline& s) -> Place { return {Phase::funcs, Part::compute, &s.func}; }
auto place_of(const StoreAt& s) -> Place { return {Phase::funcs, Part::store, &s.func}; }
auto place_of(const StoreRoot& s) -> Place { return {Phase::funcs, Part::store, &s.func}; }
auto place_of(const Bound& s) -> Place { return {Phase::bounds, Part::loops, &s.func}; }
auto place_of(const Align& s) -> Place { return {Phase::bounds, Part::loops, &s.func}; }
auto place_of(const StoreIn& s) -> Place { return {Phase::storage, Part::loops, &s.func}; }
auto place_of(const FoldStorage& s) -> Place { return {Phase::storage, Part::loops, &s.func}; }
auto place_of(const Nontemporal& s) -> Place { return {Phase::storage, Part::loops, &s.func}; }

auto place_of(const Step& step) -> Place {
  return std::visit([](const auto& s) { return place_of(s); }, step);
}

/// Where a Func is computed, or stored, was said again later; compute_inline takes back where it is stored too.
auto is_overruled(const Step& step, const Step& later) -> bool {
  const Place a = place_of(step), b = place_of(later);
  if (a.phase != Phase::funcs || b.phase != Phase::funcs || a.part == Part::loops || *a.func != *b.func) return false;
  return a.part == b.part || (a.part == Part::store && std::holds_alternative<ComputeInline>(later));
}

}  // namespace

auto order_recorded(std::vector<ScheduleLine> recorded, const std::vector<std::string>& funcs_from_outputs)
    -> std::vector<ScheduleLine> {
  std::vector<ScheduleLine> kept;
  for (auto line = recorded.begin(); line != recorded.end(); ++line) {
    const bool overruled = std::any_of(line + 1, recorded.end(),
                                       [&](const ScheduleLine& later) { return is_overruled(line->step, later.step); });
    if (!overruled) kept.push_back(*line);
  }

  std::unordered_map<std::string, size_t> rank;
  for (size_t i = 0; i < funcs_from_outputs.size(); ++i) rank.emplace(funcs_from_outputs[i], i);
  const auto rank_of = [&](const std::string& func) {
    const auto at = rank.find(func);
    return at == rank.end() ? funcs_from_outputs.size() : at->second;
  };
  std::stable_sort(kept.begin(), kept.end(), [&](const ScheduleLine& x, const ScheduleLine& y) {
    const Place a = place_of(x.step), b = place_of(y.step);
    if (a.phase != b.phase) return a.phase < b.phase;
    if (a.phase != Phase::funcs) return false;  // in written order
    if (rank_of(*a.func) != rank_of(*b.func)) return rank_of(*a.func) < rank_of(*b.func);
    if (a.part != b.part) return a.part < b.part;
    return a.stage < b.stage;
  });
  return kept;
}

}  // namespace drawloom
