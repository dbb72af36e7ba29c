#pragma once
/// Finds a shared memory layout for a tile: least conflicts over all its readers and writers, under the hardware's
/// rules.
///
/// Free layouts: an order of the tile's digits (the elements of the widest accesses lowest), XOR of any digits above a
/// 128-byte line into the bank bits of the line, or padding at any digit. Tensor-map layouts: what one TMA box can
/// write: splits of coordinates into up to five map dimensions, their order, one of the four hardware swizzles, and
/// rows wider than the tile (TMA loads the rest too; 16 bytes at a time).
///
/// Cost of a layout: wavefronts beyond one a phase, summed over all accesses; then simplicity (no padding; fewer XOR
/// terms; for TMA rows of 128 bytes, few demands on the tensor, few map dimensions); then bytes. The search for free
/// layouts goes from simple to complicated and stops at the first one without a conflict. Where accesses are linear
/// over F2 a layout is judged by ranks alone, some 10^6 a second; the winner is always counted word by word as well,
/// and both must agree.

#include "drawloom/layout/banks.h"
#include "drawloom/layout/hardware.h"

namespace drawloom {

/// A tile: coordinates with extents, the one that is contiguous in global memory first.
struct SharedTile {
  std::vector<std::pair<std::string, int64_t>> extents;
  int64_t element_bytes = 4;
};

/// One way threads read or write the tile: (register, lane, others) -> coordinates, `width` bytes a lane. Some register
/// digits must be the elements of one access: any digits will do, the layout decides.
struct SharedAccess {
  std::string name;
  Layout layout;
  int64_t width = 4;
};

struct SharedRules {
  /// TMA writes or reads the tile as well.
  bool tensor_map = false;
  /// Padding may not exceed this.
  int64_t max_bytes = 232448;
  /// Layouts judged by rank per order of digits; by counting, the hundredth part.
  int64_t most_layouts = int64_t{1} << 21;
};

/// A tensor map and the copies that fill the tile with it.
struct TensorMapShape {
  /// One dimension: elements `step` apart in `coord`, `extent` of them.
  struct Part {
    std::string coord;
    int64_t step, extent;
  };
  std::vector<Part> box;  ///< innermost first
  Swizzle swizzle;
  /// Parts that are copies of their own, outermost in shared memory: their number is the product of the extents.
  std::vector<Part> copies;
  /// What the tensor must fulfil because a coordinate is split: `the extent of x is a multiple of 4`.
  std::vector<std::string> needs;
  auto text() const -> std::string;
};

struct SharedLayout {
  Layout layout;  ///< coordinates -> byte
  int64_t bytes;
  std::string how;  ///< `byte4^=x2 byte5^=x3`, `16 bytes of padding after y`, ...
  std::optional<TensorMapShape> tensor_map;
  std::vector<std::pair<std::string, BankReport>> reports;  ///< per access
  int64_t tried;                                            ///< layouts judged
  bool is_exhaustive;  ///< all of the family were judged, or the layout is free: nothing in the family is better

  auto is_free() const -> bool;
  /// Wavefronts beyond one a phase.
  auto excess() const -> int64_t;
  /// The printed certificate: layout, how, per access what bank_conflicts says, how far the search went.
  auto text() const -> std::string;
};

/// Refused: an access whose width no order of elements allows; extents or widths that are not positive powers where
/// they must be; rules that leave no layout (a box TMA cannot copy).
auto synthesize(const SharedTile& tile, const std::vector<SharedAccess>& accesses, const SharedRules& rules)
    -> Maybe<SharedLayout>;

}  // namespace drawloom
