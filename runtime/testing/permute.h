/// A permutation of 0 .. extent-1, computed point by point: no memory, any extent.
#pragma once

#include <stdint.h>

/// The image of `index` under the permutation that `seed` picks.
uint64_t drawloom_permuted(uint64_t index, uint64_t extent, uint64_t seed);
