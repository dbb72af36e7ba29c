#include "drawloom/nest/tree.h"

#include <unordered_set>

#include "drawloom/nest/tree_index.h"

// Edits of an immutable tree copy the path to the root and share the rest.
//
//   root [A [a1 a2] B]    replace_at {0, 1} by c:    root' [A' [a1 c] B], where a1 and B are the old nodes
//
// A step therefore costs its depth, and the nest before it stays valid: a search keeps many nests at once. Copies start
// without an index (lazy.h), since the numbers in it are those of the tree it was made for.

namespace drawloom {
namespace {

/// Rebuilds the path; `edit` changes the children of the last node's parent.
template <typename F>
auto edit_children(const TreeRef& root, const TreePath& path, size_t depth, F&& edit) -> TreeRef {
  auto copy = make_ref<TreeNode>(*root);
  if (depth + 1 == path.size()) {
    edit(copy->children, path.back());
  } else {
    auto& child = copy->children[static_cast<size_t>(path[depth])];
    child = edit_children(child, path, depth + 1, edit);
  }
  return copy;
}

void collect_nodes(const TreeRef& node, std::unordered_set<const TreeNode*>& out) {
  if (!out.insert(node.get()).second) return;
  for (const auto& c : node->children) collect_nodes(c, out);
}

void leaves_below(const TreeNode& node, std::vector<const StageLeaf*>& out) {
  if (const auto* leaf = node.as<StageLeaf>()) out.push_back(leaf);
  for (const auto& c : node.children) leaves_below(*c, out);
}

}  // namespace

auto level_name(GroupLevel level) -> std::string_view {
  switch (level) {
    case GroupLevel::None: return "";
    case GroupLevel::Cluster: return "cluster";
    case GroupLevel::Block: return "block";
    case GroupLevel::Warpgroup: return "warpgroup";
    case GroupLevel::Warp: return "warp";
    case GroupLevel::Lane: return "lane";
    case GroupLevel::Thread: return "thread";
  }
  return "";
}

auto at_path(const TreeRef& root, const TreePath& path) -> const TreeNode* {
  const TreeNode* n = root.get();
  for (int i : path) n = n->children[static_cast<size_t>(i)].get();
  return n;
}

auto replace_at(const TreeRef& root, const TreePath& path, TreeRef node) -> TreeRef {
  if (path.empty()) return node;
  return edit_children(root, path, 0, [&](std::vector<TreeRef>& list, int i) {
    if (node)
      list[static_cast<size_t>(i)] = node;
    else
      list.erase(list.begin() + i);
  });
}

auto insert_before(const TreeRef& root, const TreePath& path, TreeRef node) -> TreeRef {
  return edit_children(root, path, 0, [&](std::vector<TreeRef>& list, int i) { list.insert(list.begin() + i, node); });
}

TreeNode::TreeNode(const TreeNode&) = default;
TreeNode::~TreeNode() = default;

auto stage_leaves_below(const TreeNode* below) -> std::vector<const StageLeaf*> {
  std::vector<const StageLeaf*> out;
  leaves_below(*below, out);
  return out;
}

auto shared_nodes(const TreeRef& tree, const TreeRef& other) -> std::pair<size_t, size_t> {
  std::unordered_set<const TreeNode*> a, b;
  collect_nodes(tree, a);
  collect_nodes(other, b);
  size_t shared = 0;
  for (const auto* n : a) shared += b.count(n);
  return {a.size(), shared};
}

}  // namespace drawloom
