#pragma once
/// Who holds which element: register layouts as tables. Internal to conversions.

#include "drawloom/layout/convert.h"

namespace drawloom {

/// Both sides over the same threads and the same numbering of elements.
struct Holdings {
  std::vector<Dim> threads;  ///< `lane` (32) first
  int64_t thread_count = 0, source_registers = 0, destination_registers = 0;
  /// thread * registers + register -> element; -1: this thread is not in the layout.
  std::vector<int64_t> source, destination;
  /// Element -> the (thread, register) that hold it in the source.
  struct Place {
    int thread, reg;
  };
  std::vector<std::vector<Place>> places;

  auto wanted(int64_t thread, int64_t reg) const -> int64_t {
    return destination[static_cast<size_t>(thread * destination_registers + reg)];
  }
  auto held(int64_t thread, int64_t reg) const -> int64_t {
    return source[static_cast<size_t>(thread * source_registers + reg)];
  }
};

/// Refused: coordinates differ, more than 32 lanes, an element that the source does not hold.
auto tabulate(const Layout& source, const Layout& destination) -> Maybe<Holdings>;

/// Rounds for a conversion inside warps, from the maps themselves where they are linear over F2 up to wide register
/// digits: as many rounds as destination registers, those that stay in the lane without shfl. Nothing when they are
/// not.
auto linear_rounds(const Layout& source, const Layout& destination, const Holdings& holdings)
    -> std::optional<std::vector<ShuffleRound>>;
/// Rounds for any conversion inside warps: one per pair of registers that occurs.
auto pairwise_rounds(const Holdings& holdings) -> std::vector<ShuffleRound>;

}  // namespace drawloom
