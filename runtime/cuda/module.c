// Loading kernels: the cubin, then the PTX, once per drawloom_kernels_t and CUcontext.
//
// kernels->loaded heads a list of loaded_t, one per CUcontext, and each of these a list of functions. Both lists grow
// at the head only while kernels may run, so that a launch finds its function without a lock; loading takes one, so
// threads that race load once. A cubin is refused by a driver older than the toolkit that made it; the PTX is then
// compiled by the driver.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

// A kernel of a module.
typedef struct function_t function_t;
struct function_t {
  function_t* next;
  cu_function_t handle;
  _Atomic int64_t shared_bytes;  // dynamic shared memory allowed so far
  atomic_int large_clusters;
  char name[];
};

struct loaded_t {
  loaded_t* next;                  // of the same kernels
  _Atomic(device_state_t*) state;  // null once the CUcontext is forgotten
  loaded_t* next_of_state;
  cu_module_t module;
  _Atomic(function_t*) functions;
};

// Recursive, because an error callback may call the device again.
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

// ---- Loading; the mutex is held -----------------------------------------------------------------------------------

enum { kLogBytes = 2048 };

typedef struct reasons_t {
  char text[drawloom_message_bytes];
} reasons_t;

static void add_reason(reasons_t* reasons, const char* image, const result_words_t* words, const char* log) {
  size_t length = strlen(reasons->text);
  snprintf(reasons->text + length, sizeof reasons->text - length, "%s%s: %s%s%s", length ? "; " : "", image,
           words->text, log[0] ? ": " : "", log);
}

static void cut_trailing_space(char* text) {
  size_t length = strlen(text);
  while (length && (text[length - 1] == '\n' || text[length - 1] == ' ')) text[--length] = '\0';
}

/// `log` has room for kLogBytes.
static cu_result_t try_load(const driver_t* driver, const void* image, cu_module_t* module, char* log) {
  int options[] = {cu_jit_error_log, cu_jit_error_log_bytes};
  void* values[] = {log, (void*)(uintptr_t)kLogBytes};  // the driver writes the log's length into the second
  log[0] = '\0';
  return driver->module_load(module, image, 2, options, values);
}

static cu_result_t load_image(call_t* call, const char* image_name, const void* image, cu_module_t* module,
                              reasons_t* reasons) {
  char log[kLogBytes];
  cu_result_t result = try_load(call->driver, image, module, log);
  if (result == cu_out_of_memory) {
    drawloom_cuda_trim(call->driver);
    result = try_load(call->driver, image, module, log);
  }
  if (result == cu_success) return result;
  log[kLogBytes - 1] = '\0';
  cut_trailing_space(log);
  const result_words_t words = drawloom_cuda_words(call->driver, result);
  add_reason(reasons, image_name, &words, log);
  return result;
}

static int refuse(call_t* call, const char* why) {
  char name[kDeviceNameBytes + 48];
  const device_state_t* state = call->state;
  snprintf(name, sizeof name, "%s (compute capability %d.%d)", state->name, state->capability / 10,
           state->capability % 10);
  return drawloom_cuda_report(call, drawloom_error_kernels_not_loaded, name, why, 0);
}

static int check_capability(call_t* call, const drawloom_kernels_t* kernels) {
  const int has = call->state->capability, needs = kernels->capability;
  const int exact = (kernels->flags & drawloom_kernels_exact) != 0;
  if (exact ? has == needs : has >= needs) return 0;
  char why[64];
  snprintf(why, sizeof why, "they need %d.%d%s", needs / 10, needs % 10, exact ? " exactly" : " or newer");
  return refuse(call, why);
}

static int load_module(call_t* call, const drawloom_kernels_t* kernels, cu_module_t* module) {
  int code = check_capability(call, kernels);
  if (code) return code;
  reasons_t reasons = {""};
  if (kernels->cubin && kernels->cubin_bytes &&
      load_image(call, "cubin", kernels->cubin, module, &reasons) == cu_success) {
    return 0;
  }
  if (kernels->ptx) {
    cu_result_t result = load_image(call, "PTX", kernels->ptx, module, &reasons);
    if (result == cu_success) return 0;
    if (drawloom_cuda_is_kernel_failure(result)) return drawloom_cuda_failed(call, "cuModuleLoadDataEx", result);
  }
  return refuse(call, reasons.text[0] ? reasons.text : "there is neither a cubin nor PTX");
}

// ---- Finding ------------------------------------------------------------------------------------------------------

static loaded_t* find_loaded(drawloom_kernels_t* kernels, const device_state_t* state) {
  loaded_t* loaded = __atomic_load_n(&kernels->loaded, __ATOMIC_ACQUIRE);
  while (loaded && atomic_load_explicit(&loaded->state, memory_order_relaxed) != state) loaded = loaded->next;
  return loaded;
}

static function_t* find_function(loaded_t* loaded, const char* name) {
  function_t* function = atomic_load_explicit(&loaded->functions, memory_order_acquire);
  while (function && strcmp(function->name, name) != 0) function = function->next;
  return function;
}

static int no_memory(call_t* call, uint64_t bytes) {
  return drawloom_cuda_report(call, drawloom_error_out_of_memory, "a kernel's record", NULL, (int64_t)bytes);
}

/// The mutex is held.
static int load(call_t* call, drawloom_kernels_t* kernels, loaded_t** out) {
  *out = find_loaded(kernels, call->state);
  if (*out) return 0;
  loaded_t* loaded = calloc(1, sizeof *loaded);
  if (!loaded) return no_memory(call, sizeof *loaded);
  int code = load_module(call, kernels, &loaded->module);
  if (code) {
    free(loaded);
    return code;
  }
  atomic_init(&loaded->state, call->state);
  loaded->next_of_state = call->state->loaded;
  call->state->loaded = loaded;
  loaded->next = kernels->loaded;
  __atomic_store_n(&kernels->loaded, loaded, __ATOMIC_RELEASE);
  *out = loaded;
  return 0;
}

/// The mutex is held.
static int add_function(call_t* call, loaded_t* loaded, const char* name, function_t** out) {
  *out = find_function(loaded, name);
  if (*out) return 0;
  const size_t bytes = strlen(name) + 1;
  function_t* function = calloc(1, sizeof *function + bytes);
  if (!function) return no_memory(call, sizeof *function + bytes);
  memcpy(function->name, name, bytes);
  cu_result_t result = call->driver->module_function(&function->handle, loaded->module, name);
  if (result != cu_success) {
    free(function);
    if (result != cu_not_found) return drawloom_cuda_failed(call, "cuModuleGetFunction", result);
    char why[kKernelNameBytes + 48];
    snprintf(why, sizeof why, "the code has no kernel of the name %.*s", kKernelNameBytes, name);
    return refuse(call, why);
  }
  function->next = atomic_load(&loaded->functions);
  atomic_store_explicit(&loaded->functions, function, memory_order_release);
  *out = function;
  return 0;
}

static int load_function(call_t* call, const drawloom_launch_t* launch, function_t** function) {
  loaded_t* loaded = NULL;
  pthread_mutex_lock(&mutex);
  int code = load(call, launch->kernels, &loaded);
  if (!code) code = add_function(call, loaded, launch->kernel, function);
  pthread_mutex_unlock(&mutex);
  return code;
}

// ---- What a launch needs its function to be allowed ---------------------------------------------------------------

/// Blocks get 48 KiB of shared memory, and clusters 8 blocks, unless more is asked for once per function.
static int allow(call_t* call, function_t* function, int attribute, int value) {
  return drawloom_cuda_check(call, "cuFuncSetAttribute",
                             call->driver->function_set(function->handle, attribute, value));
}

static int64_t cluster_blocks(const drawloom_launch_t* launch) {
  int64_t blocks = 1;
  for (int i = 0; i < 3; i++) blocks *= launch->cluster[i] ? launch->cluster[i] : 1;
  return blocks;
}

static int needs_shared(const drawloom_launch_t* launch, function_t* function) {
  return launch->shared_bytes > atomic_load_explicit(&function->shared_bytes, memory_order_acquire);
}

static int needs_cluster(const drawloom_launch_t* launch, function_t* function) {
  enum { kPortableBlocks = 8 };
  return cluster_blocks(launch) > kPortableBlocks &&
         !atomic_load_explicit(&function->large_clusters, memory_order_acquire);
}

static int allow_all(call_t* call, const drawloom_launch_t* launch, function_t* function) {
  int code = 0;
  if (!needs_shared(launch, function) && !needs_cluster(launch, function)) return 0;
  pthread_mutex_lock(&mutex);  // the largest demand of several threads must be the last one made
  if (needs_shared(launch, function)) {
    code = allow(call, function, cu_function_max_shared_bytes, (int)launch->shared_bytes);
    if (!code) atomic_store(&function->shared_bytes, launch->shared_bytes);
  }
  if (!code && needs_cluster(launch, function)) {
    code = allow(call, function, cu_function_large_clusters, 1);
    if (!code) atomic_store(&function->large_clusters, 1);
  }
  pthread_mutex_unlock(&mutex);
  return code;
}

int drawloom_cuda_function(call_t* call, const drawloom_launch_t* launch, cu_function_t* out) {
  loaded_t* loaded = find_loaded(launch->kernels, call->state);
  function_t* function = loaded ? find_function(loaded, launch->kernel) : NULL;
  int code = function ? 0 : load_function(call, launch, &function);
  if (!code) code = allow_all(call, launch, function);
  if (!code) *out = function->handle;
  return code;
}

// ---- The end ------------------------------------------------------------------------------------------------------

static void free_functions(loaded_t* loaded) {
  function_t* function = atomic_load(&loaded->functions);
  while (function) {
    function_t* next = function->next;
    free(function);
    function = next;
  }
  atomic_store(&loaded->functions, NULL);
}

void drawloom_cuda_unload_state(const driver_t* driver, device_state_t* state) {
  pthread_mutex_lock(&mutex);
  // The records themselves hang on the kernels, which may be in use in other CUcontexts, or gone.
  for (loaded_t* loaded = state->loaded; loaded; loaded = loaded->next_of_state) {
    driver->module_unload(loaded->module);
    free_functions(loaded);
    atomic_store(&loaded->state, NULL);
  }
  state->loaded = NULL;
  pthread_mutex_unlock(&mutex);
}

static void unload_one(const driver_t* driver, loaded_t* loaded) {
  device_state_t* state = atomic_load(&loaded->state);
  if (!state) return;
  cu_context_t popped;
  loaded_t** at = &state->loaded;
  while (*at != loaded) at = &(*at)->next_of_state;
  *at = loaded->next_of_state;
  const int current = driver->context_push(state->context) == cu_success;
  driver->module_unload(loaded->module);
  if (current) driver->context_pop(&popped);
  free_functions(loaded);
}

void drawloom_cuda_unload(drawloom_context_t* ctx, drawloom_kernels_t* kernels) {
  const driver_t* driver = NULL;
  const drawloom_site_t site = {.pipeline = kernels->name};
  if (!kernels->loaded || drawloom_cuda_driver(ctx, &site, &driver)) return;
  pthread_mutex_lock(&mutex);
  loaded_t* loaded = kernels->loaded;
  while (loaded) {
    loaded_t* next = loaded->next;
    unload_one(driver, loaded);
    free(loaded);
    loaded = next;
  }
  kernels->loaded = NULL;
  pthread_mutex_unlock(&mutex);
}
