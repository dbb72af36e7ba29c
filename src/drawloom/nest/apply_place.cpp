#include <algorithm>

#include "drawloom/nest/apply.h"
#include "drawloom/support/fault.h"

// Steps that say where a Func is computed and stored.

namespace drawloom {
namespace {

auto is_prefix(const TreePath& outer, const TreePath& inner) -> bool {
  return outer.size() <= inner.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

/// `inner` stands somewhere in the list at `outer`.
auto encloses(const TreePath& outer, const TreePath& inner) -> bool { return is_prefix(outer, inner) && inner.size() > outer.size(); }

auto site_path(const Nest& nest, const Site& site) -> TreePath { return site ? find_loop(nest.tree, site)->path : TreePath{}; }

/// Path of the first child in the list of `site` that contains `target`, or simply of the first.
auto child_towards(const TreePath& site, const TreePath& target) -> TreePath {
  if (!encloses(site, target)) {
    TreePath first = site;
    first.push_back(0);
    return first;
  }
  return {target.begin(), target.begin() + site.size() + 1};
}

/// Removes the realisation's nodes. Refused if another Func is computed inside its loops.
auto without_realisation(const Nest& nest, RealisationId id, const Loc& loc) -> Result<Nest> {
  Nest out = nest;
  const auto& f = nest.func(id);
  for (int s = 0; s < f.def->stages(); ++s) {
    const auto at = leaf_at(out, id, s);
    const auto& leaf = *at.node->as<StageLeaf>();
    const TreePath path = leaf.loops.empty() ? at.path : find_loop(out.tree, leaf.loops.front().id)->path;
    for (const auto* guest : stage_leaves_below(at_path(out.tree, path)))
      if (guest->what != id)
        return Diag(DiagKind::placement_has_guests, loc, f.name(), nest.func(guest->what).name())
            .with_note(nest.func(guest->what).placement_loc, str("{} was placed here", nest.func(guest->what).name()))
            .with_help(str("place {} elsewhere first", nest.func(guest->what).name()));
    out.tree = replace_at(out.tree, path, {});
  }
  for (const auto& s : store_nodes(out.tree))
    if (s.node->as<StoreNode>()->what == id) {
      out.tree = replace_at(out.tree, s.path, {});
      break;
    }
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
    return Diag(DiagKind::placement_own_loop, loc, name, site_text(nest, site)).with_help("name a loop of a Func that reads it");
  Nest out = with_placement(removed, func, PlacementState::Placed, loc);
  const auto readers = readers_of(out, func);
  const TreePath where = site_path(out, site);
  DRAWLOOM_CHECK(!readers.empty(), "nobody reads {}", name);
  for (const auto& r : readers)
    if (!encloses(where, r.path) && !DRAWLOOM_LEGALITY_SKIPPED) {
      const auto& reader = *r.node->as<StageLeaf>();
      const auto text = stage_text(out, reader.what, reader.stage);
      return Diag(DiagKind::placement_not_enclosing, loc, name, site_text(nest, site), text)
          .with_note(out.func(reader.what).def->stage(reader.stage).loc, str("{} is defined here", text))
          .with_help(str("a loop around all readers of {} is legal, or compute_root {}", name, name));
    }
  const auto nodes = new_realisation(*out.graph, {func, 0}, loc);
  TreePath before = child_towards(where, readers.front().path);
  for (const auto& n : nodes) {
    out.tree = insert_before(out.tree, before, n);
    before.set_back(before.back() + 1);
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
    return Diag(DiagKind::schedule_not_placed, loc, f.name()).with_help(str("say where it is computed first: compute_at {} <loop>", f.name()));
  const RealisationId id{func, 0};
  const auto old = place_of(nest, id);
  const TreePath where = site_path(nest, site);
  if (!encloses(where, old.group) && !DRAWLOOM_LEGALITY_SKIPPED)
    return Diag(DiagKind::store_inside_compute, loc, f.name(), site_text(nest, site), site_text(nest, site_of(nest.tree, old.group)))
        .with_note(f.placement_loc, str("{} is computed at {}", f.name(), site_text(nest, site_of(nest.tree, old.group))))
        .with_help("name that loop or one around it, or store_root");
  StoreNode node = *old.store->node->as<StoreNode>();
  node.warm = warm, node.loc = loc;
  Nest out = nest;
  out.tree = replace_at(out.tree, old.store->path, {});
  const auto group = place_of(out, id).group;
  out.tree = insert_before(out.tree, child_towards(site_path(out, site), group), tree_node(node));
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
    return Diag(DiagKind::inline_with_updates, loc, f.name(), f.def->updates.empty() ? "it reads itself" : "it has update definitions")
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
