/* The public headers compile as C11, and a C program can call the library. */
#include "drawloom/device.h"
#include "drawloom/runtime.h"
#include "drawloom/runtime_testing.h"

_Static_assert(drawloom_error_buffer_null == 1, "codes are ABI");
_Static_assert(drawloom_error_internal == 17, "codes are ABI");
_Static_assert(drawloom_error_kernel_timeout == 31, "codes are ABI");

static int add_up(drawloom_context_t* ctx, int64_t index, void* closure) {
  (void)ctx;
  *(int64_t*)closure += index;
  return 0;
}

int64_t sum_in_c(int64_t min, int64_t extent);

int64_t sum_in_c(int64_t min, int64_t extent) {
  int64_t sum = 0;
  drawloom_context_t ctx;
  drawloom_context_init(&ctx, NULL, NULL);
  ctx.num_threads = 1;
  return ctx.table->par_for(&ctx, add_up, min, extent, &sum) == drawloom_ok ? sum : -1;
}
