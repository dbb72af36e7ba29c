// Opening libcuda. The library is looked for once, at the first call that needs a device.
#include "driver.h"

#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cuda.h"

static_assert(sizeof(cu_tensor_map_t) == 128, "libcuda's");
static_assert(sizeof(cu_launch_attribute_t) == 72, "libcuda's");
static_assert(sizeof(cu_launch_config_t) == 56, "libcuda's");
static_assert(sizeof(cu_rows_t) == 128, "libcuda's");

// PTX 8.0, which generated code is written in, and the tensor maps came with it.
enum { kNeedsMajor = 12, kNeedsMinor = 0, kLibraryPathBytes = 1024 };

enum { kUntried, kOpen, kFailed };

static struct {
  pthread_mutex_t mutex;
  atomic_int state;
  int code;  // once failed
  char why[256];
  char path[kLibraryPathBytes];  // "": the system's
  driver_t driver;
} opened = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/// Fills in the functions. Returns the name of one that is missing, or null.
static const char* find_functions(driver_t* driver) {
  void* found;
#define CUDA_FUNCTION(member, symbol, parameters)               \
  if (!(found = dlsym(driver->library, symbol))) return symbol; \
  memcpy(&driver->member, &found, sizeof found);  // ISO C has no cast from an object's address to a function's
#include "driver_functions.def"
#undef CUDA_FUNCTION
  return NULL;
}

/// Whether it is; `missing` is a function that it has not, or null.
static int is_too_old(const char* missing) {
  int version = 0;
  cu_result_t (*ask)(int*) = NULL;
  void* found = dlsym(opened.driver.library, "cuDriverGetVersion");
  memcpy(&ask, &found, sizeof found);
  if (ask) ask(&version);
  if (version >= kNeedsMajor * 1000 + kNeedsMinor * 10 && !missing) return 0;
  snprintf(opened.why, sizeof opened.why, "it is for CUDA %d.%d%s%s, needs %d.%d or newer", version / 1000,
           version % 1000 / 10, missing ? " without " : "", missing ? missing : "", kNeedsMajor, kNeedsMinor);
  return 1;
}

static int init_failed(cu_result_t result) {
  const result_words_t words = drawloom_cuda_words(&opened.driver, result);
  snprintf(opened.why, sizeof opened.why, "cuInit: %s", words.text);
  return result == cu_no_device ? drawloom_error_no_device : drawloom_error_no_driver;
}

static int open_library(void) {
  opened.driver.library = dlopen(opened.path[0] ? opened.path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!opened.driver.library) {
    const char* why = dlerror();
    snprintf(opened.why, sizeof opened.why, "%s", why ? why : "it cannot be opened");
    return drawloom_error_no_driver;
  }
  if (is_too_old(find_functions(&opened.driver))) return drawloom_error_old_driver;
  cu_result_t result = opened.driver.init(0);
  return result == cu_success ? 0 : init_failed(result);
}

static void close_library(void) {
  if (opened.driver.library) dlclose(opened.driver.library);
  memset(&opened.driver, 0, sizeof opened.driver);
}

static void open_once(void) {
  pthread_mutex_lock(&opened.mutex);
  if (atomic_load(&opened.state) == kUntried) {
    opened.code = open_library();
    if (opened.code) close_library();
    atomic_store(&opened.state, opened.code ? kFailed : kOpen);
  }
  pthread_mutex_unlock(&opened.mutex);
}

int drawloom_cuda_driver(drawloom_context_t* ctx, const drawloom_site_t* site, const driver_t** driver) {
  if (atomic_load_explicit(&opened.state, memory_order_acquire) == kUntried) open_once();
  *driver = &opened.driver;
  if (atomic_load_explicit(&opened.state, memory_order_acquire) == kOpen) return 0;
  drawloom_site_t said = *site;
  said.text = opened.why;
  const message_t message = {.site = &said};
  return drawloom_report(ctx, opened.code, &message);
}

void drawloom_cuda_set_library(const char* path) {
  pthread_mutex_lock(&opened.mutex);
  close_library();
  snprintf(opened.path, sizeof opened.path, "%s", path ? path : "");
  atomic_store(&opened.state, kUntried);
  pthread_mutex_unlock(&opened.mutex);
}
