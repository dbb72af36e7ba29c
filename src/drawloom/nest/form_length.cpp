#include "drawloom/nest/form_length.h"

// Shared atoms are counted wherever they stand, as every walk that does not remember meets them again. So the count may
// be exponential in the size of the graph, and it stops as soon as the answer is known.

namespace drawloom {
namespace {

auto count(const Form& f, int most, bool conditions) -> int {
  int n = 0;
  const auto add = [&](const std::vector<Form>& parts) {
    for (const auto& part : parts)
      if (n < most) n += count(part, most - n, conditions);
  };
  for (const auto& t : f.node().terms) {
    ++n;
    if (!t.atom) continue;
    add(t.atom->operands);
    if (conditions) add(t.atom->condition.terms());
  }
  return n;
}

}  // namespace

auto weight(const Form& f, int most) -> int { return count(f, most, false); }

auto is_long(const Form& f) -> bool {
  constexpr int kLong = 24;
  return count(f, kLong, true) >= kLong;
}

}  // namespace drawloom
