#pragma once
/// What a Func is outside the region where it is known. Plain expressions: nothing later needs to know them.

#include <utility>
#include <vector>

#include "drawloom/lang/func.h"
#include "drawloom/lang/param.h"

namespace drawloom::BoundaryConditions {

/// Min and extent of each dimension, in order; both undefined, or missing at the end: that dimension is unbounded.
using Bounds = std::vector<std::pair<Expr, Expr>>;

/// `value` outside the bounds. Inside nothing outside is read.
auto constant_exterior(const Func& source, Arg value, const Bounds& bounds) -> Func;
auto constant_exterior(const ImageParam& source, Arg value) -> Func;
auto constant_exterior(const AnyBuffer& source, Arg value) -> Func;

/// The nearest element inside. The bounds must hold at least one point of each dimension.
auto repeat_edge(const Func& source, const Bounds& bounds,
                 const std::source_location& at = std::source_location::current()) -> Func;
auto repeat_edge(const ImageParam& source, const std::source_location& at = std::source_location::current()) -> Func;
auto repeat_edge(const AnyBuffer& source, const std::source_location& at = std::source_location::current()) -> Func;

}  // namespace drawloom::BoundaryConditions
