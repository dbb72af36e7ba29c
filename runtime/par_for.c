// The parallel loop over OpenMP: the only file that knows of it. Each thread takes the next index when it is done
// with one (dynamic, chunk 1: a task is a strip of the picture, long enough by itself). The counter is our own
// rather than that of `omp for`, because an error must end a loop of any extent at once.
#include <omp.h>
#include <stdatomic.h>

#include "internal.h"

int drawloom_par_for_openmp(drawloom_context_t* ctx, drawloom_task_t task, int64_t min, int64_t extent, void* closure) {
  int threads = drawloom_wanted_threads(ctx);
  if (threads == 0) threads = omp_get_max_threads();
  if (threads == 1 || extent <= 1 || omp_in_parallel()) return drawloom_par_for_serial(ctx, task, min, extent, closure);

  _Atomic int64_t next = 0;
  atomic_int first_error = 0;
  // Always the same number of threads, also for few tasks: libgomp ends the surplus ones and must start them again.
#pragma omp parallel num_threads(threads)
  while (atomic_load_explicit(&first_error, memory_order_relaxed) == 0) {
    int64_t i = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    if (i >= extent) break;
    int code = task(ctx, min + i, closure);
    int none = 0;
    if (code) atomic_compare_exchange_strong(&first_error, &none, code);
  }
  return atomic_load(&first_error);
}
