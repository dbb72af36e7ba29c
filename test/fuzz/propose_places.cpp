#include <algorithm>

#include "drawloom/nest/apply.h"
#include "drawloom/nest/region_box.h"
#include "proposer.h"

// Where Funcs are computed and stored. Most proposals are legal by construction: a loop around all readers for the compute
// place, one around that for the storage, which is what makes slides and folds.

namespace drawloom::fuzz {

void Proposer::place(int f, bool busy) {
  const int64_t k = options_.deep ? r_.uniform(8, 130) : r_.uniform(0, 99);
  // Open Funcs with updates are computed again for every point that reads them: a few of them are enough.
  const bool recomputes = !nest_.graph->func(f).can_inline();
  if (k < (recomputes ? 6 : busy ? 12 : 30)) {
    if (r_.chance(50)) attempt(ComputeInline{func_name(f)});
    return;
  }
  if (k >= 32 && place_inside(f)) {
    if (r_.chance(85)) store_outside(f);
    return;
  }
  if (r_.chance(4)) anything();
  attempt(ComputeRoot{func_name(f)});
}

auto Proposer::enclosing_loops(int f) const -> std::vector<const LoopNode*> {
  std::optional<std::vector<const LoopNode*>> common;
  for (const auto& at : stage_leaves(nest_.tree)) {
    const auto& leaf = *at.node->as<StageLeaf>();
    if (leaf.what.func == f || !leaf_reads(*nest_.graph, leaf, f)) continue;
    auto around = loops_around(nest_.tree, at);
    if (common)
      around.erase(std::mismatch(around.begin(), around.end(), common->begin(), common->end()).first, around.end());
    common = std::move(around);
  }
  return common.value_or(std::vector<const LoopNode*>{});
}

auto Proposer::place_inside(int f) -> bool {
  for (int tries = 0; tries < 3; ++tries) {
    const auto loops = enclosing_loops(f);
    if (loops.empty()) return false;
    const auto name = loop_name(loops[pick(loops.size())]->id);
    if (name && attempt(ComputeAt{func_name(f), *name})) return true;
  }
  return false;
}

auto Proposer::random_warm() -> WarmUp {
  return r_.chance(60) ? WarmUp::automatic : r_.chance(50) ? WarmUp::whole : WarmUp::gradual;
}

void Proposer::store_outside(int f) {
  const Site site = site_of(nest_.tree, *place_of(nest_, {f, 0}).group);
  if (!site) return;
  const auto around = loops_around(nest_.tree, *find_loop(nest_.tree, site));
  const bool next_outside = r_.chance(40);  // one loop between the two: what starts early
  if (around.empty() || (!next_outside && r_.chance(40))) {
    attempt(StoreRoot{func_name(f), random_warm()});
    return;
  }
  if (const auto name = loop_name(around[next_outside ? around.size() - 1 : pick(around.size())]->id))
    attempt(StoreAt{func_name(f), *name, random_warm()});
}

}  // namespace drawloom::fuzz
