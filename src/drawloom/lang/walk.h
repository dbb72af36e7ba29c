#pragma once
/// Walking the expressions of a definition: every distinct node once, parents first, operands from left to right, without
/// recursion. The order does not depend on addresses, so names and lists made from it are the same in every run.

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "drawloom/ir/rewrite.h"

namespace drawloom {

template <typename F>
void for_each_node(const ExprList& roots, F&& visit) {
  std::unordered_set<const Node*> seen;
  ExprList stack(roots.rbegin(), roots.rend());
  while (!stack.empty()) {
    const Expr e = std::move(stack.back());
    stack.pop_back();
    if (!e.defined() || !seen.insert(e.get()).second) continue;
    visit(e);
    const size_t first = stack.size();
    each_child(*e.get(), [&](const auto& child) {
      if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) stack.push_back(child);
    });
    std::reverse(stack.begin() + static_cast<ptrdiff_t>(first), stack.end());
  }
}
template <typename F>
void for_each_node(const Expr& root, F&& visit) {
  for_each_node(ExprList{root}, visit);
}

/// Free symbols of a kind, in order of first use.
auto symbols_used(const ExprList& roots, SymbolKind kind) -> std::vector<SymbolRef>;

}  // namespace drawloom
