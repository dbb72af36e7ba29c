/// Contexts that watch the code under test: memory between guard pages, poison, failing allocations, parallel loops
/// in a chosen order. Library drawloom_runtime_test; the contexts work with any pipeline, ahead of time or JIT.
#pragma once

#include "drawloom/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  drawloom_test_serial,   ///< in order
  drawloom_test_openmp,   ///< as in the default table
  drawloom_test_pthread,  ///< drawloom_par_for_pthread: all of it visible to ThreadSanitizer
  drawloom_test_permute   ///< in a random order, in the calling thread, also inside tasks
};

enum {
  drawloom_test_guard_end,    ///< the last byte stands before a page that faults, up to the alignment
  drawloom_test_guard_start,  ///< the first byte stands after one; both fault on use after free
  drawloom_test_pool          ///< the default allocator; free fills with the complement of poison
};

/// All zero is a good start: serial, guarded ends, no failures.
typedef struct drawloom_test_options_t {
  uint32_t par_for;    ///< drawloom_test_serial, ...
  uint32_t allocator;  ///< drawloom_test_guard_end, ...
  int32_t num_threads;
  uint8_t poison;       ///< the byte that fills new blocks; run with two and compare, as 0x7f and 0xcc
  uint64_t seed;        ///< of the permutations; each loop of a context draws a new one
  int64_t fail_malloc;  ///< this malloc returns null, counted from 1; 0: none does
} drawloom_test_options_t;

/// What a context has seen so far.
typedef struct drawloom_test_report_t {
  int64_t mallocs;         ///< calls, failed ones included
  int64_t live_blocks;     ///< not yet freed: leaks, once the pipeline has returned
  int64_t damaged_blocks;  ///< freed with the bytes around them changed
  int64_t wrong_frees;     ///< of an address that malloc never gave or that was freed before
  int64_t errors;          ///< calls of the table's error
} drawloom_test_report_t;

/// A context with a table of its own; errors are kept, not printed. Null when there is no memory.
drawloom_context_t* drawloom_test_context_create(const drawloom_test_options_t* options);
/// Frees it and whatever blocks its pipelines leaked.
void drawloom_test_context_destroy(drawloom_context_t* ctx);
drawloom_test_report_t drawloom_test_report(drawloom_context_t* ctx);

/// A pool of threads that lives on between loops; several loops may run at once. Usable in any table.
int drawloom_par_for_pthread(drawloom_context_t* ctx, drawloom_task_t task, int64_t min, int64_t extent, void* closure);
/// Ends the threads of that pool, which no loop may be using; the next loop starts new ones.
void drawloom_pthread_pool_stop(void);

#ifdef __cplusplus
}
#endif
