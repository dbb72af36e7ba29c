#include "drawloom/codegen/llvm/linear.h"

#include <algorithm>

namespace drawloom::codegen {
namespace {

/// Wraps, as the arithmetic of the emitted code does.
auto wrapped_sum(int64_t a, int64_t b) -> int64_t {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
auto wrapped_product(int64_t a, int64_t b) -> int64_t {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace

void Linear::add(Term t) {
  const auto same = std::find_if(terms_.begin(), terms_.end(), [&](const Term& s) { return s.value == t.value; });
  if (same == terms_.end()) {
    const auto deeper = std::find_if(terms_.begin(), terms_.end(), [&](const Term& s) { return s.depth > t.depth; });
    if (t.times != 0) terms_.insert(deeper, t);
    return;
  }
  same->times = wrapped_sum(same->times, t.times);
  if (same->times == 0) terms_.erase(same);
}

auto Linear::plus(const Linear& other, int64_t times) const -> Linear {
  Linear out = *this;
  out.constant_ = wrapped_sum(out.constant_, wrapped_product(other.constant_, times));
  for (const Term& t : other.terms_) out.add({t.value, wrapped_product(t.times, times), t.depth});
  return out;
}

auto Linear::by_depth() const -> std::vector<Linear> {
  std::vector<Linear> parts;
  if (constant_ != 0) parts.emplace_back(constant_);
  for (const Term& t : terms_) {
    if (parts.empty() || parts.back().depth() != t.depth) parts.emplace_back();
    parts.back().add(t);
  }
  return parts;
}

}  // namespace drawloom::codegen
