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
  auto build(const TreeNode& root) -> TreeIndex {
    visit(root);
    auto& places = index_.places;
    std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [id, place] : places) {
      const auto& leaf = *place.leaves.front().node->as<StageLeaf>();
      place.group = leaf.loops.empty() ? place.leaves.front().path : loop(leaf.loops.front().id).at.path;
    }
    for (const auto& s : index_.stores) add_store(root, s);
    for (const auto& l : index_.leaves) add_clips(*l.node->as<StageLeaf>());
    return std::move(index_);
  }

 private:
  void visit(const TreeNode& n) {
    if (const auto* l = n.as<LoopNode>()) index_.loops.insert(l->id.get(), {{path_, &n}, false, 0, {}});
    if (const auto* leaf = n.as<StageLeaf>()) add_leaf(*leaf, {path_, &n});
    if (n.as<StoreNode>()) index_.stores.push_back({path_, &n});
    if (n.children.empty()) return;
    path_.push_back(0);
    for (size_t i = 0; i < n.children.size(); ++i) {
      path_.set_back(static_cast<int>(i));
      visit(*n.children[i]);
    }
    path_.pop_back();
  }

  auto loop(const SymbolRef& id) -> TreeIndex::Loop& { return *index_.loops.find(id.get()); }

  /// The place of a realisation; the stages of one mostly follow each other.
  auto place_for(RealisationId what) -> RealisationPlace& {
    auto& places = index_.places;
    for (auto it = places.rbegin(); it != places.rend(); ++it)
      if (it->first == what) return it->second;
    index_.realisations.push_back(what);
    return places.emplace_back(what, RealisationPlace{}).second;
  }

  void add_leaf(const StageLeaf& leaf, const Located& at) {
    index_.leaves.push_back(at);
    place_for(leaf.what).leaves.push_back(at);
    for (const auto& l : leaf.loops) ++loop(l.id).stages;
    for (size_t d = 0; d < leaf.dims.size(); ++d) {
      index_.region_symbols.insert(leaf.dims[d].base.get(), {&leaf, d, true});
      index_.region_symbols.insert(leaf.dims[d].whole.get(), {&leaf, d, false});
    }
  }

  void add_clips(const StageLeaf& leaf) {
    for (const auto& c : leaf.clips)
      for (auto it = leaf.loops.rbegin(); it != leaf.loops.rend(); ++it) {
        if (!uses_symbol(c.index, it->id.get())) continue;
        if (auto& inner = loop(it->id); inner.stages == 1) inner.clips.push_back(&c);
        break;
      }
  }

  void add_store(const TreeNode& root, const Located& s) {
    const auto& store = *s.node->as<StoreNode>();
    const auto it = std::lower_bound(index_.places.begin(), index_.places.end(), store.what, [](const auto& p, RealisationId id) { return p.first < id; });
    if (it == index_.places.end() || it->first != store.what) return;
    it->second.store = s;
    if (store.warm == WarmUp::whole) return;
    // the loops on the way from the list of the store to the compute place
    const auto& group = it->second.group;
    const TreeNode* n = &root;
    for (size_t i = 0; i + 1 < group.size(); ++i) {
      n = n->children[static_cast<size_t>(group[i])].get();
      if (const auto* between = n->as<LoopNode>(); between && i + 1 >= s.path.size()) loop(between->id).may_warm_up = true;
    }
  }

  TreeIndex index_;
  TreePath path_;
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

void TreePath::set_back(int child) { (more_.empty() ? few_[size_ - 1] : more_.back()) = child; }

auto TreeIndex::place(RealisationId what) const -> const RealisationPlace* {
  const auto it = place_at(what);
  return it == places.end() || it->first != what ? nullptr : &it->second;
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
  const auto* loop = index_of(root).loops.find(id.get());
  if (!loop) return {};
  return loop->at;
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
