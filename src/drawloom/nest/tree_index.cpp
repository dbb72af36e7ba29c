#include "drawloom/nest/tree_index.h"

#include <algorithm>

// One walk numbers the nodes in program order; everything else follows from the numbers.
//
//   number  0 root   1 store b   2 for xo   3 for x   4 b   5 for xi   6 out
//   end       7        2           7          5         5     7          7
//
// A node encloses another when its number is smaller and its end larger than the other's number: two comparisons
// instead of a walk up. The index holds vectors of numbers and plain structs rather than maps, because a search makes
// one for each tree it looks at. What only region queries ask for, and the table of loops by id, are made when first
// asked for.

namespace drawloom {
namespace {

/// Fills an index in one walk.
class Indexer {
 public:
  auto build(const TreeNode& root) -> TreeIndex {
    constexpr size_t kFuncs = 48;  // a guess that saves copies
    out_.nodes.reserve(6 * kFuncs), out_.leaves.reserve(kFuncs), out_.stores.reserve(kFuncs);
    out_.realisations.reserve(kFuncs), out_.places.reserve(kFuncs), out_.place_of_leaf.reserve(kFuncs),
        out_.first_copy.reserve(kFuncs);
    visit(root, -1, 0, -1);
    group_leaves();
    for (const auto& s : out_.stores)
      if (const int p = out_.place_number(s.node->as<StoreNode>()->what); p >= 0)
        out_.places[static_cast<size_t>(p)].store = &s;
    return std::move(out_);
  }

 private:
  void visit(const TreeNode& n, int parent, int child, int loop) {
    const int number = static_cast<int>(out_.nodes.size());
    out_.nodes.push_back({&n, number, number + 1, parent, child, loop});
    if (const auto* leaf = n.as<StageLeaf>()) {
      out_.leaves.push_back(out_.nodes.back());
      out_.place_of_leaf.push_back(place_for(leaf->what));
    } else if (n.as<StoreNode>()) {
      out_.stores.push_back(out_.nodes.back());
    } else if (n.as<LoopNode>()) {
      loop = number;
    }
    for (size_t i = 0; i < n.children.size(); ++i) visit(*n.children[i], number, static_cast<int>(i), loop);
    out_.nodes[static_cast<size_t>(number)].end = static_cast<int>(out_.nodes.size());
  }

  auto place_for(RealisationId what) -> int {
    const int known = out_.place_number(what);
    if (known >= 0) return known;
    const auto func = static_cast<size_t>(what.func);
    if (func >= out_.first_copy.size()) out_.first_copy.resize(func + 1, -1);
    const int number = static_cast<int>(out_.places.size());
    out_.realisations.push_back(what);
    // realisations of one Func are chained through places, the latest first
    out_.places.emplace_back().next_copy = out_.first_copy[func];
    return out_.first_copy[func] = number;
  }

  /// The leaves by realisation: stages of one mostly follow each other, but need not.
  void group_leaves() {
    // counting sort, so that a realisation is a span of one vector
    std::vector<size_t> end(out_.places.size() + 1, 0);
    for (const int p : out_.place_of_leaf) ++end[static_cast<size_t>(p) + 1];
    for (size_t p = 0; p < out_.places.size(); ++p) end[p + 1] += end[p];
    const std::vector<size_t> begin = end;
    out_.grouped_leaves.resize(out_.leaves.size());
    for (size_t i = 0; i < out_.leaves.size(); ++i)
      out_.grouped_leaves[end[static_cast<size_t>(out_.place_of_leaf[i])]++] = out_.leaves[i];
    for (size_t p = 0; p < out_.places.size(); ++p) {
      auto& place = out_.places[p];
      place.leaves = std::span<const Located>(out_.grouped_leaves).subspan(begin[p], begin[p + 1] - begin[p]);
      place.group = &out_.nodes[static_cast<size_t>(first_own(place.leaves.front()))];
    }
  }

  /// The outermost loop of the stage, or the leaf itself.
  auto first_own(const Located& leaf) const -> int {
    int at = leaf.number, next = leaf.loop;
    for (size_t i = 0; i < leaf.node->as<StageLeaf>()->loops.size(); ++i)
      at = next, next = out_.nodes[static_cast<size_t>(next)].loop;
    return at;
  }

  TreeIndex out_;
};

/// A loop that two stages name has the clips of neither: what is cut off for one need not be for the other.
class RegionIndexer {
 public:
  explicit RegionIndexer(const TreeIndex& index) : index_(index) {}

  auto build() -> RegionIndex {
    for (const auto& at : index_.leaves)
      for (const auto& l : at.node->as<StageLeaf>()->loops) ++owners_.insert(l.id.get(), 0);
    for (const auto& at : index_.leaves) add_leaf(*at.node->as<StageLeaf>());
    for (const auto& at : index_.stores) add_store(at);
    return std::move(out_);
  }

 private:
  void add_leaf(const StageLeaf& leaf) {
    for (size_t d = 0; d < leaf.dims.size(); ++d) {
      out_.symbols.insert(leaf.dims[d].base.get(), {&leaf, d, true});
      out_.symbols.insert(leaf.dims[d].whole.get(), {&leaf, d, false});
    }
    for (const auto& c : leaf.clips)
      for (auto it = leaf.loops.rbegin(); it != leaf.loops.rend(); ++it) {
        if (!uses_symbol(c.index, it->id.get())) continue;
        if (*owners_.find(it->id.get()) == 1) out_.clips.insert(it->id.get(), {}).push_back(&c);
        break;
      }
  }

  /// The loops on the way from the list of the store to the compute place.
  void add_store(const Located& at) {
    const auto& store = *at.node->as<StoreNode>();
    const int place = index_.place_number(store.what);
    if (place < 0 || store.warm == WarmUp::whole) return;
    int loop = index_.places[static_cast<size_t>(place)].group->loop;
    while (loop > at.loop) {
      const auto& l = index_.nodes[static_cast<size_t>(loop)];
      out_.warm_loops.insert(l.node->as<LoopNode>()->id.get(), true);
      loop = l.loop;
    }
  }

  const TreeIndex& index_;
  SymbolMap<int> owners_;  ///< stages that name a loop
  RegionIndex out_;
};

}  // namespace

auto TreeIndex::place_number(RealisationId what) const -> int {
  const auto func = static_cast<size_t>(what.func);
  int p = func < first_copy.size() ? first_copy[func] : -1;
  while (p >= 0 && realisations[static_cast<size_t>(p)].copy != what.copy) p = places[static_cast<size_t>(p)].next_copy;
  return p;
}

auto TreeIndex::loop(const Symbol* id) const -> const Located* {
  const auto& numbers = loop_numbers.get([&] {
    SymbolMap<int> made;
    for (const auto& n : nodes)
      if (const auto* l = n.node->as<LoopNode>()) made.insert(l->id.get(), n.number);
    return made;
  });
  const int* number = numbers.find(id);
  return number ? &nodes[static_cast<size_t>(*number)] : nullptr;
}

auto TreeIndex::regions() const -> const RegionIndex& {
  return region_index.get([this] { return RegionIndexer(*this).build(); });
}

auto index_of(const TreeRef& root) -> const TreeIndex& {
  return root->index.get([&] { return Indexer().build(*root); });
}

auto path_of(const TreeRef& root, const Located& at) -> TreePath {
  const auto& nodes = index_of(root).nodes;
  TreePath out;
  for (const Located* n = &at; n->parent >= 0; n = &nodes[static_cast<size_t>(n->parent)]) out.push_back(n->child);
  std::reverse(out.begin(), out.end());
  return out;
}

auto find_loop(const TreeRef& root, const SymbolRef& id) -> const Located* { return index_of(root).loop(id.get()); }

auto site_node(const TreeRef& root, const Site& site) -> const Located* {
  return site ? find_loop(root, site) : &index_of(root).nodes.front();
}

auto stage_leaves(const TreeRef& root) -> const std::vector<Located>& { return index_of(root).leaves; }
auto store_nodes(const TreeRef& root) -> const std::vector<Located>& { return index_of(root).stores; }

auto loops_around(const TreeRef& root, const Located& at) -> std::vector<const LoopNode*> {
  const auto& nodes = index_of(root).nodes;
  std::vector<const LoopNode*> out;
  for (int l = at.loop; l >= 0; l = nodes[static_cast<size_t>(l)].loop)
    out.push_back(nodes[static_cast<size_t>(l)].node->as<LoopNode>());
  std::reverse(out.begin(), out.end());
  return out;
}

auto site_of(const TreeRef& root, const Located& at) -> Site {
  return at.loop < 0 ? Site{} : index_of(root).nodes[static_cast<size_t>(at.loop)].node->as<LoopNode>()->id;
}

}  // namespace drawloom
