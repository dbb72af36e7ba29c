/// Groups of asynchronous operations.
///
/// A commit closes a group, a wait leaves the newest n groups pending. Example: copies 1, 2, commit, copy 3, commit:
/// groups end at 2 and 3; a wait for all but 1 covers the operations up to 2, and the view learns the stream's clock 2.
///
/// What a wait covers must be done for the warp to go on, but only that is learned: operations that happened to be done
/// early are still unordered.

#include <algorithm>

#include "drawloom/interp/simt/device.h"

namespace drawloom::simt {

auto Device::stream(Warp& w, int lane, AsyncGroup group) -> Stream& {
  if (group == AsyncGroup::Wgmma) return w.wgmma;
  auto& streams = group == AsyncGroup::CpAsync ? w.cp_async : w.bulk;
  const auto [at, is_new] = streams.try_emplace(lane);
  if (is_new) {
    at->second.component = w.block->cluster->new_component();
    at->second.write_component =
        group == AsyncGroup::CpAsync ? at->second.component : w.block->cluster->new_component();
  }
  return at->second;
}

void Device::commit(Warp& w, const Instruction& i) {
  const auto group = static_cast<AsyncGroup>(i.sub);
  if (group == AsyncGroup::Wgmma) {
    if (need_whole(w, i)) w.wgmma.commit();
    return;
  }
  each_lane(w.mask, [&](int lane) { stream(w, lane, group).commit(); });
}

/// A group of wgmmas is the whole warpgroup's: none of them starts before all four warps have issued it, so that a wait
/// of one warp says that all have read their operands. Accumulators are each warp's own.
auto Device::wait_wgmma(Warp& w, const Instruction& i) -> Next {
  if (!need_whole(w, i)) return Next::go;
  const uint32_t last = w.wgmma.covered(i.number);
  const auto& warps = w.block->warps;
  const size_t first = static_cast<size_t>(w.number / 4 * 4), end = std::min(warps.size(), first + 4);
  View over;
  for (size_t k = first; k < end; ++k) {
    const auto& s = warps[k]->wgmma;
    if (s.issued() < last || !s.all_set(s.done, w.wgmma.waited, last)) return Next::blocked;
    over.order.raise(s.component, last);
  }
  w.wgmma.waited = std::max(w.wgmma.waited, last);
  w.acquire(w.live, over);
  return Next::go;
}

auto Device::wait_group(Warp& w, const Instruction& i) -> Next {
  const auto group = static_cast<AsyncGroup>(i.sub);
  if (group == AsyncGroup::Wgmma) return wait_wgmma(w, i);
  const bool reads = group == AsyncGroup::BulkRead;
  bool ready = true;
  each_lane(w.mask, [&](int lane) {
    const auto& s = stream(w, lane, group);
    ready = ready && s.all_set(reads ? s.read : s.done, reads ? s.read_waited : s.waited, s.covered(i.number));
  });
  if (!ready) return Next::blocked;
  each_lane(w.mask, [&](int lane) {
    auto& s = stream(w, lane, group);
    const uint32_t last = s.covered(i.number);
    View over;
    over.order.raise(s.component, last);
    s.read_waited = std::max(s.read_waited, last);
    if (!reads) {
      over.order.raise(s.write_component, last);
      s.waited = std::max(s.waited, last);
    }
    w.acquire(LaneMask{1} << lane, over);
  });
  return Next::go;
}

void Device::check_exit(Warp& w) {
  const Who who{.warp = &w, .site = code_.instructions[static_cast<size_t>(w.pc - 1)].site};
  if (w.wgmma.issued() > w.wgmma.waited) {
    protocol(who, str("ends with {} wgmmas that nobody waited for", w.wgmma.issued() - w.wgmma.waited));
  }
  for (const auto& [lane, s] : w.bulk) {
    if (s.issued() > s.read_waited) {
      protocol({.warp = &w, .lane = lane, .site = who.site},
               str("ends while {} of its bulk stores may still read shared memory", s.issued() - s.read_waited));
    }
  }
}

}  // namespace drawloom::simt
