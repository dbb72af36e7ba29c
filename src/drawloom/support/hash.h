#pragma once
/// Hashing and counter-based random numbers: pure functions of their inputs, the same on every machine.

#include <cstdint>
#include <string_view>

namespace drawloom {

/// A strong 64-bit finaliser (the "murmur3" mixing step).
constexpr auto mix_bits(uint64_t x) -> uint64_t {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}
constexpr auto hash_combine(uint64_t a, uint64_t b) -> uint64_t {
  return mix_bits(a * 0x9e3779b97f4a7c15ull + b + 0x7f4a7c15ull);
}
constexpr auto hash_text(std::string_view s) -> uint64_t {
  uint64_t h = 0xcbf29ce484222325ull;
  for (char c : s) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return mix_bits(h);
}

/// The n-th number of stream `seed` is a function of (seed, n): any case can be replayed alone.
class CounterRandom {
 public:
  explicit constexpr CounterRandom(uint64_t seed) : seed_(seed) {}
  constexpr auto next() -> uint64_t { return hash_combine(seed_, counter_++); }
  /// Uniform in [lo, hi], both ends included.
  constexpr auto uniform(int64_t lo, int64_t hi) -> int64_t {
    return lo + static_cast<int64_t>(next() % (static_cast<uint64_t>(hi - lo) + 1));
  }
  /// True in `percent` of cases.
  constexpr auto chance(int percent) -> bool { return uniform(0, 99) < percent; }
  /// An independent stream, so that adding draws to one part does not shift another.
  constexpr auto fork(uint64_t tag) -> CounterRandom { return CounterRandom(hash_combine(next(), tag)); }

 private:
  uint64_t seed_, counter_ = 0;
};

}  // namespace drawloom
