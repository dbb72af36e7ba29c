// Places in the tree, and the values that the dimensions of a stage take below one.
//
//   out.split(x, xo, xi, 8), W elements, during one iteration of xo: x = base + 8*xo + xi, xi moves over 0 .. 7
//     lo       base + 8*xo
//     free_hi  base + 8*xo + 7                  the split alone
//     hi       min(that, base + W - 1)          the tail ends where the region of the stage does
//
// Loops inside the site are eliminated one after the other, innermost first, since bounds of inner loops may depend on
// outer ones. Forms are monotone in loop ids as a rule, so an end of the loop gives the end of the value (interval.h);
// where no Form bounds it, the region over more iterations is taken instead, which contains it.
//
// Both upper ends are carried along: hi is what must be there, and covers come from free_hi, which is mostly a constant
// away from lo where hi is not.

#include "drawloom/nest/region_box.h"

#include <algorithm>

#include "drawloom/support/fault.h"

namespace drawloom {

// ---- places

auto place_of(const Nest& nest, RealisationId what) -> const RealisationPlace& {
  const auto& index = index_of(nest.tree);
  const int place = index.place_number(what);
  DRAWLOOM_CHECK(place >= 0, "no stage of realisation {} of {}", what.copy, nest.func(what).name());
  return index.places[static_cast<size_t>(place)];
}

auto realisations(const Nest& nest) -> const std::vector<RealisationId>& { return index_of(nest.tree).realisations; }

auto loops_to(const Nest& nest, const Site& site) -> std::vector<const LoopNode*> {
  if (!site) return {};
  const auto* at = find_loop(nest.tree, site);
  DRAWLOOM_CHECK(at, "site {} is not in the tree", site->name);
  auto loops = loops_around(nest.tree, *at);
  loops.push_back(at->node->as<LoopNode>());
  return loops;
}

auto clips_of(const Nest& nest, const SymbolRef& loop) -> const std::vector<const Clip*>& {
  static const std::vector<const Clip*> none;
  const auto* found = index_of(nest.tree).regions().clips.find(loop.get());
  return found ? *found : none;
}

// ---- resolving

auto resolve(const Nest& nest, const Form& f, QueryCache& cache) -> Form {
  const auto symbols = symbols_of(f);
  const bool any =
      std::any_of(symbols.begin(), symbols.end(), [](const SymbolRef& s) { return s->kind == SymbolKind::Let; });
  if (!any) return f;
  return substitute(f, [&](const SymbolRef& s) -> std::optional<Form> {
    if (s->kind != SymbolKind::Let) return {};
    const auto* known = index_of(nest.tree).regions().symbols.find(s.get());
    if (!known) return {};
    const RegionDim r = stage_dim_range(nest, *known->leaf, known->dim, cache);
    return known->is_base ? r.lo : r.extent();
  });
}

/// RVars run over their domain, whatever is needed; args over what is new.
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
  return realisation_facts(nest, leaf.what, cache).computed.dims[static_cast<size_t>(leaf.dims[dim].arg)];
}

// ---- warm-ups

namespace {

/// Does the stage begin with this node of a list?
auto begins(const StageLeaf& leaf, const TreeNode& node) -> bool {
  if (leaf.loops.empty()) return node.as<StageLeaf>() == &leaf;
  const auto* loop = node.as<LoopNode>();
  return loop && loop->id == leaf.loops.front().id;
}

}  // namespace

auto warm_iterations(const Nest& nest, const Located& leaf, const SymbolRef& loop, QueryCache& cache) -> int64_t {
  if (!may_warm_up(nest, loop)) return 0;
  const TreeNode* n = nest.tree.get();
  // Which child of the loop's list is on the way down to the leaf? The realisation that begins there decides.
  for (const int i : path_of(nest.tree, leaf)) {
    const auto* around = n->as<LoopNode>();
    const bool in_list = around && around->id == loop;
    n = n->children[static_cast<size_t>(i)].get();
    if (!in_list) continue;
    for (const auto* first : stage_leaves_below(n))
      if (begins(*first, *n)) return realisation_facts(nest, first->what, cache).warm_iterations;
  }
  return 0;  // the loop is the stage's own: what it waits for runs earlier
}

// ---- over loops

namespace {

auto interval_with(const Form& f, const SymbolRef& s, const Interval<Form>& range) -> Interval<Form> {
  return interval_of<Form>(
      f, [&](const SymbolRef& t) { return t == s ? &range : nullptr; }, [](const SymbolRef& t) { return Form(t); });
}

}  // namespace

namespace {

/// Last iteration of a loop that its clips let through. Inside them the clamps of a region are gone, because they hold
/// there: outside they come back with the last iteration.
auto last_clipped(const Nest& nest, const LoopNode& loop, Form last, QueryCache& cache) -> Form {
  for (const auto* c : clips_of(nest, loop.id)) {
    const Form rest =
        substitute(c->index, [&](const SymbolRef& s) { return s == loop.id ? std::optional(Form(0)) : std::nullopt; });
    // a clip that counts in larger steps leaves the bound where it was: larger, not wrong
    if (c->index - rest == Form(loop.id)) last = min(last, resolve(nest, c->limit, cache) - 1 - rest);
  }
  return last;
}

/// (k*d - 1) / d is k - 1: the last iteration of a fused loop. The loop runs, so d is at least 1.
auto without_full_quotients(const Form& f) -> Form {
  return replace_atoms(f, [](const Atom& a, const auto&) -> std::optional<Form> {
    if (a.kind != AtomKind::FloorDiv || a.operands[1].is_constant()) return {};
    const Form next = a.operands[0] + 1;
    const auto &multiple = next.terms(), &once = a.operands[1].terms();
    if (multiple.empty() || multiple[0].factor % once[0].factor != 0) return {};
    const Form k(multiple[0].factor / once[0].factor);
    return next == k * a.operands[1] ? std::optional(k - 1) : std::nullopt;
  });
}

}  // namespace

auto over_loops(const Nest& nest, const FormRange& range, const std::vector<const LoopNode*>& loops,
                const WarmLoops& warm, QueryCache& cache, Tails tails) -> std::optional<FormRange> {
  FormRange out = range;
  for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
    const auto& loop = **it;
    const bool used = uses_symbol(out.lo, loop.id.get()) || uses_symbol(out.hi, loop.id.get());
    if (!used) continue;
    const Form last = resolve(nest, loop.extent, cache) - 1;
    const auto early = std::find_if(warm.begin(), warm.end(), [&](const auto& w) { return w.first == loop.id.get(); });
    const Interval<Form> all{Form(early == warm.end() ? 0 : -early->second),
                             tails == Tails::clamp ? last_clipped(nest, loop, last, cache) : last};
    const auto lo = interval_with(out.lo, loop.id, all).lo, hi = interval_with(out.hi, loop.id, all).hi;
    if (!lo || !hi) return {};
    out = {without_full_quotients(*lo), without_full_quotients(*hi)};
  }
  return out;
}

// ---- boxes of consumers

auto has_clip(const StageLeaf& leaf, size_t dim) -> bool {
  return std::any_of(leaf.clips.begin(), leaf.clips.end(), [&](const Clip& c) {
    return c.dim == static_cast<int>(dim) || std::any_of(leaf.loops.begin(), leaf.loops.end(), [&](const NamedLoop& l) {
             return uses_symbol(c.index, l.id.get()) && uses_symbol(leaf.dims[dim].rel, l.id.get());
           });
  });
}

auto first_output_buffer(const PipelineDef& pipeline, const FunctionDef& f) -> const BufferDecl& {
  size_t first = 0;
  for (const auto& o : pipeline.outputs) {
    if (o.get() == &f) break;
    first += static_cast<size_t>(o->components());
  }
  return *pipeline.output_buffers[first];
}

namespace {

/// Loops of `all` below the first `outer`.
auto below(const std::vector<const LoopNode*>& all, size_t outer) -> std::vector<const LoopNode*> {
  return {all.begin() + static_cast<std::ptrdiff_t>(std::min(outer, all.size())), all.end()};
}

auto region_of_dim(const Region& region, const StageDim& dim) -> const RegionDim& {
  return region.dims[static_cast<size_t>(dim.arg)];
}

class BoxQuery {
 public:
  BoxQuery(const Nest& nest, const Site& site, QueryCache& cache)
      : nest_(nest), cache_(cache), site_(site), outer_(loops_to(nest, site).size()) {}

  auto box(const Located& leaf_at) -> StageBox {
    const auto& leaf = *leaf_at.node->as<StageLeaf>();
    const auto around = loops_around(nest_.tree, leaf_at);
    const size_t first_own = around.size() - leaf.loops.size();
    const bool all_own_inside = first_own >= outer_;
    const auto& facts = realisation_facts(nest_, leaf.what, cache_);
    // With its storage inside the site too, one iteration of the site computes all that is stored, first to last.
    const bool store_inside = all_own_inside && loops_to(nest_, facts.store_site).size() >= outer_;

    const auto moving = below(around, outer_);
    const auto warm = warm_loops(leaf_at, moving);
    StageBox out;
    if (facts.computed.when.any.size() == 1) out.when = standing_part(facts.computed.when.any.front(), moving);
    for (const auto* l : below({around.begin(), around.end() - static_cast<std::ptrdiff_t>(leaf.loops.size())}, outer_))
      out.when = out.when && runs(*l, moving);
    for (size_t d = 0; d < leaf.dims.size(); ++d) {
      const auto& dim = leaf.dims[d];
      RegionDim r = dim.arg < 0 ? stage_dim_range(nest_, leaf, d, cache_)
                                : region_of_dim(store_inside ? facts.stored : facts.computed, dim);
      if (!all_own_inside)
        fix_outer_loops(leaf, d, moving, r);
      else if (!range_over(moving, warm, r))
        r = region_of_dim(with_all_steps(nest_, leaf.what, site_, need_at(nest_, leaf.what, site_, cache_), cache_),
                          dim);
      out.when = out.when && Cond::nonnegative(r.hi - r.lo);
      out.dims.emplace_back(dim.var.get(), r);
    }
    return out;
  }

 private:
  /// What a condition says about all iterations of the moving loops.
  static auto standing_part(const Cond& c, const std::vector<const LoopNode*>& moving) -> Cond {
    Cond out;
    for (const auto& f : c.terms())
      if (std::none_of(moving.begin(), moving.end(), [&](const LoopNode* l) { return uses_symbol(f, l->id.get()); }))
        out = out && Cond::nonnegative(f);
    return c.is_never() ? c : out;
  }

  /// What lies in a loop that does not run does not run either, not even in its warm-up.
  auto runs(const LoopNode& loop, const std::vector<const LoopNode*>& moving) const -> Cond {
    return standing_part(Cond::nonnegative(resolve(nest_, loop.extent, cache_) - 1), moving);
  }

  auto warm_loops(const Located& leaf, const std::vector<const LoopNode*>& moving) const -> WarmLoops {
    WarmLoops out;
    for (const auto* l : moving)
      if (const int64_t n = warm_iterations(nest_, leaf, l->id, cache_); n > 0) out.emplace_back(l->id.get(), n);
    return out;
  }

  /// r over all iterations of the moving loops; false where no Form bounds it (products of extents that vary), and r as
  /// it was. The stage's own loops move its region only where it is a recurrence.
  auto range_over(const std::vector<const LoopNode*>& moving, const WarmLoops& warm, RegionDim& r) -> bool {
    const auto need = over_loops(nest_, {r.lo, r.hi}, moving, warm, cache_, Tails::clamp);
    const auto free = over_loops(nest_, {r.lo, r.free_hi}, moving, warm, cache_, Tails::ignore);
    if (!need || !free) return false;
    r.lo = need->lo, r.hi = need->hi, r.free_hi = free->hi;
    return true;
  }

  /// Some loops of the stage stand still: base + rel over the moving ones, clamped by the stage's clips.
  void fix_outer_loops(const StageLeaf& leaf, size_t d, const std::vector<const LoopNode*>& moving, RegionDim& r) {
    const Form rel = leaf.dims[d].rel;
    // Without a loop that stands still the whole computed region is passed through.
    const bool any_fixed = [&] {
      for (const auto& s : symbols_of(rel)) {
        const bool moves = std::any_of(moving.begin(), moving.end(), [&](const LoopNode* l) { return l->id == s; });
        if (s->kind == SymbolKind::Loop && !moves) return true;
      }
      return false;
    }();
    const Form first = r.lo;
    if (!range_over(moving, {}, r)) {
      const auto& facts = realisation_facts(nest_, leaf.what, cache_);
      r = region_of_dim(facts.stored, leaf.dims[d]);
      return;
    }
    if (!any_fixed) return;
    const Form value = resolve(nest_, rel, cache_) + first;
    const auto free = over_loops(nest_, {value, value}, moving, {}, cache_, Tails::ignore);
    if (!free) return;  // all of the region at the compute place contains it
    r = {free->lo, has_clip(leaf, d) && !DRAWLOOM_FAULT(clamp_dropped_in_need) ? min(free->hi, r.hi) : free->hi,
         free->hi, Form(0)};
  }

  const Nest& nest_;
  QueryCache& cache_;
  const Site& site_;
  size_t outer_;
};

/// Runtime symbols stand for themselves: the end is a Form at the site that is asked about.
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

}  // namespace

auto box_of(const Nest& nest, const Site& site, const Located& leaf, QueryCache& cache) -> StageBox {
  return BoxQuery(nest, site, cache).box(leaf);
}

auto image(const Box& access, const StageBox& box) -> std::optional<Region> {
  Region out;
  for (const auto& i : access) {
    if (!i.lo || !i.hi) return {};
    const auto lo = image_end(*i.lo, box, false, false), hi = image_end(*i.hi, box, true, false),
               free = image_end(*i.hi, box, true, true);
    if (!lo || !hi || !free) return {};
    const Form lost(DRAWLOOM_FAULT(need_loses_last) && !i.lo->is_constant() ? 1 : 0);
    out.dims.push_back({*lo, *hi - lost, *free - lost, Form(0)});
  }
  return out;
}

}  // namespace drawloom
