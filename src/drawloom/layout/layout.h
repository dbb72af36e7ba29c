#pragma once
/// Layouts: exact maps between index spaces, `repeat x core`.
///
/// Problem. Where does element (row, col) of a tile live: which lane and register, which byte of shared memory? On a
/// GPU such maps are linear over bits (XOR swizzles, tensor core fragments) except where a size is no power of two (88
/// accumulator registers, a halo tile of 34 rows, a row padded to 36 words). Matrices over F2 say the first kind,
/// extents with strides the second; real tiles need both at once.
///
/// Idea. Each coordinate on either side is written in *digits*: a value is the sum of digit x stride, and every stride
/// is larger than anything the digits below can sum to, so the digits are unique and gaps (padding) are allowed. A
/// digit of extent 2 is a bit. A layout says for each input digit which output digits it moves: a bit moves any set of
/// output bits, which add up by XOR (the *core*, a matrix over F2); a wider digit moves one output digit of its own
/// extent (a *repeat*: extent, stride) or none. An input digit that moves nothing is *replicated*: a zero column.
///
/// Worked example: the accumulator of wgmma m64n176, 88 registers in each of 128 threads. Register bit 0 is column bit
/// 0, bit 1 is row bit 3; then the 8-column core repeats 22 times: 22 = 2 * 11, one more bit and a digit of 11.
///
///     (register: col0 row3 col3-4, lane: col1-2 row0-2, warp: row4-5) -> (row: 2^6, col: 2^4 11)
///
///     register 71 = 1*1 + 1*2 + 1*4 + 8*8  ->  col 1, row 8, col 8, col 8*16 = 128
///     lane 5 = 1*1 + 1*4                   ->  col 2, row 1
///     so (register 71, lane 5, warp 2) holds row 8 + 1 + 32 = 41, col 1 + 8 + 128 + 2 = 139.
///
/// The same type says shared memory: `(row: byte7-9^byte4-6 ..., col: byte2-6) -> (byte: ...)`, and accesses, which are
/// a register layout composed with that. Masks are never in a layout: extents are rounded up to the core.
///
/// Why not CuTe's shape:stride (no XOR inside, swizzles are functors that composition cannot see through) and not F2
/// matrices alone (Triton's linear layouts: powers of two only). Everything here is exact: an operation gives the
/// composed, inverted, divided map itself, or a sentence why it is not of this form.
///
/// Every layout is kept in one canonical form (wide digits odd, twos split off below, unused splits merged), so equal
/// maps between equal spaces are equal values. At most 64 digits on a side.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drawloom/layout/maybe.h"
#include "drawloom/support/result.h"

namespace drawloom {

/// `extent` values 0 .. extent - 1, each worth `stride`.
struct Digit {
  int64_t extent = 2, stride = 1;
  auto operator==(const Digit&) const -> bool = default;
};

/// One coordinate: a name (letters and `_`) and its digits by rising stride; no digits: always 0.
struct Dim {
  std::string name;
  std::vector<Digit> digits;

  /// One more than the largest value (so the gap above the last digit does not count).
  auto extent() const -> int64_t;
  /// Number of values: less than the extent when there are gaps.
  auto count() const -> int64_t;
  auto operator==(const Dim&) const -> bool = default;
};

/// One value per Dim, in the order of the Dims.
using Point = std::vector<int64_t>;

/// The n-th of the points of `dims`, 0 <= n < point_count(dims); the first Dim runs fastest.
auto nth_point(const std::vector<Dim>& dims, int64_t n) -> Point;
auto point_count(const std::vector<Dim>& dims) -> int64_t;

class Layout {
 public:
  /// The map between two spaces without coordinates.
  Layout() = default;

  auto from() const -> const std::vector<Dim>& { return from_; }
  auto to() const -> const std::vector<Dim>& { return to_; }
  /// Per input digit (all Dims one after the other) the set of output digits it moves, counted likewise.
  auto columns() const -> const std::vector<uint64_t>& { return columns_; }

  /// Position of a Dim by name; -1 when there is none.
  auto from_index(std::string_view name) const -> int;
  auto to_index(std::string_view name) const -> int;
  /// Extent by name; 1 when there is no such Dim.
  auto from_extent(std::string_view name) const -> int64_t;
  auto to_extent(std::string_view name) const -> int64_t;

  /// Where a point goes. Nothing when it is outside: too large, negative, or in a gap.
  auto apply(const Point& point) const -> std::optional<Point>;
  /// The same for a map with one output Dim and a point known to be inside.
  auto value_at(const Point& point) const -> int64_t;

  /// All digits on both sides are bits with strides that are powers of two: the map is a matrix over F2.
  auto is_linear() const -> bool;
  /// No two points go to the same place.
  auto is_injective() const -> bool;
  /// Every point of the output space is met.
  auto is_onto() const -> bool;

  /// `(register: col0 row3, lane: col1-2 row0-2) -> (row: 2^4, col: 2^3)`. Grammar in docs/layout.md.
  auto text() const -> std::string;
  auto operator==(const Layout&) const -> bool = default;

 private:
  friend struct Draft;
  std::vector<Dim> from_, to_;
  std::vector<uint64_t> columns_;
};

/// The inverse of `Layout::text`: equal text gives equal layouts. Errors: parse_unexpected, parse_unknown_name.
auto parse_layout(std::string_view text, std::string_view file) -> Result<Layout>;

/// Says a layout input digit by input digit, lowest first.
///
///     LayoutBuilder().map("register", 2, {{"col", 1}}).map("register", 2, {{"row", 8}})
///                    .map("lane", 4, {{"col", 2}}).map("lane", 8, {{"row", 1}}).build()
class LayoutBuilder {
 public:
  /// `stride`: what the value 1 of the input digit is worth in output Dim `dim`.
  struct Target {
    std::string dim;
    int64_t stride;
  };
  /// Fixes the order of Dims (else: as first named), and makes a Dim that nothing moves.
  auto from(std::string_view dim) -> LayoutBuilder&;
  auto to(std::string_view dim) -> LayoutBuilder&;
  /// The next `extent` (at least 1) input values of `dim`, on top of what was mapped before. No target: replicated.
  /// Several targets, or one that was used before: XOR, for extents that are powers of two only.
  auto map(std::string_view dim, int64_t extent, const std::vector<Target>& targets) -> LayoutBuilder&;
  /// The same, worth `stride` in the input: leaves a gap below, which must be as large as what was mapped before.
  auto map_at(std::string_view dim, int64_t extent, int64_t stride, const std::vector<Target>& targets)
      -> LayoutBuilder&;
  /// Refused: strides that overlap, a wide digit with several targets, more than 64 digits.
  auto try_build() const -> Maybe<Layout>;
  /// For maps written by us: a refusal is our bug.
  auto build() const -> Layout { return try_build().value(); }

 private:
  struct Step {
    std::string dim;
    int64_t extent, stride;  // stride 0: next
    std::vector<Target> targets;
  };
  std::vector<std::string> from_, to_;
  std::vector<Step> steps_;
};

/// Every value of `dim` to the same value of the Dim `to` (default: same name).
auto identity(std::string_view dim, int64_t extent, std::string_view to = {}) -> Layout;
/// Every point of `dims`, gaps and all, to itself.
auto identity(const std::vector<Dim>& dims) -> Layout;
/// Coordinates one after the other, the first fastest, into `to` by steps of `unit`: `{{"col", 32}, {"row", 34}}` into
/// `byte` with unit 4 is a row-major f32 tile.
auto packed(const std::vector<std::pair<std::string, int64_t>>& extents, std::string_view to, int64_t unit) -> Layout;

/// First `first`, then `second`: x -> second(first(x)). Dims meet by name; an input Dim of `second` that `first` does
/// not have stays at 0. Output digits that are met only in part are cut down to that part.
/// Refused: `first` leaves the inputs of `second` (too large, or in a gap), or their digits do not line up (the low
/// digit of 6 = 2 * 3 is 2 on one side, 3 on the other).
auto compose(const Layout& first, const Layout& second) -> Maybe<Layout>;

/// The map back. Exact for injective maps: invert(f)(f(x)) = x. A replicated input digit comes back as 0; output digits
/// that `f` never moves are replicated in the inverse. In every case f(invert(f)(f(x))) = f(x).
auto invert(const Layout& layout) -> Layout;

/// `outer` copies of `tile`: digits of `outer` stand above those of `tile` in every Dim, on both sides, so extents
/// multiply. With gaps in `tile`: above its extent.
auto product(const Layout& tile, const Layout& outer) -> Maybe<Layout>;

/// The `outer` with product(tile, outer) == layout. Refused when `layout` is no such product.
auto divide(const Layout& layout, const Layout& tile) -> Maybe<Layout>;

/// One more digit on top of input Dim `from`, worth `stride` in output Dim `to` (a pitch; may be more than what is
/// used).
auto repeat(const Layout& layout, std::string_view from, int64_t extent, std::string_view to, int64_t stride)
    -> Maybe<Layout>;

/// The same map with other names; a name not mentioned stays. `{{"row", "m"}}`. The Dims keep their order.
auto rename(const Layout& layout, const std::vector<std::pair<std::string, std::string>>& names) -> Layout;

/// The part of the map where input Dim `dim` is 0, without that Dim.
auto at_zero(const Layout& layout, std::string_view dim) -> Layout;

/// The same map with its Dims in this order; Dims not named follow in theirs, names it lacks become Dims of extent 1.
auto arrange(const Layout& layout, const std::vector<std::string>& from, const std::vector<std::string>& to) -> Layout;

/// Equal up to the order of Dims and to Dims of extent 1.
auto same_map(const Layout& a, const Layout& b) -> bool;

}  // namespace drawloom
