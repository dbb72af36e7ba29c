#define _GNU_SOURCE
#include "guard.h"

#include <string.h>
#include <sys/mman.h>

enum { kPage = 4096, kAround = 0xe5 };
static const uint64_t kMostBytes = UINT64_C(1) << 46;

static uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

int drawloom_guard_map(guard_t* guard, uint64_t bytes, uint64_t align, int at_end) {
  if (bytes > kMostBytes || align > kMostBytes || (align & (align - 1))) return 0;
  if (align == 0) align = 1;
  // Alignments beyond a page move the block within the mapping; the pages that are then over fault as well.
  const uint64_t slack = align > kPage ? align : 0, inside = round_up(bytes, kPage) + (bytes == 0) * kPage;
  guard->bytes = bytes;
  guard->map_bytes = inside + slack + 2 * kPage;
  guard->map = mmap(NULL, guard->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (guard->map == MAP_FAILED) return 0;
  uint64_t lo = round_up((uint64_t)(uintptr_t)guard->map + kPage, align > kPage ? align : kPage);
  guard->lo = guard->map + (lo - (uint64_t)(uintptr_t)guard->map);
  guard->hi = guard->lo + inside;
  uint64_t offset = at_end ? (inside - bytes) & ~(align - 1) : 0;
  guard->user = guard->lo + offset;
  if (mprotect(guard->lo, inside, PROT_READ | PROT_WRITE) != 0) {
    drawloom_guard_unmap(guard);
    return 0;
  }
  memset(guard->lo, kAround, inside);
  return 1;
}

static int all_around(const char* from, const char* to) {
  while (from < to && *(const unsigned char*)from == kAround) from++;
  return from == to;
}

int drawloom_guard_intact(const guard_t* guard) {
  return all_around(guard->lo, guard->user) && all_around(guard->user + guard->bytes, guard->hi);
}

void drawloom_guard_close(const guard_t* guard) {
  madvise(guard->lo, (uint64_t)(guard->hi - guard->lo), MADV_DONTNEED);
  mprotect(guard->map, guard->map_bytes, PROT_NONE);
}

void drawloom_guard_unmap(const guard_t* guard) { munmap(guard->map, guard->map_bytes); }
