#pragma once
/// A block with its shared memory and barriers, and the cluster it belongs to.

#include "drawloom/interp/simt/warp.h"

namespace drawloom::simt {

/// A 64-bit barrier in shared memory.
struct Mbarrier {
  uint32_t address = 0;
  int64_t count = 0;        ///< arrivals that complete a phase
  int64_t pending = 0;      ///< of them, outstanding in the current phase
  int64_t bytes = 0;        ///< expected less arrived; negative while copies are ahead of what expects them
  int64_t phase = 0;        ///< phases completed
  Component component = 0;  ///< of the copies that it counts
  bool fenced = false;      ///< its initialisation is seen by the cluster and by asynchronous agents
  int init_warp = 0, init_lane = 0, init_site = 0;
  View gathering, gathering_remote;  ///< of the arrivals in the current phase: of its own block, of others
  View done, done_remote;            ///< of those of completed phases
};

/// Number 0: all threads of the block. Others: as many as those who come say.
struct NamedBarrier {
  int threads = 0, arrived = 0;
  uint32_t generation = 0;
  uint32_t members = 0, previous = 0;  ///< warps
  int site = 0;
  bool used = false;
  Component component = 0;
  View gathering;
  std::vector<Warp*> waiting;
};

struct Cluster;

struct ThreadBlock {
  Cluster* cluster = nullptr;
  int rank = 0, multiprocessor = 0;
  int64_t index[3] = {};  ///< x, y, z
  std::vector<std::byte> shared;
  std::unique_ptr<Shadow> shadow;
  std::vector<std::unique_ptr<Warp>> warps;
  std::map<uint32_t, Mbarrier> mbarriers;
  NamedBarrier barriers[16];
  /// Per warpgroup, what its warps have run as one: site, and a hash of the operands.
  std::vector<std::vector<std::pair<int, uint64_t>>> group_log;
  int64_t free_registers = 0;
  int live_warps = 0;
  int pending = 0;  ///< asynchronous operations that touch its shared memory
  Clock touched;    ///< arrivals of other blocks and copies into it: over before it may end
  bool exited = false;
};

struct Cluster {
  uint32_t serial = 0;
  std::vector<std::unique_ptr<ThreadBlock>> blocks;
  Component next_component = 0;
  Component first_stream = 0;  ///< components before it are threads
  int arrived = 0;
  View gathering, done;
  uint32_t generation = 0;
  bool finished = false;

  auto new_component() -> Component { return next_component++; }
  auto live_warps() const -> int {
    int n = 0;
    for (const auto& b : blocks) n += b->live_warps;
    return n;
  }
};

}  // namespace drawloom::simt
