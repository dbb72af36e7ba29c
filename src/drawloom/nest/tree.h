#pragma once
/// The tree of loops: an immutable value. A step rebuilds the path it edits and shares everything else.

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "drawloom/analysis/form.h"
#include "drawloom/nest/graph.h"
#include "drawloom/nest/symbol_map.h"
#include "drawloom/steps/step.h"

namespace drawloom {

/// One realisation of a Func: its index in the graph and which of its realisations.
struct RealisationId {
  int func = -1;
  int copy = 0;
  friend auto operator==(const RealisationId&, const RealisationId&) -> bool = default;
  friend auto operator<=>(const RealisationId&, const RealisationId&) = default;
};

/// Whose members the iterations of a bound loop are (design section 6).
enum class GroupLevel : uint8_t { None, Cluster, Block, Warpgroup, Warp, Lane, Thread };
auto level_name(GroupLevel level) -> std::string_view;

/// id = 0 .. extent - 1. Belongs to no stage: stages below name it (StageLeaf::loops).
struct LoopNode {
  SymbolRef id;
  ForKind how = ForKind::Serial;
  GroupLevel level = GroupLevel::None;
  Form extent;  ///< over constants, runtime symbols, `whole` symbols of stages and outer loop ids
  PartitionMode partition = PartitionMode::automatic;
  Loc loc;
};

/// Storage of a realisation lives for one run of the list it stands in, from here to the end of the list.
struct StoreNode {
  RealisationId what;
  MemoryKind memory = MemoryKind::Heap;
  bool memory_decided = false;
  WarmUp warm = WarmUp::automatic;
  struct Fold {
    int dim;
    int64_t depth;
    Loc loc;
  };
  std::vector<Fold> folds;
  Loc loc;
};

/// The storage of `what` (stored just before) is a ring between two agents: the writer is up to slots - window iterations of
/// `along` ahead of the reader, which holds `window` slots. Counts, bytes and parities are queries, never fields.
struct ChannelNode {
  std::string name;
  std::vector<RealisationId> what;
  SymbolRef along;
  int64_t slots = 1, window = 1;
  std::string writer, reader;  ///< roles
  Loc loc;
};

/// One dimension of a stage: an arg of the Func (pure) or an RVar. Its value is base + rel.
struct StageDim {
  SymbolRef var;    ///< the definition's symbol
  SymbolRef base;   ///< stands for the first value of the region computed at the stage's place: a query
  SymbolRef whole;  ///< stands for the extent of that region: a query
  Form rel;         ///< over loop ids
};

/// index < limit, made by a split whose factor may not divide: a bound test of this stage (and so of the producers placed
/// in the loops of `index` for it).
struct Clip {
  Form index;  ///< over loop ids
  Form limit;
  int dim;     ///< the StageDim it came from
  Tail tail;
  Form factor;              ///< of the split: where it divides the limit, nothing is cut off (settle_clips)
  bool from_cover = false;  ///< not a split: the loop runs over the constant cover, the limit is the need
  Loc loc;
};

/// A promise about an output's size, made by tail=round_up and checked at the call: `extent` is a multiple of `factor`.
struct Demand {
  Form extent, factor;
  Loc loc;
};

/// The names of the loops of a stage, outermost first.
struct NamedLoop {
  std::string name;
  SymbolRef id;
};

/// A name that a step took away: nothing but messages needs it.
struct ConsumedLoop {
  std::string name;
  std::string became;  ///< `xo` and `xi`
  Loc loc;             ///< of the step
};

struct StageLeaf {
  RealisationId what;
  int stage = 0;  ///< 0 pure, i + 1 for update(i)
  std::vector<StageDim> dims;  ///< args that are pure in this stage, then RVars
  std::vector<Clip> clips;
  std::vector<Demand> demands;
  std::vector<NamedLoop> loops;
  std::vector<ConsumedLoop> consumed;  ///< in the order of the steps
  std::string role;  ///< empty: all threads of its owner
};

/// Children: [then] or [then, otherwise], each a GroupNode. `condition` is a fact below `then`.
struct BranchNode {
  Cond condition;
  Loc loc;
};
/// A plain list; the root is one.
struct GroupNode {};

struct TreeNode;
using TreeRef = Ref<const TreeNode>;
struct TreeIndex;

/// Something found out when first asked for. Belongs to its owner alone: a copy starts without.
template <typename T>
class Lazy {
 public:
  Lazy() = default;
  Lazy(const Lazy&) noexcept {}
  auto operator=(const Lazy&) noexcept -> Lazy& { return *this; }
  ~Lazy() { delete value_.load(std::memory_order_acquire); }

  template <typename Make>
  auto get(Make&& make) const -> const T& {
    if (const auto* ready = value_.load(std::memory_order_acquire)) return *ready;
    const auto* made = new T(make());
    const T* expected = nullptr;
    if (value_.compare_exchange_strong(expected, made, std::memory_order_acq_rel)) return *made;
    delete made;  // another thread was faster
    return *expected;
  }

 private:
  mutable std::atomic<const T*> value_{nullptr};
};

struct TreeNode : RefCounted {
  std::variant<GroupNode, LoopNode, StoreNode, ChannelNode, StageLeaf, BranchNode> data;
  std::vector<TreeRef> children;
  Lazy<TreeIndex> index;

  TreeNode() = default;
  TreeNode(const TreeNode&);
  ~TreeNode();

  template <typename T>
  auto as() const -> const T* {
    return std::get_if<T>(&data);
  }
};

template <typename T>
auto tree_node(T data, std::vector<TreeRef> children = {}) -> TreeRef {
  auto n = make_ref<TreeNode>();
  n->data = std::move(data);
  n->children = std::move(children);
  return n;
}

/// A position: the list inside a loop, named by the loop's id; null is the root list.
using Site = SymbolRef;

/// Child indices from the root. Short ones, which is nearly all, need no memory of their own.
class TreePath {
 public:
  TreePath() = default;
  explicit TreePath(size_t size);  ///< of first children
  TreePath(const int* first, const int* last) {
    for (; first != last; ++first) push_back(*first);
  }
  auto begin() const -> const int* { return more_.empty() ? few_ : more_.data(); }
  auto end() const -> const int* { return begin() + size_; }
  auto size() const -> size_t { return size_; }
  auto empty() const -> bool { return size_ == 0; }
  auto operator[](size_t i) const -> int { return begin()[i]; }
  auto back() const -> int { return end()[-1]; }
  void push_back(int child);
  void pop_back();
  void set_back(int child) { set(size_ - 1, child); }
  void set(size_t i, int child);
  friend auto operator==(const TreePath& a, const TreePath& b) -> bool { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

 private:
  static constexpr size_t kFew = 14;
  int few_[kFew] = {};
  uint32_t size_ = 0;
  std::vector<int> more_;
};
struct Located {
  TreePath path;
  const TreeNode* node;
};

/// One realisation of the tree.
struct RealisationPlace {
  std::vector<Located> leaves;   ///< one per stage, in order
  std::optional<Located> store;  ///< absent for outputs
  TreePath group;                ///< path of its first node in the list of its compute site
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

/// Everything in a tree by name, made in one walk when first asked for and kept with the root.
struct TreeIndex {
  std::vector<Located> leaves, stores;  ///< in program order
  std::vector<RealisationId> realisations;  ///< in program order of their first stage
  std::vector<RealisationPlace> places;     ///< of the realisations
  std::vector<std::pair<RealisationId, int>> sorted;  ///< the realisations and their positions in the two lists
  struct Loop {
    const TreeNode* node;
    int number;  ///< in `steps`
    int outer;   ///< position of the next loop around it in `loops`, or -1
  };
  SymbolMap<Loop> loops;
  struct Step {
    int parent, child;
  };
  std::vector<Step> steps;       ///< of every node, how it is reached
  std::vector<int> leaf_loops;   ///< of every leaf, the position of the loop around it in `loops`, or -1
  Lazy<RegionIndex> region_index;

  auto place(RealisationId what) const -> const RealisationPlace*;  ///< null: not in the tree
  auto rank(RealisationId what) const -> size_t;  ///< position in `sorted`; its size: not in the tree
  auto path(const Loop& loop) const -> TreePath;
  auto regions() const -> const RegionIndex&;
};
auto index_of(const TreeRef& root) -> const TreeIndex&;

auto at_path(const TreeRef& root, const TreePath& path) -> const TreeNode*;
/// The tree with the node at `path` replaced (by nothing if null: removed from its list).
auto replace_at(const TreeRef& root, const TreePath& path, TreeRef node) -> TreeRef;
/// The tree with `node` inserted before the child at `path`.
auto insert_before(const TreeRef& root, const TreePath& path, TreeRef node) -> TreeRef;
auto find_loop(const TreeRef& root, const SymbolRef& id) -> std::optional<Located>;
/// Every stage leaf, every storage node, in program order. The list lives as long as the tree.
auto stage_leaves(const TreeRef& root) -> const std::vector<Located>&;
auto store_nodes(const TreeRef& root) -> const std::vector<Located>&;
auto stage_leaves_below(const TreeNode* below) -> std::vector<const StageLeaf*>;
/// Loops around the node at `path`, outermost first.
auto loops_around(const TreeRef& root, const TreePath& path) -> std::vector<const LoopNode*>;
/// Innermost loop around the node at `path`, or null.
auto site_of(const TreeRef& root, const TreePath& path) -> Site;
/// Distinct nodes in the tree, and how many of them `other` has too (sharing after a step).
auto shared_nodes(const TreeRef& tree, const TreeRef& other) -> std::pair<size_t, size_t>;

}  // namespace drawloom
