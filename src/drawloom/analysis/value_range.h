#pragma once
/// Constant ranges of expressions by their structure: constants, types, clamps, remainders, masks, casts.

#include <functional>
#include <unordered_map>

#include "drawloom/analysis/range.h"
#include "drawloom/ir/nodes.h"

namespace drawloom {

/// What the caller knows beyond structure. Absent functions and absent answers mean nothing is known.
struct RangeHooks {
  std::function<std::optional<Range>(const Symbol&)> symbol;  ///< loop variables, lets
  std::function<std::optional<Range>(const Expr&)> element;   ///< an Access or a Load of integers
};

/// Ranges of integer, bool and index expressions; all lanes count. Arithmetic that may wrap gives the range of its type. A float converted to an integer
/// takes the bounds of its clamps; that it may be a NaN, which converts to any value, is left aside (design section 3).
/// Memoised by node, so keep one for many expressions.
class ValueRanges {
 public:
  explicit ValueRanges(RangeHooks hooks = {}) : hooks_(std::move(hooks)) {}
  auto of(const Expr& e) -> Range;

 private:
  /// Ends are infinities where nothing is known.
  struct FloatRange {
    double lo, hi;
  };
  auto compute(const Expr& e) -> Range;
  auto binary_range(const Expr& e) -> Range;
  auto call_range(const Expr& e) -> Range;
  auto conversion(const Expr& e) -> Range;
  auto float_of(const Expr& e) -> FloatRange;
  auto compute_float(const Expr& e) -> FloatRange;

  RangeHooks hooks_;
  // Keys are kept alive: a later node at the address of a dead one must not find its range.
  std::unordered_map<const ExprNode*, std::pair<Expr, Range>> memo_;
  std::unordered_map<const ExprNode*, std::pair<Expr, FloatRange>> floats_;
  std::unordered_map<const Symbol*, Range> lets_;
  std::unordered_map<const Symbol*, FloatRange> float_lets_;
};

auto value_range(const Expr& e, const RangeHooks& hooks = {}) -> Range;

}  // namespace drawloom
