// Waiting for the device: as long as it takes or, with a time limit, by asking again and again.
#define _GNU_SOURCE
#include <time.h>

#include "cuda.h"

static atomic_uint limit_ms;

void drawloom_set_device_timeout(uint32_t ms) { atomic_store(&limit_ms, ms); }

static int64_t now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static void pause_us(long us) {
  const struct timespec time = {0, us * 1000};
  nanosleep(&time, NULL);
}

static int timed_out(call_t* call, int64_t ms) {
  const suspects_t suspects = drawloom_cuda_suspects(call->state);
  return drawloom_cuda_report(call, drawloom_error_kernel_timeout, suspects.text, NULL, ms);
}

/// Asks for an event or, where that is null, for the stream.
static cu_result_t ask(const call_t* call, cu_event_t event) {
  return event ? call->driver->event_query(event) : call->driver->stream_query(call->stream);
}

/// 0 once it is over, or the code after a report.
static int poll(call_t* call, cu_event_t event, int64_t ms) {
  enum { kPauseUs = 20 };
  const int64_t end = now_us() + 1000 * ms;
  cu_result_t result;
  while ((result = ask(call, event)) == cu_not_ready) {
    if (now_us() > end) return timed_out(call, ms);
    pause_us(kPauseUs);
  }
  return drawloom_cuda_check(call, event ? "cuEventQuery" : "cuStreamQuery", result);
}

int drawloom_cuda_settle(call_t* call) {
  const unsigned ms = atomic_load(&limit_ms);
  return ms ? poll(call, NULL, ms) : 0;
}

int drawloom_cuda_wait(call_t* call) {
  int code = drawloom_cuda_settle(call);
  if (!code) code = drawloom_cuda_check(call, "cuStreamSynchronize", call->driver->stream_synchronize(call->stream));
  if (!code) drawloom_cuda_strike_off(call->state, call->stream);
  return code;
}

int drawloom_cuda_wait_event(call_t* call, cu_event_t event) {
  const unsigned ms = atomic_load(&limit_ms);
  int code = ms ? poll(call, event, ms) : 0;
  return code ? code : drawloom_cuda_check(call, "cuEventSynchronize", call->driver->event_synchronize(event));
}
