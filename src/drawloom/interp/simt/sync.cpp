/// Barriers among threads, fences, and the register pool.
///
/// A barrier is an exchange of knowledge: each comer puts in what it has done and knows (`release`), and all who wait
/// take out the sum. Example, warps 0 and 1 at `sync block` of 64 threads: warp 0 comes, 32 of 64, blocked; warp 1
/// comes, 64 of 64: both know whatever either knew, and go on. Who only arrives (`sync arrive`) puts in and takes
/// nothing.
///
/// The hardware counts threads and does not know who they are: two groups that use one barrier number at the same time
/// mix without any error. Here members are noted, and the second use of a number by others must be ordered after the
/// first.
///
/// A cluster's barrier is split in two, so a warp keeps the generation at which it arrived (a ticket) and goes on when
/// that generation is over. Warps that have ended do not count.

#include <algorithm>

#include "drawloom/interp/simt/device.h"

namespace drawloom::simt {

auto Device::sync(Warp& w, const Instruction& i) -> Next {
  const auto how = static_cast<SyncKind>(i.sub);
  if (how == SyncKind::Warp) {
    w.meet(w.mask);
    return Next::go;
  }
  if (!need_whole(w, i)) return Next::go;
  switch (how) {
    case SyncKind::Block: return sync_named(w, i, 0, warps_per_block_ * 32, true);
    case SyncKind::Named:
    case SyncKind::Arrive: {
      if (!check_defined(w, i.from[0], w.mask, "as a barrier's number")) return Next::go;
      const int64_t id = integer(w, i.from[0], 0);
      bool same = true;
      each_lane(w.mask, [&](int lane) { same = same && integer(w, i.from[0], lane) == id; });
      if (!same || id < 1 || id > 15) {
        protocol({.warp = &w, .site = i.site},
                 same ? str("barrier {}; their numbers are 1 to 15", id) : "the lanes name different barriers");
        return Next::go;
      }
      return sync_named(w, i, static_cast<int>(id), i.number, how == SyncKind::Named);
    }
    case SyncKind::Cluster: return sync_cluster(w, i, true, true);
    case SyncKind::ClusterArrive: return sync_cluster(w, i, true, false);
    case SyncKind::ClusterWait: return sync_cluster(w, i, false, true);
    case SyncKind::Warp: break;
  }
  return Next::go;
}

/// Notes that a warp came; false when it must not have.
auto Device::join_group(Warp& w, NamedBarrier& n, int id, int threads, int s) -> bool {
  const Who who{.warp = &w, .site = s};
  const uint32_t bit = 1u << w.number;
  const std::string name = id == 0 ? "the block's barrier" : str("barrier {}", id);
  std::string problem;
  if (n.arrived != 0 && n.threads != threads) {
    problem = str("{} takes {} threads here and {} in line {}", name, threads, n.threads, site(n.site).loc.line());
  } else if ((n.members & bit) != 0) {
    problem = str("comes to {} twice before its other threads did", name);
  } else if (n.used && (n.previous & bit) == 0 && w.all.order.at(n.component) < n.generation) {
    // Who was not in the round before must know that it is over: else two groups may mix.
    problem = str("{} is used by another group at the same time (line {})", name, site(n.site).loc.line());
  } else if (n.arrived + 32 > threads) {
    problem = str("{} gets more than its {} threads", name, threads);
  }
  if (!problem.empty()) {
    protocol(who, problem);
    return false;
  }
  n.threads = threads, n.site = s;
  n.members |= bit;
  n.arrived += 32;
  n.gathering.join(w.release(w.live));
  return true;
}

auto Device::sync_named(Warp& w, const Instruction& i, int id, int threads, bool waits) -> Next {
  auto& n = w.block->barriers[id];
  // Tried again before the last one came: it is counted already, and the last one moves it on.
  if (w.arrived) return Next::blocked;
  if (!join_group(w, n, id, threads, i.site)) return Next::go;
  if (n.arrived < n.threads) {
    if (!waits) return Next::go;
    w.arrived = true;
    n.waiting.push_back(&w);
    return Next::blocked;
  }
  n.generation += 1;
  View done = std::move(n.gathering);
  done.order.raise(n.component, n.generation);
  for (Warp* other : n.waiting) {
    other->settle(done);
    other->arrived = false;
    other->state = Warp::State::ready;
    ++other->pc;
  }
  if (waits) w.settle(done);
  n.waiting.clear();
  n.gathering = {};
  n.previous = n.members, n.members = 0, n.arrived = 0, n.used = true;
  ++progress_;
  return Next::go;
}

auto Device::sync_cluster(Warp& w, const Instruction& i, bool arrives, bool waits) -> Next {
  Cluster& c = *w.block->cluster;
  const Who who{.warp = &w, .site = i.site};
  if (arrives && !w.arrived) {
    if (w.cluster_arrived) {
      protocol(who, "arrives at the cluster's barrier twice without waiting");
      return Next::go;
    }
    w.cluster_arrived = true;
    w.cluster_ticket = c.generation;
    c.arrived += 1;
    c.gathering.join(w.release(w.live));
    w.arrived = waits;
    cluster_check(c);
  }
  if (!waits) return Next::go;
  if (!w.cluster_arrived) {
    protocol(who, "waits at the cluster's barrier without having arrived");
    return Next::go;
  }
  if (c.generation == w.cluster_ticket) return Next::blocked;
  w.acquire(w.live, c.done);
  w.cluster_arrived = w.arrived = false;
  return Next::go;
}

/// Completes the cluster's barrier when every warp that has not ended arrived.
void Device::cluster_check(Cluster& c) {
  if (c.arrived == 0) return;
  for (const auto& b : c.blocks) {
    for (const auto& w : b->warps) {
      const bool here = w->cluster_arrived && w->cluster_ticket == c.generation;
      if (w->state != Warp::State::done && !here) return;
    }
  }
  c.generation += 1;
  c.done = std::move(c.gathering);
  c.gathering = {};
  c.arrived = 0;
  ++progress_;
}

void Device::fence(Warp& w, const Instruction& i) {
  const auto how = static_cast<FenceKind>(i.sub);
  if (how == FenceKind::ProxyShared || how == FenceKind::MbarrierInit) {
    for (auto& [at, m] : w.block->mbarriers) {
      if (m.init_warp == w.number && (w.mask >> m.init_lane & 1) != 0) m.fenced = true;
    }
  }
  switch (how) {
    case FenceKind::ProxyShared: return w.fence(w.mask, true, w.block->cluster->first_stream);
    case FenceKind::ProxyGlobal: return w.fence(w.mask, false, w.block->cluster->first_stream);
    case FenceKind::Wgmma:
      if (!need_whole(w, i)) return;
      for (auto& buffer : w.registers) {
        for (auto& e : buffer) e.changed = false;
      }
      return;
    // Order among threads is modelled by barriers alone, so memory fences have nothing to add.
    case FenceKind::MbarrierInit:
    case FenceKind::Block:
    case FenceKind::Device:
    case FenceKind::System: return;
  }
}

auto Device::set_registers(Warp& w, const Instruction& i) -> Next {
  if (!need_whole(w, i)) return Next::go;
  ThreadBlock& b = *w.block;
  const int64_t more = static_cast<int64_t>(i.number - w.register_count) * 32;
  if (more > b.free_registers) return Next::blocked;
  if (!same_in_group(w, i, str("set_registers {}", i.number))) return Next::go;
  b.free_registers -= more;
  w.register_count = i.number;
  ++progress_;
  return Next::go;
}

}  // namespace drawloom::simt
