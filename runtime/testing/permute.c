// A Feistel network permutes the numbers of 2k bits; walking on from an image that is too large until one falls below
// the extent (at most 4 steps on average, as 2^2k < 4 * extent) makes that a permutation of the extent.
#include "permute.h"

static uint64_t mix(uint64_t x) {  // the finaliser of splitmix64
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static uint64_t feistel(uint64_t x, unsigned half_bits, uint64_t seed) {
  const uint64_t mask = (UINT64_C(1) << half_bits) - 1;
  uint64_t left = x >> half_bits, right = x & mask;
  for (uint64_t round = 1; round <= 4; round++) {
    uint64_t next = left ^ (mix(seed + round * UINT64_C(0x9e3779b97f4a7c15) + right) & mask);
    left = right;
    right = next;
  }
  return left << half_bits | right;
}

uint64_t drawloom_permuted(uint64_t index, uint64_t extent, uint64_t seed) {
  unsigned half_bits = 1;
  while (half_bits < 31 && UINT64_C(1) << 2 * half_bits < extent) half_bits++;
  if (extent > UINT64_C(1) << 62) return index;  // no loop that ends is that long
  do index = feistel(index, half_bits, mix(seed));
  while (index >= extent);
  return index;
}
