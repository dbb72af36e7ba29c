// The default allocator: a pool, because a pipeline asks for the same few blocks again at every call and every task,
// and fresh pages cost more than most stencils (the kernel clears them at a fraction of the copy rate).
//
// Sizes are rounded up to one of 8 steps per doubling, so a block is at most 1/8 larger than asked for, and an idle
// block serves its own class only. Each idle block stands in two lists: that of its class, newest first (warm in
// cache), and that of all ages, whose oldest goes back to the system when the pool is over its cap. Blocks of 2 MiB
// and more are mappings of their own, aligned for huge pages. Blocks under a page are left to libc, which has a cache
// per thread. A block starts with a header of 64 bytes; the word before the user's address leads back to it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "internal.h"

enum {
  kHeaderBytes = 64,     // also the least alignment
  kPooledBytes = 4096,   // smaller blocks are libc's
  kHugeBytes = 2 << 20,  // x86's large page; also the largest alignment
  kStepsPerDoubling = 8,
  kClasses = 64 * kStepsPerDoubling
};
static const uint64_t kMaxBytes = UINT64_C(1) << 46;

typedef struct block_t block_t;
struct block_t {
  block_t *newer, *older;  // by age
  block_t *class_prev, *class_next;
  uint64_t capacity;  // bytes taken from the system, with this header
  uint64_t asked;     // bytes the user asked for
  uint64_t class_index;
  block_t* self;  // the word before the first address a user may get
};
_Static_assert(sizeof(block_t) == kHeaderBytes, "the user's address stays aligned");

static struct {
  pthread_mutex_t mutex;
  block_t* classes[kClasses];
  block_t *newest, *oldest;
  uint64_t idle_blocks, idle_bytes, reused, cap;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cap = UINT64_C(256) << 20};

static atomic_uint_fast64_t live_blocks, live_bytes;

/// Rounds *bytes up to its class and returns the number of that.
static uint64_t size_class(uint64_t* bytes) {
  unsigned exponent = 63u - (unsigned)__builtin_clzll(*bytes);
  uint64_t step = UINT64_C(1) << (exponent - 3);
  *bytes = (*bytes + step - 1) & ~(step - 1);
  return exponent * kStepsPerDoubling + *bytes / step - kStepsPerDoubling;  // 2^(e+1) is the next exponent's first
}

// ---- The system -----------------------------------------------------------------------------------------------

static void* map_huge(uint64_t bytes) {
  char* base = mmap(NULL, bytes + kHugeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return NULL;
  uint64_t before = -(uint64_t)(uintptr_t)base % kHugeBytes;
  if (before) munmap(base, before);
  munmap(base + before + bytes, kHugeBytes - before);
  madvise(base + before, bytes, MADV_HUGEPAGE);  // a wish: without huge pages it is merely slower
  return base + before;
}

static block_t* from_system(uint64_t capacity) {
  return capacity >= kHugeBytes ? map_huge(capacity) : aligned_alloc(kHeaderBytes, capacity);
}

static void to_system(block_t* block) {
  if (block->capacity >= kHugeBytes) {
    munmap(block, block->capacity);
  } else {
    free(block);
  }
}

// ---- Idle blocks; the mutex is held ---------------------------------------------------------------------------

static void put_idle(block_t* block) {
  block_t** head = &pool.classes[block->class_index];
  block->class_prev = NULL;
  block->class_next = *head;
  if (*head) (*head)->class_prev = block;
  *head = block;
  block->newer = NULL;
  block->older = pool.newest;
  *(pool.newest ? &pool.newest->newer : &pool.oldest) = block;
  pool.newest = block;
  pool.idle_blocks++;
  pool.idle_bytes += block->capacity;
}

static void take_idle(block_t* block) {
  *(block->class_prev ? &block->class_prev->class_next : &pool.classes[block->class_index]) = block->class_next;
  if (block->class_next) block->class_next->class_prev = block->class_prev;
  *(block->newer ? &block->newer->older : &pool.newest) = block->older;
  *(block->older ? &block->older->newer : &pool.oldest) = block->newer;
  pool.idle_blocks--;
  pool.idle_bytes -= block->capacity;
}

/// Takes the oldest blocks out until at most `bytes` are idle; returns them chained by class_next, so that the caller
/// can give them to the system, which is slow, without the mutex.
static block_t* shrink_to(uint64_t bytes) {
  block_t* out = NULL;
  while (pool.idle_bytes > bytes) {
    block_t* block = pool.oldest;
    take_idle(block);
    block->class_next = out;
    out = block;
  }
  return out;
}

static void all_to_system(block_t* chain) {
  while (chain) {
    block_t* next = chain->class_next;
    to_system(chain);
    chain = next;
  }
}

// ---- The interface --------------------------------------------------------------------------------------------

static block_t* reuse(uint64_t class_index) {
  pthread_mutex_lock(&pool.mutex);
  block_t* block = pool.classes[class_index];
  if (block) {
    take_idle(block);
    pool.reused++;
  }
  pthread_mutex_unlock(&pool.mutex);
  return block;
}

static block_t* obtain(uint64_t capacity) {
  if (capacity < kPooledBytes) {
    block_t* block = from_system((capacity + kHeaderBytes - 1) / kHeaderBytes * kHeaderBytes);
    if (block) block->capacity = capacity;
    return block;
  }
  uint64_t class_index = size_class(&capacity);
  block_t* block = reuse(class_index);
  if (!block) block = from_system(capacity);
  if (!block) {  // our own idle blocks may be what is missing
    drawloom_release_memory();
    block = from_system(capacity);
  }
  if (!block) return NULL;
  block->capacity = capacity;
  block->class_index = class_index;
  return block;
}

void* drawloom_pool_malloc(drawloom_context_t* ctx, uint64_t bytes, uint64_t align) {
  (void)ctx;
  if (align < kHeaderBytes) align = kHeaderBytes;
  if (bytes > kMaxBytes || align > kHugeBytes || (align & (align - 1))) return NULL;
  block_t* block = obtain(kHeaderBytes + bytes + (align - kHeaderBytes));
  if (!block) return NULL;
  block->asked = bytes;
  atomic_fetch_add_explicit(&live_blocks, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&live_bytes, bytes, memory_order_relaxed);
  uintptr_t user = ((uintptr_t)block + kHeaderBytes + align - 1) & ~(uintptr_t)(align - 1);
  ((block_t**)user)[-1] = block;
  return (void*)user;
}

void drawloom_pool_free(drawloom_context_t* ctx, void* user) {
  (void)ctx;
  if (!user) return;
  block_t* block = ((block_t**)user)[-1];
  atomic_fetch_sub_explicit(&live_blocks, 1, memory_order_relaxed);
  atomic_fetch_sub_explicit(&live_bytes, block->asked, memory_order_relaxed);
  if (block->capacity < kPooledBytes) {
    free(block);
    return;
  }
  pthread_mutex_lock(&pool.mutex);
  block_t* surplus = block;  // one that alone is over the cap does not drive out the others
  block->class_next = NULL;
  if (block->capacity <= pool.cap) {
    put_idle(block);
    surplus = shrink_to(pool.cap);
  }
  pthread_mutex_unlock(&pool.mutex);
  all_to_system(surplus);
}

static void give_back_beyond(uint64_t bytes) {
  pthread_mutex_lock(&pool.mutex);
  block_t* surplus = shrink_to(bytes);
  pthread_mutex_unlock(&pool.mutex);
  all_to_system(surplus);
}

void drawloom_release_memory(void) { give_back_beyond(0); }

void drawloom_set_memory_cap(uint64_t bytes) {
  pthread_mutex_lock(&pool.mutex);
  pool.cap = bytes;
  pthread_mutex_unlock(&pool.mutex);
  give_back_beyond(bytes);
}

drawloom_memory_stats_t drawloom_memory_stats(void) {
  pthread_mutex_lock(&pool.mutex);
  drawloom_memory_stats_t stats = {
      .idle_blocks = pool.idle_blocks, .idle_bytes = pool.idle_bytes, .reused = pool.reused};
  pthread_mutex_unlock(&pool.mutex);
  stats.live_blocks = atomic_load(&live_blocks);
  stats.live_bytes = atomic_load(&live_bytes);
  return stats;
}
