#include "drawloom/nest/tree.h"

#include <algorithm>
#include <unordered_set>

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
  void build(const TreeNode& root) {
    constexpr size_t kFunctions = 48;  // a guess that saves copies
    out.leaves.reserve(kFunctions), out.stores.reserve(kFunctions), out.places.reserve(kFunctions), out.steps.reserve(6 * kFunctions);
    out.leaf_loops.reserve(kFunctions), out.loops.reserve(3 * kFunctions);
    visit(root, -1, 0, -1);
    for (size_t i = 0; i < out.places.size(); ++i) out.sorted.emplace_back(out.realisations[i], static_cast<int>(i));
    std::sort(out.sorted.begin(), out.sorted.end());
    for (auto& place : out.places) {
      const auto& leaf = *place.leaves.front().node->as<StageLeaf>();
      place.group = leaf.loops.empty() ? place.leaves.front().path : out.path(*out.loops.find(leaf.loops.front().id.get()));
    }
    for (const auto& s : out.stores) {
      const size_t i = out.rank(s.node->as<StoreNode>()->what);
      if (i < out.sorted.size()) out.places[static_cast<size_t>(out.sorted[i].second)].store = s;
    }
  }

  TreeIndex out;

 private:
  void visit(const TreeNode& n, int parent, int child, int outer) {
    const int number = static_cast<int>(out.steps.size());
    out.steps.push_back({parent, child});
    if (const auto* l = n.as<LoopNode>()) {
      out.loops.insert(l->id.get(), {&n, number, outer});
      outer = out.loops.number(l->id.get());
    }
    if (const auto* leaf = n.as<StageLeaf>()) add_leaf(*leaf, {path_, &n}, outer);
    if (n.as<StoreNode>()) out.stores.push_back({path_, &n});
    if (n.children.empty()) return;
    path_.push_back(0);
    for (size_t i = 0; i < n.children.size(); ++i) {
      path_.set(path_.size() - 1, static_cast<int>(i));
      visit(*n.children[i], number, static_cast<int>(i), outer);
    }
    path_.pop_back();
  }

  /// The place of a realisation; the stages of one mostly follow each other.
  auto place_for(RealisationId what) -> RealisationPlace& {
    for (size_t i = out.places.size(); i-- > 0;)
      if (out.realisations[i] == what) return out.places[i];
    out.realisations.push_back(what);
    return out.places.emplace_back();
  }

  void add_leaf(const StageLeaf& leaf, const Located& at, int outer) {
    out.leaves.push_back(at);
    out.leaf_loops.push_back(outer);
    place_for(leaf.what).leaves.push_back(at);
  }

  TreePath path_;
};

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
    const auto* place = index_.place(store.what);
    if (!place || store.warm == WarmUp::whole) return;
    for (const auto& [symbol, loop] : index_.loops.entries()) {
      const TreePath path = index_.path(loop);
      const bool around_compute = path.size() < place->group.size() && std::equal(path.begin(), path.end(), place->group.begin());
      if (around_compute && path.size() >= at.path.size()) out_.warm_loops.insert(symbol, true);
    }
  }

  const TreeIndex& index_;
  SymbolMap<int> owners_;  ///< stages that name a loop
  RegionIndex out_;
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

void TreePath::push_back(int child) {
  if (more_.empty() && size_ < kFew) {
    few_[size_++] = child;
    return;
  }
  if (more_.empty()) more_.assign(few_, few_ + size_);
  more_.push_back(child);
  ++size_;
}

void TreePath::pop_back() {
  if (!more_.empty()) more_.pop_back();
  if (--size_ == kFew && !more_.empty()) {
    std::copy(more_.begin(), more_.end(), few_);
    more_.clear();
  }
}

TreePath::TreePath(size_t size) : size_(static_cast<uint32_t>(size)) {
  if (size > kFew) more_.assign(size, 0);
}
void TreePath::set(size_t i, int child) { (more_.empty() ? few_[i] : more_[i]) = child; }

auto TreeIndex::place(RealisationId what) const -> const RealisationPlace* {
  const size_t i = rank(what);
  return i == sorted.size() ? nullptr : &places[static_cast<size_t>(sorted[i].second)];
}

auto TreeIndex::rank(RealisationId what) const -> size_t {
  const auto it = std::lower_bound(sorted.begin(), sorted.end(), what, [](const auto& p, RealisationId id) { return p.first < id; });
  return it == sorted.end() || it->first != what ? sorted.size() : static_cast<size_t>(it - sorted.begin());
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

auto TreeIndex::path(const Loop& loop) const -> TreePath {
  size_t depth = 0;
  for (int at = loop.number; steps[static_cast<size_t>(at)].parent >= 0; at = steps[static_cast<size_t>(at)].parent) ++depth;
  TreePath out(depth);
  for (int at = loop.number; depth-- > 0; at = steps[static_cast<size_t>(at)].parent) out.set(depth, steps[static_cast<size_t>(at)].child);
  return out;
}

auto TreeIndex::regions() const -> const RegionIndex& {
  return region_index.get([this] { return RegionIndexer(*this).build(); });
}

auto index_of(const TreeRef& root) -> const TreeIndex& {
  return root->index.get([&] {
    Indexer indexer;
    indexer.build(*root);
    return std::move(indexer.out);
  });
}

auto find_loop(const TreeRef& root, const SymbolRef& id) -> std::optional<Located> {
  const auto& index = index_of(root);
  const auto* loop = index.loops.find(id.get());
  if (!loop) return {};
  return Located{index.path(*loop), loop->node};
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
