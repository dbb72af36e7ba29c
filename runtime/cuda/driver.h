/// The part of the CUDA driver's interface that the runtime uses, declared here so that neither building nor starting
/// needs the toolkit. Layouts and numbers are libcuda's ABI.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../internal.h"

typedef int cu_result_t;
typedef int cu_device_t;
typedef struct CUctx_st* cu_context_t;
typedef struct CUstream_st* cu_stream_t;
typedef struct CUmod_st* cu_module_t;
typedef struct CUfunc_st* cu_function_t;
typedef struct CUevent_st* cu_event_t;

enum {
  cu_success = 0,
  cu_out_of_memory = 2,
  cu_no_device = 100,
  cu_ecc_uncorrectable = 214,
  cu_nvlink_uncorrectable = 220,
  cu_contained = 226,
  cu_not_found = 500,
  cu_not_ready = 600,
  cu_illegal_address = 700,
  cu_launch_timeout = 702,
  cu_assert = 710,
  cu_hardware_stack_error = 714,
  cu_illegal_instruction = 715,
  cu_misaligned_address = 716,
  cu_invalid_address_space = 717,
  cu_invalid_pc = 718,
  cu_launch_failed = 719
};

enum {
  cu_device_multiprocessors = 16,
  cu_device_capability_major = 75,
  cu_device_capability_minor = 76,
  cu_device_max_shared_bytes = 97,  // per block, on request

  cu_function_max_shared_bytes = 8,
  cu_function_large_clusters = 14,

  cu_jit_error_log = 5,
  cu_jit_error_log_bytes = 6,

  cu_launch_cluster = 4,

  cu_memory_host = 1,
  cu_memory_device = 2
};

/// CUtensorMap.
typedef struct cu_tensor_map_t {
  _Alignas(64) uint64_t opaque[16];
} cu_tensor_map_t;

/// CUlaunchAttribute; the one kind that is used here.
typedef struct cu_launch_attribute_t {
  int id;
  char pad[4];
  union {
    char bytes[64];
    uint32_t cluster[3];
  } value;
} cu_launch_attribute_t;

/// CUlaunchConfig.
typedef struct cu_launch_config_t {
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;
  cu_stream_t stream;
  cu_launch_attribute_t* attributes;
  uint32_t attribute_count;
} cu_launch_config_t;

/// One side of CUDA_MEMCPY2D.
typedef struct cu_rows_side_t {
  size_t x_bytes, y;
  int memory;  // cu_memory_*
  const void* host;
  uint64_t device;
  void* array;
  size_t pitch;
} cu_rows_side_t;

/// CUDA_MEMCPY2D.
typedef struct cu_rows_t {
  cu_rows_side_t from, to;
  size_t width_bytes, height;
} cu_rows_t;

/// The opened library.
typedef struct driver_t {
  void* library;
#define CUDA_FUNCTION(member, symbol, parameters) cu_result_t(*member) parameters;
#include "driver_functions.def"
#undef CUDA_FUNCTION
} driver_t;

/// *driver = the driver, opened and initialised at the first call. Else the reason is reported; it is final.
int drawloom_cuda_driver(drawloom_context_t* ctx, const drawloom_site_t* site, const driver_t** driver);

/// Closes the driver, in which nothing may be left, and names the library to open next time; null: the system's.
void drawloom_cuda_set_library(const char* path);
