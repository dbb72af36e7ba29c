// The watching context. Its table starts as a copy of the default one, so checks and messages are the real ones.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../internal.h"
#include "guard.h"
#include "include/drawloom/runtime_testing.h"
#include "permute.h"

enum { kClosed = 256 };  // freed blocks that keep their addresses; beyond that the oldest is unmapped

/// A block that is handed out. Those of the pool use only user and bytes.
typedef struct record_t record_t;
struct record_t {
  guard_t guard;
  record_t* next;
};

typedef struct test_context_t {
  drawloom_context_t base;  // first: pipelines see this one
  drawloom_runtime_table_t table;
  drawloom_test_options_t options;
  atomic_uint_fast64_t loops;
  pthread_mutex_t mutex;  // over all below
  drawloom_test_report_t report;
  record_t* live;
  guard_t closed[kClosed];
  uint64_t closed_count;
} test_context_t;

static test_context_t* self(drawloom_context_t* ctx) { return (test_context_t*)ctx; }

// ---- Memory ---------------------------------------------------------------------------------------------------

static int get_block(test_context_t* t, guard_t* block, uint64_t bytes, uint64_t align) {
  if (align < 64) align = 64;
  if (t->options.allocator != drawloom_test_pool) {
    return drawloom_guard_map(block, bytes, align, t->options.allocator == drawloom_test_guard_end);
  }
  *block = (guard_t){.user = drawloom_pool_malloc(&t->base, bytes, align), .bytes = bytes};
  return block->user != NULL;
}

/// Ends the life of a block; its addresses stay taken for a while, so that a late access faults.
static void put_block(test_context_t* t, guard_t* block) {
  if (t->options.allocator == drawloom_test_pool) {
    memset(block->user, ~t->options.poison, block->bytes);
    drawloom_pool_free(&t->base, block->user);
    return;
  }
  if (!drawloom_guard_intact(block)) t->report.damaged_blocks++;
  drawloom_guard_close(block);
  guard_t* slot = &t->closed[t->closed_count++ % kClosed];
  if (slot->map) drawloom_guard_unmap(slot);
  *slot = *block;
}

/// Counts the call; false when it is the one to fail.
static int count_malloc(test_context_t* t) {
  pthread_mutex_lock(&t->mutex);
  int ok = ++t->report.mallocs != t->options.fail_malloc;
  pthread_mutex_unlock(&t->mutex);
  return ok;
}

static void* test_malloc(drawloom_context_t* ctx, uint64_t bytes, uint64_t align) {
  test_context_t* t = self(ctx);
  if (!count_malloc(t)) return NULL;
  record_t* record = malloc(sizeof *record);
  if (!record || !get_block(t, &record->guard, bytes, align)) {
    free(record);
    return NULL;
  }
  memset(record->guard.user, t->options.poison, bytes);
  pthread_mutex_lock(&t->mutex);
  record->next = t->live;
  t->live = record;
  t->report.live_blocks++;
  pthread_mutex_unlock(&t->mutex);
  return record->guard.user;
}

static record_t* unlink_record(test_context_t* t, const void* user) {
  record_t** at = &t->live;
  while (*at && (*at)->guard.user != user) at = &(*at)->next;
  record_t* record = *at;
  if (record) *at = record->next;
  return record;
}

static void test_free(drawloom_context_t* ctx, void* user) {
  if (!user) return;
  test_context_t* t = self(ctx);
  pthread_mutex_lock(&t->mutex);
  record_t* record = unlink_record(t, user);
  if (record) {
    t->report.live_blocks--;
    put_block(t, &record->guard);
  } else {
    t->report.wrong_frees++;
  }
  pthread_mutex_unlock(&t->mutex);
  free(record);
}

// ---- Loops and errors -----------------------------------------------------------------------------------------

static int par_for_permute(drawloom_context_t* ctx, drawloom_task_t task, int64_t min, int64_t extent, void* closure) {
  test_context_t* t = self(ctx);
  const uint64_t seed = t->options.seed + atomic_fetch_add(&t->loops, 1) * UINT64_C(0x9e3779b97f4a7c15);
  for (int64_t i = 0; i < extent; i++) {
    int code = task(ctx, min + (int64_t)drawloom_permuted((uint64_t)i, (uint64_t)extent, seed), closure);
    if (code) return code;
  }
  return 0;
}

static drawloom_par_for_t par_for_of(uint32_t kind) {
  switch (kind) {
    case drawloom_test_openmp: return drawloom_par_for_openmp;
    case drawloom_test_pthread: return drawloom_par_for_pthread;
    case drawloom_test_permute: return par_for_permute;
    default: return drawloom_par_for_serial;
  }
}

static int test_error(drawloom_context_t* ctx, int code, const char* message) {
  test_context_t* t = self(ctx);
  pthread_mutex_lock(&t->mutex);
  t->report.errors++;
  pthread_mutex_unlock(&t->mutex);
  return drawloom_default_error(ctx, code, message);
}

// ---- Life -----------------------------------------------------------------------------------------------------

drawloom_context_t* drawloom_test_context_create(const drawloom_test_options_t* options) {
  test_context_t* t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->options = *options;
  t->table = *drawloom_default_table();
  t->table.malloc = test_malloc;
  t->table.free = test_free;
  t->table.par_for = par_for_of(options->par_for);
  t->table.error = test_error;
  pthread_mutex_init(&t->mutex, NULL);
  drawloom_context_init(&t->base, &t->table, NULL);
  t->base.num_threads = options->num_threads;
  t->base.on_error = drawloom_on_error_quiet;
  return &t->base;
}

void drawloom_test_context_destroy(drawloom_context_t* ctx) {
  if (!ctx) return;
  test_context_t* t = self(ctx);
  while (t->live) test_free(ctx, t->live->guard.user);
  for (int i = 0; i < kClosed; i++) {
    if (t->closed[i].map) drawloom_guard_unmap(&t->closed[i]);
  }
  pthread_mutex_destroy(&t->mutex);
  free(t);
}

drawloom_test_report_t drawloom_test_report(drawloom_context_t* ctx) {
  test_context_t* t = self(ctx);
  pthread_mutex_lock(&t->mutex);
  drawloom_test_report_t report = t->report;
  pthread_mutex_unlock(&t->mutex);
  return report;
}
