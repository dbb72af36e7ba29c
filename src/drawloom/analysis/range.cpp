#include "drawloom/analysis/range.h"

#include <algorithm>

#include "drawloom/support/text.h"

// Interval arithmetic whose ends are int64 or infinite.
//
//   [0, 7] + [.., 3] = [.., 10]       [-2, 3] * [-5, 4] = [-15, 12]
//   [-7, 9] / [2, 4] = [-4, 4]        [0, 20] % [8, 8] = [0, 7]       [3, 5] % [8, 9] = [3, 5]
//
// Ends are computed in 128 bits, with 2^126 for infinity, and an end that does not fit int64 is left out. An absent end
// claims nothing, so overflow makes a range wider and never wrong. Products and quotients are monotone in each operand
// while the other keeps its sign, so their extremes lie at corners.

namespace drawloom {
namespace {

/// A 64-bit number or an infinity, in a type where products of two of them fit.
using Wide = __int128;
constexpr Wide kInfinity = Wide{1} << 126;

auto low(const Range& r) -> Wide { return r.lo ? Wide{*r.lo} : -kInfinity; }
auto high(const Range& r) -> Wide { return r.hi ? Wide{*r.hi} : kInfinity; }
auto narrow(Wide v) -> std::optional<int64_t> {
  if (v < INT64_MIN || v > INT64_MAX) return {};
  return static_cast<int64_t>(v);
}
auto narrow(Wide lo, Wide hi) -> Range { return {narrow(lo), narrow(hi)}; }

/// 0 times infinity is 0: the end is absent because nothing is known, yet each value is a number.
auto multiply(Wide a, Wide b) -> Wide {
  if (a == 0 || b == 0) return 0;
  const bool infinite = a == kInfinity || a == -kInfinity || b == kInfinity || b == -kInfinity;
  if (infinite) return (a < 0) == (b < 0) ? kInfinity : -kInfinity;
  return a * b;
}

/// Floor division by a positive number or infinity.
auto divide(Wide a, Wide b) -> Wide {
  if (b == kInfinity) return a < 0 ? -1 : 0;
  if (a == kInfinity || a == -kInfinity) return a;
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/// Quotients of [alo, ahi] by divisors in [blo, bhi], blo >= 1: each corner is the extreme of its sign.
auto divide_by_positive(Wide alo, Wide ahi, Wide blo, Wide bhi) -> Range {
  return narrow(std::min(divide(alo, blo), divide(alo, bhi)), std::max(divide(ahi, blo), divide(ahi, bhi)));
}

}  // namespace

auto Range::contains(const Range& r) const -> bool { return low(*this) <= low(r) && high(r) <= high(*this); }

auto Range::text() const -> std::string { return str("[{}, {}]", lo ? to_text(*lo) : "..", hi ? to_text(*hi) : ".."); }

auto operator+(const Range& a, const Range& b) -> Range {
  return {a.lo && b.lo ? narrow(Wide{*a.lo} + *b.lo) : std::nullopt,
          a.hi && b.hi ? narrow(Wide{*a.hi} + *b.hi) : std::nullopt};
}
auto operator-(const Range& a) -> Range {
  return {a.hi ? narrow(-Wide{*a.hi}) : std::nullopt, a.lo ? narrow(-Wide{*a.lo}) : std::nullopt};
}
auto operator-(const Range& a, const Range& b) -> Range {
  return {a.lo && b.hi ? narrow(Wide{*a.lo} - *b.hi) : std::nullopt,
          a.hi && b.lo ? narrow(Wide{*a.hi} - *b.lo) : std::nullopt};
}

auto operator*(const Range& a, const Range& b) -> Range {
  const Wide corners[] = {multiply(low(a), low(b)), multiply(low(a), high(b)), multiply(high(a), low(b)),
                          multiply(high(a), high(b))};
  return narrow(*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4));
}

auto union_of(const Range& a, const Range& b) -> Range {
  return narrow(std::min(low(a), low(b)), std::max(high(a), high(b)));
}
auto intersection_of(const Range& a, const Range& b) -> Range {
  const Wide lo = std::max(low(a), low(b)), hi = std::min(high(a), high(b));
  return lo <= hi ? narrow(lo, hi) : a;
}
auto min_of(const Range& a, const Range& b) -> Range {
  return narrow(std::min(low(a), low(b)), std::min(high(a), high(b)));
}
auto max_of(const Range& a, const Range& b) -> Range {
  return narrow(std::max(low(a), low(b)), std::max(high(a), high(b)));
}

auto div_of(const Range& a, const Range& b) -> Range {
  std::optional<Range> out;
  const auto take = [&](const Range& r) { out = out ? union_of(*out, r) : r; };
  if (high(b) >= 1) take(divide_by_positive(low(a), high(a), std::max(low(b), Wide{1}), high(b)));
  // a = b*q + r with 0 <= r < |b| gives q = -(a / |b|).
  if (low(b) <= -1) {
    const Wide blo = std::max(-high(b), Wide{1}), bhi = -low(b);
    take(-divide_by_positive(low(a), high(a), blo, bhi));
  }
  // x/0 is 0
  if (b.contains(0)) take(Range::point(0));
  return *out;
}

auto mod_of(const Range& a, const Range& b) -> Range {
  // the remainder is below the largest magnitude of a divisor, whatever the sign
  const Wide size = std::max(high(b), -low(b));
  Range out{0, narrow(std::max(size - 1, Wide{0}))};
  if (size == kInfinity) out.hi.reset();
  if (!a.lo || *a.lo < 0) return out;
  const Wide least = b.contains(0) ? 0 : std::max(low(b), -high(b));
  // a value below every divisor is its own remainder
  if (high(a) < least) return a;
  return min_of(out, Range{0, a.hi});
}

auto range_of_type(Type t) -> Range {
  if (t.is_float() || t.is_index()) return {};
  if (t.is_int() && t.bits == 64) return {INT64_MIN, INT64_MAX};
  if (t.is_uint() && t.bits == 64) return {0, {}};
  const auto bits = static_cast<unsigned>(t.bits);
  if (t.is_uint()) return {0, static_cast<int64_t>((uint64_t{1} << bits) - 1)};
  const int64_t top = int64_t{1} << (bits - 1);
  return {-top, top - 1};
}

auto promised_range(const Symbol& s) -> Range {
  Range r;
  if (s.kind == SymbolKind::BufferExtent) r.lo = 0;
  if (s.type.is_data_int()) r = range_of_type(s.type);
  if (s.kind == SymbolKind::Param) r = intersection_of(r, {s.min, s.max});
  return r;
}

}  // namespace drawloom
