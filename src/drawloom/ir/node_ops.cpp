#include "drawloom/ir/node_ops.h"

#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/rewrite.h"

namespace drawloom {

auto kind_name(Kind kind) -> std::string_view {
  switch (kind) {
#define NODE(name, family) \
  case Kind::name: return #name;
#include "drawloom/ir/nodes.def"
#undef NODE
  }
  return "?";
}

void drop_node(const Node* node) {
  // Deleting a node releases its children, which come back here: they wait in the list of the outermost call. The list
  // lives on that call's stack because thread-local objects die before static nodes do.
  static thread_local std::vector<const Node*>* waiting = nullptr;
  if (waiting) return waiting->push_back(node);
  std::vector<const Node*> list = {node};
  waiting = &list;
  while (!list.empty()) {
    const Node* last = list.back();
    list.pop_back();
    dispatch(*last, [](const auto& n) { delete &n; });
  }
  waiting = nullptr;
}

auto node_count(const Stmt& s) -> size_t {
  size_t count = 0;
  if (s) each_node(*s.get(), [&](const Node&) { return ++count, true; });
  return count;
}
auto node_count(const Expr& e) -> size_t {
  size_t count = 0;
  if (e) each_node(*e.get(), [&](const Node&) { return ++count, true; });
  return count;
}

}  // namespace drawloom
