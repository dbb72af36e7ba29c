#pragma once
/// Finds the dimension along which a Func is defined by itself (design section 3, "Recurrences are first class").

#include "drawloom/lang/function.h"
#include "drawloom/support/result.h"

namespace drawloom {

/// Every self-read is at a smaller value of dimension `dim`, which starts at `first` (index).
struct Order {
  int dim = -1;  ///< -1: not a recurrence
  Expr first;
};

/// Of a pure definition that reads itself. Along `dim` each self-read is at a constant distance of 1 or more. `first` is
/// the constant of the outermost guard: c for `select(t == c, ..)`, and for `select(t <= c, ..)` the first step that a
/// later one reads, c + 1 - (largest distance). Guards `t == c`, `t == c + 1`, ... in a row make one first part.
/// Errors: recurrence_unordered, recurrence_unstarted.
auto order_of_pure(const FunctionDef& f, const Definition& def) -> Result<Order>;

/// Of an update: a dimension whose subscript is an RVar, where each self-read is at the point that is written or at a
/// smaller value of the RVar, and one is at a smaller value. `first` is the RVar's min.
auto order_of_update(const FunctionDef& f, const Definition& def) -> Order;

/// The guard of a recurrence is t == c: steps before c have no value. Where it is t <= c they are first steps too.
auto starts_at_one_step(const FunctionDef& f) -> bool;

/// c when `e` is `symbol + c`.
auto offset_from(const Expr& e, const Symbol* symbol) -> std::optional<int64_t>;

}  // namespace drawloom
