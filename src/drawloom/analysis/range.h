#pragma once
/// Constant integer intervals. Overflow of an end leaves that end unbounded.

#include <cstdint>
#include <optional>
#include <string>

#include "drawloom/ir/symbol.h"

namespace drawloom {

/// A closed interval; an absent end is unbounded. Ranges are never empty.
struct Range {
  std::optional<int64_t> lo, hi;

  static auto all() -> Range { return {}; }
  static auto point(int64_t v) -> Range { return {v, v}; }
  auto bounded() const -> bool { return lo && hi; }
  auto contains(int64_t v) const -> bool { return (!lo || *lo <= v) && (!hi || v <= *hi); }
  /// Every value of `r` is in this range.
  auto contains(const Range& r) const -> bool;
  auto is_point() const -> bool { return lo && hi && *lo == *hi; }
  friend auto operator==(const Range&, const Range&) -> bool = default;
  /// `[0, 255]`, `[0, ..]`.
  auto text() const -> std::string;
};

auto operator+(const Range& a, const Range& b) -> Range;
auto operator-(const Range& a) -> Range;
auto operator-(const Range& a, const Range& b) -> Range;
auto operator*(const Range& a, const Range& b) -> Range;
auto union_of(const Range& a, const Range& b) -> Range;
/// Values in both; `a` when they have none in common (a range is never empty).
auto intersection_of(const Range& a, const Range& b) -> Range;
auto min_of(const Range& a, const Range& b) -> Range;
auto max_of(const Range& a, const Range& b) -> Range;
/// Division and remainder of ops.def (x/0 = x%0 = 0; 0 <= remainder), for any divisor.
auto div_of(const Range& a, const Range& b) -> Range;
auto mod_of(const Range& a, const Range& b) -> Range;

/// Every value of an integer type (index: unbounded; u64 has no upper end).
auto range_of_type(Type t) -> Range;
/// What a symbol promises by itself: extents of buffers are >= 0, parameters lie in their promised range and their type.
auto promised_range(const Symbol& s) -> Range;

}  // namespace drawloom
