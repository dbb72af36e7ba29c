#pragma once
/// Random layouts for property tests: XOR cores, odd extents, gaps, replicated digits.

#include <algorithm>

#include "drawloom/layout/layout.h"
#include "drawloom/support/hash.h"

namespace drawloom {

struct RandomShape {
  int max_digits = 7;
  int percent_bits = 75, percent_gaps = 15, percent_replicated = 10, percent_xor = 30;
};

/// From the Dims `from` to `to`, at most some hundred points. Output digits without gaps are contiguous from 1 up.
inline auto random_layout(CounterRandom& random, const std::vector<std::string>& from,
                          const std::vector<std::string>& to, const RandomShape& shape = {}) -> Layout {
  struct Slot {
    LayoutBuilder::Target target;
    int64_t extent;
  };
  std::vector<Slot> slots;
  std::vector<LayoutBuilder::Target> bits;
  std::vector<int64_t> top(to.size(), 1);
  const auto count = random.uniform(1, shape.max_digits);
  for (int64_t k = 0; k < count; ++k) {
    const auto d = static_cast<size_t>(random.uniform(0, static_cast<int64_t>(to.size()) - 1));
    const int64_t stride = top[d] + (random.chance(shape.percent_gaps) ? random.uniform(1, 3) : 0);
    const int64_t extent = random.chance(shape.percent_bits) ? 2 : random.uniform(3, 6);
    slots.push_back({{to[d], stride}, extent});
    if (extent == 2) bits.push_back(slots.back().target);
    top[d] = stride * extent;
  }
  LayoutBuilder builder;
  for (const auto& name : from) builder.from(name);
  for (const auto& name : to) builder.to(name);
  while (!slots.empty()) {
    const auto at = random.uniform(0, static_cast<int64_t>(slots.size()) - 1);
    const Slot slot = slots[static_cast<size_t>(at)];
    slots.erase(slots.begin() + at);
    const auto& name = from[static_cast<size_t>(random.uniform(0, static_cast<int64_t>(from.size()) - 1))];
    std::vector<LayoutBuilder::Target> targets = {slot.target};
    if (slot.extent == 2 && random.chance(shape.percent_xor)) {
      targets.push_back(bits[static_cast<size_t>(random.uniform(0, static_cast<int64_t>(bits.size()) - 1))]);
    }
    if (random.chance(shape.percent_replicated)) targets.clear();
    builder.map(name, slot.extent, targets);
  }
  return builder.build();
}

}  // namespace drawloom
