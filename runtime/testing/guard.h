/// Memory between two pages that fault.
#pragma once

#include <stdint.h>

/// One block. The bytes of [lo, hi) outside [user, user + bytes) hold a pattern that may not change.
typedef struct guard_t {
  char *map, *lo, *user, *hi;
  uint64_t map_bytes, bytes;
} guard_t;

/// A block that touches the page behind it (at_end) or before it, as far as the alignment allows. False: no memory.
int drawloom_guard_map(guard_t* guard, uint64_t bytes, uint64_t align, int at_end);
/// Whether the pattern around the block is unchanged.
int drawloom_guard_intact(const guard_t* guard);
/// Makes every access fault from now on; the addresses stay taken.
void drawloom_guard_close(const guard_t* guard);
void drawloom_guard_unmap(const guard_t* guard);
