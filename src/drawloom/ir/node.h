#pragma once
/// The base of IR nodes, and the handles Expr and Stmt. Nodes are immutable, shared and tagged with their kind;
/// nothing is virtual. `if (const auto* load = e.as<Load>())` asks, `switch (e.kind())` without default dispatches.

#include <cstdint>
#include <vector>

#include "drawloom/ir/type.h"
#include "drawloom/support/loc.h"
#include "drawloom/support/ref.h"

namespace drawloom {

enum class Kind : uint8_t {
#define NODE(name, family) name,
#include "drawloom/ir/nodes.def"
#undef NODE
};

/// The node's name as in nodes.def.
auto kind_name(Kind kind) -> std::string_view;

struct Node : RefCounted {
  explicit Node(Kind k, Loc l) : kind(k), loc(std::move(l)) {}
  Kind kind;
  Loc loc;
};
/// Deletes by kind (node_ops.cpp). Deep chains are dropped without recursion.
void drop_node(const Node* node);

struct ExprNode : Node {
  ExprNode(Kind k, Type t, Loc l) : Node(k, std::move(l)), type(t) {}
  Type type;
};
inline void drop_node(const ExprNode* node) { drop_node(static_cast<const Node*>(node)); }

struct StmtNode : Node {
  using Node::Node;
};
inline void drop_node(const StmtNode* node) { drop_node(static_cast<const Node*>(node)); }

/// A typed handle over a shared node; nullable. `==` is identity; `equal` (node_ops.h) is structural.
template <typename Base>
class Handle {
 public:
  Handle() = default;
  explicit Handle(Ref<const Base> node) : node_(std::move(node)) {}

  auto defined() const -> bool { return static_cast<bool>(node_); }
  explicit operator bool() const { return defined(); }
  auto kind() const -> Kind { return node_->kind; }
  auto loc() const -> const Loc& { return node_->loc; }
  auto get() const -> const Base* { return node_.get(); }
  /// The node as T, or null when it is of another kind (or undefined).
  template <typename T>
  auto as() const -> const T* {
    return node_ && node_->kind == T::kKind ? static_cast<const T*>(node_.get()) : nullptr;
  }
  /// The node as T, whose kind is known.
  template <typename T>
  auto to() const -> const T& {
    return static_cast<const T&>(*node_);
  }
  friend auto operator==(const Handle&, const Handle&) -> bool = default;

 protected:
  Ref<const Base> node_;
};

class Expr : public Handle<ExprNode> {
 public:
  using Handle::Handle;
  /// The constant `value`, as in `Expr sum = 0`: i32, f32 or f64.
  template <typename T>
    requires(__is_same(T, int) || __is_same(T, float) || __is_same(T, double))
  Expr(T value) : Expr(of_literal(value)) {}
  auto type() const -> Type { return node_->type; }

 private:
  static auto of_literal(int value) -> Expr;
  static auto of_literal(float value) -> Expr;
  static auto of_literal(double value) -> Expr;
};
class Stmt : public Handle<StmtNode> {
 public:
  using Handle::Handle;
};

using ExprList = std::vector<Expr>;
using StmtList = std::vector<Stmt>;

}  // namespace drawloom
