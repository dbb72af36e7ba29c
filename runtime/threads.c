// The number of threads, and the parallel loop that uses one.
#include <stdatomic.h>

#include "internal.h"

static atomic_int process_threads;

void drawloom_set_num_threads(int n) { atomic_store(&process_threads, n < 1 ? 0 : n); }

int drawloom_get_num_threads(void) { return atomic_load(&process_threads); }

int drawloom_wanted_threads(const drawloom_context_t* ctx) {
  return ctx->num_threads > 0 ? ctx->num_threads : drawloom_get_num_threads();
}

int drawloom_par_for_serial(drawloom_context_t* ctx, drawloom_task_t task, int64_t min, int64_t extent, void* closure) {
  for (int64_t i = 0; i < extent; i++) {
    int code = task(ctx, min + i, closure);
    if (code) return code;
  }
  return 0;
}
