#include <algorithm>

#include "drawloom/ir/stack_limit.h"
#include "drawloom/nest/apply.h"
#include "drawloom/nest/storage.h"
#include "drawloom/support/fault.h"

// Decisions in the tree are promises: constant extents of vector and unrolled loops, store places that no parallel loop
// separates from the compute place, fold depths, memory that needs a constant size, what one stack holds, readers
// inside the loop a Func is computed at. Whatever step comes later, all of them must still hold, so that lowering never
// refuses.
//
//   split out.x -> xo, xi by 4; compute_at b out.xo; vectorize b.x    out reads b(x) and b(x + 1): five lanes
//   align b.x by 4                                                    eight would be needed: refused, and the line of
//                                                                     `vectorize` is named
//
// All are asked of the tree again after every step. A list of what each step promised would be a second truth, to be
// kept up to date by every step.

namespace drawloom {
namespace {

/// Of one statement. Each is code to be made and kept; beyond a few thousand it takes seconds and fits no cache.
constexpr int64_t kMaxCopies = 4096;

class Obligations {
 public:
  Obligations(const Nest& nest, const Loc& loc) : nest_(nest), index_(index_of(nest.tree)), loc_(loc) {}

  auto check() -> Status {
    // first: no region makes sense without
    for (const auto& s : store_nodes(nest_.tree)) DRAWLOOM_REQUIRE(check_encloses_compute(s));
    for (const auto& at : stage_leaves(nest_.tree)) DRAWLOOM_REQUIRE(check_reads(at));
    for (const auto& at : stage_leaves(nest_.tree)) {
      DRAWLOOM_REQUIRE(check_loops(at));
      DRAWLOOM_REQUIRE(check_copies(at));
      DRAWLOOM_REQUIRE(check_covers(*at.node->as<StageLeaf>()));
    }
    for (const auto& s : store_nodes(nest_.tree)) DRAWLOOM_REQUIRE(check_store(s));
    return check_stacks();
  }

 private:
  auto node(int number) const -> const Located& { return index_.nodes[static_cast<size_t>(number)]; }
  auto name(RealisationId id) const -> const std::string& { return nest_.func(id).name(); }

  /// Every stage that reads a Func placed by a step lies inside the loop that Func is computed at.
  auto check_reads(const Located& at) -> Status {
    const auto& leaf = *at.node->as<StageLeaf>();
    for (const int producer : nest_.func(leaf.what).producers[static_cast<size_t>(leaf.stage)]) {
      const auto& f = nest_.graph->func(producer);
      if (f.placement == PlacementState::Placed && !f.is_output) DRAWLOOM_REQUIRE(check_encloses({producer, 0}, at));
    }
    return Done{};
  }

  auto check_encloses(RealisationId id, const Located& at) -> Status {
    const auto& leaf = *at.node->as<StageLeaf>();
    const auto& group = *place_of(nest_, id).group;
    // in the same list or deeper, and after it
    if (leaf.what == id || (node(group.parent).encloses(at) && at.number >= group.end)) return Done{};
    const auto& f = nest_.func(id);
    const auto site = site_text(nest_, site_of(nest_.tree, group));
    return Diag(DiagKind::placement_not_enclosing, loc_, f.name(), site, stage_text(nest_, leaf.what, leaf.stage))
        .with_note(f.placement_loc, str("{} is computed at {} since here", f.name(), site))
        .with_help(str("move {} first, to a loop around all that read it", f.name()));
  }

  /// Nothing but the stage's own loops stands inside a vector loop; no parallel loop inside one.
  auto check_loops(const Located& at) -> Status {
    const auto& leaf = *at.node->as<StageLeaf>();
    const LoopNode* parallel = nullptr;  // the last one seen on the way out
    for (int l = at.loop; l >= 0; l = node(l).loop) {
      const auto& loop = *node(l).node->as<LoopNode>();
      if (loop.how == ForKind::Parallel) parallel = &loop;
      if (loop.how != ForKind::Vectorized) continue;
      const bool own =
          std::any_of(leaf.loops.begin(), leaf.loops.end(), [&](const NamedLoop& n) { return n.id == loop.id; });
      if (!own && nest_.func(leaf.what).placement == PlacementState::Placed)
        return Diag(DiagKind::vectorize_guests, loc_, loop.id->name, name(leaf.what))
            .with_note(nest_.func(leaf.what).placement_loc, str("{} is placed here", name(leaf.what)))
            .with_note(loop.loc, str("`{}` is vectorized here", loop.id->name))
            .with_help("compute it at a loop outside the vector loop");
      if (parallel)
        return Diag(DiagKind::parallel_inside_vector, loc_, parallel->id->name, loop.id->name)
            .with_note(loop.loc, str("`{}` is vectorized here", loop.id->name))
            .with_help(str("reorder the loops so that `{}` stands outside `{}`", parallel->id->name, loop.id->name));
    }
    return Done{};
  }

  /// Unrolled loops inside each other copy what is inside by the product of their iterations.
  auto check_copies(const Located& at) -> Status {
    int64_t copies = 1;
    std::vector<const LoopNode*> unrolled;
    for (int l = at.loop; l >= 0; l = node(l).loop) {
      const auto& loop = *node(l).node->as<LoopNode>();
      if (loop.how != ForKind::Unrolled) continue;
      unrolled.push_back(&loop);
      copies *= body_copies(loop);  // at most 256 each, and the product stops growing here
      if (copies > kMaxCopies) break;
    }
    if (copies <= kMaxCopies) return Done{};
    const auto& leaf = *at.node->as<StageLeaf>();
    Diag diag(DiagKind::unroll_copies, loc_, stage_text(nest_, leaf.what, leaf.stage), copies, kMaxCopies);
    for (const auto* loop : unrolled)
      diag = diag.with_note(loop->loc, str("`{}` is unrolled here, {} iterations", loop->id->name, loop->extent));
    return diag.with_help("unroll fewer of these loops, or split them by less first");
  }

  /// Loops that run over a constant cover: the cover may have changed.
  auto check_covers(const StageLeaf& leaf) -> Status {
    for (const auto& c : leaf.clips) {
      if (!c.from_cover) continue;
      const auto loop_id = symbols_of(c.index).front();
      const auto* loop = find_loop(nest_.tree, loop_id)->node->as<LoopNode>();
      // The clip's limit is the extent that the loop had when it was made constant: the stage's whole region, or what
      // resolved to a number.
      const bool whole = c.dim >= 0 && c.limit == Form(leaf.dims[static_cast<size_t>(c.dim)].whole);
      const Form cover = whole ? stage_dim_range(nest_, leaf, static_cast<size_t>(c.dim), cache_).cover
                               : resolve(nest_, c.limit, cache_);
      const int64_t made_for = loop->extent.as_constant().value_or(0);
      if (cover.is_constant() && cover.constant() <= made_for) continue;
      if (cover.is_constant())
        return Diag(DiagKind::vectorize_extent_grows, loc_, loop_id->name, name(leaf.what), made_for, cover)
            .with_note(loop->loc, str("`{}` is {} here", loop_id->name,
                                      loop->how == ForKind::Vectorized ? "vectorized" : "unrolled"))
            .with_help("put this step before that one");
      return Diag(DiagKind::vectorize_extent_unknown, loc_, loop->how == ForKind::Vectorized ? "vectorize" : "unroll",
                  loop_id->name, name(leaf.what), cover)
          .with_note(loop->loc, str("`{}` needs a constant extent since here", loop_id->name));
    }
    return Done{};
  }

  /// Storage lives around the place where it is filled. A reorder takes along what stands in the loops.
  auto check_encloses_compute(const Located& at) -> Status {
    const auto& store = *at.node->as<StoreNode>();
    const auto& group = *place_of(nest_, store.what).group;
    if (node(at.parent).encloses(group) && group.number > at.number) return Done{};
    return Diag(DiagKind::store_inside_compute, loc_, name(store.what), site_text(nest_, site_of(nest_.tree, at)),
                site_text(nest_, site_of(nest_.tree, group)))
        .with_note(store.loc, str("{} is stored there since here", name(store.what)))
        .with_help("store it at a loop that stays outside, or at root");
  }

  /// Regions are asked for only where a decision rests on them: most storage is on the heap and not folded by a step.
  auto check_store(const Located& at) -> Status {
    const auto& store = *at.node->as<StoreNode>();
    DRAWLOOM_REQUIRE(check_between(at));
    if (store.folds.empty() && store.memory == MemoryKind::Heap) return Done{};
    const auto& facts = realisation_facts(nest_, store.what, cache_);
    for (const auto& fold : store.folds) DRAWLOOM_REQUIRE(check_fold(store, facts, fold));
    if (store.memory == MemoryKind::Heap) return Done{};
    for (size_t d = 0; d < facts.stored.dims.size(); ++d) {
      const bool folded = std::any_of(store.folds.begin(), store.folds.end(),
                                      [&](const StoreNode::Fold& f) { return f.dim == static_cast<int>(d); });
      if (folded || (facts.slide_of(static_cast<int>(d)) && facts.window[d]) ||
          facts.stored.dims[d].cover.is_constant())
        continue;
      return Diag(DiagKind::store_extent_unknown, loc_, name(store.what), memory_name(store.memory),
                  nest_.func(store.what).def->args[d]->name)
          .with_note(store.loc, str("{} is stored there since here", name(store.what)))
          .with_help("compute it at a loop where its region has a constant size, or store it on the heap");
    }
    return store.memory == MemoryKind::Register ? check_registers(nest_, at, cache_, loc_) : Status(Done{});
  }

  /// One stack for the pipeline, and one for each task of a parallel loop.
  auto check_stacks() -> Status {
    const auto& stores = store_nodes(nest_.tree);
    if (std::all_of(stores.begin(), stores.end(),
                    [](const Located& s) { return s.node->as<StoreNode>()->memory == MemoryKind::Heap; }))
      return Done{};
    for (const auto& at : index_.nodes) {
      const auto* loop = at.node->as<LoopNode>();
      if (at.parent < 0 || (loop && loop->how == ForKind::Parallel)) DRAWLOOM_REQUIRE(check_stack(*at.node, loop));
    }
    return Done{};
  }

  auto check_stack(const TreeNode& root, const LoopNode* task) -> Status {
    int64_t bytes = 0;
    const auto decided = decided_stack(nest_, root, cache_);
    for (size_t i = 0; i < decided.size(); ++i) {
      bytes += decided[i].bytes;
      if (bytes <= kMaxStackBytes) continue;
      const auto where = task ? str("a task of `{}`", task->id->name) : std::string("the pipeline");
      const auto size = [](int64_t b) { return b > kMaxStackBytes ? std::string("too many") : str("{}", b); };
      Diag diag(DiagKind::stack_too_large, loc_, name(decided[i].store->what), memory_name(decided[i].store->memory),
                where, kMaxStackBytes);
      for (size_t k = 0; k <= i; ++k)
        diag = diag.with_note(decided[k].store->loc, str("{} takes {} bytes, all copies of unrolled loops included",
                                                         name(decided[k].store->what), size(decided[k].bytes)));
      return diag.with_help("store it on the heap, or compute it in smaller pieces");
    }
    return Done{};
  }

  /// Only serial and unrolled loops stand between store and compute place.
  auto check_between(const Located& at) -> Status {
    const auto& store = *at.node->as<StoreNode>();
    for (int l = place_of(nest_, store.what).group->loop; l > at.loop; l = node(l).loop) {
      const auto& loop = *node(l).node->as<LoopNode>();
      if (loop.how != ForKind::Parallel && loop.how != ForKind::Vectorized) continue;
      if (DRAWLOOM_FAULT(shared_storage_ignored)) continue;
      const auto word = loop.how == ForKind::Parallel ? "parallel" : "vectorized";
      return Diag(DiagKind::store_parallel_between, loc_, name(store.what), word, loop.id->name)
          .with_note(store.loc, str("{} is stored at {}", name(store.what), site_text(nest_, site_of(nest_.tree, at))))
          .with_note(loop.loc, str("`{}` is {} since here", loop.id->name, word))
          .with_help(str("store it inside `{}`", loop.id->name));
    }
    return Done{};
  }

  auto check_fold(const StoreNode& store, const RealisationFacts& facts, const StoreNode::Fold& fold) -> Status {
    if (DRAWLOOM_FAULT(fold_depth_unchecked)) return Done{};
    const auto& dim = nest_.func(store.what).def->args[static_cast<size_t>(fold.dim)]->name;
    const auto window = facts.window[static_cast<size_t>(fold.dim)];
    const auto explain = [&](Diag d) { return d.with_note(fold.loc, str("folded here")); };
    if (!facts.slide_of(fold.dim) && facts.store_site != facts.compute_site)
      return explain(Diag(DiagKind::fold_without_slide, loc_, name(store.what), dim,
                          facts.no_slide.empty() ? "it does not slide" : facts.no_slide));
    if (!window)
      return explain(Diag(DiagKind::fold_without_slide, loc_, name(store.what), dim,
                          "the number of elements live at once is not a constant"));
    if (*window > fold.depth)
      return explain(Diag(DiagKind::fold_too_shallow, loc_, name(store.what), dim, fold.depth, *window))
          .with_help(str("fold to {} or more", *window));
    return Done{};
  }

  const Nest& nest_;
  const TreeIndex& index_;
  const Loc& loc_;
  QueryCache cache_;
};

/// `bound` replaces the region; here it must contain what the readers would need without it. Whoever promises less
/// would be read outside its storage.
auto check_bounds(const Nest& nest, const Loc& loc) -> Status {
  QueryCache cache;
  for (const auto& id : realisations(nest)) {
    const auto& f = nest.func(id);
    if (f.is_output) continue;
    for (size_t d = 0; d < f.dims.size(); ++d) {
      if (!f.dims[d].bound) continue;
      // the same nest without the promise, asked with a cache of its own
      auto free = make_ref<GraphFunc>(f);
      free->dims[d].bound.reset();
      Nest without = nest;
      without.graph = with_func(nest.graph, id.func, free);
      const auto site = realisation_facts(nest, id, cache).compute_site;
      const auto& promised = realisation_facts(nest, id, cache).need.dims[d];
      QueryCache other;
      const auto needed = need_at(without, id, site, other).dims[d];
      const Facts facts = facts_at(nest, site, cache);
      if (facts.proves_le(promised.lo, needed.lo) && facts.proves_le(needed.hi, promised.hi)) continue;
      return Diag(DiagKind::bound_not_implied, loc, f.name(), f.def->args[d]->name)
          .with_note(f.dims[d].bound_loc, "bound here")
          .with_help(str("consumers need {} .. {}", needed.lo, needed.hi));
    }
  }
  return Done{};
}

}  // namespace

auto check_obligations(const Nest& nest, const Loc& loc) -> Status {
  if (DRAWLOOM_LEGALITY_SKIPPED) return Done{};
  DRAWLOOM_TRY(const Nest closed, close_nest(nest));
  DRAWLOOM_REQUIRE(Obligations(closed, loc).check());
  return check_bounds(closed, loc);
}

}  // namespace drawloom
