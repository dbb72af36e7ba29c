// Which CUcontext a call works in, what is kept of it, and making it current for the length of the call.
//
// The context of the call may name a CUcontext or a stream (whose CUcontext it then is); else it is the primary one of
// a device, which this process shares with the CUDA runtime library and whatever is built on it. That one is retained
// at its first use and kept. Each call pushes and pops, so that a thread's own current CUcontext stays as it was.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

// Recursive, because an error callback may call the device again.
static struct {
  pthread_mutex_t mutex;
  device_state_t* first;
} states = {.mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

// ---- States; the mutex is held ------------------------------------------------------------------------------------

static device_state_t* state_of_primary(int ordinal) {
  device_state_t* state = states.first;
  while (state && state->primary != ordinal + 1) state = state->next;
  return state;
}

static device_state_t* state_of_id(unsigned long long id) {
  device_state_t* state = states.first;
  while (state && state->id != id) state = state->next;
  return state;
}

static cu_result_t read_attributes(const driver_t* driver, device_state_t* state) {
  int major = 0, minor = 0;
  cu_result_t result = driver->device_attribute(&major, cu_device_capability_major, state->device);
  if (!result) result = driver->device_attribute(&minor, cu_device_capability_minor, state->device);
  if (!result) result = driver->device_attribute(&state->multiprocessors, cu_device_multiprocessors, state->device);
  if (!result) result = driver->device_attribute(&state->max_shared_bytes, cu_device_max_shared_bytes, state->device);
  if (!result) result = driver->device_name(state->name, sizeof state->name, state->device);
  state->capability = 10 * major + minor;
  return result;
}

static cu_result_t read_device(const driver_t* driver, device_state_t* state) {
  cu_context_t popped;
  cu_result_t result = driver->context_push(state->context);
  if (result) return result;
  result = driver->context_device(&state->device);
  driver->context_pop(&popped);
  return result ? result : read_attributes(driver, state);
}

static int has_launched_on(device_state_t* state, cu_stream_t stream) {
  int found = 0;
  pthread_mutex_lock(&state->mutex);
  for (int i = 0; i < state->pending.count; i++) found |= state->pending.launch[i].stream == stream;
  pthread_mutex_unlock(&state->mutex);
  return found;
}

/// In a CUcontext that a kernel has poisoned even questions about it may fail. Then this is the state whose kernels are
/// to be named, found by what the call was given; null: none.
static device_state_t* state_by_handles(cu_context_t context, cu_stream_t stream) {
  device_state_t* state = states.first;
  while (state && !(context ? state->context == context : has_launched_on(state, stream))) state = state->next;
  return state;
}

static int failed_to_find(call_t* call, const char* function, cu_result_t result) {
  pthread_mutex_lock(&states.mutex);
  call->state = state_by_handles(call->ctx->device_context, call->stream);
  pthread_mutex_unlock(&states.mutex);
  return drawloom_cuda_failed(call, function, result);
}

/// The state of a CUcontext, made if there is none yet.
static int state_of_context(call_t* call, cu_context_t context, device_state_t** out) {
  unsigned long long id = 0;
  cu_result_t result = call->driver->context_id(context, &id);
  if (result) return failed_to_find(call, "cuCtxGetId", result);
  *out = state_of_id(id);
  if (*out) return 0;
  device_state_t* state = calloc(1, sizeof *state);
  if (!state) return drawloom_cuda_report(call, drawloom_error_out_of_memory, "a device", NULL, sizeof *state);
  state->driver = call->driver;
  state->context = context;
  state->id = id;
  int code = drawloom_cuda_check(call, "reading the device's attributes", read_device(call->driver, state));
  if (code) {
    free(state);
    return code;
  }
  pthread_mutex_init(&state->mutex, NULL);
  state->next = states.first;
  states.first = state;
  *out = state;
  return 0;
}

static int no_such_device(call_t* call, int ordinal, int count) {
  char text[96];
  snprintf(text, sizeof text, "number %d was asked for, there are %d", ordinal, count);
  return drawloom_cuda_report(call, drawloom_error_no_device, NULL, count ? text : "the driver sees none", 0);
}

static int retain_primary(call_t* call, int ordinal, device_state_t** out) {
  int count = 0;
  cu_device_t device = 0;
  cu_context_t context = NULL;
  const driver_t* driver = call->driver;
  int code = drawloom_cuda_check(call, "cuDeviceGetCount", driver->device_count(&count));
  if (code) return code;
  if (ordinal < 0 || ordinal >= count) return no_such_device(call, ordinal, count);
  code = drawloom_cuda_check(call, "cuDeviceGet", driver->device_get(&device, ordinal));
  if (!code) code = drawloom_cuda_check(call, "cuDevicePrimaryCtxRetain", driver->primary_retain(&context, device));
  if (code) return code;
  code = state_of_context(call, context, out);
  if (code) {
    driver->primary_release(device);
  } else {
    (*out)->primary = ordinal + 1;
  }
  return code;
}

// ---- One call ---------------------------------------------------------------------------------------------------

/// Null and the two fixed values mean the streams that every CUcontext has.
static int is_own_stream(const void* stream) { return (uintptr_t)stream > 2; }

/// The CUcontext that the caller named, directly or by a stream; null: none.
static int named_context(call_t* call, cu_context_t* context) {
  *context = call->ctx->device_context;
  if (*context || !is_own_stream(call->stream)) return 0;
  cu_result_t result = call->driver->stream_context(call->stream, context);
  return result ? failed_to_find(call, "cuStreamGetCtx", result) : 0;
}

static int find_state(call_t* call) {
  cu_context_t context = NULL;
  device_state_t* state = NULL;
  const int ordinal = call->ctx->device_index;
  int code = named_context(call, &context);
  if (code) return code;
  pthread_mutex_lock(&states.mutex);
  if (context) {
    code = state_of_context(call, context, &state);
  } else if (!(state = state_of_primary(ordinal))) {
    code = retain_primary(call, ordinal, &state);
  }
  pthread_mutex_unlock(&states.mutex);
  call->state = state;
  return code;
}

int drawloom_cuda_enter(call_t* call, drawloom_context_t* ctx, const drawloom_site_t* site) {
  static const drawloom_site_t unknown = {.pipeline = "device", .name = "?"};
  *call = (call_t){.ctx = ctx, .site = site ? *site : unknown, .stream = ctx->device_stream};
  int code = drawloom_cuda_driver(ctx, &call->site, &call->driver);
  if (!code) code = find_state(call);
  if (!code) code = drawloom_cuda_check(call, "cuCtxPushCurrent", call->driver->context_push(call->state->context));
  return code;
}

void drawloom_cuda_leave(call_t* call) {
  cu_context_t popped;
  call->driver->context_pop(&popped);
}

// ---- The end ----------------------------------------------------------------------------------------------------

static void drop(const driver_t* driver, device_state_t* state) {
  cu_context_t popped;
  const int current = driver->context_push(state->context) == cu_success;
  drawloom_cuda_unload_state(driver, state);
  drawloom_cuda_drop_blocks(driver, state);
  if (current) driver->context_pop(&popped);
  if (state->primary) driver->primary_release(state->device);
  pthread_mutex_destroy(&state->mutex);
  free(state->tensor_cache);
  free(state);
}

static void unlink_state(device_state_t* state) {
  device_state_t** at = &states.first;
  while (*at != state) at = &(*at)->next;
  *at = state->next;
}

void drawloom_forget_device_context(drawloom_context_t* ctx) {
  call_t call;
  if (!ctx) ctx = drawloom_default_context();
  if (drawloom_cuda_enter(&call, ctx, NULL)) return;
  drawloom_cuda_leave(&call);
  pthread_mutex_lock(&states.mutex);
  unlink_state(call.state);
  pthread_mutex_unlock(&states.mutex);
  drop(call.driver, call.state);
}

void drawloom_cuda_reset(const char* library) {
  const driver_t* driver = NULL;
  const drawloom_site_t site = {.pipeline = "device"};
  drawloom_context_t quiet;
  drawloom_context_init(&quiet, NULL, NULL);
  quiet.on_error = drawloom_on_error_quiet;
  if (states.first) drawloom_cuda_driver(&quiet, &site, &driver);
  while (states.first) {
    device_state_t* state = states.first;
    states.first = state->next;
    drop(driver, state);
  }
  drawloom_cuda_set_library(library);
}
