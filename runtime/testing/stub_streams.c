// The stand-in for libcuda: streams, events, waiting.
#include "stub_state.h"

/// A wait is where a kernel's failure shows.
static int wait(void) {
  drawloom_stub_current()->fault = drawloom_stub_current()->pending_fault;
  return drawloom_stub_current()->fault;
}

EXPORTED int cuCtxSynchronize(void) {
  BEGIN_IN_CONTEXT;
  drawloom_stub_pause(drawloom_stub.slow_wait_ms);
  return wait();
}

void* drawloom_stub_make_stream(void* context) {
  drawloom_stub_lock();
  stub_stream_t* stream = &drawloom_stub_state.stream[drawloom_stub_state.streams++ % kMost];
  *stream = (stub_stream_t){context, drawloom_stub_state.next_id++};
  drawloom_stub_unlock();
  return stream;
}

int drawloom_stub_wrong_stream(cu_stream_t stream) {
  if ((uintptr_t)stream <= 2) return 0;
  return stream->context == drawloom_stub_current() ? 0 : kInvalidHandle;
}

EXPORTED int cuStreamGetCtx(cu_stream_t stream, cu_context_t* context) {
  BEGIN;
  if ((uintptr_t)stream <= 2) return kInvalidContext;
  *context = stream->context;
  return 0;
}

EXPORTED int cuStreamGetId(cu_stream_t stream, unsigned long long* id) {
  BEGIN_IN_CONTEXT;
  *id = (uintptr_t)stream <= 2 ? (uintptr_t)stream : stream->id;
  return drawloom_stub_wrong_stream(stream);
}

EXPORTED int cuStreamSynchronize(cu_stream_t stream) {
  BEGIN_IN_CONTEXT;
  return drawloom_stub_wrong_stream(stream) ? kInvalidHandle : wait();
}

/// A query sees a failure as a wait does.
static int query(void) { return drawloom_stub_current()->hangs ? cu_not_ready : wait(); }

EXPORTED int cuStreamQuery(cu_stream_t stream) {
  BEGIN_IN_CONTEXT;
  return drawloom_stub_wrong_stream(stream) ? kInvalidHandle : query();
}

EXPORTED int cuEventQuery(cu_event_t event) {
  BEGIN_IN_CONTEXT;
  return event->recorded ? query() : kInvalidHandle;
}

EXPORTED int cuEventCreate(cu_event_t* event, unsigned flags) {
  BEGIN_IN_CONTEXT;
  (void)flags;
  drawloom_stub_lock();
  *event = calloc(1, sizeof **event);
  (*event)->next = drawloom_stub_state.events;
  drawloom_stub_state.events = *event;
  drawloom_stub_unlock();
  return 0;
}

EXPORTED int cuEventRecord(cu_event_t event, cu_stream_t stream) {
  BEGIN_IN_CONTEXT;
  event->recorded = ++drawloom_stub_state.records;
  return drawloom_stub_wrong_stream(stream);
}

EXPORTED int cuEventSynchronize(cu_event_t event) {
  BEGIN_IN_CONTEXT;
  return event->recorded ? wait() : kInvalidHandle;
}

/// Half a millisecond from one record to the next.
EXPORTED int cuEventElapsedTime(float* ms, cu_event_t start, cu_event_t end) {
  BEGIN_IN_CONTEXT;
  if (!start->recorded || !end->recorded) return kInvalidHandle;
  *ms = 0.5f * (float)(end->recorded - start->recorded);
  return 0;
}

EXPORTED int cuEventDestroy_v2(cu_event_t event) {
  BEGIN_IN_CONTEXT;
  drawloom_stub_lock();
  cu_event_t* at = &drawloom_stub_state.events;
  while (*at && *at != event) at = &(*at)->next;
  const int found = *at != NULL;
  if (found) *at = event->next;
  drawloom_stub_unlock();
  if (!found) return kInvalidHandle;
  free(event);
  return 0;
}

void drawloom_stub_free_events(void) {
  while (drawloom_stub_state.events) {
    stub_event_t* next = drawloom_stub_state.events->next;
    free(drawloom_stub_state.events);
    drawloom_stub_state.events = next;
  }
}
