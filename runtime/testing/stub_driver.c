// The stand-in for libcuda: what every call does, devices and CUcontexts, and what tests call.
//
// Tests set fields of `drawloom_stub` and plant failures: fail("cuCtxGetId", 1, 2, r) lets the first call of that
// function pass and makes the second and third return r. A kernel that fails does so like a real one: the launch
// succeeds, the next wait does not, and no call in that CUcontext does from then on.
#define _GNU_SOURCE
#include <stdio.h>
#include <time.h>

#include "stub_state.h"

drawloom_stub_driver_t drawloom_stub;
stub_state_t drawloom_stub_state = {.mutex = PTHREAD_MUTEX_INITIALIZER, .next_id = 100};

static _Thread_local stub_context_t* stack[kMost];
static _Thread_local int depth;

void drawloom_stub_lock(void) { pthread_mutex_lock(&drawloom_stub_state.mutex); }
void drawloom_stub_unlock(void) { pthread_mutex_unlock(&drawloom_stub_state.mutex); }

void drawloom_stub_pause(int ms) {
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
  if (ms) nanosleep(&time, NULL);
}

// ---- Every call ---------------------------------------------------------------------------------------------------

/// Counts; gives the planted failure, or 0.
int drawloom_stub_begin(const char* function) {
  int result = 0;
  drawloom_stub_lock();
  int i = 0;
  while (i < kMost - 1 && drawloom_stub_state.function[i].name &&
         strcmp(drawloom_stub_state.function[i].name, function) != 0)
    i++;
  drawloom_stub_state.function[i].name = function;
  drawloom_stub_state.function[i].calls++;
  if (drawloom_stub_state.fail_function && strcmp(drawloom_stub_state.fail_function, function) == 0) {
    const int at = drawloom_stub_state.fail_seen++ - drawloom_stub_state.fail_from;
    if (at >= 0 && at < drawloom_stub_state.fail_count) result = drawloom_stub_state.fail_result;
  }
  drawloom_stub_unlock();
  return result;
}

stub_context_t* drawloom_stub_current(void) { return depth ? stack[depth - 1] : NULL; }

/// As begin, for a call that needs a current CUcontext in which no kernel has failed.
int drawloom_stub_begin_in_context(const char* function) {
  int result = drawloom_stub_begin(function);
  if (result) return result;
  if (!drawloom_stub_current() || !drawloom_stub_current()->alive) return kInvalidContext;
  return drawloom_stub_current()->fault;
}

// ---- Library, devices, CUcontexts -----------------------------------------------------------------------------------

EXPORTED int cuInit(unsigned flags) {
  BEGIN;
  return flags ? kInvalidValue : drawloom_stub.devices == 0 ? cu_no_device : 0;
}

EXPORTED int cuDriverGetVersion(int* version) {
  *version = drawloom_stub.version;
  return 0;
}

EXPORTED int cuGetErrorName(int result, const char** name) {
  switch (result) {
    case 0: *name = "CUDA_SUCCESS"; return 0;
    case kInvalidValue: *name = "CUDA_ERROR_INVALID_VALUE"; return 0;
    case cu_out_of_memory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return 0;
    case cu_no_device: *name = "CUDA_ERROR_NO_DEVICE"; return 0;
    case 200: *name = "CUDA_ERROR_INVALID_IMAGE"; return 0;
    case kInvalidContext: *name = "CUDA_ERROR_INVALID_CONTEXT"; return 0;
    case 218: *name = "CUDA_ERROR_INVALID_PTX"; return 0;
    case kInvalidHandle: *name = "CUDA_ERROR_INVALID_HANDLE"; return 0;
    case cu_not_found: *name = "CUDA_ERROR_NOT_FOUND"; return 0;
    case cu_illegal_address: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; return 0;
    case cu_launch_failed: *name = "CUDA_ERROR_LAUNCH_FAILED"; return 0;
  }
  *name = NULL;
  return kInvalidValue;
}

EXPORTED int cuGetErrorString(int result, const char** text) {
  *text = result == cu_illegal_address ? "an illegal memory access was encountered" : "as planted";
  return 0;
}

EXPORTED int cuDeviceGetCount(int* count) {
  BEGIN;
  *count = drawloom_stub.devices;
  return 0;
}

EXPORTED int cuDeviceGet(int* device, int ordinal) {
  BEGIN;
  if (ordinal < 0 || ordinal >= drawloom_stub.devices) return kInvalidDevice;
  *device = ordinal;
  return 0;
}

EXPORTED int cuDeviceGetName(char* name, int bytes, int device) {
  BEGIN;
  snprintf(name, (size_t)bytes, "Stub %d", device);
  return 0;
}

EXPORTED int cuDeviceGetAttribute(int* value, int attribute, int device) {
  BEGIN;
  (void)device;
  switch (attribute) {
    case cu_device_multiprocessors: *value = drawloom_stub.multiprocessors; return 0;
    case cu_device_capability_major: *value = drawloom_stub.capability / 10; return 0;
    case cu_device_capability_minor: *value = drawloom_stub.capability % 10; return 0;
    case cu_device_max_shared_bytes: *value = 232448; return 0;
  }
  return kInvalidValue;
}

static void* make_context(int device) {
  drawloom_stub_lock();
  stub_context_t* context = &drawloom_stub_state.context[drawloom_stub_state.contexts++ % kMost];
  *context = (stub_context_t){.device = device, .alive = 1, .id = drawloom_stub_state.next_id++};
  drawloom_stub_unlock();
  return context;
}

static void end_context(void* context) { ((stub_context_t*)context)->alive = 0; }

EXPORTED int cuDevicePrimaryCtxRetain(cu_context_t* context, int device) {
  BEGIN;
  if (!drawloom_stub_state.primary[device]) drawloom_stub_state.primary[device] = make_context(device);
  drawloom_stub_state.primary[device]->retained++;
  *context = drawloom_stub_state.primary[device];
  return 0;
}

EXPORTED int cuDevicePrimaryCtxRelease_v2(int device) {
  BEGIN;
  if (!drawloom_stub_state.primary[device] || drawloom_stub_state.primary[device]->retained == 0)
    return kInvalidContext;
  if (--drawloom_stub_state.primary[device]->retained == 0) {
    drawloom_stub_state.primary[device]->alive = 0;
    drawloom_stub_state.primary[device] = NULL;
  }
  return 0;
}

EXPORTED int cuCtxPushCurrent_v2(cu_context_t context) {
  BEGIN;
  if (!context || !context->alive || depth == kMost) return kInvalidContext;
  stack[depth++] = context;
  return 0;
}

EXPORTED int cuCtxPopCurrent_v2(cu_context_t* context) {
  BEGIN;
  if (depth == 0) return kInvalidContext;
  *context = stack[--depth];
  return 0;
}

EXPORTED int cuCtxGetDevice(int* device) {
  BEGIN_IN_CONTEXT;
  *device = drawloom_stub_current()->device;
  return 0;
}

EXPORTED int cuCtxGetId(cu_context_t context, unsigned long long* id) {
  BEGIN;
  if (!context || !context->alive) return kInvalidContext;
  *id = context->id;
  return 0;
}

// ---- What tests call ----------------------------------------------------------------------------------------------

static void fail(const char* function, int from, int count, int result) {
  drawloom_stub_lock();
  drawloom_stub_state.fail_function = function;
  drawloom_stub_state.fail_from = from;
  drawloom_stub_state.fail_count = count;
  drawloom_stub_state.fail_result = result;
  drawloom_stub_state.fail_seen = 0;
  drawloom_stub_unlock();
}

static int calls(const char* function) {
  int result = 0;
  drawloom_stub_lock();
  for (int i = 0; i < kMost; i++) {
    if (drawloom_stub_state.function[i].name && strcmp(drawloom_stub_state.function[i].name, function) == 0)
      result = drawloom_stub_state.function[i].calls;
  }
  drawloom_stub_unlock();
  return result;
}

static uint64_t memory_in_use(void) { return drawloom_stub_state.bytes; }
static int modules(void) { return drawloom_stub_state.modules; }
static int current_depth(void) { return depth; }

static int primaries(void) {
  int count = 0;
  for (int i = 0; i < 8; i++) count += drawloom_stub_state.primary[i] ? drawloom_stub_state.primary[i]->retained : 0;
  return count;
}

static void reset(void) {
  drawloom_stub_free_memory();
  drawloom_stub_free_modules();
  drawloom_stub_free_events();
  drawloom_stub_state.bytes = 0;
  drawloom_stub_state.modules = drawloom_stub_state.records = 0;
  drawloom_stub_state.fail_function = NULL;
  memset(drawloom_stub_state.function, 0, sizeof drawloom_stub_state.function);
  memset(drawloom_stub_state.primary, 0, sizeof drawloom_stub_state.primary);
  depth = 0;
  drawloom_stub = (drawloom_stub_driver_t){.reset = reset,
                                           .version = 13000,
                                           .devices = 2,
                                           .capability = 90,
                                           .multiprocessors = 132,
                                           .blocks_per_sm = 2,
                                           .resident_clusters = 60,
                                           .memory = UINT64_C(1) << 30,
                                           .fault_result = cu_illegal_address,
                                           .fail = fail,
                                           .make_context = make_context,
                                           .end_context = end_context,
                                           .make_stream = drawloom_stub_make_stream,
                                           .calls = calls,
                                           .memory_in_use = memory_in_use,
                                           .modules = modules,
                                           .primaries = primaries,
                                           .current_depth = current_depth};
}

/// So that it also serves a program that finds it by the name libcuda.so.1 and sets nothing.
__attribute__((constructor)) static void start(void) { reset(); }

EXPORTED drawloom_stub_driver_t* drawloom_stub_driver(void) { return &drawloom_stub; }
