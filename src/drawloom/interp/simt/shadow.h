#pragma once
/// Who touched which bytes. Memory is kept in lines of 16 bytes, the grain of asynchronous copies and of tensor cores: a
/// line that was always touched as a whole has one record, another one record per granule.

#include <array>
#include <memory>
#include <vector>

#include "drawloom/interp/simt/clock.h"

namespace drawloom::simt {

/// One access of the past: by the lanes `lanes` of the warp whose first thread is component `base`, or by the stream
/// `base` (then `lanes` is 1). No lanes: none.
struct Epoch {
  uint32_t cluster = 0;  ///< serial number over all launches
  Component base = 0;
  uint32_t lanes = 0;
  uint32_t clock = 0;
  int32_t site = -1;   ///< statement
  bool async = false;  ///< `base` is a stream
  bool proxy = false;  ///< through the asynchronous proxy: bulk copies, tensor cores
};

/// Somebody who is about to touch memory, and what is over for him. `self`: his own earlier accesses are, too.
struct Accessor {
  Epoch self;
  const View* view = nullptr;
  uint32_t first_cluster = 0;  ///< of this launch: older ones are over
  bool global = false;         ///< which proxy fences count
};

auto ordered(const Epoch& before, const Accessor& now) -> bool;
/// As `ordered`, and also through the proxy where an asynchronous agent follows an ordinary access. Reads count too: a load
/// from shared memory may wait behind others while its thread's arrival at an mbarrier is already seen, and what a bulk copy
/// then writes is what it finds (seen on an H200; docs/performance.md).
auto ordered_across(const Epoch& before, const Accessor& now) -> bool;

/// What an access came into conflict with.
struct Conflict {
  Epoch with;
  bool with_write = false;
  bool missing_fence = false;  ///< ordered, but for the proxy fence
  uint64_t byte = 0;
};

struct Granule {
  Epoch write;
  std::vector<Epoch> reads;
  bool filled = false;
};

class Shadow {
 public:
  static constexpr uint64_t kLine = 16;
  /// `granule`: bytes of the finest access, 1, 2 or 4.
  Shadow(uint64_t bytes, int granule, bool filled);

  /// Notes a read or write of [at, at + bytes), which must lie inside. The first conflict, if any, goes to `out`.
  auto read(uint64_t at, uint64_t bytes, const Accessor& by, Conflict& out) -> bool;
  auto write(uint64_t at, uint64_t bytes, const Accessor& by, Conflict& out) -> bool;
  /// As a read that leaves no record: the use of an mbarrier.
  auto look(uint64_t at, uint64_t bytes, const Accessor& by, Conflict& out) -> bool;
  auto filled(uint64_t at, uint64_t bytes) const -> bool;
  /// Whether some of the bytes was written by this cluster or a later one.
  auto written_since(uint64_t at, uint64_t bytes, uint32_t cluster) -> bool;
  /// Marks written bytes as meaning nothing: a garbage value was stored.
  void spoil(uint64_t at, uint64_t bytes);

 private:
  struct Line {
    Granule whole;
    std::vector<Granule> parts;  ///< empty: `whole` stands for all
  };
  template <typename F>
  void each(uint64_t at, uint64_t bytes, F&& f);
  int granule_;
  std::vector<Line> lines_;
};

}  // namespace drawloom::simt
