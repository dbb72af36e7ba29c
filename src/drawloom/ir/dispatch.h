#pragma once
/// From a kind-tagged node to its struct, once.

#include "drawloom/ir/nodes.h"

namespace drawloom {

/// Calls `f(const T&)` with the node as its own struct; every call returns the same type.
template <typename F>
auto dispatch(const Node& node, F&& f) -> decltype(auto) {
  switch (node.kind) {
#define NODE(name, family) \
  case Kind::name: return f(static_cast<const name&>(node));
#include "drawloom/ir/nodes.def"
#undef NODE
  }
  __builtin_unreachable();
}

/// True for structs that introduce a symbol or a buffer for their `body` alone.
template <typename T>
inline constexpr bool kBinds = __is_same(T, For) || __is_same(T, Let) || __is_same(T, LetStmt) ||
                               __is_same(T, Allocate) || __is_same(T, TensorMap) || __is_same(T, Role);

}  // namespace drawloom
