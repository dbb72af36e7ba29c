#pragma once
/// The typing of one node from its operands: the only place that knows it. Builders and rewriters check with it, the
/// parser and the verifier report with it.

#include <optional>

#include "drawloom/ir/nodes.h"
#include "drawloom/support/diag.h"

namespace drawloom {

/// The type that the operands give an expression node. Constants, variables, casts and accesses keep the element type
/// they were given; lanes always follow the operands.
auto result_type(const ExprNode& node) -> Type;

/// What is wrong with one node (not with those below it), if anything: ir_type_mismatch or ir_malformed, at the node's
/// location. Looks only at types, counts and constants; scopes are the verifier's.
auto operand_problem(const Node& node) -> std::optional<Diag>;

}  // namespace drawloom
