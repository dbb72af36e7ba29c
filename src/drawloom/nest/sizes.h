#pragma once
/// Regions and work at given sizes: the int64 side of region.h, for a search that asks thousands of times a second. One pass over the tree,
/// a few numbers per stage; nothing is proved.
///
/// Loops stand at the middle of their iterations (extent / 2), where tails and first iterations are rare: regions are those of the steady
/// state, and equal the Forms of region.h at these values (free_hi may be lower). A slide is taken where the iteration before shows one, so it costs no proof; what
/// region.h finds illegal for other reasons (a loop that goes back, an update) is asked of the graph in the same way.

#include <span>

#include "drawloom/nest/nest.h"

namespace drawloom {

/// One dimension of a region: elements lo .. hi, and hi as it is without the clamps of tails.
struct SizedDim {
  int64_t lo, hi, free_hi;
  auto extent() const -> int64_t { return hi < lo ? 0 : hi - lo + 1; }
  friend auto operator==(const SizedDim&, const SizedDim&) -> bool = default;
};

struct SizedRealisation {
  RealisationId what;
  std::span<const SizedDim> need;      ///< in one iteration of the compute place
  std::span<const SizedDim> computed;  ///< of it, what earlier iterations have not left in the storage
  std::span<const SizedDim> stored;    ///< over one run of the store place
  int64_t runs = 1;                    ///< how often the compute place is reached
};

struct SizedStage {
  RealisationId what;
  int stage = 0;
  int64_t points = 0;  ///< how often its body runs in the whole pipeline; saturates
};

/// A value; owns its numbers. Counts that do not fit int64 saturate.
class NestSizes {
 public:
  using Values = SymbolMap<int64_t>;
  /// `closed`: see close_nest. `runtime`: values of the parameters and of the outputs' mins and extents; what is missing
  /// counts as 0.
  NestSizes(const Nest& closed, const Values& runtime);

  /// In program order of the tree.
  auto realisations() const -> const std::vector<SizedRealisation>& { return realisations_; }
  auto stages() const -> const std::vector<SizedStage>& { return stages_; }
  /// The iteration at which a loop stands.
  auto at(const Symbol* loop) const -> int64_t;

  NestSizes(const NestSizes&) = delete;
  NestSizes(NestSizes&&) = default;

 private:
  friend class SizePass;
  struct Loop {
    int64_t extent = 1;
    int64_t value = 0;  ///< where it stands
    int64_t runs = 1;   ///< how often its body runs
  };
  std::vector<SizedRealisation> realisations_;
  std::vector<SizedStage> stages_;
  std::vector<SizedDim> dims_;
  TreeRef tree_;
  std::vector<Loop> loops_;  ///< by the nodes of the tree's index
};

}  // namespace drawloom
