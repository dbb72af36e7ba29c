#include "drawloom/nest/sizes.h"

#include <algorithm>

#include "drawloom/lang/recurrence.h"
#include "drawloom/nest/size_pass.h"

// Consumers first, as in region.cpp, and by the same rules; what is different is that loops have values.
//
// A slide compares need(r, compute place) with the same need one iteration of a loop earlier: `back` says which
// everywhere below. The new part is what lies above the earlier need. Where one iteration moves nothing (every other
// one of a downsampled Func), a longer way back says which dimension the loop moves.
//
//   out(x, y) = b(x, y) + b(x, y + 1), 16 x 100, b computed at out.y and stored at root; y stands at 50
//     need of b in y      50 .. 51, and 49 .. 50 with y one back
//     computed            51 .. 51: one row per iteration, 16 points, and 100 iterations
//
// Work that differs in the first or last iterations is not seen (here the row more that the first one computes).

namespace drawloom {
namespace {

/// Counts are compared, not used to index: the largest number does for what is beyond all others.
auto saturating_times(int64_t a, int64_t b) -> int64_t {
  int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? INT64_MAX : out;
}

auto updates_leave(const GraphFunc& f, size_t d) -> bool {
  return std::all_of(f.def->updates.begin(), f.def->updates.end(), [&](const Definition& u) {
    const auto* v = u.lhs[d].as<VarRef>();
    return v && v->symbol == f.def->args[d];
  });
}

}  // namespace

SizePass::SizePass(const Nest& nest, const NestSizes::Values& runtime, NestSizes& out)
    : nest_(nest), index_(index_of(nest.tree)), runtime_(runtime), out_(out) {}

void SizePass::run() {
  const size_t count = index_.places.size();
  realisations_.resize(count);
  out_.loops_.resize(index_.nodes.size());
  out_.dims_.reserve(count * 8), known_.reserve(count * 2);
  for (size_t r = 0; r < count; ++r) {
    auto& me = realisations_[r];
    me.func = &nest_.func(index_.realisations[r]), me.place = &index_.places[r];
    me.rank = me.func->def->args.size();
    DRAWLOOM_CHECK(me.rank <= kMaxRank, "{} has more than {} dimensions", me.func->name(), kMaxRank);
    me.slid_by.fill(kNone);
  }
  find_readers();
  for (size_t f = index_.first_copy.size(); f-- > 0;)  // the graph has producers first
    for (int r = index_.first_copy[f]; r != kNone; r = index_.places[static_cast<size_t>(r)].next_copy)
      find(realisation(r));
  publish();
}

void SizePass::find_readers() {
  readers_of_.assign(nest_.graph->funcs.size(), kNone);
  readers_.reserve(index_.leaves.size() * 2);
  // from the last to the first, as each is put in front of its list
  for (size_t i = index_.leaves.size(); i-- > 0;) {
    const auto& leaf = *index_.leaves[i].node->as<StageLeaf>();
    for (const auto& a : nest_.graph->reads(leaf.what.func, leaf.stage)) {
      if (a.func < 0) continue;
      int& first = readers_of_[static_cast<size_t>(a.func)];
      readers_.push_back({&index_.leaves[i], index_.place_of_leaf[i], &a, first});
      first = static_cast<int>(readers_.size()) - 1;
    }
  }
}

// ---- one realisation

/// The loops come last: their extents are the regions found before, and realisations inside them are found later.
void SizePass::find(Realisation& me) {
  me.need = need_at(me, me.compute_site(), {});
  me.stored = me.store_site() == me.compute_site() ? me.need : need_at(me, me.store_site(), {});
  me.computed = me.need;
  if (me.store_site() != me.compute_site() && me.func->self_accesses[0].empty()) find_slides(me);
  if (me.compute_site() != kRoot) me.runs = loop(me.compute_site()).runs;
  find_loops(me);
}

/// Per loop between the places, innermost first: the one dimension that it moves slides. Where none moves anything, all
/// is there already.
void SizePass::find_slides(Realisation& me) {
  std::array<int, kMaxRank> by;
  by.fill(kNone);
  bool any = false, all_idle = true;
  for (int l = me.compute_site(); l > me.store_site(); l = node(l).loop) {
    const int64_t value = loop(l).value;
    // a loop of one iteration has no earlier one
    if (value < 1) continue;
    any = true;
    auto moved = moved_dims(me, {l});
    if (moved.none() && value > 1) moved = moved_dims(me, {l, value - value / 2});
    if (moved.none()) continue;
    // as in slide.cpp: such a loop keeps nothing
    if (moved.count() > 1 || goes_back_) return;
    all_idle = false;
    size_t d = 0;
    while (!moved[d]) ++d;
    if (!updates_leave(*me.func, d)) return;
    // the innermost loop that moves d: its last iteration is the one just before
    if (by[d] == kNone) by[d] = l;
  }
  me.slid_by = by;
  me.computed = copy_of(me.need, me.rank);
  for (size_t d = 0; d < me.rank; ++d) {
    if (by[d] == kNone) continue;
    const int64_t frontier = dims(need_at(me, me.compute_site(), {by[d]}))[d].free_hi;
    auto& lo = dims(me.computed)[d].lo;
    lo = std::max(lo, frontier + 1);
  }
  // computed in the first iteration of the store place's run, and not again
  if (any && all_idle && me.rank > 0) dims(me.computed)[0].lo = dims(me.computed)[0].hi + 1;
}

/// The dimensions of the need that are elsewhere than at `back`; goes_back_ if one of them moved down.
auto SizePass::moved_dims(Realisation& me, Back back) -> std::bitset<kMaxRank> {
  const size_t earlier = need_at(me, me.compute_site(), back);
  std::bitset<kMaxRank> moved;
  goes_back_ = false;
  for (size_t d = 0; d < me.rank; ++d) {
    const SizedDim &now = dims(me.need)[d], &then = dims(earlier)[d];
    if (now == then) continue;
    moved.set(d);
    goes_back_ = goes_back_ || now.lo < then.lo || now.free_hi < then.free_hi;
  }
  return moved;
}

// ---- loops

/// Extents of the loops of a realisation, outermost first, and where they stand; a recurrence widens with each step of
/// its ordered loop.
void SizePass::find_loops(Realisation& me) {
  const auto cone = me.func->self_accesses[0].empty() ? std::nullopt : cone_of(*me.func);
  Dims widest;
  if (cone) {
    me.stored = copy_of(me.stored, me.rank), me.computed = copy_of(me.need, me.rank);
    widen(me, *cone, me.stored);
    widen(me, *cone, me.computed);
    std::copy_n(dims(me.computed), me.rank, widest.begin());
  }
  for (const auto& at : me.place->leaves) {
    current_ = at.node->as<StageLeaf>(), current_of_ = &me;
    for (const int number : own_loops(at)) {
      auto& l = loop(number);
      l.extent = value(node(number).node->as<LoopNode>()->extent);
      l.value = l.extent < 1 ? 0 : l.extent / 2;
      const int outer = node(number).loop;
      l.runs = saturating_times(outer == kRoot ? 1 : loop(outer).runs, std::max<int64_t>(l.extent, 0));
      // the loops inside the ordered one are shorter with each step
      if (cone && current_->stage == 0) narrow(me, *cone, widest);
    }
  }
}

/// The region of all steps from the first on: the cone at distance last - first.
void SizePass::widen(const Realisation& me, const Cone& cone, size_t region) {
  const auto t = static_cast<size_t>(me.func->def->ordered_dim);
  const SizedDim steps = dims(region)[t];
  const int64_t start = value(to_form(me.func->def->ordered_first));
  const int64_t first = starts_at_one_step(*me.func->def) ? start : std::min(start, steps.lo);
  const int64_t distance = steps.hi - first;
  for (size_t d = 0; d < me.rank; ++d) {
    auto& v = dims(region)[d];
    if (d == t) {
      v = {first, steps.hi, steps.free_hi};
    } else {
      v.lo += cone.lo[d] * distance, v.hi += cone.hi[d] * distance, v.free_hi += cone.hi[d] * distance;
    }
  }
}

/// The region of the step at which the ordered loops of the current stage stand now.
void SizePass::narrow(const Realisation& me, const Cone& cone, const Dims& widest) {
  const auto t = static_cast<size_t>(me.func->def->ordered_dim);
  int64_t steps = 0;
  for (const auto& d : current_->dims)
    if (d.arg == static_cast<int>(t)) steps = value(d.rel);
  for (size_t d = 0; d < me.rank; ++d) {
    if (d == t) continue;
    const SizedDim& w = widest[d];
    dims(me.computed)[d] = {w.lo - cone.lo[d] * steps, w.hi - cone.hi[d] * steps, w.free_hi - cone.hi[d] * steps};
  }
}

// ---- results

auto SizePass::points_of(const Realisation& me, const StageLeaf& leaf) const -> int64_t {
  int64_t points = me.runs;
  for (const auto& d : leaf.dims) points = saturating_times(points, dim_range(me, leaf, d).extent());
  return points;
}

void SizePass::publish() {
  const auto span = [&](size_t at, size_t rank) { return std::span<const SizedDim>(dims(at), rank); };
  out_.realisations_.reserve(realisations_.size());
  for (size_t i = 0; i < realisations_.size(); ++i) {
    const auto& r = realisations_[i];
    out_.realisations_.push_back(
        {index_.realisations[i], span(r.need, r.rank), span(r.computed, r.rank), span(r.stored, r.rank), r.runs});
  }
  out_.stages_.reserve(index_.leaves.size());
  for (size_t i = 0; i < index_.leaves.size(); ++i) {
    const auto& leaf = *index_.leaves[i].node->as<StageLeaf>();
    out_.stages_.push_back({leaf.what, leaf.stage, points_of(realisation(index_.place_of_leaf[i]), leaf)});
  }
}

NestSizes::NestSizes(const Nest& closed, const Values& runtime) : tree_(closed.tree) {
  SizePass(closed, runtime, *this).run();
}

auto NestSizes::at(const Symbol* loop) const -> int64_t {
  const auto* at = index_of(tree_).loop(loop);
  return at ? loops_[static_cast<size_t>(at->number)].value : 0;
}

}  // namespace drawloom
