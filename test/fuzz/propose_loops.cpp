#include "proposer.h"

// Shapes and kinds of the loops of one stage.

namespace drawloom::fuzz {

auto Proposer::factor() -> Amount {
  static const int64_t kFactors[] = {1, 2, 2, 3, 4, 4, 5, 8, 8, 16};
  if (r_.chance(4))
    for (const auto& p : nest_.graph->pipeline->params)
      if (!p->type.is_float() && r_.chance(50)) return {0, p->name};
  if (r_.chance(1)) return {r_.uniform(-1, 0), ""};
  return {kFactors[pick(std::size(kFactors))], ""};
}

auto Proposer::tail() -> Tail {
  Tail t;
  const int64_t k = r_.uniform(0, 99);
  t.kind = k < 55   ? Tail::Kind::predicate
           : k < 70 ? Tail::Kind::round_up
           : k < 96 ? Tail::Kind::shrink
                    : Tail::Kind::filled;
  if (t.kind == Tail::Kind::filled) t.fill = r_.uniform(-1, 1);
  return t;
}

void Proposer::shape_loops(int f) {
  const auto* leaf = leaf_of(f);
  if (!leaf || leaf->loops.empty()) return;
  const int64_t k =
      leaf->stage > 0 && r_.chance(40) ? 60 : r_.uniform(0, 99);  // the order of loops matters most in updates
  if (k < 60)
    split(*leaf);
  else if (k < 85)
    reorder(*leaf);
  else if (k < 93)
    fuse(*leaf);
  else
    rename(*leaf);
}

void Proposer::split(const StageLeaf& leaf) {
  const size_t i = pick(leaf.loops.size());
  const auto name = leaf.loops[i].name;
  attempt(Split{loop_name(leaf, i), r_.chance(20) ? name : name + "o", r_.chance(20) ? name : name + "i", factor(),
                tail()});
}

void Proposer::reorder(const StageLeaf& leaf) {
  std::vector<std::string> names;
  for (const auto& l : leaf.loops) names.push_back(l.name);
  for (size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[pick(i)]);
  if (names.size() > 2 && r_.chance(40)) names.resize(2);
  attempt(Reorder{stage_name(leaf), names});
}

void Proposer::fuse(const StageLeaf& leaf) {
  if (leaf.loops.size() < 2) return;
  const size_t i = 1 + pick(leaf.loops.size() - 1);
  const size_t o = r_.chance(90) ? i - 1 : pick(leaf.loops.size());
  attempt(Fuse{loop_name(leaf, i), leaf.loops[o].name, r_.chance(30) ? leaf.loops[i].name : leaf.loops[i].name + "f"});
}

void Proposer::rename(const StageLeaf& leaf) {
  const size_t i = pick(leaf.loops.size());
  attempt(
      Rename{loop_name(leaf, i), r_.chance(90) ? leaf.loops[i].name + "r" : leaf.loops[pick(leaf.loops.size())].name});
}

void Proposer::loop_kind(const StageLeaf& leaf) {
  const auto last = leaf.loops.size() - 1;
  switch (r_.uniform(0, 3)) {
    case 0: vectorize(leaf, r_.chance(60) ? last : pick(last + 1)); return;
    case 1: attempt(Unroll{loop_name(leaf, r_.chance(50) ? last : pick(last + 1))}); return;
    case 2: attempt(Parallel{loop_name(leaf, r_.chance(70) ? 0 : pick(last + 1))}); return;
    default: break;
  }
  static const PartitionMode kModes[] = {PartitionMode::automatic, PartitionMode::always, PartitionMode::never};
  attempt(Partition{loop_name(leaf, pick(last + 1)), kModes[pick(3)]});
}

/// Mostly after a split that gives it a constant extent.
void Proposer::vectorize(const StageLeaf& leaf, size_t i) {
  const LoopName name = loop_name(leaf, i);
  if (attempt(Vectorize{name})) return;
  const LoopName inner{name.stage, name.loop + "v"};
  static const int64_t kLanes[] = {2, 3, 4, 4, 8, 8, 16};
  if (attempt(Split{name, name.loop, inner.loop, {kLanes[pick(std::size(kLanes))], ""}, tail()}))
    attempt(Vectorize{inner});
}

}  // namespace drawloom::fuzz
