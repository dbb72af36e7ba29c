#include <algorithm>

#include "drawloom/nest/apply.h"
#include "drawloom/support/fault.h"

// Steps that change loops of one stage: split, fuse, reorder, rename, unroll, vectorize, parallel, partition.
//
//   out(x, y), before:            for y < Y: for x < X                         x = base + x
//   split x -> xo, xi by 8        for y < Y: for xo < (X + 7)/8: for xi < 8    x = base + 8*xo + xi, if 8*xo + xi < X
//   reorder out y xo              for xo < (X + 7)/8: for y < Y: for xi < 8
//   fuse y xo -> t                for t < Y*((X + 7)/8): for xi < 8            y = t%Y, xo = t/Y
//
// The definition is never touched: a leaf knows its coordinates as Forms over loop ids, and a step puts another Form in
// the place of an id. A split by what may not divide adds a clip instead of changing bounds; other steps rewrite its
// index with the rest. New loops get new ids, so nothing that names an old one is taken for it.
//
// Legality that is about one stage is tested here (order of a reduction, races, lengths). Promises that later steps
// could break are asked of the whole nest after each step (obligations.cpp). Cost: the path to the leaf, rebuilt.

namespace drawloom {
namespace {

constexpr int64_t kMaxUnroll = 256;

auto kind_word(ForKind k) -> std::string_view {
  switch (k) {
    case ForKind::Serial: return "serial";
    case ForKind::Parallel: return "parallel";
    case ForKind::Vectorized: return "vectorized";
    case ForKind::Unrolled: return "unrolled";
    case ForKind::Block: return "block";
    case ForKind::Thread: return "thread";
  }
  return "serial";
}

auto replace_symbol(const Form& f, const SymbolRef& old, const Form& with) -> Form {
  return substitute(f, [&](const SymbolRef& s) -> std::optional<Form> {
    if (s == old) return with;
    return {};
  });
}

/// The leaf with loop `old` expressed by other loops.
void replace_loop(StageLeaf& leaf, const SymbolRef& old, const Form& with) {
  for (auto& d : leaf.dims) d.rel = replace_symbol(d.rel, old, with);
  for (auto& c : leaf.clips) c.index = replace_symbol(c.index, old, with);
}

/// A fused loop moves two dimensions: the first of them stands for it.
auto dim_of_loop(const StageLeaf& leaf, const SymbolRef& loop) -> int {
  for (size_t d = 0; d < leaf.dims.size(); ++d)
    if (uses_symbol(leaf.dims[d].rel, loop.get())) return static_cast<int>(d);
  return -1;
}

auto with_node(const Nest& nest, const TreePath& path, TreeRef node) -> Nest {
  Nest out = nest;
  out.tree = replace_at(nest.tree, path, std::move(node));
  return out;
}

auto serial_node(std::string name, Form extent, PartitionMode partition, const Loc& loc) -> LoopNode {
  LoopNode n;
  n.id = make_symbol(SymbolKind::Loop, std::move(name), kIndex, loc);
  n.extent = std::move(extent), n.partition = partition, n.loc = loc;
  return n;
}

/// How a loop runs is said last: what a split of a vector loop means would be one more thing to define for every step.
auto serial_loop(const Nest& nest, const SymbolRef& id, std::string_view name, const Loc& loc) -> Result<Located> {
  const auto& at = *find_loop(nest.tree, id);
  const auto& loop = *at.node->as<LoopNode>();
  if (loop.how != ForKind::Serial)
    return Diag(DiagKind::schedule_loop_kind, loc, name, kind_word(loop.how))
        .with_note(loop.loc, str("`{}` became {} here", name, kind_word(loop.how)))
        .with_help("shape loops first (split, fuse), then say how they run");
  return at;
}

/// Resolved extent of a loop on the closed nest.
auto loop_extent(const Nest& nest, const LoopNode& loop) -> Result<Form> {
  DRAWLOOM_TRY(const Nest closed, close_nest(nest));
  QueryCache cache;
  return resolve(closed, loop.extent, cache);
}

/// Applies `edit(nest, realisation, stage)` to every realisation that a stage name means.
template <typename Edit>
auto each_stage(const Nest& nest, const StageName& name, const Loc& loc, Edit&& edit) -> Result<Nest> {
  DRAWLOOM_TRY(const auto stages, find_stages(nest, name, loc));
  Nest out = nest;
  for (const auto& [id, stage] : stages) {
    DRAWLOOM_TRY(out, edit(out, id, stage));
  }
  return out;
}

// ---- split

struct SplitShape {
  Form factor;
  bool clip = true;
  std::optional<Demand> demand;
};

auto split_shape(const Nest& nest, const Split& s, const LoopNode& loop, const GraphFunc& f, const Loc& loc)
    -> Result<SplitShape> {
  DRAWLOOM_TRY(const Form factor, amount_form(nest, s.factor, loc));
  const Facts facts;
  if (!facts.proves_le(Form(1), factor))
    return Diag(DiagKind::split_factor, loc, s.loop.loop, s.factor)
        .with_help(s.factor.symbol.empty() ? "use a factor of 1 or more"
                                           : str("give parameter {} a range that starts at 1", s.factor.symbol));
  // The extent as it stands, not what it resolves to: a later step may change that. settle_clips looks again at the
  // end.
  SplitShape shape{factor, !divides(loop.extent, factor), {}};
  if (!shape.clip) return shape;
  switch (s.tail.kind) {
    case Tail::Kind::predicate:
    case Tail::Kind::shrink: break;
    case Tail::Kind::round_up: {
      DRAWLOOM_TRY(const Form extent, loop_extent(nest, loop));
      if (divides(extent, factor)) break;
      if (!f.is_output && !DRAWLOOM_LEGALITY_SKIPPED)
        return Diag(DiagKind::split_tail, loc, s.tail,
                    str("{} is not an output, and {} does not divide its extent {}", f.name(), factor, extent))
            .with_help("tail=predicate works for any size; align the Func to make its extent a multiple");
      shape.clip = false;
      if (f.is_output) shape.demand = Demand{loop.extent, factor, loc};
      break;
    }
    case Tail::Kind::filled:
      return Diag(DiagKind::split_tail, loc, s.tail,
                  "it needs a Func whose storage is filled, which only staging by `in` makes")
          .with_help("tail=predicate works for any size");
  }
  return shape;
}

auto split_stage(const Nest& nest, const Split& s, RealisationId id, int stage, const Loc& loc) -> Result<Nest> {
  const auto& at = leaf_at(nest, id, stage);
  StageLeaf leaf = *at.node->as<StageLeaf>();
  DRAWLOOM_TRY(const SymbolRef old, find_named_loop(nest, leaf, s.loop.loop, loc));
  if (s.outer == s.inner) return Diag(DiagKind::schedule_name_repeated, loc, s.outer);
  DRAWLOOM_REQUIRE(check_free_name(nest, leaf, s.outer, s.loop.loop, loc));
  DRAWLOOM_REQUIRE(check_free_name(nest, leaf, s.inner, s.loop.loop, loc));
  DRAWLOOM_TRY(const Located loop_at, serial_loop(nest, old, s.loop.loop, loc));
  const auto& loop = *loop_at.node->as<LoopNode>();
  DRAWLOOM_TRY(const SplitShape shape, split_shape(nest, s, loop, nest.func(id), loc));

  const auto outer = serial_node(s.outer, ceil_div(loop.extent, shape.factor), loop.partition, loc);
  const auto inner = serial_node(s.inner, shape.factor, loop.partition, loc);
  const Form index = shape.factor * Form(outer.id) + Form(inner.id);
  const int dim = dim_of_loop(leaf, old);
  replace_loop(leaf, old, index);
  if (shape.clip)
    leaf.clips.push_back(
        {index, loop.extent + (DRAWLOOM_FAULT(split_limit_off_by_one) ? 1 : 0), dim, s.tail, shape.factor, false, loc});
  if (shape.demand) leaf.demands.push_back(*shape.demand);
  const auto name = std::find_if(leaf.loops.begin(), leaf.loops.end(), [&](const NamedLoop& n) { return n.id == old; });
  *name = {s.inner, inner.id};
  leaf.loops.insert(name, {s.outer, outer.id});
  leaf.consumed.push_back({s.loop.loop, str("`{}` and `{}`", s.outer, s.inner), loc});

  const Nest with = with_leaf(nest, id, stage, leaf);
  const TreePath path = path_of(nest.tree, loop_at);
  // all that stood in the loop goes into the inner one, Funcs computed there included
  const auto body = at_path(with.tree, path)->children;
  return with_node(with, path, tree_node(outer, {tree_node(inner, body)}));
}

}  // namespace

auto apply_step(const Nest& nest, const Split& s, const Loc& loc) -> Result<Nest> {
  return each_stage(nest, s.loop.stage, loc,
                    [&](const Nest& n, RealisationId id, int stage) { return split_stage(n, s, id, stage, loc); });
}

// ---- fuse

namespace {

auto fuse_stage(const Nest& nest, const Fuse& s, RealisationId id, int stage, const Loc& loc) -> Result<Nest> {
  StageLeaf leaf = *leaf_at(nest, id, stage).node->as<StageLeaf>();
  DRAWLOOM_TRY(const SymbolRef inner, find_named_loop(nest, leaf, s.inner.loop, loc));
  DRAWLOOM_TRY(const SymbolRef outer, find_named_loop(nest, leaf, s.outer, loc));
  if (s.fused != s.inner.loop) DRAWLOOM_REQUIRE(check_free_name(nest, leaf, s.fused, s.outer, loc));
  DRAWLOOM_TRY(const Located inner_at, serial_loop(nest, inner, s.inner.loop, loc));
  DRAWLOOM_TRY(const Located outer_at, serial_loop(nest, outer, s.outer, loc));
  if (outer_at.node->children.size() != 1 || outer_at.node->children[0].get() != inner_at.node) {
    Diag diag(DiagKind::fuse_not_nested, loc, s.outer, s.inner.loop);
    for (const auto* guest : stage_leaves_below(outer_at.node))
      if (guest->what != id)
        return diag
            .with_note(nest.func(guest->what).placement_loc,
                       str("{} is computed at {} since here", nest.func(guest->what).name(), s.outer))
            .with_help(str("place {} elsewhere first", nest.func(guest->what).name()));
    return diag.with_help("reorder the two loops so that one stands directly in the other");
  }
  const auto& a = *inner_at.node->as<LoopNode>();
  const auto& b = *outer_at.node->as<LoopNode>();
  // Regions are asked for outside the loops of their stage, but for the steps of a recurrence.
  const bool recurrence = nest.func(id).def->ordered_dim >= 0;
  DRAWLOOM_TRY(const Form extent, recurrence ? loop_extent(nest, a) : Result<Form>(a.extent));
  if (uses_symbol(extent, outer.get()) && !DRAWLOOM_LEGALITY_SKIPPED)
    return Diag(DiagKind::fuse_uneven, loc, s.inner.loop, s.outer, extent)
        .with_help("fuse loops whose extents do not depend on each other");
  const auto fused = serial_node(s.fused, a.extent * b.extent, PartitionMode::automatic, loc);
  replace_loop(leaf, inner, floor_mod(Form(fused.id), a.extent));
  replace_loop(leaf, outer, floor_div(Form(fused.id), DRAWLOOM_FAULT(fuse_by_outer_extent) ? b.extent : a.extent));
  const auto name =
      std::find_if(leaf.loops.begin(), leaf.loops.end(), [&](const NamedLoop& n) { return n.id == outer; });
  *name = {s.fused, fused.id};
  leaf.loops.erase(std::next(name));
  for (const auto& gone : {s.inner.loop, s.outer}) leaf.consumed.push_back({gone, str("part of `{}`", s.fused), loc});
  const Nest with = with_leaf(nest, id, stage, leaf);
  const auto body = at_path(with.tree, path_of(nest.tree, inner_at))->children;
  return with_node(with, path_of(nest.tree, outer_at), tree_node(fused, body));
}

}  // namespace

auto apply_step(const Nest& nest, const Fuse& s, const Loc& loc) -> Result<Nest> {
  return each_stage(nest, s.inner.stage, loc,
                    [&](const Nest& n, RealisationId id, int stage) { return fuse_stage(n, s, id, stage, loc); });
}

// ---- reorder

namespace {

/// Does a recurrence read itself at other coordinates of the dimension that `loop` runs over?
auto reads_beside(const GraphFunc& f, const StageLeaf& leaf, const SymbolRef& loop) -> bool {
  for (size_t d = 0; d < f.def->args.size(); ++d) {
    const Form here(f.def->args[d]);
    const bool runs_here = std::any_of(leaf.dims.begin(), leaf.dims.end(), [&](const StageDim& s) {
      return s.var == f.def->args[d] && uses_symbol(s.rel, loop.get());
    });
    if (runs_here && std::any_of(f.self_accesses[0].begin(), f.self_accesses[0].end(),
                                 [&](const Box& box) { return *box[d].lo != here || *box[d].hi != here; }))
      return true;
  }
  return false;
}

/// A step of a recurrence needs the steps before it everywhere: loops over other dimensions stay inside.
auto check_recurrence_order(const Nest& nest, const StageLeaf& leaf, const std::vector<NamedLoop>& after,
                            const Loc& loc) -> Status {
  const auto& f = nest.func(leaf.what);
  if (leaf.stage != 0 || f.def->ordered_dim < 0) return Done{};
  const auto ordered = reduction_loops(nest, leaf);
  const NamedLoop* outside = nullptr;
  for (const auto& l : after) {
    const bool is_ordered = std::find(ordered.begin(), ordered.end(), l.id) != ordered.end();
    if (is_ordered && outside)
      return Diag(DiagKind::reorder_reduction, loc, outside->name, l.name, f.name())
          .with_note(f.def->loc, str("{} is defined here", f.name()))
          .with_help(str("keep `{}` outside `{}`", l.name, outside->name));
    if (!is_ordered && !outside && reads_beside(f, leaf, l.id)) outside = &l;
  }
  return Done{};
}

/// Other updates keep the order in which the definition adds up, and with it the bits.
auto check_reduction_order(const Nest& nest, const StageLeaf& before, const std::vector<NamedLoop>& after,
                           const Loc& loc) -> Status {
  if (DRAWLOOM_FAULT(reduction_order_ignored) || is_exact_reduction(*nest.func(before.what).def, before.stage))
    return Done{};
  const auto old_order = reduction_loops(nest, before);
  std::vector<SymbolRef> new_order;
  for (const auto& l : after)
    if (std::find(old_order.begin(), old_order.end(), l.id) != old_order.end()) new_order.push_back(l.id);
  for (size_t i = 0; i < old_order.size(); ++i)
    if (old_order[i] != new_order[i])
      return Diag(DiagKind::reorder_reduction, loc, new_order[i]->name, old_order[i]->name,
                  stage_text(nest, before.what, before.stage))
          .with_help("keep the loops of the reduction in their order; pure loops may go anywhere between them");
  return Done{};
}

auto reorder_stage(const Nest& nest, const Reorder& s, RealisationId id, int stage, const Loc& loc) -> Result<Nest> {
  StageLeaf leaf = *leaf_at(nest, id, stage).node->as<StageLeaf>();
  std::vector<SymbolRef> wanted;  // outermost first
  for (auto it = s.loops.rbegin(); it != s.loops.rend(); ++it) {
    DRAWLOOM_TRY(const SymbolRef l, find_named_loop(nest, leaf, *it, loc));
    if (std::find(wanted.begin(), wanted.end(), l) != wanted.end())
      return Diag(DiagKind::schedule_name_repeated, loc, *it);
    wanted.push_back(l);
  }
  std::vector<NamedLoop> order;
  size_t next = 0;
  for (const auto& l : leaf.loops) {
    if (std::find(wanted.begin(), wanted.end(), l.id) == wanted.end()) {
      order.push_back(l);
      continue;
    }
    const auto& take = wanted[next++];
    order.push_back(
        *std::find_if(leaf.loops.begin(), leaf.loops.end(), [&](const NamedLoop& n) { return n.id == take; }));
  }
  if (!DRAWLOOM_LEGALITY_SKIPPED) {
    DRAWLOOM_REQUIRE(check_recurrence_order(nest, leaf, order, loc));
    DRAWLOOM_REQUIRE(check_reduction_order(nest, leaf, order, loc));
  }

  // Each loop keeps what else stands in its list; only the nesting changes.
  // a loop, and which of its children gives way to the next loop inside
  struct Shell {
    const TreeNode* node;
    size_t hole;
  };
  std::vector<Shell> shells;
  const TreePath leaf_path = path_of(nest.tree, leaf_at(nest, id, stage));
  for (const auto& l : order) {
    const auto& at = *find_loop(nest.tree, l.id);
    shells.push_back({at.node, static_cast<size_t>(leaf_path[path_of(nest.tree, at).size()])});
  }
  const TreePath top = path_of(nest.tree, *find_loop(nest.tree, leaf.loops.front().id));
  leaf.loops = order;
  TreeRef node = tree_node(leaf);
  for (auto it = shells.rbegin(); it != shells.rend(); ++it) {
    auto copy = make_ref<TreeNode>(*it->node);
    copy->children[it->hole] = node;
    node = copy;
  }
  return with_node(nest, top, node);
}

}  // namespace

auto apply_step(const Nest& nest, const Reorder& s, const Loc& loc) -> Result<Nest> {
  // one loop alone is in every order
  if (s.loops.size() < 2) return nest;
  return each_stage(nest, s.stage, loc,
                    [&](const Nest& n, RealisationId id, int stage) { return reorder_stage(n, s, id, stage, loc); });
}

// ---- rename and the kinds of loops

auto apply_step(const Nest& nest, const Rename& s, const Loc& loc) -> Result<Nest> {
  return each_stage(nest, s.loop.stage, loc, [&](const Nest& n, RealisationId id, int stage) -> Result<Nest> {
    StageLeaf leaf = *leaf_at(n, id, stage).node->as<StageLeaf>();
    DRAWLOOM_TRY(const SymbolRef l, find_named_loop(n, leaf, s.loop.loop, loc));
    DRAWLOOM_REQUIRE(check_free_name(n, leaf, s.name, s.loop.loop, loc));
    for (auto& name : leaf.loops)
      if (name.id == l) name.name = s.name;
    leaf.consumed.push_back({s.loop.loop, str("`{}`", s.name), loc});
    return with_leaf(n, id, stage, leaf);
  });
}

namespace {

/// The nest in which the loop has a constant extent: its own, or that of the constant cover with the need as a clip.
auto with_constant_extent(const Nest& nest, RealisationId id, int stage, const SymbolRef& loop_id,
                          std::string_view verb, std::string_view name, const Loc& loc) -> Result<Nest> {
  const auto& at = *find_loop(nest.tree, loop_id);
  LoopNode loop = *at.node->as<LoopNode>();
  if (loop.extent.is_constant()) return nest;
  DRAWLOOM_TRY(const Form extent, loop_extent(nest, loop));
  StageLeaf leaf = *leaf_at(nest, id, stage).node->as<StageLeaf>();
  const int dim = dim_of_loop(leaf, loop_id);
  std::optional<int64_t> cover;
  if (extent.is_constant()) {
    cover = extent.as_constant();
  } else if (dim >= 0 && loop.extent == Form(leaf.dims[static_cast<size_t>(dim)].whole)) {
    DRAWLOOM_TRY(const Nest closed, close_nest(nest));
    QueryCache cache;
    cover = stage_dim_range(closed, leaf, static_cast<size_t>(dim), cache).cover.as_constant();
  }
  if (!cover && DRAWLOOM_LEGALITY_SKIPPED) return nest;
  if (!cover)
    return Diag(DiagKind::vectorize_extent_unknown, loc, verb, name, stage_text(nest, id, stage), extent)
        .with_help(str("split it by a constant first and {} the inner loop", verb));
  // The cover may be more than is needed: what lies beyond is computed by nobody.
  leaf.clips.push_back({Form(loop_id), loop.extent, dim, Tail{}, Form(1), true, loc});
  const Nest with = with_leaf(nest, id, stage, leaf);
  loop.extent = Form(*cover);
  const TreePath path = path_of(nest.tree, at);
  return with_node(with, path, tree_node(loop, at_path(with.tree, path)->children));
}

auto with_kind(const Nest& nest, const SymbolRef& id, ForKind how, const Loc& loc) -> Nest {
  const auto& at = *find_loop(nest.tree, id);
  LoopNode loop = *at.node->as<LoopNode>();
  loop.how = how, loop.loc = loc;
  return with_node(nest, path_of(nest.tree, at), tree_node(loop, at.node->children));
}

auto is_reduction(const Nest& nest, const StageLeaf& leaf, const SymbolRef& loop) -> bool {
  const auto loops = reduction_loops(nest, leaf);
  return std::find(loops.begin(), loops.end(), loop) != loops.end();
}

struct LoopTarget {
  RealisationId id;
  int stage;
  StageLeaf leaf;
  SymbolRef loop;
};

/// Says where the order comes from, and which loops of the stage are free of it.
auto with_pure_loops(const Nest& nest, const LoopTarget& t, std::string_view verb, const Diag& diag) -> Diag {
  const auto pure = pure_loops_text(nest, t.leaf);
  const auto text = stage_text(nest, t.id, t.stage);
  return diag.with_note(nest.func(t.id).def->stage(t.stage).loc, str("{} is defined here", text))
      .with_help(pure.empty() ? str("{} has no pure loop; what it reads may be {}", text, verb)
                              : str("the pure loops of {} may be {}: {}", text, verb, pure));
}

auto refuse_vector_reduction(const Nest& nest, const LoopTarget& t, std::string_view loop, const Loc& loc) -> Diag {
  const auto& def = *nest.func(t.id).def;
  const bool only_bits = nest.graph->pipeline->allowed == Effect::exact && !is_exact_reduction(def, t.stage);
  return with_pure_loops(nest, t, "vectorized",
                         Diag(DiagKind::vectorize_reduction, loc, loop, stage_text(nest, t.id, t.stage),
                              only_bits ? "and the pipeline allows only exact results"
                                        : "whose iterations write and read the same elements"));
}

/// Each iteration becomes code: a copy of the body, or a lane.
auto check_length(const Nest& nest, const SymbolRef& loop, std::string_view verb, int64_t most, std::string_view name,
                  const Loc& loc) -> Status {
  const auto extent = find_loop(nest.tree, loop)->node->as<LoopNode>()->extent.as_constant().value_or(0);
  if (extent <= most) return Done{};
  return Diag(DiagKind::loop_too_long, loc, verb, name, extent, most)
      .with_help(str("split the loop and {} the inner one", verb));
}

/// Common frame of unroll, vectorize, parallel: find the loop of each realisation, check it is serial, let `make`
/// change it.
template <typename Make>
auto change_kind(const Nest& nest, const LoopName& name, const Loc& loc, Make&& make) -> Result<Nest> {
  return each_stage(nest, name.stage, loc, [&](const Nest& n, RealisationId id, int stage) -> Result<Nest> {
    const StageLeaf leaf = *leaf_at(n, id, stage).node->template as<StageLeaf>();
    DRAWLOOM_TRY(const SymbolRef l, find_named_loop(n, leaf, name.loop, loc));
    DRAWLOOM_TRY(const Located at, serial_loop(n, l, name.loop, loc));
    (void)at;
    return make(n, LoopTarget{id, stage, leaf, l});
  });
}

}  // namespace

auto apply_step(const Nest& nest, const Unroll& s, const Loc& loc) -> Result<Nest> {
  return change_kind(nest, s.loop, loc, [&](const Nest& n, const LoopTarget& t) -> Result<Nest> {
    DRAWLOOM_TRY(const Nest with, with_constant_extent(n, t.id, t.stage, t.loop, "unroll", s.loop.loop, loc));
    DRAWLOOM_REQUIRE(check_length(with, t.loop, "unroll", kMaxUnroll, s.loop.loop, loc));
    return with_kind(with, t.loop, ForKind::Unrolled, loc);
  });
}

auto apply_step(const Nest& nest, const Vectorize& s, const Loc& loc) -> Result<Nest> {
  return change_kind(nest, s.loop, loc, [&](const Nest& n, const LoopTarget& t) -> Result<Nest> {
    if (is_reduction(n, t.leaf, t.loop) && !DRAWLOOM_LEGALITY_SKIPPED)
      return refuse_vector_reduction(n, t, s.loop.loop, loc);
    for (const auto& l : t.leaf.loops) {
      const auto& loop = *find_loop(n.tree, l.id)->node->as<LoopNode>();
      if (loop.how == ForKind::Vectorized && !DRAWLOOM_LEGALITY_SKIPPED)
        return Diag(DiagKind::vectorize_nested, loc, s.loop.loop, l.name)
            .with_note(loop.loc, str("`{}` is vectorized here", l.name))
            .with_help("unroll it instead");
    }
    DRAWLOOM_TRY(const Nest with, with_constant_extent(n, t.id, t.stage, t.loop, "vectorize", s.loop.loop, loc));
    DRAWLOOM_REQUIRE(check_length(with, t.loop, "vectorize", kMaxLanes, s.loop.loop, loc));
    return with_kind(with, t.loop, ForKind::Vectorized, loc);
  });
}

auto apply_step(const Nest& nest, const Parallel& s, const Loc& loc) -> Result<Nest> {
  return change_kind(nest, s.loop, loc, [&](const Nest& n, const LoopTarget& t) -> Result<Nest> {
    if (!DRAWLOOM_FAULT(race_ignored) && !DRAWLOOM_LEGALITY_SKIPPED && is_reduction(n, t.leaf, t.loop))
      return with_pure_loops(n, t, "run in parallel",
                             Diag(DiagKind::parallel_race, loc, s.loop.loop, stage_text(n, t.id, t.stage)));
    return with_kind(n, t.loop, ForKind::Parallel, loc);
  });
}

auto apply_step(const Nest& nest, const Partition& s, const Loc& loc) -> Result<Nest> {
  return each_stage(nest, s.loop.stage, loc, [&](const Nest& n, RealisationId id, int stage) -> Result<Nest> {
    const StageLeaf leaf = *leaf_at(n, id, stage).node->as<StageLeaf>();
    DRAWLOOM_TRY(const SymbolRef l, find_named_loop(n, leaf, s.loop.loop, loc));
    const auto& at = *find_loop(n.tree, l);
    LoopNode loop = *at.node->as<LoopNode>();
    loop.partition = s.how;
    return with_node(n, path_of(n.tree, at), tree_node(loop, at.node->children));
  });
}

}  // namespace drawloom
