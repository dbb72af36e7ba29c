#pragma once
/// The tree of loops: an immutable value. A step rebuilds the path it edits and shares everything else.

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "drawloom/analysis/form.h"
#include "drawloom/nest/graph.h"
#include "drawloom/nest/lazy.h"
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
  int arg;          ///< which of the Func's args it is, or -1: an RVar
  SymbolRef base;   ///< stands for the first value of the region computed at the stage's place: a query
  SymbolRef whole;  ///< stands for the extent of that region: a query
  Form rel;         ///< over loop ids
};

/// index < limit, made by a split whose factor may not divide: a bound test of this stage (and so of the producers placed
/// in the loops of `index` for it).
struct Clip {
  Form index;  ///< over loop ids
  Form limit;
  int dim;  ///< the StageDim it came from
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
  int stage = 0;               ///< 0 pure, i + 1 for update(i)
  std::vector<StageDim> dims;  ///< args that are pure in this stage, then RVars
  std::vector<Clip> clips;
  std::vector<Demand> demands;
  std::vector<NamedLoop> loops;
  std::vector<ConsumedLoop> consumed;  ///< in the order of the steps
  std::string role;                    ///< empty: all threads of its owner
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

struct TreeNode : RefCounted {
  std::variant<GroupNode, LoopNode, StoreNode, ChannelNode, StageLeaf, BranchNode> data;
  std::vector<TreeRef> children;
  Lazy<TreeIndex> index;  ///< of the tree below: tree_index.h

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

/// Child indices from the root.
using TreePath = std::vector<int>;

auto at_path(const TreeRef& root, const TreePath& path) -> const TreeNode*;
/// The tree with the node at `path` replaced (by nothing if null: removed from its list).
auto replace_at(const TreeRef& root, const TreePath& path, TreeRef node) -> TreeRef;
/// The tree with `node` inserted before the child at `path`.
auto insert_before(const TreeRef& root, const TreePath& path, TreeRef node) -> TreeRef;
auto stage_leaves_below(const TreeNode* below) -> std::vector<const StageLeaf*>;
/// Distinct nodes in the tree, and how many of them `other` has too (sharing after a step).
auto shared_nodes(const TreeRef& tree, const TreeRef& other) -> std::pair<size_t, size_t>;

}  // namespace drawloom
