// What the lanes of a warp know.
//
// Nearly all synchronisation is by whole warps, so one view (`all`) stands for 32 lanes. A lane that learns something
// alone, as the elected one that waits at an mbarrier, gets a view of its own (`extra`) until the warp meets again.
// Example: lane 0 waits for a copy and the others go on: a read by lane 5 is a race, until `sync warp` has joined what
// lane 0 knows into `all`.
#include "drawloom/interp/simt/warp.h"

namespace drawloom::simt {

void Warp::acquire(LaneMask lanes, const View& what) {
  if (lanes == live) {
    all.join(what);
    for (auto& more : extra) {
      if (more) more->join(what);
    }
    return;
  }
  each_lane(lanes, [&](int lane) {
    auto& more = extra[static_cast<size_t>(lane)];
    if (!more) more = std::make_unique<View>(all);
    more->join(what);
  });
}

auto Warp::release(LaneMask lanes) -> View {
  View out = all;
  each_lane(lanes, [&](int lane) {
    if (const auto& more = extra[static_cast<size_t>(lane)]) out.join(*more);
    out.order.raise(base + static_cast<Component>(lane), clock);
  });
  // What these lanes do from now on is not part of what they released.
  ++clock;
  return out;
}

/// Nothing is lost with the single views: they went into `what` when the lanes arrived.
void Warp::settle(const View& what) {
  all.join(what);
  for (auto& more : extra) more = nullptr;
}

void Warp::meet(LaneMask lanes) {
  const View met = release(lanes);
  if (lanes == live) return settle(met);
  acquire(lanes, met);
}

/// That a fence was run matters only to those who are ordered after it, so all lanes may know it at once.
void Warp::fence(LaneMask lanes, bool shared, Component first_stream) {
  View fenced;
  auto& proxy = shared ? fenced.proxy_shared : fenced.proxy_global;
  each_lane(lanes, [&](int lane) {
    proxy.raise(base + static_cast<Component>(lane), clock);
    const Clock& known = view(lane).order;
    for (Component c = first_stream; c < known.size(); ++c) proxy.raise(c, known.at(c));
  });
  ++clock;
  acquire(live, fenced);
}

}  // namespace drawloom::simt
