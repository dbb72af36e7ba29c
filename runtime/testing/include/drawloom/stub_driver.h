/// A stand-in for libcuda, for tests on machines without a GPU: a shared library that exports the driver's functions and
/// keeps device memory on the host, so that copies really copy. It runs no kernels, but tells a test of each launch. It
/// answers like a driver to calls without a current CUcontext, to invalid handles, and after a kernel has failed.
///
/// Tests open it with dlopen, find `drawloom_stub_driver` in it, and point the runtime to it by drawloom_cuda_reset.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { drawloom_stub_text_bytes = 128 };

/// A launch or a demand for residency, as the driver was told.
typedef struct drawloom_stub_launch_t {
  char kernel[drawloom_stub_text_bytes];
  uint32_t grid[3], block[3], cluster[3];  ///< cluster: 0 where no attribute says it
  uint32_t shared_bytes;
  void* stream;
  void* context;  ///< the current one
  void** params;  ///< valid during the call
} drawloom_stub_launch_t;

/// The arguments of cuTensorMapEncodeTiled.
typedef struct drawloom_stub_tensor_t {
  int type, interleave, swizzle, l2_promotion, fill;
  uint32_t rank;
  uint64_t address, extents[5], strides[4];
  uint32_t box[5], steps[5];
} drawloom_stub_tensor_t;

/// What a test sets and reads. `reset` gives all of it its first values and frees what the driver held.
typedef struct drawloom_stub_driver_t {
  void (*reset)(void);

  // ---- Set by tests ----
  int version;                 ///< 13000: CUDA 13.0
  int devices;                 ///< 2
  int capability;              ///< 90
  int multiprocessors;         ///< 132
  int blocks_per_sm;           ///< 2
  int resident_clusters;       ///< 60
  uint64_t memory;             ///< bytes per process; 1 GiB
  int refuse_cubin;            ///< result of loading what does not begin like PTX; 0
  int refuse_ptx;              ///< the same for PTX
  const char* jit_log;         ///< put into the error log then
  const char* fault_kernel;    ///< its launch poisons the CUcontext at the next wait; null
  int fault_result;            ///< 700
  const char* missing_kernel;  ///< modules have all kernels but this one
  const char* hang_kernel;     ///< after its launch no query says that the work is done; null
  void (*on_launch)(const drawloom_stub_launch_t* launch, void* user);
  void* user;
  int slow_load_ms;  ///< how long loading a module takes
  int slow_wait_ms;  ///< how long cuCtxSynchronize takes
  /// The calls `fail_from` .. `fail_from + fail_count - 1` of this function, counted from 0 at this setting, give
  /// `fail_result`. Null: none.
  void (*fail)(const char* function, int from, int count, int result);

  // ---- Made by tests ----
  void* (*make_context)(int device);
  void (*end_context)(void* context);
  void* (*make_stream)(void* context);

  // ---- Read by tests ----
  int (*calls)(const char* function);
  uint64_t (*memory_in_use)(void);
  int (*modules)(void);           ///< loaded and not unloaded
  int (*primaries)(void);         ///< retained and not released
  int (*current_depth)(void);     ///< of this thread's stack of CUcontexts
  drawloom_stub_launch_t launch;  ///< the newest
  drawloom_stub_tensor_t tensor;  ///< the newest
  int function_attribute[16];     ///< newest values
} drawloom_stub_driver_t;

/// The exported symbol.
drawloom_stub_driver_t* drawloom_stub_driver(void);

#ifdef __cplusplus
}
#endif
