#include <algorithm>

#include "drawloom/lang/recurrence.h"
#include "drawloom/nest/cone.h"
#include "drawloom/nest/region_box.h"

// Ordered dimensions. A Func that reads itself at smaller t is a slide whose producer is the Func itself: what step t
// needs of step t - k is the need at t widened by the self accesses. Per unit of distance along t and per other
// dimension that is an interval, the cone:
//
//   u(x, t) = select(t == 0, f(x), u(x - 1, t - 1) + u(x + 1, t - 1)), read at t = T over [0, n - 1]
//     cone of x      [-1, 1]
//     step t         x in [0 - (T - t), n - 1 + (T - t)]
//     window of t    2 (largest self distance + 1)
//
// The region of a step is therefore a Form over the stage's own t loop. Steps begin with the first one of the
// definition, or earlier where it says `t <= c` and somebody reads steps before c.

namespace drawloom {
namespace {

auto floor_ratio(int64_t a, int64_t b) -> int64_t { return a >= 0 ? a / b : -((-a + b - 1) / b); }

auto widened(const RegionDim& r, const Form& distance, int64_t lo, int64_t hi) -> RegionDim {
  return {r.lo + Form(lo) * distance, r.hi + Form(hi) * distance, r.free_hi + Form(hi) * distance,
          r.cover + Form(hi - lo) * distance};
}

auto first_computed(const GraphFunc& f, const RegionDim& need, const Facts& facts) -> Form {
  const Form first = to_form(f.def->ordered_first);
  return starts_at_one_step(*f.def) ? first : simplified(min(first, need.lo), facts);
}

/// Steps `from` .. the last needed, and of the other dimensions what step `step` computes.
void widen(Region& r, const GraphFunc& f, const Cone& cone, const Form& from, const Form& step) {
  const auto t = static_cast<size_t>(f.def->ordered_dim);
  const RegionDim need_t = r.dims[t];
  r.dims[t] = {from, need_t.hi, need_t.free_hi, need_t.free_hi - from + 1};
  for (size_t d = 0; d < r.dims.size(); ++d)
    if (d != t) r.dims[d] = widened(r.dims[d], need_t.hi - step, cone.lo[d], cone.hi[d]);
}

}  // namespace

auto cone_of(const GraphFunc& f) -> std::optional<Cone> {
  const auto t = static_cast<size_t>(f.def->ordered_dim);
  Cone cone;
  cone.lo.assign(f.def->args.size(), 0), cone.hi = cone.lo;
  for (const auto& box : f.self_accesses[0]) {
    std::vector<Form> subscripts;
    for (const auto& i : box) {
      if (*i.lo != *i.hi) return {};
      subscripts.push_back(*i.lo);
    }
    const auto distance = (Form(f.def->args[t]) - subscripts[t]).as_constant();
    if (!distance || *distance < 1) return {};
    cone.reach = std::max(cone.reach, *distance);
    for (size_t d = 0; d < subscripts.size(); ++d) {
      if (d == t) continue;
      const auto offset = (subscripts[d] - Form(f.def->args[d])).as_constant();
      if (!offset) return {};
      // per unit of distance, rounded outwards: an access of 3 beside at distance 2 counts as 2 per step
      cone.lo[d] = std::min(cone.lo[d], floor_ratio(*offset, *distance));
      cone.hi[d] = std::max(cone.hi[d], -floor_ratio(-*offset, *distance));
    }
  }
  return cone;
}

auto with_all_steps(const Nest& nest, RealisationId what, const Site& site, Region need, QueryCache& cache) -> Region {
  const auto& f = nest.func(what);
  if (f.self_accesses[0].empty()) return need;
  const Form first = first_computed(f, need.dims[static_cast<size_t>(f.def->ordered_dim)], facts_at(nest, site, cache));
  widen(need, f, *cone_of(f), first, first);
  return need;
}

void order_region(const Nest& nest, RealisationId what, const RealisationPlace& place, RealisationFacts& facts,
                  QueryCache& cache) {
  const auto& f = nest.func(what);
  const auto cone = cone_of(f);
  DRAWLOOM_CHECK(cone.has_value(), "{} has no cone along its ordered dimension", f.name());
  const auto t = static_cast<size_t>(f.def->ordered_dim);
  const auto& leaf = *place.leaves.front().node->as<StageLeaf>();
  const Form first = first_computed(f, facts.need.dims[t], facts_at(nest, facts.compute_site, cache));
  const Form asked = facts.need.dims[t].cover;

  Slide slide;
  slide.dim = f.def->ordered_dim;
  Form value = first;
  for (const auto& d : leaf.dims)
    if (d.var == f.def->args[t]) value = first + d.rel;
  for (const auto& l : leaf.loops)
    if (uses_symbol(value, l.id.get())) slide.chain.push_back(l.id);
  slide.previous_hi = value - 1;
  slide.not_first = Cond::nonnegative(value - first - 1);

  widen(facts.computed, f, *cone, first, value);
  const Form first_stored = first_computed(f, facts.stored.dims[t], facts_at(nest, facts.store_site, cache));
  widen(facts.stored, f, *cone, first_stored, first_stored);
  facts.slides = {slide};
  // A later step reads beside itself what an earlier one left there, as far as the cone reaches.
  for (size_t d = 0; d < facts.stored.dims.size(); ++d)
    if (d != t) facts.window[d] = facts.stored.dims[d].cover.as_constant();
  // All steps run before anybody reads: those that are read stay, and while a step runs, those that it reads.
  const auto kept = asked.as_constant();
  facts.window[t] = kept ? std::optional<int64_t>(std::max(*kept, cone->reach + 1)) : std::nullopt;
}

}  // namespace drawloom
