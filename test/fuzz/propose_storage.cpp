#include "drawloom/nest/apply.h"
#include "drawloom/nest/region_box.h"
#include "proposer.h"

// What comes last in a schedule: kinds of loops, storage, promises.

namespace drawloom::fuzz {

void Proposer::decorate() {
  const auto* leaf = any_leaf();
  const int64_t k = r_.uniform(0, 99);
  if (k < 46 && !leaf->loops.empty())
    loop_kind(*leaf);
  else if (k < 60)
    fold();
  else if (k < 70)
    store_in();
  else if (k < 75)
    align();
  else if (k < 80)
    bound();
  else if (k < 84)
    attempt(Nontemporal{func_name(r_.chance(70) ? static_cast<int>(nest_.graph->funcs.size()) - 1 : any_func())});
  else
    anything();
}

auto Proposer::stored_func() -> int {
  const auto& stores = store_nodes(nest_.tree);
  if (stores.empty() || r_.chance(5)) return any_func();
  return stores[pick(stores.size())].node->as<StoreNode>()->what.func;
}

/// One whose storage stands outside its compute place, if there is any.
auto Proposer::slid_func() -> int {
  std::vector<int> found;
  for (const auto& at : store_nodes(nest_.tree)) {
    const auto what = at.node->as<StoreNode>()->what;
    if (site_of(nest_.tree, at) != site_of(nest_.tree, *place_of(nest_, what).group)) found.push_back(what.func);
  }
  return found.empty() || r_.chance(15) ? stored_func() : found[pick(found.size())];
}

void Proposer::fold() {
  const int f = slid_func();
  const auto& func = nest_.graph->func(f);
  if (func.def->args.empty()) return;
  size_t d = pick(func.def->args.size());
  int64_t depth = r_.uniform(1, 9);
  if (func.placement == PlacementState::Placed && !func.is_output) {
    QueryCache cache;
    const Nest closed = close_nest(nest_).or_throw();  // open Funcs with updates read too
    const auto& facts = realisation_facts(closed, {f, 0}, cache);
    if (!facts.slides.empty() && r_.chance(85)) d = static_cast<size_t>(facts.slides[pick(facts.slides.size())].dim);
    if (facts.window[d]) depth = *facts.window[d] + r_.uniform(-1, 3);
  }
  attempt(FoldStorage{func_name(f), func.def->args[d]->name, depth});
}

void Proposer::store_in() {
  static const MemoryKind kKinds[] = {MemoryKind::Heap, MemoryKind::Stack, MemoryKind::Register};
  const int f = stored_func();
  const MemoryKind kind = kKinds[pick(3)];
  if (kind == MemoryKind::Register) write_out_loops(f);
  attempt(StoreIn{func_name(f), kind});
}

/// Loops inside the storage of f that run over it, unrolled or vectorised where that is legal: what registers need.
void Proposer::write_out_loops(int f) {
  std::vector<LoopName> found;
  for (const auto& at : store_nodes(nest_.tree)) {
    if (at.node->as<StoreNode>()->what.func != f) continue;
    const auto& list = index_of(nest_.tree).nodes[static_cast<size_t>(at.parent)];
    for (const auto& l : stage_leaves(nest_.tree)) {
      const auto& leaf = *l.node->as<StageLeaf>();
      if (!list.encloses(l) || (leaf.what.func != f && !leaf_reads(*nest_.graph, leaf, f))) continue;
      for (size_t i = 0; i < leaf.loops.size(); ++i)
        if (list.encloses(*find_loop(nest_.tree, leaf.loops[i].id))) found.push_back(loop_name(leaf, i));
    }
  }
  for (const auto& name : found)
    if (!r_.chance(30) || !attempt(Vectorize{name})) attempt(Unroll{name});
}

void Proposer::align() {
  const int f = any_func();
  const auto& args = nest_.graph->func(f).def->args;
  if (args.empty()) return;
  attempt(Align{func_name(f), args[pick(args.size())]->name, r_.chance(95) ? r_.uniform(2, 8) : r_.uniform(-1, 1)});
}

void Proposer::bound() {
  const int f = r_.chance(50) ? static_cast<int>(nest_.graph->funcs.size()) - 1 : any_func();
  const auto& args = nest_.graph->func(f).def->args;
  if (args.empty()) return;
  attempt(Bound{func_name(f), args[pick(args.size())]->name, {r_.uniform(-6, 1), ""}, {r_.uniform(1, 30), ""}});
}

}  // namespace drawloom::fuzz
