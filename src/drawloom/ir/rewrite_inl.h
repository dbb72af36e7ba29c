#pragma once
/// Templates of rewrite.h.

#include <type_traits>
#include <unordered_set>

#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/rewrite.h"

namespace drawloom {

/// Checks the types of a rebuilt node and gives it the type of its operands (rewrite.cpp).
auto finish_rebuilt(Ref<ExprNode> node) -> Expr;
auto finish_rebuilt(Ref<StmtNode> node) -> Stmt;
/// `make_block` with the location of the block it replaces (rewrite.cpp).
auto rebuilt_block(const Block& old, StmtList stmts) -> Stmt;

namespace rewriting {

template <typename T>
using HandleOf = std::conditional_t<std::is_base_of_v<ExprNode, T>, Expr, Stmt>;

template <typename Derived, typename T>
concept Handles = requires(Derived& d, const T& n, const HandleOf<T>& self) {
  { d.on(n, self) } -> std::convertible_to<HandleOf<T>>;
};
template <typename Derived, typename T>
concept HandlesWithoutSelf = requires(Derived& d, const T& n) { d.on(n); };

/// Replaces one field of a node under construction; tells whether it differs now.
template <typename R, typename F>
auto rewrite_field(R& rewriter, const F& field) -> bool {
  // The node was made a moment ago and nobody else holds it; each_field shows its fields as const.
  auto& slot = const_cast<F&>(field);
  if constexpr (std::is_same_v<F, Expr> || std::is_same_v<F, Stmt>) {
    if (!slot.defined()) return false;
    auto changed = rewriter.rewrite(slot);
    const bool differs = changed.get() != slot.get();
    slot = std::move(changed);
    return differs;
  } else if constexpr (std::is_same_v<F, ExprList> || std::is_same_v<F, StmtList>) {
    bool differs = false;
    for (auto& item : slot) differs |= rewrite_field(rewriter, item);
    return differs;
  } else {
    return false;
  }
}

template <typename R, typename T>
auto rebuild(R& rewriter, const T& n, const HandleOf<T>& self) -> HandleOf<T> {
  auto copy = make_ref<T>(n);
  bool differs = false;
  copy->each_field([&](const char*, const auto& field) { differs |= rewrite_field(rewriter, field); });
  if (!differs) return self;
  if constexpr (std::is_same_v<T, Block>) {
    return rebuilt_block(n, std::move(copy->stmts));
  } else {
    return finish_rebuilt(std::move(copy));
  }
}

template <typename Derived, typename T>
auto apply(Derived& derived, const T& n, const HandleOf<T>& self) -> HandleOf<T> {
  static_assert(!HandlesWithoutSelf<Derived, T>, "`on` takes the node and its handle: on(const T&, const Expr& self)");
  if constexpr (Handles<Derived, T>) {
    return derived.on(n, self);
  } else {
    return rebuild(derived, n, self);
  }
}

}  // namespace rewriting

template <typename Derived>
auto Rewriter<Derived>::rewrite(const Expr& e) -> Expr {
  if (!e.defined()) return e;
  if (const auto hit = expr_memo_.find(e.get()); hit != expr_memo_.end()) return hit->second.result;
  auto& derived = static_cast<Derived&>(*this);
  Expr result;
  switch (e.kind()) {
#define NODE_Expr(name) \
  case Kind::name: result = rewriting::apply(derived, e.to<name>(), e); break;
#define NODE_Stmt(name) \
  case Kind::name: break;
#define NODE(name, family) NODE_##family(name)
#include "drawloom/ir/nodes.def"
#undef NODE
#undef NODE_Expr
#undef NODE_Stmt
  }
  expr_memo_.insert_or_assign(e.get(), Entry<Expr>{e, result});
  return result;
}

template <typename Derived>
auto Rewriter<Derived>::rewrite(const Stmt& s) -> Stmt {
  if (!s.defined()) return s;
  if (const auto hit = stmt_memo_.find(s.get()); hit != stmt_memo_.end()) return hit->second.result;
  auto& derived = static_cast<Derived&>(*this);
  Stmt result;
  switch (s.kind()) {
#define NODE_Expr(name) \
  case Kind::name: break;
#define NODE_Stmt(name) \
  case Kind::name: result = rewriting::apply(derived, s.to<name>(), s); break;
#define NODE(name, family) NODE_##family(name)
#include "drawloom/ir/nodes.def"
#undef NODE
#undef NODE_Expr
#undef NODE_Stmt
  }
  stmt_memo_.insert_or_assign(s.get(), Entry<Stmt>{s, result});
  return result;
}

template <typename Derived>
auto Rewriter<Derived>::rewrite(const ExprList& list) -> ExprList {
  ExprList out;
  out.reserve(list.size());
  for (const auto& e : list) out.push_back(rewrite(e));
  return out;
}

template <typename Derived>
auto Rewriter<Derived>::rewrite_children(const Expr& e) -> Expr {
  if (!e.defined()) return e;
  auto& derived = static_cast<Derived&>(*this);
  return dispatch(*e.get(), [&](const auto& n) -> Expr {
    if constexpr (std::is_base_of_v<ExprNode, std::decay_t<decltype(n)>>) return rewriting::rebuild(derived, n, e);
    return e;
  });
}

template <typename Derived>
auto Rewriter<Derived>::rewrite_children(const Stmt& s) -> Stmt {
  if (!s.defined()) return s;
  auto& derived = static_cast<Derived&>(*this);
  return dispatch(*s.get(), [&](const auto& n) -> Stmt {
    if constexpr (std::is_base_of_v<StmtNode, std::decay_t<decltype(n)>>) return rewriting::rebuild(derived, n, s);
    return s;
  });
}

template <typename Derived>
void Rewriter<Derived>::clear_memo() {
  expr_memo_.clear();
  stmt_memo_.clear();
}

template <typename F>
void each_child(const Node& node, F&& visit) {
  dispatch(node, [&](const auto& n) {
    n.each_field([&](const char*, const auto& field) {
      using T = std::decay_t<decltype(field)>;
      if constexpr (std::is_same_v<T, Expr> || std::is_same_v<T, Stmt>) {
        if (field.defined()) visit(field);
      } else if constexpr (std::is_same_v<T, ExprList> || std::is_same_v<T, StmtList>) {
        for (const auto& item : field) visit(item);
      }
    });
  });
}

template <typename F>
void each_node(const Node& root, F&& visit) {
  std::unordered_set<const Node*> seen = {&root};
  std::vector<const Node*> stack = {&root};
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (!visit(*node)) continue;
    each_child(*node, [&](const auto& child) {
      if (seen.insert(child.get()).second) stack.push_back(child.get());
    });
  }
}

}  // namespace drawloom
