#include "drawloom/nest/tree.h"

#include <unordered_set>

namespace drawloom {
namespace {

template <typename F>
void walk_tree(const TreeRef& node, TreePath& path, F&& visit) {
  visit(path, *node);
  for (size_t i = 0; i < node->children.size(); ++i) {
    path.push_back(static_cast<int>(i));
    walk_tree(node->children[i], path, visit);
    path.pop_back();
  }
}

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

template <typename T>
auto nodes_of_kind(const TreeRef& root) -> std::vector<Located> {
  std::vector<Located> out;
  TreePath path;
  walk_tree(root, path, [&](const TreePath& p, const TreeNode& n) {
    if (n.as<T>()) out.push_back({p, &n});
  });
  return out;
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

auto find_loop(const TreeRef& root, const SymbolRef& id) -> std::optional<Located> {
  for (auto& l : nodes_of_kind<LoopNode>(root))
    if (l.node->as<LoopNode>()->id == id) return l;
  return {};
}

auto stage_leaves(const TreeRef& root) -> std::vector<Located> { return nodes_of_kind<StageLeaf>(root); }
auto store_nodes(const TreeRef& root) -> std::vector<Located> { return nodes_of_kind<StoreNode>(root); }

auto stage_leaves_below(const TreeNode* below) -> std::vector<const StageLeaf*> {
  std::vector<const StageLeaf*> out;
  leaves_below(*below, out);
  return out;
}

auto loops_around(const TreeRef& root, const TreePath& path) -> std::vector<const LoopNode*> {
  std::vector<const LoopNode*> out;
  const TreeNode* n = root.get();
  for (int i : path) {
    if (const auto* loop = n->as<LoopNode>()) out.push_back(loop);
    n = n->children[static_cast<size_t>(i)].get();
  }
  return out;
}

auto site_of(const TreeRef& root, const TreePath& path) -> Site {
  const auto loops = loops_around(root, path);
  return loops.empty() ? Site{} : loops.back()->id;
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
