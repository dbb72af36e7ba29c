#include <algorithm>

#include "drawloom/nest/apply.h"
#include "drawloom/support/fault.h"

// Steps that say where a Func is computed and stored.
//
//   out reads b, split into xo, xi:   for xo: { for xi: out }
//   compute_at b out.xo               for xo: { store b; for x: b; for xi: out }
//   store_root b                      store b; for xo: { for x: b; for xi: out }
//
// Nodes go into the list of the loop, before the child through which the first reader is reached: whatever stands
// earlier in the list does not read b. A Func that is placed again is taken out first, together with what was decided
// about its loops. How much of b each iteration computes is written nowhere: it is asked of the tree.

namespace drawloom {
namespace {

/// Path of the child in the list of `site` that is or contains `target`, or simply of the first.
auto child_towards(const TreeRef& tree, const Located& site, const Located& target) -> TreePath {
  TreePath path = path_of(tree, site);
  const size_t depth = path.size();
  if (!site.encloses(target)) {
    path.push_back(0);
    return path;
  }
  path = path_of(tree, target);
  path.resize(depth + 1);
  return path;
}

/// Removes the realisation's nodes. Refused if another Func is computed inside its loops.
auto without_realisation(const Nest& nest, RealisationId id, const Loc& loc) -> Result<Nest> {
  const auto& place = place_of(nest, id);
  std::vector<Located> gone;
  if (place.store) gone.push_back(*place.store);
  for (const auto& at : place.leaves) {
    const auto& loops = at.node->as<StageLeaf>()->loops;
    gone.push_back(loops.empty() ? at : *find_loop(nest.tree, loops.front().id));
    // A Func computed inside would lose its place, and which other it should get is not for this step to say.
    for (const auto* guest : stage_leaves_below(gone.back().node))
      if (guest->what != id)
        return Diag(DiagKind::placement_has_guests, loc, nest.func(id).name(), nest.func(guest->what).name())
            .with_note(nest.func(guest->what).placement_loc, str("{} was placed here", nest.func(guest->what).name()))
            .with_help(str("place {} elsewhere first", nest.func(guest->what).name()));
  }
  // The last first: paths to those before it stay right.
  std::sort(gone.begin(), gone.end(), [](const Located& a, const Located& b) { return a.number > b.number; });
  Nest out = nest;
  for (const auto& at : gone) out.tree = replace_at(out.tree, path_of(nest.tree, at), {});
  return out;
}

auto with_placement(const Nest& nest, int func, PlacementState state, const Loc& loc) -> Nest {
  auto f = make_ref<GraphFunc>(nest.graph->func(func));
  f->placement = state;
  f->placement_loc = loc;
  Nest out = nest;
  out.graph = with_func(nest.graph, func, f);
  return out;
}

/// The nest as if nothing had placed the Func yet, so that the last placement counts.
auto unplaced(const Nest& nest, int func, const Loc& loc) -> Result<Nest> {
  if (nest.graph->func(func).placement != PlacementState::Placed) return nest;
  return without_realisation(nest, {func, 0}, loc);
}

/// Leaves that read `func`, in program order.
auto readers_of(const Nest& nest, int func) -> std::vector<Located> {
  std::vector<Located> out;
  for (const auto& at : stage_leaves(nest.tree)) {
    const auto& leaf = *at.node->as<StageLeaf>();
    if (leaf.what.func != func && leaf_reads(*nest.graph, leaf, func)) out.push_back(at);
  }
  return out;
}

auto refuse_output(const Nest& nest, int func, const Loc& loc) -> Status {
  const auto& f = nest.graph->func(func);
  if (!f.is_output) return Done{};
  return Diag(DiagKind::placement_of_output, loc, f.name())
      .with_help("its loops can be split, reordered, vectorized and run in parallel");
}

auto place(const Nest& nest, int func, const Site& site, const Loc& loc) -> Result<Nest> {
  const auto& name = nest.graph->func(func).name();
  DRAWLOOM_TRY(const Nest removed, unplaced(nest, func, loc));
  if (site && !find_loop(removed.tree, site))
    return Diag(DiagKind::placement_own_loop, loc, name, site_text(nest, site))
        .with_help("name a loop of a Func that reads it");
  Nest out = with_placement(removed, func, PlacementState::Placed, loc);
  // after the graph has changed: once placed, the Func is read by those that had it inlined
  const auto readers = readers_of(out, func);
  const auto& where = *site_node(out.tree, site);
  DRAWLOOM_CHECK(!readers.empty(), "nobody reads {}", name);
  for (const auto& r : readers)
    // Outside the loop a reader would find no storage, or that of another iteration.
    if (!where.encloses(r) && !DRAWLOOM_LEGALITY_SKIPPED) {
      const auto& reader = *r.node->as<StageLeaf>();
      const auto text = stage_text(out, reader.what, reader.stage);
      return Diag(DiagKind::placement_not_enclosing, loc, name, site_text(nest, site), text)
          .with_note(out.func(reader.what).def->stage(reader.stage).loc, str("{} is defined here", text))
          .with_help(str("a loop around all readers of {} is legal, or compute_root {}", name, name));
    }
  const auto nodes = new_realisation(*out.graph, {func, 0}, loc);
  TreePath before = child_towards(out.tree, where, readers.front());
  for (const auto& n : nodes) {
    out.tree = insert_before(out.tree, before, n);
    ++before.back();
  }
  return out;
}

/// The single loop that a name means.
auto find_site(const Nest& nest, const LoopName& name, const Loc& loc) -> Result<Site> {
  DRAWLOOM_TRY(const auto stages, find_stages(nest, name.stage, loc));
  const auto& [id, stage] = stages.front();
  return find_named_loop(nest, *leaf_at(nest, id, stage).node->as<StageLeaf>(), name.loop, loc);
}

auto store(const Nest& nest, int func, const Site& site, WarmUp warm, const Loc& loc) -> Result<Nest> {
  const auto& f = nest.graph->func(func);
  DRAWLOOM_REQUIRE(refuse_output(nest, func, loc));
  if (f.placement != PlacementState::Placed)
    return Diag(DiagKind::schedule_not_placed, loc, f.name())
        .with_help(str("say where it is computed first: compute_at {} <loop>", f.name()));
  const RealisationId id{func, 0};
  const auto& old = place_of(nest, id);
  if (!site_node(nest.tree, site)->encloses(*old.group) && !DRAWLOOM_LEGALITY_SKIPPED)
    return Diag(DiagKind::store_inside_compute, loc, f.name(), site_text(nest, site),
                site_text(nest, site_of(nest.tree, *old.group)))
        .with_note(f.placement_loc,
                   str("{} is computed at {}", f.name(), site_text(nest, site_of(nest.tree, *old.group))))
        .with_help("name that loop or one around it, or store_root");
  StoreNode node = *old.store->node->as<StoreNode>();
  // what else was decided about the storage moves along
  node.warm = warm, node.loc = loc;
  Nest out = nest;
  out.tree = replace_at(out.tree, path_of(nest.tree, *old.store), {});
  out.tree = insert_before(out.tree, child_towards(out.tree, *site_node(out.tree, site), *place_of(out, id).group),
                           tree_node(node));
  return out;
}

}  // namespace

auto apply_step(const Nest& nest, const ComputeAt& s, const Loc& loc) -> Result<Nest> {
  DRAWLOOM_TRY(const int func, find_func(nest, s.func, loc));
  DRAWLOOM_REQUIRE(refuse_output(nest, func, loc));
  DRAWLOOM_TRY(const Site site, find_site(nest, s.loop, loc));
  return place(nest, func, site, loc);
}

auto apply_step(const Nest& nest, const ComputeRoot& s, const Loc& loc) -> Result<Nest> {
  DRAWLOOM_TRY(const int func, find_func(nest, s.func, loc));
  if (nest.graph->func(func).is_output) return nest;
  return place(nest, func, {}, loc);
}

auto apply_step(const Nest& nest, const ComputeInline& s, const Loc& loc) -> Result<Nest> {
  DRAWLOOM_TRY(const int func, find_func(nest, s.func, loc));
  DRAWLOOM_REQUIRE(refuse_output(nest, func, loc));
  const auto& f = nest.graph->func(func);
  if (!f.can_inline() && !DRAWLOOM_LEGALITY_SKIPPED)
    return Diag(DiagKind::inline_with_updates, loc, f.name(),
                f.def->updates.empty() ? "it reads itself" : "it has update definitions")
        .with_help("leave it without a placement: it is then computed inside the innermost loop of each reader");
  DRAWLOOM_TRY(const Nest removed, unplaced(nest, func, loc));
  return with_placement(removed, func, PlacementState::Inlined, loc);
}

auto apply_step(const Nest& nest, const StoreAt& s, const Loc& loc) -> Result<Nest> {
  DRAWLOOM_TRY(const int func, find_func(nest, s.func, loc));
  DRAWLOOM_TRY(const Site site, find_site(nest, s.loop, loc));
  return store(nest, func, site, s.warm, loc);
}

auto apply_step(const Nest& nest, const StoreRoot& s, const Loc& loc) -> Result<Nest> {
  DRAWLOOM_TRY(const int func, find_func(nest, s.func, loc));
  return store(nest, func, {}, s.warm, loc);
}

}  // namespace drawloom
