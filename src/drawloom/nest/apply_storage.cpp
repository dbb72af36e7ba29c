#include <algorithm>

#include "drawloom/nest/apply.h"
#include "drawloom/support/fault.h"

// Steps about regions and storage: bound, align, store_in, fold_storage, nontemporal. Each only writes a decision down,
// in the Func's entry of the graph or in its StoreNode. Whether it can be kept depends on regions, which later steps
// change too, so that is asked after every step (obligations.cpp).

namespace drawloom {
namespace {

template <typename Edit>
auto edit_func(const Nest& nest, int func, Edit&& edit) -> Nest {
  auto f = make_ref<GraphFunc>(nest.graph->func(func));
  edit(*f);
  Nest out = nest;
  out.graph = with_func(nest.graph, func, f);
  return out;
}

template <typename Edit>
auto edit_store(const Nest& nest, int func, const Loc& loc, Edit&& edit) -> Result<Nest> {
  const auto& f = nest.graph->func(func);
  if (f.is_output)
    return Diag(DiagKind::store_output, loc, f.name())
        .with_help("whoever calls the pipeline decides where that lies and how large it is");
  Nest out = nest;
  bool found = false;
  for (const auto& s : store_nodes(nest.tree)) {
    StoreNode node = *s.node->as<StoreNode>();
    if (node.what.func != func) continue;
    edit(node);
    out.tree = replace_at(out.tree, path_of(nest.tree, s), tree_node(node));
    found = true;
  }
  if (!found)
    return Diag(DiagKind::schedule_not_placed, loc, f.name())
        .with_help(str("say where it is computed first: compute_root {}", f.name()));
  return out;
}

}  // namespace

auto apply_step(const Nest& nest, const Bound& s, const Loc& loc) -> Result<Nest> {
  DRAWLOOM_TRY(const int func, find_func(nest, s.func, loc));
  DRAWLOOM_TRY(const int dim, find_dim(nest, func, s.dim, loc));
  DRAWLOOM_REQUIRE(amount_form(nest, s.min, loc));
  DRAWLOOM_REQUIRE(amount_form(nest, s.extent, loc));
  return edit_func(nest, func, [&](GraphFunc& f) {
    auto& d = f.dims[static_cast<size_t>(dim)];
    d.bound = {s.min, s.extent}, d.bound_loc = loc;
  });
}

auto apply_step(const Nest& nest, const Align& s, const Loc& loc) -> Result<Nest> {
  DRAWLOOM_TRY(const int func, find_func(nest, s.func, loc));
  DRAWLOOM_TRY(const int dim, find_dim(nest, func, s.dim, loc));
  if (s.factor < 1)
    return Diag(DiagKind::align_factor, loc, s.func, s.dim, s.factor).with_help("use a factor of 1 or more");
  if (nest.graph->func(func).is_output)
    return Diag(DiagKind::placement_of_output, loc, s.func)
        .with_help("its region is the caller's buffer and cannot be rounded");
  return edit_func(nest, func, [&](GraphFunc& f) {
    auto& d = f.dims[static_cast<size_t>(dim)];
    d.align = s.factor, d.align_loc = loc;
  });
}

auto apply_step(const Nest& nest, const StoreIn& s, const Loc& loc) -> Result<Nest> {
  DRAWLOOM_TRY(const int func, find_func(nest, s.func, loc));
  return edit_store(nest, func, loc, [&](StoreNode& n) { n.memory = s.memory, n.memory_decided = true, n.loc = loc; });
}

auto apply_step(const Nest& nest, const FoldStorage& s, const Loc& loc) -> Result<Nest> {
  DRAWLOOM_TRY(const int func, find_func(nest, s.func, loc));
  DRAWLOOM_TRY(const int dim, find_dim(nest, func, s.dim, loc));
  return edit_store(nest, func, loc, [&](StoreNode& n) {
    const auto old =
        std::find_if(n.folds.begin(), n.folds.end(), [&](const StoreNode::Fold& f) { return f.dim == dim; });
    if (old != n.folds.end()) n.folds.erase(old);
    n.folds.push_back({dim, s.depth, loc});
  });
}

auto apply_step(const Nest& nest, const Nontemporal& s, const Loc& loc) -> Result<Nest> {
  DRAWLOOM_TRY(const int func, find_func(nest, s.func, loc));
  const auto& f = nest.graph->func(func);
  const auto nontemporal = [](GraphFunc& g) { g.nontemporal = true; };
  if (DRAWLOOM_LEGALITY_SKIPPED) return edit_func(nest, func, nontemporal);
  // Decided by the definitions alone, so it is refused at once and never asked again.
  for (const auto& reader : nest.graph->funcs)
    for (const auto& stage : reader->written)
      for (const auto& a : stage)
        if (a.func == func)
          return Diag(DiagKind::nontemporal_reread, loc, f.name(), reader->name())
              .with_help("only Funcs that nobody reads again gain");
  if (!f.def->updates.empty())
    return Diag(DiagKind::nontemporal_reread, loc, f.name(), f.name())
        .with_help("its update definitions read it again");
  return edit_func(nest, func, nontemporal);
}

}  // namespace drawloom
