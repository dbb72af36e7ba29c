// What a realisation is needed for at a site: the union over its readers c below the site, by the rules of region.cpp.
//
//   some loops of c stand still     base of c + rel, the loops inside the site running over all their iterations
//   all of c lies inside            the region of c over one iteration of the site: need(c, site), without what a slide
//                                   has kept

#include <algorithm>

#include "drawloom/nest/region_box.h"
#include "drawloom/nest/size_pass.h"

namespace drawloom {

// ---- values of dimensions

auto SizePass::rvar_range(const StageLeaf& leaf, const SymbolRef& var, Back back) const -> SizedDim {
  for (const auto& r : nest_.func(leaf.what).def->stage(leaf.stage).rdom->dims)
    if (r.symbol == var) {
      const int64_t lo = value(to_form(r.min), back), hi = lo + value(to_form(r.extent), back) - 1;
      return {lo, hi, hi};
    }
  return {};
}

/// The values of a stage's dimension over its computed region.
auto SizePass::dim_range(const Realisation& me, const StageLeaf& leaf, const StageDim& dim) const -> SizedDim {
  return dim.arg < 0 ? rvar_range(leaf, dim.var, {}) : out_.dims_[me.computed + static_cast<size_t>(dim.arg)];
}

auto SizePass::own_loops(const Located& leaf) -> const std::vector<int>& {
  own_.resize(leaf.node->as<StageLeaf>()->loops.size());
  int number = leaf.loop;
  for (size_t i = own_.size(); i-- > 0; number = node(number).loop) own_[i] = number;
  return own_;
}

// ---- boxes of readers

/// Values of the dimensions of a reader during one iteration of the site.
auto SizePass::box_of(const Reader& reader, int site, Back back) -> const Box& {
  auto& me = realisation(reader.realisation);
  const auto& leaf = *reader.at->node->as<StageLeaf>();
  // sites around one stage are ordered by their numbers; if true, the realisation runs within one iteration of the site
  const bool all_inside = site <= me.compute_site();
  const size_t region = all_inside ? region_inside(me, site, back) : steps_inside(me, *reader.at, site);
  box_.clear();
  for (const auto& d : leaf.dims) {
    const SizedDim values = d.arg < 0 ? rvar_range(leaf, d.var, back) : dims(region)[d.arg];
    box_.add(d.var.get(), all_inside ? values : stand_still(*reader.at, d, site, back, values));
  }
  return box_;
}

/// base + rel where own loops of the stage outside the site stand still.
auto SizePass::stand_still(const Located& at, const StageDim& dim, int site, Back back, const SizedDim& region)
    -> SizedDim {
  const auto& leaf = *at.node->as<StageLeaf>();
  loop_box_.clear();
  bool any = false;
  const auto& own = own_loops(at);
  for (size_t i = 0; i < own.size(); ++i) {
    const auto* id = leaf.loops[i].id.get();
    if (!uses_symbol(dim.rel, id)) continue;
    const int number = own[i];
    const bool stands = number <= site;
    any = any || stands;
    const auto& l = loop(number);
    if (stands)
      loop_box_.add_fixed(id, l.value - (number == back.loop ? back.by : 0));
    else
      loop_box_.add(id, {0, l.extent - 1, l.extent - 1});
  }
  if (!any) return region;
  const int64_t free_hi = region.lo + highest(dim.rel, loop_box_, back).hi;
  const bool clipped = has_clip(leaf, static_cast<size_t>(&dim - leaf.dims.data()));
  return {region.lo + lowest(dim.rel, loop_box_, back), clipped ? std::min(free_hi, region.hi) : free_hi, free_hi};
}

/// What a recurrence computes in the steps that its ordered loops take inside the site: its region is that of the step
/// where they stand, and the first step computes most. Dimensions that the cone widens have no loops outside the
/// ordered one.
auto SizePass::steps_inside(const Realisation& me, const Located& at, int site) -> size_t {
  if (me.func->self_accesses[0].empty()) return me.computed;
  const auto& leaf = *at.node->as<StageLeaf>();
  loop_box_.clear();
  const auto& own = own_loops(at);
  for (size_t i = 0; i < own.size(); ++i) {
    const auto& l = loop(own[i]);
    if (own[i] > site) loop_box_.add(leaf.loops[i].id.get(), {0, l.extent - 1, l.extent - 1});
  }
  int64_t to_first = 0;
  for (const auto& d : leaf.dims)
    if (d.arg == me.func->def->ordered_dim) to_first = value(d.rel) - lowest(d.rel, loop_box_, {});
  const auto cone = *cone_of(*me.func);
  const size_t region = copy_of(me.computed, me.rank);
  for (size_t d = 0; d < me.rank; ++d) {
    auto& v = dims(region)[d];
    v.lo += cone.lo[d] * to_first, v.hi += cone.hi[d] * to_first, v.free_hi += cone.hi[d] * to_first;
  }
  return region;
}

/// The region of a realisation that lies inside the site: all it computes in one iteration of it.
auto SizePass::region_inside(Realisation& me, int site, Back back) -> size_t {
  if (!me.func->self_accesses[0].empty()) {
    const size_t all_steps = copy_of(need_at(me, site, back), me.rank);
    widen(me, *cone_of(*me.func), all_steps);
    return all_steps;
  }
  if (!me.place->store || is_below(*me.place->store, site))
    return back == Back{} && site == me.store_site() ? me.stored : need_at(me, site, back);
  if (site == me.compute_site() && back == Back{}) return me.computed;
  const size_t need = need_at(me, site, back);
  Dims out;
  for (size_t d = 0; d < me.rank; ++d) {
    SizedDim v = dims(need)[d];
    const int by = me.slid_by[d];
    const bool by_loop_outside = by != kNone && by <= site;
    if (by_loop_outside && back == Back{}) v.lo = std::max(v.lo, dims(need_at(me, site, {by}))[d].free_hi + 1);
    // Further back the new part is taken to begin as far inside the need as it does now: it costs no second step back.
    if (by_loop_outside && back != Back{}) v.lo += dims(me.computed)[d].lo - dims(me.need)[d].lo;
    out[d] = v;
  }
  return add_dims(out, me.rank);
}

// ---- needs

auto SizePass::add_dims(const Dims& d, size_t rank) -> size_t {
  const size_t first = out_.dims_.size();
  out_.dims_.insert(out_.dims_.end(), d.begin(), d.begin() + static_cast<ptrdiff_t>(rank));
  return first;
}

auto SizePass::copy_of(size_t first, size_t rank) -> size_t {
  Dims copy;
  std::copy_n(dims(first), rank, copy.begin());
  return add_dims(copy, rank);
}

auto SizePass::need_at(Realisation& me, int site, Back back) -> size_t {
  // few are asked for per realisation, so a list does
  for (int k = me.known; k != kNone; k = known_[static_cast<size_t>(k)].before) {
    const Known& known = known_[static_cast<size_t>(k)];
    if (known.site == site && known.back == back) return known.dims;
  }
  Dims need;
  if (me.func->is_output)
    output_region(*me.func, need);
  else if (!union_of_reads(me, site, back, need))
    // nobody reads it here: nothing, in every dimension
    need.fill({0, -1, -1});
  else if (!me.func->def->updates.empty())
    add_update_needs(me, back, need);
  apply_decisions(*me.func, need);
  const size_t at = add_dims(need, me.rank);
  known_.push_back({site, back, at, me.known});
  me.known = static_cast<int>(known_.size()) - 1;
  return at;
}

void SizePass::output_region(const GraphFunc& f, Dims& need) const {
  const auto& buffer = first_output_buffer(*nest_.graph->pipeline, *f.def);
  for (size_t d = 0; d < f.def->args.size(); ++d) {
    const int64_t lo = symbol_value(*buffer.min[d], {}), hi = lo + symbol_value(*buffer.extent[d], {}) - 1;
    need[d] = {lo, hi, hi};
  }
}

namespace {

void join(SizedDim& into, const SizedDim& d) {
  into = {std::min(into.lo, d.lo), std::max(into.hi, d.hi), std::max(into.free_hi, d.free_hi)};
}

}  // namespace

auto SizePass::union_of_reads(const Realisation& me, int site, Back back, Dims& need) -> bool {
  const auto number = &me - realisations_.data();
  bool any = false;
  for (int i = readers_of_[static_cast<size_t>(index_.realisations[static_cast<size_t>(number)].func)]; i != kNone;
       i = readers_[static_cast<size_t>(i)].next) {
    const Reader& reader = readers_[static_cast<size_t>(i)];
    if (reader.realisation == number || !is_below(*reader.at, site)) continue;
    const Box& box = box_of(reader, site, back);
    if (box.empty) continue;
    for (const auto& b : reader.access->boxes) {
      for (size_t d = 0; d < b.size(); ++d) {
        const SizedDim part = image(b[d], box, back);
        if (any)
          join(need[d], part);
        else
          need[d] = part;
      }
      any = true;
    }
  }
  return any;
}

auto SizePass::image(const Interval<Form>& access, const Box& box, Back back) const -> SizedDim {
  const Highest highest = this->highest(*access.hi, box, back);
  return {lowest(*access.lo, box, back), highest.hi, highest.free_hi};
}

/// What the updates write or read at subscripts other than their own pure dimensions.
void SizePass::add_update_needs(const Realisation& me, Back back, Dims& need) {
  const auto& f = *me.func;
  for (const auto& at : me.place->leaves) {
    const auto& leaf = *at.node->as<StageLeaf>();
    if (leaf.stage == 0) continue;
    box_.clear();
    for (const auto& d : leaf.dims)
      box_.add(d.var.get(), d.arg >= 0 ? need[static_cast<size_t>(d.arg)] : rvar_range(leaf, d.var, back));
    if (box_.empty) continue;
    for (const auto& access : f.self_accesses[static_cast<size_t>(leaf.stage)])
      for (size_t d = 0; d < access.size(); ++d)
        if (*access[d].lo != Form(f.def->args[d])) join(need[d], image(access[d], box_, back));
  }
}

void SizePass::apply_decisions(const GraphFunc& f, Dims& need) const {
  for (size_t d = 0; d < f.dims.size(); ++d) {
    if (const auto& b = f.dims[d].bound) {
      const int64_t lo = amount(b->first), hi = lo + amount(b->second) - 1;
      need[d] = {lo, hi, hi};
    }
    if (const int64_t k = f.dims[d].align; k > 1 && !f.is_output) {
      const int64_t lo = *Number<int64_t>::divide(need[d].lo, k) * k;
      const auto up = [&](int64_t hi) { return lo + *Number<int64_t>::divide(hi - lo + k, k) * k - 1; };
      need[d] = {lo, up(need[d].hi), up(need[d].free_hi)};
    }
  }
}

}  // namespace drawloom
