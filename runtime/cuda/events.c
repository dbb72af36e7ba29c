// Time stamps on streams, and waiting for one.
#include "cuda.h"

static cu_event_t event_of(uint64_t handle) { return (cu_event_t)(uintptr_t)handle; }

int drawloom_cuda_sync(drawloom_context_t* ctx) {
  call_t call;
  int code = drawloom_cuda_enter(&call, ctx, NULL);
  if (code) return code;
  code = drawloom_cuda_wait(&call);
  drawloom_cuda_leave(&call);
  return code;
}

int drawloom_cuda_event_create(drawloom_context_t* ctx, uint64_t* event) {
  call_t call;
  cu_event_t made = NULL;
  *event = 0;
  int code = drawloom_cuda_enter(&call, ctx, NULL);
  if (code) return code;
  code = drawloom_cuda_check(&call, "cuEventCreate", call.driver->event_create(&made, 0));
  if (!code) *event = (uint64_t)(uintptr_t)made;
  drawloom_cuda_leave(&call);
  return code;
}

int drawloom_cuda_event_record(drawloom_context_t* ctx, uint64_t event) {
  call_t call;
  int code = drawloom_cuda_enter(&call, ctx, NULL);
  if (code) return code;
  code = drawloom_cuda_check(&call, "cuEventRecord", call.driver->event_record(event_of(event), call.stream));
  drawloom_cuda_leave(&call);
  return code;
}

int drawloom_cuda_event_elapsed(drawloom_context_t* ctx, uint64_t start, uint64_t end, double* ms) {
  call_t call;
  float elapsed = 0;
  *ms = 0;
  int code = drawloom_cuda_enter(&call, ctx, NULL);
  if (code) return code;
  code = drawloom_cuda_wait_event(&call, event_of(end));
  if (!code) {
    cu_result_t result = call.driver->event_elapsed(&elapsed, event_of(start), event_of(end));
    code = drawloom_cuda_check(&call, "cuEventElapsedTime", result);
  }
  *ms = elapsed;
  drawloom_cuda_leave(&call);
  return code;
}

int drawloom_cuda_event_destroy(drawloom_context_t* ctx, uint64_t event) {
  call_t call;
  if (event == 0) return 0;
  int code = drawloom_cuda_enter(&call, ctx, NULL);
  if (code) return code;
  code = drawloom_cuda_check(&call, "cuEventDestroy", call.driver->event_destroy(event_of(event)));
  drawloom_cuda_leave(&call);
  return code;
}
