#include "drawloom/nest/region.h"

#include <algorithm>

#include "drawloom/ir/build.h"
#include "drawloom/nest/region_box.h"
#include "drawloom/support/fault.h"

// How a region is found. Consumers are asked first (the graph has no cycles), so for a realisation r of Func f at site X:
//
//   for every stage c below X that reads f:
//     box of c        the values of c's dimensions during one iteration of X: base + rel, where the loops of c inside X run
//                     over all their iterations and the others stand still; the tail clips of c clamp the upper end
//     image           each end of the access summary, evaluated over that box (monotone, so ends map to ends)
//   need = union of the images; `when` says that the box of some consumer is not empty
//
//   out.split(x, xo, xi, 8), reads bx(x-1 .. x+1), X = xo:
//     box of out  [8xo, min(8xo + 7, W - 1)], free of the clamp [8xo, 8xo + 7]
//     need of bx  [8xo - 1, min(8xo + 7, W - 1) + 1], cover 10
//
// Sites, not loops, are the argument, so the same code gives the storage (X = store place), the need (X = compute place)
// and the footprint of inputs (X = root).

namespace drawloom {

auto When::is_always() const -> bool {
  return std::any_of(any.begin(), any.end(), [](const Cond& c) { return c.is_always(); });
}

auto When::text() const -> std::string {
  if (any.empty()) return "never";
  if (is_always()) return "always";
  std::vector<std::string> parts;
  for (const auto& c : any) parts.push_back(c.text());
  return join(parts, " or ");
}

auto to_expr(const When& w) -> Expr {
  if (w.any.empty()) return bool_imm(false);
  Expr out;
  for (const auto& c : w.any) {
    const Expr e = to_expr(c);
    out = out ? binary(BinaryOp::Or, out, e) : e;
  }
  return out;
}

auto RegionDim::extent() const -> Form { return form_extent(lo, hi); }

auto RealisationFacts::slide_of(int dim) const -> const Slide* {
  for (const auto& s : slides)
    if (s.dim == dim) return &s;
  return nullptr;
}

// ---- places

auto place_of(const Nest& nest, RealisationId what) -> const RealisationPlace& {
  const auto* place = index_of(nest.tree).place(what);
  DRAWLOOM_CHECK(place, "no stage of realisation {} of {}", what.copy, nest.func(what).name());
  return *place;
}

auto realisations(const Nest& nest) -> const std::vector<RealisationId>& { return index_of(nest.tree).realisations; }

auto loops_to(const Nest& nest, const Site& site) -> std::vector<const LoopNode*> {
  if (!site) return {};
  const auto located = find_loop(nest.tree, site);
  DRAWLOOM_CHECK(located.has_value(), "site {} is not in the tree", site->name);
  auto loops = loops_around(nest.tree, located->path);
  loops.push_back(located->node->as<LoopNode>());
  return loops;
}

/// Clips that hold inside the loop.
static auto clips_of(const Nest& nest, const SymbolRef& loop) -> const std::vector<const Clip*>& {
  static const std::vector<const Clip*> none;
  const auto* found = index_of(nest.tree).regions().clips.find(loop.get());
  return found ? *found : none;
}

// ---- resolving

auto resolve(const Nest& nest, const Form& f, QueryCache& cache) -> Form {
  const auto symbols = symbols_of(f);
  const bool any = std::any_of(symbols.begin(), symbols.end(), [](const SymbolRef& s) { return s->kind == SymbolKind::Let; });
  if (!any) return f;
  return substitute(f, [&](const SymbolRef& s) -> std::optional<Form> {
    if (s->kind != SymbolKind::Let) return {};
    const auto* known = index_of(nest.tree).regions().symbols.find(s.get());
    if (!known) return {};
    const RegionDim r = stage_dim_range(nest, *known->leaf, known->dim, cache);
    return known->is_base ? r.lo : r.extent();
  });
}

auto stage_dim_range(const Nest& nest, const StageLeaf& leaf, size_t dim, QueryCache& cache) -> RegionDim {
  const auto& f = nest.func(leaf.what);
  const auto& var = leaf.dims[dim].var;
  if (var->kind == SymbolKind::RVar) {
    for (const auto& r : f.def->stage(leaf.stage).rdom->dims)
      if (r.symbol == var) {
        const Form lo = to_form(r.min), extent = to_form(r.extent);
        return {lo, lo + extent - 1, lo + extent - 1, extent};
      }
  }
  const auto& args = f.def->args;
  const auto i = static_cast<size_t>(std::find(args.begin(), args.end(), var) - args.begin());
  DRAWLOOM_CHECK(i < args.size(), "{} is no dimension of {}", var->name, f.name());
  return realisation_facts(nest, leaf.what, cache).computed.dims[i];
}

namespace {

auto interval_with(const Form& f, const SymbolRef& s, const Interval<Form>& range) -> Interval<Form> {
  return interval_of<Form>(
      f, [&](const SymbolRef& t) { return t == s ? &range : nullptr; }, [](const SymbolRef& t) { return Form(t); });
}

/// Conditions of the choose atoms in f, the first found or nothing.
auto find_choice(const Form& f) -> std::optional<Cond> {
  for (const auto& t : f.node().terms) {
    if (!t.atom) continue;
    if (t.atom->kind == AtomKind::Choose) return t.atom->condition;
    for (const auto& op : t.atom->operands)
      if (auto c = find_choice(op)) return c;
  }
  return {};
}

}  // namespace

auto decide(const Form& f, const Cond& condition, bool yes) -> Form {
  return replace_atoms(f, [&](const Atom& a) -> std::optional<Form> {
    if (a.kind != AtomKind::Choose || a.condition != condition) return {};
    return decide(a.operands[yes ? 0 : 1], condition, yes);
  });
}

namespace {

/// Each choice doubles the work: few are decided, what is left stays a difference.
auto extent_deciding(const Form& lo, const Form& hi, int choices) -> Form {
  const Form plain = hi - lo + 1;
  const auto choice = choices > 0 ? find_choice(plain) : std::nullopt;
  if (!choice) return plain;
  const auto side = [&](bool yes) { return extent_deciding(decide(lo, *choice, yes), decide(hi, *choice, yes), choices - 1); };
  return choose(*choice, side(true), side(false));
}

}  // namespace

auto form_extent(const Form& lo, const Form& hi) -> Form {
  constexpr int kChoices = 3;
  return extent_deciding(lo, hi, kChoices);
}

auto cover_of(const Form& extent, const Facts& facts) -> Form {
  if (extent.is_constant()) return extent;
  if (const auto hi = facts.range(extent).hi) return Form(*hi);
  return extent;
}

namespace {

/// Last iteration of a loop that its clips let through. Inside them the clamps of a region are gone, because they hold there: outside they come
/// back with the last iteration.
auto last_clipped(const Nest& nest, const LoopNode& loop, Form last, QueryCache& cache) -> Form {
  for (const auto* c : clips_of(nest, loop.id)) {
    const Form rest = substitute(c->index, [&](const SymbolRef& s) { return s == loop.id ? std::optional(Form(0)) : std::nullopt; });
    if (c->index - rest == Form(loop.id)) last = min(last, resolve(nest, c->limit, cache) - 1 - rest);
  }
  return last;
}

/// (k*d - 1) / d is k - 1: the last iteration of a fused loop. The loop runs, so d is at least 1.
auto without_full_quotients(const Form& f) -> Form {
  return replace_atoms(f, [](const Atom& a) -> std::optional<Form> {
    if (a.kind != AtomKind::FloorDiv || a.operands[1].is_constant()) return {};
    const Form next = a.operands[0] + 1;
    const auto &multiple = next.terms(), &once = a.operands[1].terms();
    if (multiple.empty() || multiple[0].factor % once[0].factor != 0) return {};
    const Form k(multiple[0].factor / once[0].factor);
    return next == k * a.operands[1] ? std::optional(k - 1) : std::nullopt;
  });
}

}  // namespace

auto over_loops(const Nest& nest, const FormRange& range, const std::vector<const LoopNode*>& loops, const WarmLoop& warm,
                QueryCache& cache, Tails tails) -> FormRange {
  FormRange out = range;
  for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
    const auto& loop = **it;
    const bool used = uses_symbol(out.lo, loop.id.get()) || uses_symbol(out.hi, loop.id.get());
    if (!used) continue;
    const Form last = resolve(nest, loop.extent, cache) - 1;
    const Interval<Form> all{Form(loop.id == warm.loop ? -warm.iterations : 0),
                             tails == Tails::clamp ? last_clipped(nest, loop, last, cache) : last};
    const auto lo = interval_with(out.lo, loop.id, all).lo, hi = interval_with(out.hi, loop.id, all).hi;
    DRAWLOOM_CHECK(lo && hi, "a region has no bound along {}: {} .. {}", loop.id->name, out.lo, out.hi);
    out = {without_full_quotients(*lo), without_full_quotients(*hi)};
  }
  return out;
}

// ---- boxes of consumers

namespace {

struct StageBox {
  std::vector<std::pair<const Symbol*, RegionDim>> dims;
  Cond when;
};

/// Loops of `all` below the first `outer`.
auto below(const std::vector<const LoopNode*>& all, size_t outer) -> std::vector<const LoopNode*> {
  return {all.begin() + static_cast<std::ptrdiff_t>(std::min(outer, all.size())), all.end()};
}

/// A clip on a fused loop bounds both dimensions.
auto has_clip(const StageLeaf& leaf, size_t dim) -> bool {
  const auto moves = [&](const SymbolRef& loop) { return uses_symbol(leaf.dims[dim].rel, loop.get()); };
  return std::any_of(leaf.clips.begin(), leaf.clips.end(), [&](const Clip& c) {
    const auto loops = symbols_of(c.index);
    return c.dim == static_cast<int>(dim) || std::any_of(loops.begin(), loops.end(), moves);
  });
}

auto region_of_dim(const RealisationFacts& facts, const GraphFunc& f, const SymbolRef& var, bool stored) -> const RegionDim& {
  const auto& args = f.def->args;
  const auto i = static_cast<size_t>(std::find(args.begin(), args.end(), var) - args.begin());
  return (stored ? facts.stored : facts.computed).dims[i];
}

class BoxQuery {
 public:
  BoxQuery(const Nest& nest, const Site& site, QueryCache& cache)
      : nest_(nest), cache_(cache), outer_(loops_to(nest, site).size()) {}

  /// Values of the dimensions of `leaf` during one iteration of the site.
  auto box(const Located& leaf_at) -> StageBox {
    const auto& leaf = *leaf_at.node->as<StageLeaf>();
    const auto around = loops_around(nest_.tree, leaf_at.path);
    const size_t first_own = around.size() - leaf.loops.size();
    const bool all_own_inside = first_own >= outer_;
    const auto& f = nest_.func(leaf.what);
    const auto& facts = realisation_facts(nest_, leaf.what, cache_);
    const bool store_inside = all_own_inside && loops_to(nest_, facts.store_site).size() >= outer_;

    StageBox out;
    for (size_t d = 0; d < leaf.dims.size(); ++d) {
      const auto& dim = leaf.dims[d];
      RegionDim r = dim.var->kind == SymbolKind::RVar ? stage_dim_range(nest_, leaf, d, cache_)
                                                      : region_of_dim(facts, f, dim.var, store_inside);
      const auto moving = below(around, outer_);
      if (all_own_inside) {
        range_over(moving, {facts.compute_site, facts.warm_iterations}, r);
      } else {
        fix_outer_loops(leaf, d, moving, r);
      }
      out.when = out.when && Cond::nonnegative(r.hi - r.lo);
      out.dims.emplace_back(dim.var.get(), r);
    }
    return out;
  }

 private:
  /// The stage's own loops move its region only where it is a recurrence.
  void range_over(const std::vector<const LoopNode*>& moving, const WarmLoop& warm, RegionDim& r) {
    const FormRange need = over_loops(nest_, {r.lo, r.hi}, moving, warm, cache_, Tails::clamp);
    const FormRange free = over_loops(nest_, {r.lo, r.free_hi}, moving, warm, cache_, Tails::ignore);
    r.lo = need.lo, r.hi = need.hi, r.free_hi = free.hi;
  }

  /// Some loops of the stage stand still: base + rel over the moving ones, clamped by the stage's clips.
  void fix_outer_loops(const StageLeaf& leaf, size_t d, const std::vector<const LoopNode*>& moving, RegionDim& r) {
    const Form rel = leaf.dims[d].rel;
    const bool any_fixed = [&] {
      for (const auto& s : symbols_of(rel)) {
        const bool moves = std::any_of(moving.begin(), moving.end(), [&](const LoopNode* l) { return l->id == s; });
        if (s->kind == SymbolKind::Loop && !moves) return true;
      }
      return false;
    }();
    const Form first = r.lo;
    range_over(moving, {}, r);
    if (!any_fixed) return;
    const Form value = resolve(nest_, rel, cache_) + first;
    const FormRange free = over_loops(nest_, {value, value}, moving, {}, cache_, Tails::ignore);
    r = {free.lo, has_clip(leaf, d) && !DRAWLOOM_FAULT(clamp_dropped_in_need) ? min(free.hi, r.hi) : free.hi, free.hi, Form(0)};
  }

  const Nest& nest_;
  QueryCache& cache_;
  size_t outer_;
};

auto image_end(const Form& f, const StageBox& box, bool upper, bool free) -> std::optional<Form> {
  std::vector<std::pair<const Symbol*, Interval<Form>>> env;
  for (const auto& [symbol, r] : box.dims) env.emplace_back(symbol, Interval<Form>{r.lo, free ? r.free_hi : r.hi});
  const auto i = interval_of<Form>(
      f,
      [&](const SymbolRef& s) -> const Interval<Form>* {
        for (const auto& [symbol, interval] : env)
          if (symbol == s.get()) return &interval;
        return nullptr;
      },
      [](const SymbolRef& s) { return Form(s); });
  return upper ? i.hi : i.lo;
}

/// What a consumer's box reads of a producer. Unbounded ends (input buffers only) give nothing.
auto image(const Box& access, const StageBox& box) -> std::optional<Region> {
  Region out;
  for (const auto& i : access) {
    if (!i.lo || !i.hi) return {};
    const auto lo = image_end(*i.lo, box, false, false), hi = image_end(*i.hi, box, true, false), free = image_end(*i.hi, box, true, true);
    if (!lo || !hi || !free) return {};
    const Form lost(DRAWLOOM_FAULT(need_loses_last) && !i.lo->is_constant() ? 1 : 0);
    out.dims.push_back({*lo, *hi - lost, *free - lost, Form(0)});
  }
  return out;
}

/// Terms of f, through its atoms; counting stops at `most`.
auto weight(const Form& f, int most) -> int {
  int n = 0;
  for (const auto& t : f.node().terms) {
    ++n;
    if (!t.atom) continue;
    for (const auto& op : t.atom->operands)
      if (n < most) n += weight(op, most - n);
  }
  return n;
}

/// Deciding minima costs more than it gives where many conditions meet: such forms stay as they are.
auto simplified(const Form& f, const Facts& facts) -> Form {
  constexpr int kLarge = 24;
  return weight(f, kLarge) < kLarge ? facts.simplify(f) : f;
}

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
      const auto so_far = out.when.any;
      merge(out, box, [&](const Form& a, const Form& b, bool smaller) {
        const Form together = both(a, b, smaller);
        if (a == b || so_far.size() != 1) return together;
        return choose(so_far[0], choose(when, together, a), b);
      });
      out.when.any.push_back(when);
    }
    return out;
  }

 private:
  auto both(const Form& a, const Form& b, bool smaller) const -> Form { return DRAWLOOM_FAULT(union_takes_first) ? a : simplified(smaller ? min(a, b) : max(a, b), facts_); }

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

/// hi as lo + c where the facts leave only one distance: the number of elements must be plain to see.
auto at_fixed_distance(const Form& lo, const Form& hi, const Facts& facts) -> Form {
  const Form distance = form_extent(lo, hi);
  if (distance.is_constant() || weight(distance, 12) >= 12) return hi;
  const Range r = facts.range(distance);
  return r.lo && r.hi && *r.lo == *r.hi ? lo + Form(*r.lo - 1) : hi;
}

void tidy(Region& region, const Facts& facts) {
  for (auto& d : region.dims) {
    d.lo = simplified(d.lo, facts), d.hi = simplified(d.hi, facts), d.free_hi = simplified(d.free_hi, facts);
    d.hi = at_fixed_distance(d.lo, d.hi, facts), d.free_hi = at_fixed_distance(d.lo, d.free_hi, facts);
    d.cover = cover_of(form_extent(d.lo, d.free_hi), facts);
  }
  std::vector<Cond> kept;
  for (const auto& c : region.when.any) {
    const Cond simple = facts.simplify(c);
    if (!simple.is_never() && std::find(kept.begin(), kept.end(), simple) == kept.end()) kept.push_back(simple);
  }
  region.when.any = std::move(kept);
}

template <typename Reads>
auto united_image(const Nest& nest, const Site& site, const Facts& facts, QueryCache& cache, Reads&& reads) -> std::optional<Region> {
  const auto where = site ? find_loop(nest.tree, site)->path : TreePath{};
  RegionUnion parts(facts);
  BoxQuery query(nest, site, cache);
  for (const auto& at : stage_leaves(nest.tree)) {
    if (!std::equal(where.begin(), where.end(), at.path.begin(), at.path.begin() + static_cast<std::ptrdiff_t>(std::min(where.size(), at.path.size()))))
      continue;
    const auto& leaf = *at.node->as<StageLeaf>();
    for (const auto& access : nest.func(leaf.what).reads[static_cast<size_t>(leaf.stage)]) {
      if (!reads(leaf, access)) continue;
      StageBox box = query.box(at);
      box.when = facts.simplify(box.when);
      if (box.when.is_never()) continue;
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
  const auto& args = nest.func(leaf.what).def->args;
  StageBox box;
  for (size_t d = 0; d < leaf.dims.size(); ++d) {
    const auto& var = leaf.dims[d].var;
    const auto i = static_cast<size_t>(std::find(args.begin(), args.end(), var) - args.begin());
    box.dims.emplace_back(var.get(), i < args.size() ? region.dims[i] : stage_dim_range(nest, leaf, d, cache));
    box.when = box.when && Cond::nonnegative(box.dims.back().second.hi - box.dims.back().second.lo);
  }
  return box;
}

/// Elements of f that one update writes or reads, over `region`.
auto update_regions(const Nest& nest, const StageLeaf& leaf, const Region& region, QueryCache& cache) -> std::vector<Region> {
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
void add_update_needs(const Nest& nest, const GraphFunc& f, const RealisationPlace& place, const Facts& facts, QueryCache& cache,
                      Region& need) {
  for (const auto& at : place.leaves) {
    const auto& leaf = *at.node->as<StageLeaf>();
    if (leaf.stage == 0) continue;
    const auto& accesses = f.self_accesses[static_cast<size_t>(leaf.stage)];
    const auto regions = update_regions(nest, leaf, need, cache);
    for (size_t i = 0; i < regions.size(); ++i)
      for (size_t d = 0; d < need.dims.size(); ++d) {
        if (*accesses[i][d].lo == Form(f.def->args[d])) continue;
        auto& into = need.dims[d];
        const auto& part = regions[i].dims[d];
        // an update over nothing touches nothing
        const Cond when = facts.simplify(regions[i].when.any[0]);
        into = {choose(when, simplified(min(into.lo, part.lo), facts), into.lo), choose(when, simplified(max(into.hi, part.hi), facts), into.hi),
                choose(when, simplified(max(into.free_hi, part.free_hi), facts), into.free_hi), Form(0)};
      }
  }
}

auto output_region(const Nest& nest, const GraphFunc& f) -> Region {
  Region out;
  out.when = When::always();
  const auto& pipeline = *nest.graph->pipeline;
  size_t first = 0;
  for (const auto& o : pipeline.outputs) {
    if (o.get() == f.def.get()) break;
    first += static_cast<size_t>(o->components());
  }
  const auto& buffer = *pipeline.output_buffers[first];
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
  const auto located = find_loop(nest.tree, site);
  for (const int i : located->path) {
    if (const auto* branch = n->as<BranchNode>(); branch && i == 0) facts = facts.with(branch->condition);
    n = n->children[static_cast<size_t>(i)].get();
  }
  return facts;
}

auto facts_at(const Nest& nest, const Site& site, QueryCache& cache) -> Facts {
  Facts facts = branch_facts(nest, site);
  for (const auto* loop : loops_to(nest, site)) {
    const Form last = resolve(nest, loop->extent, cache) - 1;
    facts = may_warm_up(nest, loop->id) ? facts.with(Cond::less_equal(Form(loop->id), last)) : facts.with_range(loop->id, Form(0), last);
    for (const auto* c : clips_of(nest, loop->id))
      facts = facts.with(Cond::nonnegative(resolve(nest, c->limit, cache) - 1 - c->index));
  }
  return facts;
}

auto need_at(const Nest& nest, RealisationId what, const Site& site, QueryCache& cache) -> Region {
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
  DRAWLOOM_CHECK(region.has_value(), "nobody below its place reads {}", f.name());
  const auto& place = place_of(nest, what);
  if (!DRAWLOOM_FAULT(pure_region_too_small)) add_update_needs(nest, f, place, facts, cache, *region);
  apply_dim_decisions(nest, f, *region);
  tidy(*region, facts);
  return *region;
}

/// What holds at the site once its loops are in the iterations that consumers see.
static auto facts_past_warm_up(const Nest& nest, const Site& site, QueryCache& cache) -> Facts {
  Facts facts = facts_at(nest, site, cache);
  for (const auto* l : loops_to(nest, site))
    if (may_warm_up(nest, l->id)) facts = facts.with(Cond::nonnegative(Form(l->id)));
  return facts;
}

/// One iteration needs nothing outside of what all need together. Both are bounds that may be wider than they must be, and each in its
/// own way, since they come from different sites.
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
  facts.compute_site = site_of(nest.tree, place.group);
  facts.store_site = place.store ? site_of(nest.tree, place.store->path) : facts.compute_site;
  facts.need = need_at(nest, what, facts.compute_site, cache);
  facts.stored = facts.store_site == facts.compute_site ? facts.need : need_at(nest, what, facts.store_site, cache);
  if (facts.store_site != facts.compute_site) keep_inside(facts.need, facts.stored, facts_past_warm_up(nest, facts.compute_site, cache));
  find_slides(nest, what, place, facts, cache);
  if (!nest.func(what).self_accesses[0].empty()) order_region(nest, what, place, facts);
  return cache.realisations.emplace(key, Ref<const RealisationEntry>(entry)).first->second->facts;
}

auto input_region(const Nest& nest, const BufferRef& input, QueryCache& cache) -> std::optional<Region> {
  return united_image(nest, {}, Facts(), cache, [&](const StageLeaf&, const AccessSummary& a) { return a.input == input; });
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
