/// Barriers in shared memory.
///
/// An mbarrier counts arrivals of threads and bytes of copies; a phase is over when both are at zero. Example,
/// initialised with count 1, for a copy of 1024 bytes:
///   arrive, expecting 1024 bytes   arrivals 0, bytes 1024: still phase 0
///   the copy completes 1024        bytes 0: phase 1 begins, with count 1 again
///   wait parity 0                  phase 0 is over: goes on
/// A copy that completes before it is expected makes the bytes negative, which is legal while arrivals are missing, and
/// an error when the last one has come.
///
/// A wait gives one bit of the phase that it means. The hardware believes it; here each thread's last wait is kept, so
/// the phase meant is known, and a wait that is two phases late, of which the hardware would say "not yet", is an
/// error.
///
/// Two sums of knowledge are kept apart, from the block's own arrivals and from those of other blocks: the latter are
/// taken by a wait with `cluster` only, since an ordinary wait acquires within the block.

#include "drawloom/interp/simt/device.h"

namespace drawloom::simt {
namespace {

constexpr int64_t kMostCount = (1 << 20) - 1;  // of arrivals, and of outstanding bytes

/// What one lane has done and knows. Lanes that arrive together do not vouch for each other.
auto known_to(const Warp& w, int lane) -> View {
  View out = w.view(lane);
  out.order.raise(w.base + static_cast<Component>(lane), w.clock);
  return out;
}

}  // namespace

auto Device::barrier_text(const ThreadBlock& b, const Mbarrier& m) const -> std::string {
  const auto text = shared_text(m.address);
  return b.cluster->blocks.size() == 1 ? text : str("{} of block {}", text, block_text(b));
}

void Device::init(Warp& w, const Instruction& i) {
  each_lane(w.mask, [&](int lane) {
    const Who who{.warp = &w, .lane = lane, .site = i.site};
    uint32_t at = 0;
    if (world_.stopped || !shared_address(w, code_.places[static_cast<size_t>(i.place)], lane, i.site, at)) return;
    if (!check_defined(w, i.from[0], LaneMask{1} << lane, "as a count")) return;
    const int64_t count = integer(w, i.from[0], lane);
    if (count < 1 || count > kMostCount)
      return protocol(who, str("an mbarrier of {} arrivals; it counts 1 to {}", count, kMostCount));
    if (const auto old = w.block->mbarriers.find(at); old != w.block->mbarriers.end()) {
      return protocol(
          who, str("initialises {} again, which line {} did", shared_text(at), site(old->second.init_site).loc.line()));
    }
    const std::byte zero[8] = {};
    write_shared(*w.block, at, 8, accessor(w, lane, false), who, zero);
    w.block->mbarriers[at] = {.address = at,
                              .count = count,
                              .pending = count,
                              .component = w.block->cluster->new_component(),
                              .init_warp = w.number,
                              .init_lane = lane,
                              .init_site = i.site};
  });
}

/// The barrier at an address of a block; reported when it is none yet, or may be none yet for this thread.
auto Device::find_barrier(Warp& w, ThreadBlock& b, uint32_t address, int lane, int s) -> Mbarrier* {
  const Who who{.warp = &w, .lane = lane, .site = s};
  if (b.exited) {
    protocol(who, str("uses {} of block {}, which has ended", shared_text(address), block_text(b)));
    return nullptr;
  }
  const auto found = b.mbarriers.find(address);
  if (found == b.mbarriers.end()) {
    protocol(who, str("{} is used before it is initialised", shared_text(address)));
    return nullptr;
  }
  auto& m = found->second;
  Conflict c;
  if (b.shadow->look(address, 8, accessor(w, lane, false), c)) {
    protocol(who, str("nothing orders this use of {} after its initialisation in line {}", barrier_text(b, m),
                      site(m.init_site).loc.line()));
    return nullptr;
  }
  if (&b != w.block && !m.fenced) {
    protocol(who, str("{} is used from another block, without `fence mbarrier_init` after its initialisation",
                      barrier_text(b, m)));
    return nullptr;
  }
  return &m;
}

auto Device::arrive(Warp& w, const Instruction& i) -> Next {
  for (const auto& o : i.from) {
    if (o.defined() && !check_defined(w, o, w.mask, "to arrive")) return Next::go;
  }
  // The use comes before the release: what is checked is what the thread knew.
  std::vector<std::pair<ThreadBlock*, uint32_t>> targets;
  each_lane(w.mask, [&](int lane) {
    const Who who{.warp = &w, .lane = lane, .site = i.site};
    auto& blocks = w.block->cluster->blocks;
    const int64_t rank = i.from[2].defined() ? integer(w, i.from[2], lane) : w.block->rank;
    if (rank < 0 || rank >= static_cast<int64_t>(blocks.size())) {
      return protocol(who, str("rank {} in a cluster of {} blocks", rank, blocks.size()));
    }
    uint32_t at = 0;
    if (!shared_address(w, code_.places[static_cast<size_t>(i.place)], lane, i.site, at)) return;
    ThreadBlock& b = *blocks[static_cast<size_t>(rank)];
    if (find_barrier(w, b, at, lane, i.site)) targets.emplace_back(&b, at);
  });
  if (world_.stopped) return Next::go;
  const LaneMask lanes = w.mask;
  size_t k = 0;
  each_lane(lanes, [&](int lane) {
    const Who who{.warp = &w, .lane = lane, .site = i.site};
    auto [b, at] = targets[k++];
    auto& m = b->mbarriers[at];
    if (b != w.block) b->touched.raise(w.base + static_cast<Component>(lane), w.clock);
    if (i.from[1].defined()) expect_bytes(*b, m, integer(w, i.from[1], lane), who);
    if (!world_.stopped) arrive_at(*b, m, integer(w, i.from[0], lane), known_to(w, lane), b != w.block, who);
  });
  ++w.clock;
  return Next::go;
}

void Device::arrive_at(ThreadBlock& b, Mbarrier& m, int64_t count, const View& view, bool remote, const Who& who) {
  if (count < 1) return protocol(who, str("{} arrivals at {}", count, barrier_text(b, m)));
  if (count > m.pending) {
    return protocol(who, str("{} arrivals at {}, whose phase {} lacks only {} of {}", count, barrier_text(b, m),
                             m.phase, m.pending, m.count));
  }
  m.pending -= count;
  (remote ? m.gathering_remote : m.gathering).join(view);
  ++progress_;
  finish_phase(b, m, who);
}

void Device::expect(Warp& w, const Instruction& i) {
  if (!check_defined(w, i.from[0], w.mask, "as a byte count")) return;
  each_lane(w.mask, [&](int lane) {
    uint32_t at = 0;
    if (world_.stopped || !shared_address(w, code_.places[static_cast<size_t>(i.place)], lane, i.site, at)) return;
    if (auto* m = find_barrier(w, *w.block, at, lane, i.site)) {
      expect_bytes(*w.block, *m, integer(w, i.from[0], lane), {.warp = &w, .lane = lane, .site = i.site});
    }
  });
}
void Device::expect_bytes(ThreadBlock& b, Mbarrier& m, int64_t bytes, const Who& who) {
  m.bytes += bytes;
  if (bytes < 0 || bytes > kMostCount || m.bytes > kMostCount) {
    protocol(who, str("{} expects {} bytes, {} in all; at most {}", barrier_text(b, m), bytes, m.bytes, kMostCount));
  }
  ++progress_;
}

void Device::complete_bytes(ThreadBlock& b, Mbarrier& m, int64_t bytes, const Who& who) {
  b.touched.raise(m.component, static_cast<uint32_t>(m.phase) + 1);
  m.bytes -= bytes;
  if (m.bytes < -kMostCount)
    return protocol(who, str("{} is {} bytes ahead of what it expects", barrier_text(b, m), -m.bytes));
  ++progress_;
  finish_phase(b, m, who);
}

void Device::finish_phase(ThreadBlock& b, Mbarrier& m, const Who& who) {
  if (m.pending != 0 || m.bytes > 0) return;
  if (m.bytes < 0) {
    return protocol(who,
                    str("phase {} of {} gets {} bytes more than it expects", m.phase, barrier_text(b, m), -m.bytes));
  }
  ++m.phase;
  m.pending = m.count;
  m.done.join(m.gathering);
  m.done_remote.join(m.gathering_remote);
  // Copies counted in this phase have the clock `phase + 1` as it was then.
  m.done.order.raise(m.component, static_cast<uint32_t>(m.phase));
  m.gathering = {}, m.gathering_remote = {};
}

/// The thread waits for the phase after the one it waited for last, or for that one again; its first wait is what the
/// hardware makes of it. Two phases later the parity says the opposite of the truth.
auto Device::phase_ready(Warp& w, Mbarrier& m, int lane, int64_t parity, int s) -> bool {
  const Who who{.warp = &w, .lane = lane, .site = s};
  if (parity != 0 && parity != 1) {
    protocol(who, str("waits for parity {} of {}", parity, barrier_text(*w.block, m)));
    return false;
  }
  const auto last = w.waited.find({m.address, lane});
  int64_t wanted = (m.phase & 1) == parity ? m.phase : m.phase - 1;
  if (last != w.waited.end()) wanted = (last->second & 1) == parity ? last->second : last->second + 1;
  if (m.phase >= wanted + 2) {
    protocol(
        who,
        str("waits for phase {} of {} (parity {}), which is in phase {} already: the parity no longer tells them apart",
            wanted, barrier_text(*w.block, m), parity, m.phase));
    return false;
  }
  return m.phase > wanted;
}

auto Device::wait(Warp& w, const Instruction& i) -> Next {
  if (!check_defined(w, i.from[0], w.mask, "as a parity")) return Next::go;
  bool ready = true;
  std::vector<Mbarrier*> barriers;
  each_lane(w.mask, [&](int lane) {
    uint32_t at = 0;
    if (world_.stopped || !shared_address(w, code_.places[static_cast<size_t>(i.place)], lane, i.site, at)) return;
    auto* m = find_barrier(w, *w.block, at, lane, i.site);
    if (!m) return;
    barriers.push_back(m);
    ready = phase_ready(w, *m, lane, integer(w, i.from[0], lane), i.site) && ready;
  });
  if (world_.stopped) return Next::go;
  if (!ready) return Next::blocked;
  // All lanes at one barrier, the usual case: the warp's common view learns it once.
  bool same = true;
  for (const auto* m : barriers) same = same && m == barriers[0];
  size_t k = 0;
  each_lane(w.mask, [&](int lane) {
    Mbarrier& m = *barriers[k++];
    w.waited[{m.address, lane}] = m.phase - 1;
    if (same) return;
    w.acquire(LaneMask{1} << lane, m.done);
    if (i.flag) w.acquire(LaneMask{1} << lane, m.done_remote);
  });
  if (same) {
    w.acquire(w.mask, barriers[0]->done);
    if (i.flag) w.acquire(w.mask, barriers[0]->done_remote);
  }
  return Next::go;
}

}  // namespace drawloom::simt
