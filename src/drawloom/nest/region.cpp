#include "drawloom/nest/region.h"

#include <algorithm>

#include "drawloom/nest/region_box.h"
#include "drawloom/support/fault.h"

// How a region is found. Consumers are asked first (the graph has no cycles); so for a realisation of Func f at site X:
//
//   for every stage c below X that reads f:
//     box of c        the values of c's dimensions during one iteration of X: base + rel, where the loops of c inside X
//                     run over all their iterations and the others stand still; the tail clips of c clamp the upper end
//     image           each end of the access summary, evaluated over that box (monotone, so ends map to ends)
//   need = union of the images; `when` says that the box of some consumer is not empty
//
//   out.split(x, xo, xi, 8), reads bx(x-1 .. x+1), X = xo:
//     box of out  [8xo, min(8xo + 7, W - 1)], free of the clamp [8xo, 8xo + 7]
//     need of bx  [8xo - 1, min(8xo + 7, W - 1) + 1], cover 10
//
// Sites, not loops, are the argument, so the same code gives the storage (X = store place), the need (X = compute
// place) and the footprint of inputs (X = root).

namespace drawloom {
namespace {

/// Union of boxes, each there only when its condition holds. Parts with equal conditions merge first.
class RegionUnion {
 public:
  explicit RegionUnion(const Facts& facts) : facts_(facts) {}

  void add(const Cond& when, const Region& box) {
    for (auto& p : parts_)
      if (p.first == when) {
        merge(p.second, box, [&](const Form& a, const Form& b, bool smaller) { return both(a, b, smaller); });
        return;
      }
    parts_.emplace_back(when, box);
  }

  auto result() const -> std::optional<Region> {
    if (parts_.empty()) return {};
    Region out = parts_[0].second;
    out.when.any = {parts_[0].first};
    for (size_t i = 1; i < parts_.size(); ++i) {
      const auto& [when, box] = parts_[i];
      // Parts under different conditions: where only one holds, its ends alone count, which a min of both would lose.
      const auto so_far = out.when.any;
      merge(out, box, [&](const Form& a, const Form& b, bool smaller) {
        const Form together = both(a, b, smaller);  // a choice would be exact, and doubles what stands on it
        if (a == b || so_far.size() != 1 || is_long(together)) return together;
        return choose(so_far[0], choose(when, together, a), b);
      });
      out.when.any.push_back(when);
    }
    return out;
  }

 private:
  auto both(const Form& a, const Form& b, bool smaller) const -> Form {
    return DRAWLOOM_FAULT(union_takes_first) ? a : simplified(smaller ? min(a, b) : max(a, b), facts_);
  }

  template <typename Pick>
  static void merge(Region& into, const Region& other, Pick&& pick) {
    for (size_t d = 0; d < into.dims.size(); ++d) {
      auto& x = into.dims[d];
      const auto& y = other.dims[d];
      x = {pick(x.lo, y.lo, true), pick(x.hi, y.hi, false), pick(x.free_hi, y.free_hi, false), Form(0)};
    }
  }

  const Facts& facts_;
  std::vector<std::pair<Cond, Region>> parts_;
};

/// Found once for a stage and a site: each of its producers and inputs asks. `facts`: facts_at the site, so no part of the key.
auto known_box(const Nest& nest, const Site& site, const Located& leaf, const Facts& facts, QueryCache& cache)
    -> const StageBox& {
  const auto key = std::make_tuple(nest.tree, leaf.node, site.get());
  if (const auto known = cache.boxes.find(key); known != cache.boxes.end()) return known->second;
  StageBox box = box_of(nest, site, leaf, cache);
  box.when = facts.simplify(box.when);
  return cache.boxes.emplace(key, std::move(box)).first->second;
}

template <typename Reads>
auto united_image(const Nest& nest, const Site& site, const Facts& facts, QueryCache& cache, Reads&& reads)
    -> std::optional<Region> {
  const auto& where = *site_node(nest.tree, site);
  RegionUnion parts(facts);
  for (const auto& at : stage_leaves(nest.tree)) {
    if (!where.encloses(at)) continue;
    const auto& leaf = *at.node->as<StageLeaf>();
    for (const auto& access : nest.graph->reads(leaf.what.func, leaf.stage)) {
      if (!reads(leaf, access)) continue;
      const auto& box = known_box(nest, site, at, facts, cache);
      if (box.when.is_never()) break;
      for (const auto& b : access.boxes) {
        if (const auto part = image(b, box)) parts.add(box.when, *part);
      }
    }
  }
  auto out = parts.result();
  if (out) tidy(*out, facts);
  return out;
}

/// Values of the dimensions of an update stage while its Func is computed over `region`.
auto update_box(const Nest& nest, const StageLeaf& leaf, const Region& region, QueryCache& cache) -> StageBox {
  StageBox box;
  for (size_t d = 0; d < leaf.dims.size(); ++d) {
    const int arg = leaf.dims[d].arg;
    box.dims.emplace_back(leaf.dims[d].var.get(),
                          arg >= 0 ? region.dims[static_cast<size_t>(arg)] : stage_dim_range(nest, leaf, d, cache));
    box.when = box.when && Cond::nonnegative(box.dims.back().second.hi - box.dims.back().second.lo);
  }
  return box;
}

/// Elements of f that one update writes or reads, over `region`.
auto update_regions(const Nest& nest, const StageLeaf& leaf, const Region& region, QueryCache& cache)
    -> std::vector<Region> {
  const StageBox box = update_box(nest, leaf, region, cache);
  std::vector<Region> out;
  for (const auto& access : nest.func(leaf.what).self_accesses[static_cast<size_t>(leaf.stage)]) {
    auto part = image(access, box);
    DRAWLOOM_CHECK(part.has_value(), "an access of {} to itself has no bound", nest.func(leaf.what).name());
    part->when.any = {box.when};
    out.push_back(*part);
  }
  return out;
}

/// Joins what the updates of f write or read at subscripts other than their own pure dimensions.
void add_update_needs(const Nest& nest, const GraphFunc& f, const RealisationPlace& place, const Facts& facts,
                      QueryCache& cache, Region& need) {
  for (const auto& at : place.leaves) {
    const auto& leaf = *at.node->as<StageLeaf>();
    if (leaf.stage == 0) continue;
    const auto& accesses = f.self_accesses[static_cast<size_t>(leaf.stage)];
    const auto regions = update_regions(nest, leaf, need, cache);
    for (size_t i = 0; i < regions.size(); ++i)
      for (size_t d = 0; d < need.dims.size(); ++d) {
        // the stage's own coordinate: it runs over the region and adds nothing
        if (*accesses[i][d].lo == Form(f.def->args[d])) continue;
        auto& into = need.dims[d];
        const auto& part = regions[i].dims[d];
        // an update over nothing touches nothing
        const Cond when = facts.simplify(regions[i].when.any[0]);
        const auto with_part = [&](const Form& together, const Form& alone) {
          const Form simple = simplified(together, facts);
          return is_long(simple) ? simple : choose(when, simple, alone);
        };
        into = {with_part(min(into.lo, part.lo), into.lo), with_part(max(into.hi, part.hi), into.hi),
                with_part(max(into.free_hi, part.free_hi), into.free_hi), Form(0)};
      }
  }
}

/// The caller's buffer says what is wanted, whoever else reads the output.
auto output_region(const Nest& nest, const GraphFunc& f) -> Region {
  Region out;
  out.when = When::always();
  const auto& buffer = first_output_buffer(*nest.graph->pipeline, *f.def);
  for (size_t d = 0; d < f.def->args.size(); ++d) {
    const Form lo(buffer.min[d]), extent(buffer.extent[d]);
    out.dims.push_back({lo, lo + extent - 1, lo + extent - 1, extent});
  }
  return out;
}

auto amount_form(const Nest& nest, const Amount& a) -> Form {
  if (a.symbol.empty()) return Form(a.value);
  for (const auto& p : nest.graph->pipeline->params)
    if (p->name == a.symbol) return Form(p);
  return Form(a.value);
}

/// `bound` takes the place of what was found, `align` rounds it outwards. In this order, so that a promised region is
/// aligned too.
void apply_dim_decisions(const Nest& nest, const GraphFunc& f, Region& region) {
  for (size_t d = 0; d < region.dims.size(); ++d) {
    auto& r = region.dims[d];
    if (const auto& b = f.dims[d].bound) {
      const Form lo = amount_form(nest, b->first), extent = amount_form(nest, b->second);
      r = {lo, lo + extent - 1, lo + extent - 1, extent};
    }
    if (const int64_t k = f.dims[d].align; k > 1 && !f.is_output) {
      const Form lo = floor_div(r.lo, k) * Form(k);
      const auto up = [&](const Form& hi) { return lo + ceil_div(form_extent(lo, hi), k) * Form(k) - 1; };
      r = {lo, up(r.hi), up(r.free_hi), Form(0)};
    }
  }
}

}  // namespace

/// Conditions of the branches around the site.
static auto branch_facts(const Nest& nest, const Site& site) -> Facts {
  Facts facts;
  if (!site) return facts;
  const TreeNode* n = nest.tree.get();
  for (const int i : path_of(nest.tree, *find_loop(nest.tree, site))) {
    if (const auto* branch = n->as<BranchNode>(); branch && i == 0) facts = facts.with(branch->condition);
    n = n->children[static_cast<size_t>(i)].get();
  }
  return facts;
}

auto facts_at(const Nest& nest, const Site& site, QueryCache& cache) -> Facts {
  Facts facts = branch_facts(nest, site);
  for (const auto* loop : loops_to(nest, site)) {
    // Iterations before 0 may come to be: then nothing may rest on 0 as the first.
    const Form last = resolve(nest, loop->extent, cache) - 1;
    facts = may_warm_up(nest, loop->id) ? facts.with(Cond::less_equal(Form(loop->id), last))
                                        : facts.with_range(loop->id, Form(0), last);
    for (const auto* c : clips_of(nest, loop->id))
      facts = facts.with(Cond::nonnegative(resolve(nest, c->limit, cache) - 1 - c->index));
  }
  return facts;
}

/// What is needed where all that read are shown never to run, say a recurrence under a `bound` that lies before its
/// first step.
static auto no_elements(size_t rank) -> Region {
  Region none;
  none.dims.assign(rank, RegionDim{Form(0), Form(-1), Form(-1), Form(0)});
  return none;
}

static auto compute_need(const Nest& nest, RealisationId what, const Site& site, QueryCache& cache) -> Region {
  const auto& f = nest.func(what);
  const Facts facts = facts_at(nest, site, cache);
  if (f.is_output) {
    Region r = output_region(nest, f);
    apply_dim_decisions(nest, f, r);
    return r;
  }
  auto region = united_image(nest, site, facts, cache, [&](const StageLeaf& leaf, const AccessSummary& a) {
    return a.func == what.func && leaf.what != what;
  });
  if (!region) region = no_elements(f.def->args.size());
  const auto& place = place_of(nest, what);
  if (!DRAWLOOM_FAULT(pure_region_too_small)) add_update_needs(nest, f, place, facts, cache, *region);
  apply_dim_decisions(nest, f, *region);
  tidy(*region, facts);
  return *region;
}

auto need_at(const Nest& nest, RealisationId what, const Site& site, QueryCache& cache) -> const Region& {
  const auto key = std::make_tuple(nest.tree, what, site.get());
  if (const auto known = cache.needs.find(key); known != cache.needs.end()) return known->second;
  Region need = compute_need(nest, what, site, cache);
  return cache.needs.emplace(key, std::move(need)).first->second;
}

/// Iterations before 0 of the loop of its compute place in which those run that read `what`.
static auto inherited_warm_up(const Nest& nest, RealisationId what, const Site& compute_site, QueryCache& cache)
    -> int64_t {
  int64_t most = 0;
  if (!compute_site || !may_warm_up(nest, compute_site)) return most;
  for (const auto& at : stage_leaves(nest.tree)) {
    const auto& leaf = *at.node->as<StageLeaf>();
    // what reads itself in its updates runs when it runs
    if (leaf.what != what && nest.func(leaf.what).reads_func(leaf.stage, what.func))
      most = std::max(most, warm_iterations(nest, at, compute_site, cache));
  }
  return most;
}

/// What holds at the compute place in iterations in which somebody reads what is computed there.
static auto facts_when_read(const Nest& nest, const RealisationPlace& place, const RealisationFacts& known,
                            QueryCache& cache) -> Facts {
  Facts facts = facts_at(nest, known.compute_site, cache);
  for (const auto* l : loops_to(nest, known.compute_site)) {
    if (!may_warm_up(nest, l->id)) continue;
    const int64_t before =
        l->id == known.compute_site ? known.warm_iterations : warm_iterations(nest, place.leaves.front(), l->id, cache);
    facts = facts.with(Cond::nonnegative(Form(l->id) + before));
  }
  return facts;
}

/// One iteration needs nothing outside of what all need together. Both are bounds that may be wider than they must be,
/// and each in its own way, since they come from different sites; and in the warm-up of one reader the others, which do
/// not run, would be asking too.
static void keep_inside(Region& need, const Region& stored, const Facts& facts) {
  for (size_t d = 0; d < need.dims.size(); ++d) {
    auto& n = need.dims[d];
    const auto& all = stored.dims[d];
    if (!facts.proves_le(all.lo, n.lo)) n.lo = simplified(max(n.lo, all.lo), facts);
    if (!facts.proves_le(n.hi, all.hi)) n.hi = simplified(min(n.hi, all.hi), facts);
  }
}

auto realisation_facts(const Nest& nest, RealisationId what, QueryCache& cache) -> const RealisationFacts& {
  const auto key = std::make_pair(nest.tree, what);
  if (const auto found = cache.realisations.find(key); found != cache.realisations.end()) return found->second->facts;
  const auto& place = place_of(nest, what);
  auto entry = make_ref<RealisationEntry>();
  auto& facts = entry->facts;
  facts.compute_site = site_of(nest.tree, *place.group);
  facts.store_site = place.store ? site_of(nest.tree, *place.store) : facts.compute_site;
  facts.need = need_at(nest, what, facts.compute_site, cache);
  // The same question at another site: all iterations of the loops between the places together.
  facts.stored = facts.store_site == facts.compute_site ? facts.need : need_at(nest, what, facts.store_site, cache);
  facts.warm_iterations = inherited_warm_up(nest, what, facts.compute_site, cache);
  if (facts.store_site != facts.compute_site)
    keep_inside(facts.need, facts.stored, facts_when_read(nest, place, facts, cache));
  find_slides(nest, what, place, facts, cache);
  if (!nest.func(what).self_accesses[0].empty()) order_region(nest, what, place, facts, cache);
  name_ends(nest, what, place, facts);
  return cache.realisations.emplace(key, Ref<const RealisationEntry>(entry)).first->second->facts;
}

auto input_region(const Nest& nest, const BufferRef& input, QueryCache& cache) -> std::optional<Region> {
  return united_image(nest, {}, Facts(), cache,
                      [&](const StageLeaf&, const AccessSummary& a) { return a.input == input; });
}

auto output_read_region(const Nest& nest, RealisationId output, QueryCache& cache) -> std::optional<Region> {
  return united_image(nest, {}, Facts(), cache, [&](const StageLeaf& leaf, const AccessSummary& a) {
    return a.func == output.func && leaf.what.func != output.func;
  });
}

auto output_update_regions(const Nest& nest, RealisationId output, QueryCache& cache) -> std::vector<Region> {
  std::vector<Region> out;
  const auto& facts = realisation_facts(nest, output, cache);
  const Region region = facts.need;
  if (!nest.func(output).self_accesses[0].empty()) {
    Region steps = facts.stored;
    Cond any;
    for (const auto& d : region.dims) any = any && Cond::nonnegative(d.hi - d.lo);
    steps.when.any = {any};
    out.push_back(std::move(steps));
  }
  for (const auto& at : place_of(nest, output).leaves) {
    const auto& leaf = *at.node->as<StageLeaf>();
    if (leaf.stage == 0) continue;
    for (auto& r : update_regions(nest, leaf, region, cache)) out.push_back(std::move(r));
  }
  return out;
}

}  // namespace drawloom
