/// Which blocks are resident, and who goes on next.
///
/// A missing wait shows on the chip only when the order of events happens to be bad. Here the order is chosen: one run
/// is one order, and the policies are the extremes between which the hardware lies. Example, a TMA load of which the
/// consumer forgets to wait:
///   earliest  the copy is done at its issue, and the values are right by luck; the clocks still report the race
///   latest    copies wait until no warp can go on, then the newest is done; the consumer reads what nobody wrote
/// A warp runs until it blocks; random order also puts it aside before some accesses to memory. So a run is a sequence
/// of whole stretches of warps and whole copies, and which accesses were ordered is left to the clocks (shadow.cpp): a
/// race is found even where this run's order hid it.
///
/// A blocked warp is tried again only after `progress_` has moved: every arrival, completion and exit moves it. When no
/// warp can go on and no copy is left, nothing will ever move it again, and that is a deadlock. Blocks take room as on
/// the chip, cluster by cluster in the order of their numbers: a kernel that waits for a block which is not resident
/// yet hangs.

#include <algorithm>

#include "drawloom/interp/simt/device.h"

namespace drawloom::simt {
namespace {

// Of one multiprocessor of the H200.
constexpr int64_t kSharedBytes = 233472, kReservedPerBlock = 1024, kRegisters = 65536, kThreads = 2048, kBlocks = 32;

/// What the blocks of one multiprocessor take.
struct Taken {
  int64_t shared = 0, registers = 0, threads = 0, blocks = 0;
};
void add_block(Taken& l, const Code& code) {
  l.shared += code.launch->shared_bytes + kReservedPerBlock;
  l.registers += static_cast<int64_t>(entry_registers(*code.launch, code.threads)) * code.threads;
  l.threads += code.threads;
  l.blocks += 1;
}
auto fits(Taken l, const Code& code) -> bool {
  add_block(l, code);
  return l.shared <= kSharedBytes && l.registers <= kRegisters && l.threads <= kThreads && l.blocks <= kBlocks;
}

}  // namespace

Device::Device(World& world, const Code& code, const int64_t* grid)
    : world_(world), code_(code), grid_{grid[0], grid[1], grid[2]}, first_cluster_(world.next_cluster) {
  const auto& l = *code.launch;
  warps_per_block_ = (code.threads + 31) / 32;
  clusters_ = (grid_[0] / l.cluster_x) * (grid_[1] / l.cluster_y) * (grid_[2] / l.cluster_z);
  // A cluster must find room at once.
  multiprocessors_ = std::max(world.options.multiprocessors, l.cluster_x * l.cluster_y * l.cluster_z);
}

void Device::run() {
  const auto& l = *code_.launch;
  if (!fits({}, code_)) {
    return protocol(
        {},
        str("a block of {} threads with {} registers each and {} bytes of shared memory does not fit a multiprocessor",
            code_.threads, entry_registers(l, code_.threads), l.shared_bytes));
  }
  Taken several;
  // One less: `fits` adds the last.
  for (int n = 1; n < l.min_blocks; ++n) add_block(several, code_);
  if (!fits(several, code_))
    return protocol({}, str("a multiprocessor does not hold the {} blocks that the launch asks for", l.min_blocks));
  if (grid_[0] % l.cluster_x != 0 || grid_[1] % l.cluster_y != 0 || grid_[2] % l.cluster_z != 0) {
    return protocol({}, "the grid is no multiple of the cluster");
  }
  while (!world_.stopped) {
    place_clusters();
    if (world_.options.moment == AsyncMoment::random && !pending_.empty() && world_.random.chance(30)) {
      perform_async();
      continue;
    }
    if (Warp* w = choose_warp()) {
      run_warp(*w);
    } else if (!perform_async()) {
      if (warps_.empty() && next_cluster_ == clusters_) break;
      report_deadlock();
    }
  }
}

void Device::place_clusters() {
  while (next_cluster_ < clusters_ && place_cluster(next_cluster_)) ++next_cluster_;
}

auto Device::place_cluster(int64_t number) -> bool {
  std::vector<Taken> loads(static_cast<size_t>(multiprocessors_));
  for (const auto& c : running_) {
    for (const auto& b : c->blocks) {
      if (!c->finished) add_block(loads[static_cast<size_t>(b->multiprocessor)], code_);
    }
  }
  const auto& l = *code_.launch;
  const int size[3] = {l.cluster_x, l.cluster_y, l.cluster_z};
  const int64_t across = grid_[0] / size[0], down = grid_[1] / size[1];
  const int64_t at[3] = {number % across, number / across % down, number / across / down};
  auto cluster = std::make_unique<Cluster>();
  for (int rank = 0; rank < size[0] * size[1] * size[2]; ++rank) {
    const auto least = std::min_element(loads.begin(), loads.end(),
                                        [](const Taken& a, const Taken& b) { return a.blocks < b.blocks; });
    if (!fits(*least, code_)) return false;
    add_block(*least, code_);
    auto b = std::make_unique<ThreadBlock>();
    b->cluster = cluster.get(), b->rank = rank, b->multiprocessor = static_cast<int>(least - loads.begin());
    const int inside[3] = {rank % size[0], rank / size[0] % size[1], rank / size[0] / size[1]};
    for (int d = 0; d < 3; ++d) b->index[d] = at[d] * size[d] + inside[d];
    cluster->blocks.push_back(std::move(b));
  }
  cluster->serial = world_.next_cluster++;
  for (auto& b : cluster->blocks) make_warps(*b);
  cluster->first_stream = cluster->next_component;
  for (auto& b : cluster->blocks) {
    for (auto& w : b->warps) w->wgmma.component = cluster->new_component();
    for (auto& n : b->barriers) n.component = cluster->new_component();
  }
  running_.push_back(std::move(cluster));
  ++progress_;
  return true;
}

void Device::make_warps(ThreadBlock& b) {
  const auto bytes = static_cast<uint64_t>(code_.launch->shared_bytes);
  b.shared.resize(bytes);
  // Not zero, so that what is read before it was written is wrong as well.
  for (auto& x : b.shared) x = static_cast<std::byte>(0xC7);
  b.shadow = std::make_unique<Shadow>(bytes, code_.shared_granule, false);
  b.group_log.resize(static_cast<size_t>(warps_per_block_ + 3) / 4);
  for (int n = 0; n < warps_per_block_; ++n) {
    auto w = std::make_unique<Warp>();
    w->block = &b, w->number = n;
    w->base = b.cluster->next_component;
    b.cluster->next_component += 32;
    const int lanes = std::min(32, code_.threads - 32 * n);
    w->live = w->mask = lanes == 32 ? ~LaneMask{0} : (LaneMask{1} << lanes) - 1;
    w->slots.resize(static_cast<size_t>(code_.slots));
    w->poison.resize(w->slots.size());
    w->cause.resize(w->slots.size());
    for (const auto& r : code_.registers) w->registers.emplace_back(static_cast<size_t>(r.elements));
    w->register_count = entry_registers(*code_.launch, code_.threads);
    for (size_t r = 0; r < code_.roles.size(); ++r) {
      const auto& role = code_.roles[r];
      if (n >= role.first_warp && n < role.first_warp + role.warps) w->role = static_cast<int>(r);
    }
    for (int lane = 0; lane < 32; ++lane) w->slots[static_cast<size_t>(code_.thread_slot)].i[lane] = n * 32 + lane;
    for (int d = 0; d < 3; ++d) {
      if (code_.block_slots[d] != kNone) w->slots[static_cast<size_t>(code_.block_slots[d])].i[0] = b.index[d];
    }
    warps_.push_back(w.get());
    b.warps.push_back(std::move(w));
  }
  b.live_warps = warps_per_block_;
}

auto Device::choose_warp() -> Warp* {
  std::vector<Warp*> can;
  for (Warp* w : warps_) {
    if (w->state == Warp::State::ready || w->seen_progress != progress_) can.push_back(w);
  }
  if (can.empty()) return nullptr;
  const auto first_by = [&](auto&& before) { return *std::min_element(can.begin(), can.end(), before); };
  switch (world_.options.order) {
    case WarpOrder::in_order: return can.front();
    case WarpOrder::random: return can[world_.random.next() % can.size()];
    case WarpOrder::producer_first: return first_by([](const Warp* a, const Warp* b) { return a->role < b->role; });
    case WarpOrder::consumer_first: return first_by([](const Warp* a, const Warp* b) { return a->role > b->role; });
    case WarpOrder::latest:
      return first_by([](const Warp* a, const Warp* b) { return a->ready_since > b->ready_since; });
  }
  __builtin_unreachable();
}

void Device::start(AsyncOp op) {
  op.number = next_async_++;
  pending_.push_back(std::move(op));
}

auto Device::perform_async() -> bool {
  if (pending_.empty() || world_.stopped) return false;
  size_t k = 0;
  if (world_.options.moment == AsyncMoment::latest) k = pending_.size() - 1;
  if (world_.options.moment == AsyncMoment::random) k = world_.random.next() % pending_.size();
  // The oldest of its stream goes first.
  for (size_t i = 0; i < k && pending_[k].stream; ++i) {
    if (pending_[i].stream == pending_[k].stream) k = i;
  }
  const AsyncOp op = std::move(pending_[k]);
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(k));
  op.run();
  ++progress_;
  return true;
}

void Device::exit_warp(Warp& w) {
  check_exit(w);
  w.state = Warp::State::done;
  std::erase(warps_, &w);
  ThreadBlock& b = *w.block;
  b.free_registers += static_cast<int64_t>(w.register_count) * 32;
  ++progress_;
  if (--b.live_warps == 0) exit_block(b);
  cluster_check(*b.cluster);
  // Its values are not needed any more; its clock is, by those who touch what it touched.
  w.slots = {}, w.registers = {}, w.poison = {}, w.cause = {};
}

/// Whether its threads waited for all that others do to its shared memory, in whatever order it happened this time.
void Device::check_touched(ThreadBlock& b) {
  Clock known;
  for (const auto& w : b.warps) {
    known.join(w->all.order);
    for (const auto& more : w->extra) {
      if (more) known.join(more->order);
    }
  }
  for (Component c = 0; c < b.touched.size(); ++c) {
    if (known.at(c) >= b.touched.at(c)) continue;
    std::string what = "another block may still arrive at its barriers";
    for (const auto& [at, m] : b.mbarriers) {
      if (m.component == c) what = str("copies that {} counts may still write its shared memory", shared_text(at));
    }
    return protocol({.warp = b.warps[0].get()}, str("block {} ends while {}", block_text(b), what));
  }
}

void Device::exit_block(ThreadBlock& b) {
  b.exited = true;
  const Who who{.warp = b.warps[0].get()};
  check_touched(b);
  for (const auto& [at, m] : b.mbarriers) {
    if (m.bytes != 0 && b.pending == 0) {
      protocol(who, str("block {} ends while {} waits for {} more bytes", block_text(b), barrier_text(b, m), m.bytes));
    }
  }
  if (b.pending > 0) {
    protocol(who, str("block {} ends while {} asynchronous copies or products still use its shared memory",
                      block_text(b), b.pending));
  }
  for (const auto& w : b.warps) {
    const auto& log = b.group_log[static_cast<size_t>(w->number / 4)];
    if (w->group_steps == log.size()) continue;
    protocol({.warp = w.get(), .site = log[w->group_steps].first}, "its warpgroup ran this and it did not");
  }
  Cluster& c = *b.cluster;
  c.finished = std::all_of(c.blocks.begin(), c.blocks.end(), [](const auto& x) { return x->exited; });
  if (!c.finished) return;
  for (auto& x : c.blocks) x->shared = {}, x->shadow = nullptr;
}

/// Who waits for what: warps of one role that wait for the same thing are one line, mbarriers come first.
void Device::report_deadlock() {
  struct Group {
    bool mbarrier = false;
    Loc loc;
    std::vector<std::string> numbers;
    std::string where, what;
  };
  std::vector<Group> groups;
  for (const Warp* w : warps_) {
    const auto& i = code_.instructions[static_cast<size_t>(w->pc)];
    Group g{.mbarrier = i.op == Op::Wait,
            .loc = site(i.site).loc,
            .numbers = {to_text(w->number)},
            .where = {},
            .what = waiting_text(*w)};
    const auto role =
        w->role == kNone ? std::string() : str(" (\"{}\")", code_.roles[static_cast<size_t>(w->role)].name);
    g.where = str("{} of block {}", role, block_text(*w->block));
    const auto same = [&](const Group& o) {
      return o.where == g.where && o.what == g.what && o.loc.line() == g.loc.line();
    };
    const auto known = std::find_if(groups.begin(), groups.end(), same);
    if (known == groups.end()) {
      groups.push_back(std::move(g));
    } else {
      known->numbers.push_back(g.numbers[0]);
    }
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.mbarrier > b.mbarrier; });
  std::vector<std::string> lines;
  for (const auto& g : groups) {
    const bool one = g.numbers.size() == 1;
    lines.push_back(str("{} {}{} {} {} (line {})", one ? "warp" : "warps", join(g.numbers, ", "), g.where,
                        one ? "waits" : "wait", g.what, g.loc.line()));
    if (lines.size() == 12) break;
  }
  if (groups.empty()) lines.push_back("no block can be placed");
  world_.report_error(Diag(DiagKind::device_deadlock, groups.empty() ? site(0).loc : groups[0].loc, join(lines, "; ")),
                      true);
}

/// What a warp waits for.
auto Device::waiting_text(const Warp& w) -> std::string {
  const auto& i = code_.instructions[static_cast<size_t>(w.pc)];
  if (i.op == Op::Wait) {
    std::string what;
    each_lane(w.mask, [&](int lane) {
      uint32_t at = 0;
      if (!what.empty() ||
          !shared_address(const_cast<Warp&>(w), code_.places[static_cast<size_t>(i.place)], lane, i.site, at))
        return;
      const auto m = w.block->mbarriers.find(at);
      if (m == w.block->mbarriers.end()) return;
      const auto& b = m->second;
      what = str("for the phase of parity {} of {}: phase {} lacks {} of {} arrivals and {} bytes",
                 integer(w, i.from[0], lane), barrier_text(*w.block, b), b.phase, b.pending, b.count, b.bytes);
    });
    return what;
  }
  if (i.op == Op::Sync) {
    const auto& n = w.block->barriers[i.from[0].defined() ? integer(w, i.from[0], 0) : 0];
    const auto how = static_cast<SyncKind>(i.sub);
    if (how == SyncKind::Cluster || how == SyncKind::ClusterWait) {
      return str("for its cluster: {} of {} warps came", w.block->cluster->arrived, w.block->cluster->live_warps());
    }
    return str("at {}: {} of {} threads came", site(i.site).words, n.arrived, n.threads);
  }
  if (i.op == Op::SetRegisters) {
    return str("for registers: {} more for each of 32 threads, {} are free in the block", i.number - w.register_count,
               w.block->free_registers);
  }
  if (i.op == Op::WaitGroup && static_cast<AsyncGroup>(i.sub) == AsyncGroup::Wgmma) {
    return str("at {}, of whose wgmmas other warps of its warpgroup have not issued all", site(i.site).words);
  }
  return str("at {}", site(i.site).words);
}

}  // namespace drawloom::simt
