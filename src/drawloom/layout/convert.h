#pragma once
/// Moving a tile from one register layout to another at the least cost.
///
///   nothing   each thread has every element in the register where it is wanted
///   rename    ... in another register, the same one in all threads: no instruction, registers get other names
///   shuffle   every element is in its warp: rounds of select, shfl, select
///   shared    elements cross warps: stores, a barrier, loads, through a synthesised layout
///
/// The kind found is the least possible one: kinds are told apart by looking at every element, replicas included.

#include "drawloom/layout/synthesize.h"

namespace drawloom {

enum class ConversionKind : uint8_t { nothing, rename, shuffle, shared };

/// One shfl.sync.idx over whole warps: a lane offers one source register, reads one lane, keeps the value in one
/// destination register. Indexed by thread: lane + 32 * warp, the other Dims in the order of Conversion::threads.
/// Destination registers are new ones, so rounds may run in any order; they stand in the order of their registers.
struct ShuffleRound {
  std::vector<int> offered;   ///< source register; -1: nobody reads this lane
  std::vector<int> source;    ///< lane of the same warp
  std::vector<int> received;  ///< destination register; -1: none
  /// Every lane reads itself: selects only, no shfl.
  auto is_local() const -> bool;
  /// m when every lane reads lane ^ m: shfl.sync.bfly.
  auto butterfly() const -> std::optional<int>;
  /// Offers, reads and keeps the same registers in all lanes: no selects.
  auto is_uniform() const -> bool;
};

/// Through shared memory: store all, barrier, load all.
struct SharedPassage {
  SharedLayout tile;
  VectorAccess store, load;
};

struct Conversion {
  ConversionKind kind = ConversionKind::nothing;
  /// Registers below are units of this many elements, as they lie next to each other in both layouts: the elements of
  /// one 32-bit register where packing allows. A unit of less than 4 bytes needs byte permutes around each move.
  int64_t unit_elements = 1, unit_bytes = 4;
  /// Dims that tell threads apart, `lane` first.
  std::vector<Dim> threads;
  std::vector<int> renamed;          ///< rename: per destination register the source register
  std::vector<ShuffleRound> rounds;  ///< shuffle
  std::optional<SharedPassage> shared;

  /// shfl instructions of one warp.
  auto shuffles() const -> int64_t;
  auto text() const -> std::string;
};

/// From `source` to `destination`: (register, lane, others) -> the same coordinates. A Dim that one side lacks is 0
/// there. Refused: other coordinates; an element that no thread holds; a tile beyond `rules.max_bytes`.
auto plan_conversion(const Layout& source, const Layout& destination, int64_t element_bytes,
                     const SharedRules& rules = {}) -> Maybe<Conversion>;

}  // namespace drawloom
