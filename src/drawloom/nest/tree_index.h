#pragma once
/// Everything in a tree by name, and what stands around what. Made in one walk when first asked for, and kept with the root: a search asks for the
/// index of every tree it makes, so an index is a few flat lists of numbers.

#include <span>

#include "drawloom/nest/symbol_map.h"
#include "drawloom/nest/tree.h"

namespace drawloom {

/// A position: the list inside a loop, named by the loop's id; null is the root list.
using Site = SymbolRef;

/// A node of a tree. Nodes are numbered in program order, parents before children, so those below it are number + 1 .. end - 1.
struct Located {
  const TreeNode* node;
  int number;
  int end;
  int parent;  ///< or -1
  int child;   ///< which of the parent's it is
  int loop;    ///< the innermost loop around it, or -1

  auto encloses(int other) const -> bool { return number < other && other < end; }
  auto encloses(const Located& other) const -> bool { return encloses(other.number); }
};

/// One realisation of the tree.
struct RealisationPlace {
  std::span<const Located> leaves;  ///< of its stages, in program order
  const Located* store = nullptr;   ///< null for outputs
  const Located* group = nullptr;   ///< its first node in the list of its compute site
  int next_copy = -1;               ///< of the same Func, in `places`
};

/// What region queries look up; only they ask for it.
struct RegionIndex {
  struct RegionSymbol {
    const StageLeaf* leaf;
    size_t dim;
    bool is_base;
  };
  SymbolMap<RegionSymbol> symbols;  ///< base and whole of every stage
  /// Loops between the store and the compute place of something that need not start whole.
  SymbolMap<bool> warm_loops;
  /// Clips by the innermost of their loops, where that loop belongs to one stage only: they hold inside it.
  SymbolMap<std::vector<const Clip*>> clips;
};

struct TreeIndex {
  std::vector<Located> nodes;               ///< by number
  std::vector<Located> leaves, stores;      ///< in program order
  std::vector<RealisationId> realisations;  ///< in program order of their first stage
  std::vector<RealisationPlace> places;     ///< of the realisations
  std::vector<int> place_of_leaf;           ///< of every leaf, in `places`
  std::vector<int> first_copy;              ///< by Func, in `places`; -1 for those that are not in the tree

  auto place_number(RealisationId what) const -> int;   ///< in `places`; -1: not in the tree
  auto loop(const Symbol* id) const -> const Located*;  ///< null: not in the tree
  auto regions() const -> const RegionIndex&;

  std::vector<Located> grouped_leaves;  ///< what `places` show
  Lazy<SymbolMap<int>> loop_numbers;
  Lazy<RegionIndex> region_index;
};
/// Lives as long as the tree, and so does all that it points to.
auto index_of(const TreeRef& root) -> const TreeIndex&;

auto path_of(const TreeRef& root, const Located& at) -> TreePath;
/// Null: not in the tree.
auto find_loop(const TreeRef& root, const SymbolRef& id) -> const Located*;
/// The loop of the site, or the root.
auto site_node(const TreeRef& root, const Site& site) -> const Located*;
/// Every stage leaf, every storage node, in program order.
auto stage_leaves(const TreeRef& root) -> const std::vector<Located>&;
auto store_nodes(const TreeRef& root) -> const std::vector<Located>&;
/// Loops around a node, outermost first.
auto loops_around(const TreeRef& root, const Located& at) -> std::vector<const LoopNode*>;
/// The list in which a node stands.
auto site_of(const TreeRef& root, const Located& at) -> Site;

}  // namespace drawloom
