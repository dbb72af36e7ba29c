/// Devices: what generated host code calls to run kernels, and what programs call to place data. C11 and C++.
///
/// Everything goes through `ctx->table->device`; the default table's is CUDA's, which opens the driver library at the
/// first call. Where there is no driver or no device each call fails with a code and a message, and nothing else
/// happens. Device, CUcontext and stream are the context's (`drawloom_context_t::device_index`, `device_context`,
/// `device_stream`). Every call makes that CUcontext current and leaves the thread's own as it was.
///
/// A buffer's device copy has the shape and strides of its host copy: `buffer->device` is the device address of the
/// element whose coordinates are all `min`, so kernels subscript both alike. Only elements are copied, never the bytes
/// between them. Dirty bits say which copy is newer; copies are made when they say so and not otherwise.
///
/// Functions return 0 or, after having called the context's `error` once, a code. Work on the device is asynchronous: a
/// kernel that fails there is reported, by name, by a later call, and so by all calls after it in that CUcontext.
#pragma once

#include "drawloom/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- What generated code describes ----------------------------------------------------------------------------

enum {
  /// The code is for exactly that compute capability (sm_90a), not for later ones.
  drawloom_kernels_exact = 1
};

/// The kernels of one compiled pipeline: static data of the generated object, whose `loaded` belongs to the runtime.
/// The cubin is tried first, then the PTX; either may be absent.
typedef struct drawloom_kernels_t {
  const char* name;      ///< the pipeline's
  const void* cubin;     ///< null: none
  uint64_t cubin_bytes;  ///< 0 if there is none
  const char* ptx;       ///< text up to a zero byte; null: none
  int32_t capability;    ///< 10 * major + minor of the compute capability that the code needs
  uint32_t flags;        ///< drawloom_kernels_exact
  void* loaded;          ///< null at the start
} drawloom_kernels_t;

enum {
  drawloom_tensor_fill_zero = 0,  ///< what a box load delivers for elements outside the array
  drawloom_tensor_fill_nan = 1    ///< a NaN that multiplies like zero in tensor cores; floating point only
};

enum { drawloom_tensor_ranks = 5, drawloom_tensor_maps = 16 };

/// A TMA tensor map, in the words of its encode call. Dimension 0 is the contiguous one. What is not set may be 0.
typedef struct drawloom_tensor_map_t {
  const char* name;      ///< of the buffer or Func, for messages; not part of the value
  uint64_t address;      ///< device address of element 0 .. 0; a multiple of 16
  drawloom_type_t type;  ///< int or uint of 8, 16, 32, 64 bits; float of 16, 32, 64; bfloat of 16
  int32_t rank;          ///< 1 .. drawloom_tensor_ranks
  int64_t extent[5];     ///< elements; 1 .. 2^32
  int64_t stride[5];     ///< BYTES from one element to the next; [0] is the element's size, others multiples of 16
  int32_t box[5];        ///< elements; 1 .. 256; box[0] in bytes is a multiple of 16, at most `swizzle` if that is set
  int32_t element_step[5];  ///< every how many elements one is taken; 1 .. 8, 0 means 1; [0] must be 1
  int32_t swizzle;          ///< 0, 32, 64 or 128 bytes
  int32_t l2_promotion;     ///< 0, 64, 128 or 256 bytes
  int32_t fill;             ///< drawloom_tensor_fill_*
  int32_t tf32;             ///< not 0: float32 is encoded as tf32
  int32_t param;            ///< which kernel parameter it becomes; not part of the value
  int32_t reserved;         ///< 0
} drawloom_tensor_map_t;

/// One kernel launch. A grid with a dimension of 0 blocks launches nothing and is no error.
typedef struct drawloom_launch_t {
  drawloom_kernels_t* kernels;
  const char* kernel;    ///< the entry's name in the code
  const char* loc;       ///< "file:line" of the user's source, for messages; may be null
  int64_t grid[3];       ///< blocks in x, y, z; a multiple of the cluster
  int32_t cluster[3];    ///< blocks per cluster; 0 means 1
  int32_t threads;       ///< per block, in x
  int64_t shared_bytes;  ///< dynamic shared memory per block
  int32_t params;        ///< entries of param
  int32_t tensor_maps;   ///< entries of tensor_map, at most drawloom_tensor_maps
  void** param;          ///< addresses of the values, as for cuLaunchKernel; those of tensor maps are filled in here
  const drawloom_tensor_map_t* tensor_map;
} drawloom_launch_t;

// ---- The table ------------------------------------------------------------------------------------------------

enum { drawloom_device_table_version = 1 };

/// What a kind of device does. Later versions only append. `site` is for messages: pipeline, name and loc; null is
/// allowed. Calls for different buffers may run at the same time; those for one buffer may not.
typedef struct drawloom_device_table_t {
  uint32_t version;  ///< drawloom_device_table_version
  uint32_t size;     ///< sizeof(drawloom_device_table_t) when the table was made
  const char* name;  ///< "cuda"

  /// Loads the kernels (once per CUcontext), encodes the tensor maps (equal ones once), and puts the kernel on the
  /// stream. `param` entries of tensor maps are overwritten.
  int (*launch)(drawloom_context_t* ctx, const drawloom_launch_t* launch);
  /// *count = how many clusters (blocks, if clusters are of 1) of this launch the device holds at once; grid and param
  /// are not read.
  int (*resident)(drawloom_context_t* ctx, const drawloom_launch_t* launch, int64_t* count);
  /// Whether the map can be encoded: 1 or 0, without an error. Decides between TMA and a plain path.
  int (*tensor_map_fits)(drawloom_context_t* ctx, const drawloom_tensor_map_t* map);
  /// Unloads what `loaded` holds, in all CUcontexts. Before the object with the kernels goes away.
  void (*unload)(drawloom_context_t* ctx, drawloom_kernels_t* kernels);

  /// check_buffer and check_overlap of `drawloom_runtime_table_t` for a pipeline that works on the device copies:
  /// a host address is not needed where there is a device address, and newer data on the device is welcome.
  int (*check_buffer)(drawloom_context_t* ctx, const drawloom_buffer_t* buffer, const drawloom_buffer_check_t* spec);
  int (*check_overlap)(drawloom_context_t* ctx, const drawloom_buffer_t* a, const drawloom_buffer_check_t* spec_a,
                       const drawloom_buffer_t* b, const drawloom_buffer_check_t* spec_b);

  /// Gives the buffer a device copy if it has none. Its contents are undefined. What a pipeline only writes: after the
  /// launch it sets flags = (flags & ~host_dirty) | device_dirty, as for what it reads and writes.
  int (*buffer_malloc)(drawloom_context_t* ctx, drawloom_buffer_t* buffer, const drawloom_site_t* site);
  /// Ends the device copy, whatever the flags say. Memory that the caller brought along is only let go; so is a view of
  /// another buffer's device copy, and what was allocated for another shape: crop a copy of the buffer, not itself.
  int (*buffer_free)(drawloom_context_t* ctx, drawloom_buffer_t* buffer, const drawloom_site_t* site);
  /// The device copy is as new as the host's: allocated if there is none, copied if it is new or host_dirty is set.
  /// When it returns the host's bytes may change.
  int (*to_device)(drawloom_context_t* ctx, drawloom_buffer_t* buffer, const drawloom_site_t* site);
  /// The host copy is as new as the device's: copied if device_dirty is set. Waits for the stream.
  int (*to_host)(drawloom_context_t* ctx, drawloom_buffer_t* buffer, const drawloom_site_t* site);

  /// Memory of the pool for intermediate results, aligned to 256; contents undefined; 0 bytes give an address too.
  int (*malloc)(drawloom_context_t* ctx, uint64_t bytes, const drawloom_site_t* site, uint64_t* address);
  /// May be called while kernels still use it: the block is given only to later work of the same stream.
  int (*free)(drawloom_context_t* ctx, uint64_t address);

  /// Waits until all work on the stream is done.
  int (*sync)(drawloom_context_t* ctx);

  /// Time stamps on the stream. elapsed waits for `end`; milliseconds.
  int (*event_create)(drawloom_context_t* ctx, uint64_t* event);
  int (*event_record)(drawloom_context_t* ctx, uint64_t event);
  int (*event_elapsed)(drawloom_context_t* ctx, uint64_t start, uint64_t end, double* ms);
  int (*event_destroy)(drawloom_context_t* ctx, uint64_t event);
} drawloom_device_table_t;

/// CUDA. Contexts whose table names another device or none are served all the same.
const drawloom_device_table_t* drawloom_cuda_table(void);

// ---- For programs ---------------------------------------------------------------------------------------------

/// The buffer's newest data is at `host`; nothing to do where there is no device copy. To be called after a pipeline
/// that ran on the device, before its result is read.
int drawloom_to_host(drawloom_context_t* ctx, drawloom_buffer_t* buffer);
/// Places the data on the context's device ahead of the first pipeline that wants it there.
int drawloom_to_device(drawloom_context_t* ctx, drawloom_buffer_t* buffer);
/// Ends the device copy. Before a buffer goes away.
int drawloom_device_free(drawloom_context_t* ctx, drawloom_buffer_t* buffer);
/// Waits for the context's stream.
int drawloom_device_sync(drawloom_context_t* ctx);
/// How long to_host, to_device, sync and event_elapsed wait for a kernel, in all contexts: after that many milliseconds
/// they give up (kernel_timeout). 0, as at the start: for ever. A kernel cannot be stopped: what comes next in its CUcontext
/// is to end the process, which this keeps able to say what happened.
void drawloom_set_device_timeout(uint32_t ms);
/// Device memory of the caller's (a tensor of another library) becomes the device copy, and the newest one. `address`
/// is that of the element whose coordinates are all `min`; it stays the caller's.
void drawloom_buffer_wrap_device(drawloom_buffer_t* buffer, const drawloom_device_table_t* table, uint64_t address);

/// Of all devices together. Live and idle as for the host's pool.
drawloom_memory_stats_t drawloom_device_memory_stats(void);
/// Gives all idle blocks back to the driver; waits for the devices.
void drawloom_release_device_memory(void);
/// Idle blocks of more than this in all are given back, oldest first. At the start 2 GiB.
void drawloom_set_device_memory_cap(uint64_t bytes);
/// Forgets a CUcontext of the caller's, and frees what is kept in it: kernels and blocks, live ones too. Before
/// cuCtxDestroy. No other call may be under way in it; calls in others may free blocks of it meanwhile.
void drawloom_forget_device_context(drawloom_context_t* ctx);

#ifdef __cplusplus
}
#endif
