#pragma once
/// The typing of one node from its operands: the only place that knows it. Builders and rewriters check with it, the
/// parser and the verifier report with it.

#include <optional>

#include "drawloom/ir/nodes.h"
#include "drawloom/support/result.h"

namespace drawloom {

/// The type that the operands give an expression node. Constants, variables, casts and accesses keep the element type
/// they were given; lanes always follow the operands.
auto result_type(const ExprNode& node) -> Type;

/// What is wrong with one node (not with those below it), if anything: ir_type_mismatch or ir_malformed, at the node's
/// location. Looks only at types, counts and constants; scopes are the verifier's.
auto operand_problem(const Node& node) -> std::optional<Diag>;

/// A node from the arguments of its constructor, with the type its operands give; or what is wrong with it. The builders
/// of build.h are this with a check, for callers that know what they do.
template <typename T, typename... Args>
auto try_make(Args&&... args) {
  using H = std::conditional_t<std::is_base_of_v<ExprNode, T>, Expr, Stmt>;
  using Base = std::conditional_t<std::is_base_of_v<ExprNode, T>, ExprNode, StmtNode>;
  auto node = make_ref<T>(std::forward<Args>(args)...);
  if constexpr (std::is_base_of_v<ExprNode, T>) node->type = result_type(*node);
  auto problem = operand_problem(*node);
  return problem ? Result<H>(*std::move(problem)) : Result<H>(H(Ref<const Base>(node)));
}

}  // namespace drawloom
