// Device memory: a pool, because an allocation by the driver costs as much as a small kernel and a release waits for
// the whole device.
//
// Work on a device is asynchronous: a block is freed while kernels still use it. So an idle block remembers its stream
// and serves only later work of that stream, which comes after; one of another stream could overtake. Sizes are rounded
// up to one of 8 steps per doubling and an idle block serves its own size. When the driver has no memory left all idle
// blocks go back to it, and it is asked once more.
//
// Example: 5000 bytes lie between 4096 and 8192, in steps of 512: a block of 5120. Freed after a kernel on stream A, it
// serves the next 4900 bytes asked for on A at once, without waiting; on stream B a new block is made. A block of 6000
// bytes is never given for 5000: sizes that come again, which is what a pipeline asks for, then always find their own.
//
// A call in any CUcontext may free a block of another, or give idle blocks of all of them back; meanwhile that CUcontext
// may be forgotten in another thread. Whoever waits for a device does so without the mutex, with the block in no list;
// its state counts such blocks, and is not forgotten before they are back or gone.
#include <stdio.h>
#include <stdlib.h>

#include "cuda.h"

enum { kLeastBytes = 512, kStepsPerDoubling = 8 };
static const uint64_t kMostBytes = UINT64_C(1) << 46;
static const unsigned long long kAnyStream = ~0ull;  // nothing uses the block any more

typedef struct block_t block_t;
struct block_t {
  block_t *newer, *older;  // of its list
  uint64_t address, capacity, asked;
  device_state_t* state;
  unsigned long long stream;  // of an idle block: the driver's id
};

typedef struct list_t {
  block_t *newest, *oldest;
  uint64_t blocks;
} list_t;

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t none_out;  // of some state
  list_t live, idle;
  uint64_t live_bytes, idle_bytes, reused, cap;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .none_out = PTHREAD_COND_INITIALIZER, .cap = UINT64_C(2) << 30};

static uint64_t capacity_for(uint64_t bytes) {
  if (bytes <= kLeastBytes) return kLeastBytes;
  const uint64_t step = (UINT64_C(1) << (63 - __builtin_clzll(bytes))) / kStepsPerDoubling;
  return (bytes + step - 1) / step * step;
}

// ---- Lists; the mutex is held -------------------------------------------------------------------------------------

static void put(list_t* list, block_t* block) {
  block->newer = NULL;
  block->older = list->newest;
  *(list->newest ? &list->newest->newer : &list->oldest) = block;
  list->newest = block;
  list->blocks++;
}

static void take(list_t* list, block_t* block) {
  *(block->newer ? &block->newer->older : &list->newest) = block->older;
  *(block->older ? &block->older->newer : &list->oldest) = block->newer;
  list->blocks--;
}

static void put_idle(block_t* block) {
  put(&pool.idle, block);
  pool.idle_bytes += block->capacity;
}

static void take_idle(block_t* block) {
  take(&pool.idle, block);
  pool.idle_bytes -= block->capacity;
}

static void put_live(block_t* block, uint64_t asked) {
  block->asked = asked;
  put(&pool.live, block);
  pool.live_bytes += asked;
}

static void take_live(block_t* block) {
  take(&pool.live, block);
  pool.live_bytes -= block->asked;
}

/// From here until `back`, a block in no list keeps its state from being forgotten.
static void out(device_state_t* state) { state->blocks_out++; }

static void back(device_state_t* state) {
  if (--state->blocks_out == 0) pthread_cond_broadcast(&pool.none_out);
}

/// Any address in a block will do: a buffer with negative strides points into the middle of its block.
static block_t* live_block(uint64_t address) {
  block_t* block = pool.live.newest;
  while (block && !(address >= block->address && address - block->address < block->capacity)) block = block->older;
  return block;
}

/// Streams are told apart by the driver's ids, which are not used again as handles are.
static block_t* idle_block(const device_state_t* state, unsigned long long stream, uint64_t capacity) {
  block_t* block = pool.idle.newest;
  while (block && !(block->state == state && block->capacity == capacity &&
                    (block->stream == stream || block->stream == kAnyStream))) {
    block = block->older;
  }
  return block;
}

// ---- Back to the driver -------------------------------------------------------------------------------------------

/// Takes idle blocks out, oldest first, until at most `bytes` are idle; chained by `older`.
static block_t* shrink_to(uint64_t bytes) {
  block_t* chain = NULL;
  while (pool.idle_bytes > bytes) {
    block_t* block = pool.idle.oldest;
    take_idle(block);
    out(block->state);
    block->older = chain;
    chain = block;
  }
  return chain;
}

/// Waits for whatever may still use them. In a CUcontext that a kernel has poisoned all of this fails, and the memory
/// ends with the CUcontext.
static void to_driver(const driver_t* driver, block_t* chain) {
  while (chain) {
    block_t* next = chain->older;
    cu_context_t popped;
    if (driver->context_push(chain->state->context) == cu_success) {
      driver->context_synchronize();
      driver->memory_free(chain->address);
      driver->context_pop(&popped);
    }
    pthread_mutex_lock(&pool.mutex);
    back(chain->state);
    pthread_mutex_unlock(&pool.mutex);
    free(chain);
    chain = next;
  }
}

static void shrink(const driver_t* driver, uint64_t bytes) {
  pthread_mutex_lock(&pool.mutex);
  block_t* chain = shrink_to(bytes);
  pthread_mutex_unlock(&pool.mutex);
  to_driver(driver, chain);
}

void drawloom_cuda_trim(const driver_t* driver) { shrink(driver, 0); }

static void drop_list(const driver_t* driver, list_t* list, device_state_t* state) {
  block_t* next;
  for (block_t* block = list->newest; block; block = next) {
    next = block->older;
    if (block->state != state) continue;
    list == &pool.live ? take_live(block) : take_idle(block);
    driver->memory_free(block->address);
    free(block);
  }
}

void drawloom_cuda_drop_blocks(const driver_t* driver, device_state_t* state) {
  pthread_mutex_lock(&pool.mutex);
  while (state->blocks_out > 0) pthread_cond_wait(&pool.none_out, &pool.mutex);
  drop_list(driver, &pool.idle, state);
  drop_list(driver, &pool.live, state);
  pthread_mutex_unlock(&pool.mutex);
}

// ---- Allocation ---------------------------------------------------------------------------------------------------

static block_t* reuse(const call_t* call, unsigned long long stream, uint64_t capacity, uint64_t asked) {
  pthread_mutex_lock(&pool.mutex);
  block_t* block = idle_block(call->state, stream, capacity);
  if (block) {
    take_idle(block);
    put_live(block, asked);
    pool.reused++;
  }
  pthread_mutex_unlock(&pool.mutex);
  return block;
}

static int no_memory(call_t* call, const char* what, uint64_t bytes) {
  return drawloom_cuda_report(call, drawloom_error_device_out_of_memory, what, NULL, (int64_t)bytes);
}

static int from_driver(call_t* call, block_t* block, const char* what, uint64_t asked) {
  cu_result_t result = call->driver->memory_alloc(&block->address, block->capacity);
  if (result == cu_out_of_memory) {
    drawloom_cuda_trim(call->driver);
    result = call->driver->memory_alloc(&block->address, block->capacity);
  }
  if (result == cu_out_of_memory) return no_memory(call, what, asked);
  return drawloom_cuda_check(call, "cuMemAlloc", result);
}

static int stream_of(call_t* call, unsigned long long* id) {
  return drawloom_cuda_check(call, "cuStreamGetId", call->driver->stream_id(call->stream, id));
}

int drawloom_cuda_alloc(call_t* call, uint64_t bytes, const char* what, uint64_t* address) {
  unsigned long long stream = 0;
  if (bytes > kMostBytes) return no_memory(call, what, bytes);
  int code = stream_of(call, &stream);
  if (code) return code;
  const uint64_t capacity = capacity_for(bytes);
  block_t* block = reuse(call, stream, capacity, bytes);
  if (block) {
    *address = block->address;
    return 0;
  }
  block = calloc(1, sizeof *block);
  if (!block) return drawloom_cuda_report(call, drawloom_error_out_of_memory, what, NULL, sizeof *block);
  block->state = call->state;
  block->capacity = capacity;
  code = from_driver(call, block, what, bytes);
  if (code) {
    free(block);
    return code;
  }
  *address = block->address;
  pthread_mutex_lock(&pool.mutex);
  put_live(block, bytes);
  pthread_mutex_unlock(&pool.mutex);
  return 0;
}

/// The stream after whose present work the block is free. Of another CUcontext's block that is not known: all of it is
/// waited for.
static unsigned long long last_user(call_t* call, const block_t* block) {
  unsigned long long stream = kAnyStream;
  cu_context_t popped;
  if (block->state == call->state && call->driver->stream_id(call->stream, &stream) == cu_success) return stream;
  if (call->driver->context_push(block->state->context) == cu_success) {
    call->driver->context_synchronize();
    call->driver->context_pop(&popped);
  }
  return kAnyStream;
}

int drawloom_cuda_release(call_t* call, uint64_t address) {
  pthread_mutex_lock(&pool.mutex);
  block_t* block = live_block(address);
  if (block) {
    take_live(block);
    out(block->state);
  }
  pthread_mutex_unlock(&pool.mutex);
  if (!block) return 0;
  block->stream = last_user(call, block);
  pthread_mutex_lock(&pool.mutex);
  put_idle(block);
  back(block->state);
  const uint64_t cap = pool.cap;
  pthread_mutex_unlock(&pool.mutex);
  shrink(call->driver, cap);
  return 1;
}

const device_state_t* drawloom_cuda_owner(uint64_t address) {
  pthread_mutex_lock(&pool.mutex);
  const block_t* block = live_block(address);
  const device_state_t* state = block ? block->state : NULL;
  pthread_mutex_unlock(&pool.mutex);
  return state;
}

int drawloom_cuda_is_block(uint64_t address, uint64_t bytes) {
  pthread_mutex_lock(&pool.mutex);
  const block_t* block = live_block(address);
  const int result = block && block->address == address && block->asked == bytes;
  pthread_mutex_unlock(&pool.mutex);
  return result;
}

// ---- The interface ------------------------------------------------------------------------------------------------

int drawloom_cuda_malloc(drawloom_context_t* ctx, uint64_t bytes, const drawloom_site_t* site, uint64_t* address) {
  call_t call;
  *address = 0;
  int code = drawloom_cuda_enter(&call, ctx, site);
  if (code) return code;
  code = drawloom_cuda_alloc(&call, bytes, call.site.name, address);
  drawloom_cuda_leave(&call);
  return code;
}

static int not_ours(call_t* call, uint64_t address) {
  char words[32];
  snprintf(words, sizeof words, "0x%llx", (unsigned long long)address);
  return drawloom_cuda_report(call, drawloom_error_not_device_memory, NULL, words, 0);
}

int drawloom_cuda_free(drawloom_context_t* ctx, uint64_t address) {
  call_t call;
  if (address == 0) return 0;
  int code = drawloom_cuda_enter(&call, ctx, NULL);
  if (code) return code;
  if (!drawloom_cuda_release(&call, address)) code = not_ours(&call, address);
  drawloom_cuda_leave(&call);
  return code;
}

drawloom_memory_stats_t drawloom_device_memory_stats(void) {
  pthread_mutex_lock(&pool.mutex);
  const drawloom_memory_stats_t stats = {.live_blocks = pool.live.blocks,
                                         .live_bytes = pool.live_bytes,
                                         .idle_blocks = pool.idle.blocks,
                                         .idle_bytes = pool.idle_bytes,
                                         .reused = pool.reused};
  pthread_mutex_unlock(&pool.mutex);
  return stats;
}

void drawloom_set_device_memory_cap(uint64_t bytes) {
  pthread_mutex_lock(&pool.mutex);
  pool.cap = bytes;
  block_t* chain = shrink_to(bytes);
  pthread_mutex_unlock(&pool.mutex);
  if (chain) to_driver(chain->state->driver, chain);
}

void drawloom_release_device_memory(void) {
  pthread_mutex_lock(&pool.mutex);
  block_t* chain = shrink_to(0);
  pthread_mutex_unlock(&pool.mutex);
  if (chain) to_driver(chain->state->driver, chain);
}
