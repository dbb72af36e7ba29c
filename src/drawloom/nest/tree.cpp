#include "drawloom/nest/tree.h"

#include <algorithm>

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

/// Fills an index in one walk.
class Indexer {
 public:
  auto build(const TreeNode& root) -> TreeIndex {
    TreePath path;
    visit(root, path);
    for (auto& [id, place] : index_.places) {
      const auto& leaf = *place.leaves.front().node->as<StageLeaf>();
      place.group = leaf.loops.empty() ? place.leaves.front().path : index_.loops.at(leaf.loops.front().id.get()).path;
    }
    for (const auto& s : index_.stores) add_store(s);
    for (const auto& l : index_.leaves) add_clips(*l.node->as<StageLeaf>());
    return std::move(index_);
  }

 private:
  void visit(const TreeNode& n, TreePath& path) {
    if (const auto* loop = n.as<LoopNode>()) index_.loops.emplace(loop->id.get(), Located{path, &n});
    if (const auto* leaf = n.as<StageLeaf>()) add_leaf(*leaf, {path, &n});
    if (n.as<StoreNode>()) index_.stores.push_back({path, &n});
    for (size_t i = 0; i < n.children.size(); ++i) {
      path.push_back(static_cast<int>(i));
      visit(*n.children[i], path);
      path.pop_back();
    }
  }

  void add_leaf(const StageLeaf& leaf, const Located& at) {
    index_.leaves.push_back(at);
    auto& place = index_.places[leaf.what];
    if (place.leaves.empty()) index_.realisations.push_back(leaf.what);
    place.leaves.push_back(at);
    for (const auto& l : leaf.loops) ++owners_[l.id.get()];
    for (size_t d = 0; d < leaf.dims.size(); ++d) {
      index_.region_symbols[leaf.dims[d].base.get()] = {&leaf, d, true};
      index_.region_symbols[leaf.dims[d].whole.get()] = {&leaf, d, false};
    }
  }

  void add_clips(const StageLeaf& leaf) {
    for (const auto& c : leaf.clips)
      for (auto it = leaf.loops.rbegin(); it != leaf.loops.rend(); ++it) {
        if (!uses_symbol(c.index, it->id.get())) continue;
        if (owners_[it->id.get()] == 1) index_.clips[it->id.get()].push_back(&c);
        break;
      }
  }

  void add_store(const Located& s) {
    const auto& store = *s.node->as<StoreNode>();
    const auto place = index_.places.find(store.what);
    if (place == index_.places.end()) return;
    place->second.store = s;
    if (store.warm == WarmUp::whole) return;
    for (const auto& [symbol, loop] : index_.loops) {
      const auto around = [&](const TreePath& p) {
        return p.size() > loop.path.size() && std::equal(loop.path.begin(), loop.path.end(), p.begin());
      };
      if (around(place->second.group) && !around(s.path)) index_.warm_loops.insert(symbol);
    }
  }

  TreeIndex index_;
  std::unordered_map<const Symbol*, int> owners_;  ///< stages that name a loop
};

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

auto TreeIndexSlot::get(const TreeNode& root) const -> const TreeIndex& {
  if (const auto* ready = index_.load(std::memory_order_acquire)) return *ready;
  const auto* made = new TreeIndex(Indexer().build(root));
  const TreeIndex* expected = nullptr;
  if (index_.compare_exchange_strong(expected, made, std::memory_order_acq_rel)) return *made;
  delete made;  // another thread was faster
  return *expected;
}
TreeIndexSlot::~TreeIndexSlot() { delete index_.load(std::memory_order_acquire); }

auto find_loop(const TreeRef& root, const SymbolRef& id) -> std::optional<Located> {
  const auto& loops = index_of(root).loops;
  const auto it = loops.find(id.get());
  if (it == loops.end()) return {};
  return it->second;
}

auto stage_leaves(const TreeRef& root) -> const std::vector<Located>& { return index_of(root).leaves; }
auto store_nodes(const TreeRef& root) -> const std::vector<Located>& { return index_of(root).stores; }

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
