#pragma once
/// Fast judging of candidate layouts of one tile. Internal to synthesis.

#include "drawloom/layout/f2.h"
#include "drawloom/layout/synthesize.h"

namespace drawloom {

/// A digit of a tile's coordinate.
struct TileDigit {
  std::string coord;
  int64_t extent, step;  ///< `step`: worth in the coordinate
};

/// All digits of a tile: bits, then the odd rest, per coordinate.
auto tile_digits(const SharedTile& tile) -> std::vector<TileDigit>;

/// Where each tile digit lies: byte = (sum of value * stride) ^ (XOR of `xored` of the bits that are set).
struct Candidate {
  std::vector<int64_t> stride;
  std::vector<uint32_t> xored;
  /// Refused: strides or masks that are none of a layout.
  auto layout(const std::vector<TileDigit>& digits) const -> Maybe<Layout>;
};

/// Digits one after the other in `order`, without gaps. `order[0]` is the lowest.
auto in_order(const std::vector<TileDigit>& digits, const std::vector<int>& order, int64_t element_bytes) -> Candidate;

class Judge {
 public:
  /// `low`: the tile digits that hold the elements of the widest access. Refused: an access that cannot have its width.
  static auto make(const SharedTile& tile, const std::vector<SharedAccess>& accesses, const std::vector<int>& low)
      -> Maybe<Judge>;
  auto element_bytes() const -> int64_t { return element_bytes_; }
  auto digits() const -> const std::vector<TileDigit>& { return digits_; }
  /// Wavefronts beyond one a phase, over all accesses; counting stops where the sum passes `limit`.
  auto excess(const Candidate& candidate, int64_t limit = INT64_MAX) const -> int64_t;
  /// Whether the candidate is a layout that keeps elements apart, and every access keeps its width under it. An access
  /// may run through digits other than the tile's (3 elements a lane along an extent of 24): those exist only where the
  /// tile's digits lie one after the other. Takes as long as some hundred layouts judged by rank.
  auto fits(const Candidate& candidate) const -> bool;
  /// Whether no access is lost yet, when the bank bits `open` may still be anything: ranks grow by one a bit at most.
  /// Linear accesses and power-of-two strides only.
  auto may_be_free(const Candidate& candidate, uint32_t open) const -> bool;
  /// Whether ranks decide for layouts with power-of-two strides.
  auto is_linear() const -> bool { return linear_; }

 private:
  struct Access {
    Layout layout;
    int64_t width;
    /// Per lane bit of a phase the tile bits it moves; used where `linear`.
    std::vector<BitVector> lane_bits;
    bool linear = true;
    /// Digit values of each lane's address; all digits of a lane together, lanes of a phase one after the other.
    std::vector<int64_t> values;
    /// Lanes of each phase.
    std::vector<int64_t> phases;
  };
  struct Ranks {
    int address, bank;
  };
  auto add(const SharedTile& tile, const SharedAccess& access, const Layout& base) -> std::optional<Refusal>;
  /// Nothing when the access or the strides are not linear. `closed`: the bank bits that count.
  auto ranks(const Access& access, const Candidate& candidate, uint32_t closed) const -> std::optional<Ranks>;
  auto by_count(const Access& access, const Candidate& candidate, int64_t limit) const -> int64_t;

  int64_t element_bytes_ = 0;
  std::vector<TileDigit> digits_;
  std::vector<Access> accesses_;
  bool linear_ = true;
};

/// A layout found, before it is certified.
struct Found {
  Candidate candidate;
  int64_t excess, bytes, complexity;
  std::string how;
  std::optional<TensorMapShape> tensor_map;
};

struct Search {
  std::optional<Found> best;
  int64_t tried = 0;
  bool is_exhaustive = true;

  /// Counts a layout judged; whether it is better than the best so far.
  auto would_take(int64_t excess, int64_t bytes, int64_t complexity) -> bool {
    ++tried;
    if (!best || excess != best->excess) return !best || excess < best->excess;
    return complexity != best->complexity ? complexity < best->complexity : bytes < best->bytes;
  }
  void offer(const Judge& judge, Found found) {
    if (would_take(found.excess, found.bytes, found.complexity) && judge.fits(found.candidate)) best = std::move(found);
  }
  auto is_done() const -> bool { return best && best->excess == 0; }
};

/// The families, each from simple to complicated. Internal.
void search_free(const Judge& judge, const SharedTile& tile, const std::vector<int>& low, int64_t max_width,
                 const SharedRules& rules, Search& search);
void search_tensor_maps(const Judge& judge, const SharedTile& tile, int64_t max_width, const SharedRules& rules,
                        Search& search);

}  // namespace drawloom
