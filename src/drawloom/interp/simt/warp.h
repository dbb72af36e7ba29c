#pragma once
/// What one warp knows: where it is, its values, and what is over for it.

#include <array>
#include <map>
#include <memory>

#include "drawloom/interp/simt/code.h"
#include "drawloom/interp/simt/shadow.h"

namespace drawloom::simt {

struct ThreadBlock;
using LaneMask = uint32_t;

union Lanes {
  int64_t i[32];
  double f[32];
};

/// One register of every lane.
struct RegisterElement {
  Lanes value;
  LaneMask undefined = ~LaneMask{0};
  bool changed = true;      ///< written since the last `fence wgmma`
  uint32_t written_by = 0;  ///< number of the newest wgmma that writes it, 0: none
  uint32_t read_by = 0;     ///< of the newest wgmma that reads it
  int shape = 0;            ///< of the wgmma that writes it
};

/// Asynchronous operations that complete in committed groups.
struct Stream {
  Component component = 0;        ///< their reads of shared memory; of cp.async and wgmma, all they do
  Component write_component = 0;  ///< of bulk stores: what they write
  std::vector<uint32_t> groups;   ///< number of the last operation of each committed group
  std::vector<bool> read, done;   ///< of each operation; numbers start at 1
  uint32_t committed = 0;         ///< operations in groups
  uint32_t read_waited = 0, waited = 0;

  auto issued() const -> uint32_t { return static_cast<uint32_t>(done.size()); }
  auto issue() -> uint32_t {
    read.push_back(false), done.push_back(false);
    return issued();
  }
  void commit() { groups.push_back(committed = issued()); }
  /// The last operation that a wait for all but `pending` groups covers.
  auto covered(int pending) const -> uint32_t {
    const int n = static_cast<int>(groups.size()) - pending;
    return n > 0 ? groups[static_cast<size_t>(n - 1)] : 0;
  }
  auto all_set(const std::vector<bool>& which, uint32_t from, uint32_t last) const -> bool {
    for (uint32_t i = from; i < last; ++i) {
      if (!which[i]) return false;
    }
    return true;
  }
};

struct Warp {
  enum class State : uint8_t { ready, blocked, done };
  struct Frame {
    LaneMask mask = 0, other = 0;
    int64_t iteration = 0;
  };

  ThreadBlock* block = nullptr;
  int number = 0;  ///< in its block
  int role = kNone;
  Component base = 0;  ///< of its lane 0
  LaneMask live = 0, mask = 0;
  int pc = 0;
  State state = State::ready;
  bool arrived = false;  ///< at the barrier it stands before
  bool yielded = false;  ///< it already let others go first
  bool cluster_arrived = false;
  uint32_t cluster_ticket = 0;  ///< generation of the cluster barrier at which it arrived
  uint64_t seen_progress = 0;   ///< of the device, when it was last blocked
  uint64_t ready_since = 0;
  int register_count = 0;
  std::vector<Frame> frames;
  std::vector<Lanes> slots;
  std::vector<LaneMask> poison;  ///< per slot: lanes that mean nothing
  std::vector<int> cause;        ///< per slot: place of the load that began it
  std::vector<std::vector<RegisterElement>> registers;
  Stream wgmma;
  size_t group_steps = 0;                              ///< entries of its warpgroup's log that it has run
  std::map<int, Stream> bulk, cp_async;                ///< by lane
  std::map<std::pair<uint32_t, int>, int64_t> waited;  ///< last phase by mbarrier and lane

  uint32_t clock = 1;
  View all;                                     ///< what is over for every lane
  std::array<std::unique_ptr<View>, 32> extra;  ///< of lanes that know more

  auto whole() const -> bool { return mask == live; }
  auto view(int lane) const -> const View& {
    const auto& more = extra[static_cast<size_t>(lane)];
    return more ? *more : all;
  }
  void acquire(LaneMask lanes, const View& what);
  /// What these lanes have done and know, for somebody else to acquire.
  auto release(LaneMask lanes) -> View;
  /// All lanes know `what`, which holds all that any of them knew.
  void settle(const View& what);
  /// These lanes have waited for each other.
  void meet(LaneMask lanes);
  /// Ordinary writes of these lanes, and cp.asyncs that they know to be over (components from `first_stream` on), are
  /// seen by asynchronous agents.
  void fence(LaneMask lanes, bool shared, Component first_stream);
};

/// Calls `f(lane)` for each lane of a mask.
template <typename F>
void each_lane(LaneMask mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(__builtin_ctz(mask));
}

}  // namespace drawloom::simt
