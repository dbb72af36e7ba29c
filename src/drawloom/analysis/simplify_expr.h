#pragma once
/// The expression half of the simplifier, shared with the statement half.

#include <unordered_map>

#include "drawloom/analysis/facts.h"
#include "drawloom/ir/nodes.h"

namespace drawloom {

/// One node whose operands are simple already: constants to the right, folded, rewritten by the rules until none applies.
auto simplify_node(const Expr& e) -> Expr;

/// Index arithmetic and comparisons by way of forms, where the result is shorter or the facts decide it. Results hold under the facts given.
class IndexSimplifier {
 public:
  /// The simpler of `e`, a scalar of type index, and its form.
  auto value(const Expr& e, const Facts& facts) -> Expr;
  /// A constant or the comparison with simpler terms; `e` itself if it is no comparison of scalar index.
  auto condition(const Expr& e, const Facts& facts) -> Expr;
};

/// Nodes up to `limit`, shared ones once.
auto bounded_size(const Expr& e, int limit) -> int;
/// The node takes part in index arithmetic that a form can hold, so what stands above it decides.
auto is_index_arithmetic(const Expr& e) -> bool;

}  // namespace drawloom
