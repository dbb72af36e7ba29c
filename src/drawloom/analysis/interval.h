#pragma once
/// Intervals over any number type N that has the operations of number.h: Form (lowering), int64_t (search, tests), Expr (bounds queries in the object file).
/// The same template code computes regions in all three, so they agree by construction and are compared in tests.

#include <optional>

#include "drawloom/analysis/form.h"

namespace drawloom {

/// Closed: lo..hi; hi < lo is empty. An absent end is unbounded.
template <typename N>
struct Interval {
  std::optional<N> lo, hi;
};

/// Bounds of `f` when each symbol lies in its interval (`env(symbol) -> const Interval<N>*`, null: the symbol is fixed and `fixed(symbol) -> N` is its value).
/// Exact at both ends if each varying symbol occurs once with every atom monotone in it, or f as a whole is monotone in it; else an enclosure.
/// A Mod that uses a varying symbol gives [0, divisor - 1]; a choose whose condition does, both sides. Opaque atoms give their range when they use a varying symbol.
/// A varying symbol multiplied by runtime symbols uses their sign (extents and strides' promised ranges); unknown sign gives an unbounded end.
template <typename N, typename Env, typename Fixed>
auto interval_of(const Form& f, const Env& env, const Fixed& fixed) -> Interval<N>;

/// How f moves when `s` grows by one and the other symbols stay.
enum class Direction : uint8_t { Constant, Increasing, Decreasing, Unknown };  // Increasing: never decreases
auto direction_of(const Form& f, const Symbol* s) -> Direction;

}  // namespace drawloom

#include "drawloom/analysis/interval_inl.h"
