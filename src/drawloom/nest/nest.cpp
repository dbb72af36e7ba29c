#include "drawloom/nest/nest.h"

#include <algorithm>

#include "drawloom/nest/apply.h"

// The nest before the first step, each step, and what is done after the last one.
//
//   hist(i) = 0, hist(in(r)) += 1, out(x, y) = hist(x) + hist(y)
//     make_nest     for y: for x: out                           hist is open
//     close_nest    for y: for x: { store hist; for i: hist; for r: hist.update(0); out }
//     settle_clips  a clip 8*xo + xi < X goes where X is by now known to be a multiple of 8
//
// Closing is done on a copy, by whoever asks about regions, prints or lowers: as long as a Func is open, a step may
// still place it. The closed nest is not kept: every step would have to bring it up to date.

namespace drawloom {
namespace {

auto is_pure_dim(const Definition& stage, const FunctionDef& f, size_t d) -> bool {
  const auto* v = stage.lhs[d].as<VarRef>();
  return v && v->symbol == f.args[d];
}

auto stage_dim(const FunctionDef& f, const SymbolRef& var, const SymbolRef& loop) -> StageDim {
  const auto arg = std::find(f.args.begin(), f.args.end(), var);
  return {var, arg == f.args.end() ? -1 : static_cast<int>(arg - f.args.begin()),
          make_symbol(SymbolKind::Let, str("{}.{}.min", f.name, var->name)),
          make_symbol(SymbolKind::Let, str("{}.{}.extent", f.name, var->name)), Form(loop)};
}

/// Loops of one stage: RVars innermost (first fastest), then pure dimensions (first innermost), then the ordered
/// dimension of a recurrence: a step of it reads others of all coordinates.
auto stage_nest(const FunctionDef& f, RealisationId what, int stage, const Loc& loc) -> TreeRef {
  const auto& def = f.stage(stage);
  StageLeaf leaf;
  leaf.what = what, leaf.stage = stage;
  std::vector<SymbolRef> vars;  // innermost first
  if (def.rdom)
    for (const auto& d : def.rdom->dims) vars.push_back(d.symbol);
  const int ordered = stage == 0 ? f.ordered_dim : -1;
  for (size_t d = 0; d < f.args.size(); ++d)
    if (static_cast<int>(d) != ordered && (stage == 0 || is_pure_dim(def, f, d))) vars.push_back(f.args[d]);
  if (ordered >= 0) vars.push_back(f.args[static_cast<size_t>(ordered)]);
  std::vector<StageDim> dims;
  for (auto it = vars.rbegin(); it != vars.rend(); ++it) {
    const auto id = make_symbol(SymbolKind::Loop, (*it)->name, kIndex, loc);
    dims.push_back(stage_dim(f, *it, id));
    leaf.loops.push_back({(*it)->name, id});
  }
  leaf.dims.assign(dims.rbegin(), dims.rend());
  TreeRef node = tree_node(leaf);
  for (size_t i = 0; i < vars.size(); ++i) {  // innermost first
    LoopNode loop;
    loop.id = leaf.loops[vars.size() - 1 - i].id;
    // a symbol, not a form: what the region is may change with each step, the loop need not
    loop.extent = Form(leaf.dims[i].whole);
    loop.loc = loc;
    node = tree_node(loop, {node});
  }
  return node;
}

}  // namespace

auto new_realisation(const Graph& graph, RealisationId what, const Loc& loc) -> std::vector<TreeRef> {
  const auto& f = graph.func(what.func);
  std::vector<TreeRef> out;
  if (!f.is_output) {
    StoreNode store;
    store.what = what, store.loc = loc;
    out.push_back(tree_node(store));
  }
  for (int s = 0; s < f.def->stages(); ++s) out.push_back(stage_nest(*f.def, what, s, loc));
  return out;
}

auto make_nest(const PipelineRef& pipeline, const Target& target) -> Result<Nest> {
  DRAWLOOM_TRY(auto graph, make_graph(pipeline));
  Nest nest;
  nest.graph = graph, nest.target = target;
  std::vector<TreeRef> roots;
  for (size_t i = 0; i < graph->funcs.size(); ++i)
    if (graph->funcs[i]->is_output)
      for (auto& n : new_realisation(*graph, {static_cast<int>(i), 0}, graph->funcs[i]->def->loc)) roots.push_back(n);
  nest.tree = tree_node(GroupNode{}, std::move(roots));
  return nest;
}

// ---- closing

namespace {

/// Gives each leaf that reads an open Func with updates a realisation of its own, right before it: the place that keeps
/// least in storage and shares nothing. What such a Func reads is closed in the same way.
class Closer {
 public:
  explicit Closer(const Graph& graph) : graph_(graph), copies_(graph.funcs.size(), 0) {}

  auto close(const TreeRef& node) -> TreeRef {
    auto out = make_ref<TreeNode>(*node);
    out->children.clear();
    for (const auto& c : node->children) append(out->children, c);
    return out;
  }

 private:
  void append(std::vector<TreeRef>& list, const TreeRef& child) {
    if (const auto* leaf = child->as<StageLeaf>()) {
      for (const int producer : graph_.func(leaf->what.func).producers[static_cast<size_t>(leaf->stage)])
        if (is_open_reduction(producer)) realise(list, producer);
      list.push_back(child);
    } else {
      list.push_back(close(child));
    }
  }

  auto is_open_reduction(int f) const -> bool {
    const auto& func = graph_.func(f);
    return func.placement == PlacementState::Open && !func.can_inline();
  }

  void realise(std::vector<TreeRef>& list, int f) {
    const RealisationId id{f, copies_[static_cast<size_t>(f)]++};
    // through append, so that open Funcs it reads get their place before it
    for (const auto& n : new_realisation(graph_, id, graph_.func(f).def->loc)) append(list, n);
  }

  const Graph& graph_;
  std::vector<int> copies_;
};

auto has_open_reductions(const Graph& graph) -> bool {
  return std::any_of(graph.funcs.begin(), graph.funcs.end(),
                     [](const GraphFuncRef& f) { return f->placement == PlacementState::Open && !f->can_inline(); });
}

}  // namespace

auto close_nest(const Nest& nest) -> Result<Nest> {
  // mostly nothing is open, and the tree and its index are shared
  if (!has_open_reductions(*nest.graph)) return nest;
  Nest out = nest;
  out.tree = Closer(*nest.graph).close(nest.tree);
  return out;
}

// ---- settling

auto settle_clips(const Nest& closed) -> Nest {
  Nest out = closed;
  QueryCache cache;
  for (const auto& at : stage_leaves(closed.tree)) {
    StageLeaf leaf = *at.node->as<StageLeaf>();
    const auto idle = [&](const Clip& c) {
      return !c.from_cover && divides(resolve(closed, c.limit, cache), c.factor);
    };
    if (std::erase_if(leaf.clips, idle) != 0)
      out.tree = replace_at(out.tree, path_of(closed.tree, at), tree_node(leaf));
  }
  return out;
}

// ---- applying

auto apply(const Nest& nest, const ScheduleLine& line) -> Result<Nest> {
  DRAWLOOM_TRY(auto next, std::visit([&](const auto& step) { return apply_step(nest, step, line.loc); }, line.step));
  DRAWLOOM_REQUIRE(check_obligations(next, line.loc));
  return next;
}

auto apply(Nest nest, const Schedule& schedule) -> Result<Nest> {
  for (const auto& line : schedule.steps) {
    DRAWLOOM_TRY(nest, apply(nest, line));
  }
  return nest;
}

}  // namespace drawloom
