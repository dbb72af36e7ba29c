#pragma once
/// Vector clocks. A component is a thread, or a stream of asynchronous operations that complete in groups: the copies that
/// an mbarrier counts (clock: phase + 1), the wgmmas of a warp, the bulk copies or cp.asyncs of a thread (clock: number of
/// the operation). Components number the agents of one cluster; clusters are ordered by nothing but launches.

#include <cstdint>
#include <vector>

namespace drawloom::simt {

using Component = uint32_t;

class Clock {
 public:
  auto at(Component c) const -> uint32_t { return c < at_.size() ? at_[c] : 0; }
  auto size() const -> Component { return static_cast<Component>(at_.size()); }
  void raise(Component c, uint32_t value) {
    if (c >= at_.size()) at_.resize(c + 1);
    if (at_[c] < value) at_[c] = value;
  }
  void join(const Clock& other) {
    if (at_.size() < other.at_.size()) at_.resize(other.at_.size());
    for (size_t i = 0; i < other.at_.size(); ++i) {
      if (at_[i] < other.at_[i]) at_[i] = other.at_[i];
    }
  }

 private:
  std::vector<uint32_t> at_;
};

/// What somebody knows to be over: of `order`, everything; of the others, the ordinary accesses that a proxy fence has put
/// before those of asynchronous agents.
struct View {
  Clock order, proxy_shared, proxy_global;
  void join(const View& other) {
    order.join(other.order);
    proxy_shared.join(other.proxy_shared);
    proxy_global.join(other.proxy_global);
  }
};

}  // namespace drawloom::simt
