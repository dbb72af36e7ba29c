/// The C ABI between generated code, its callers, and the runtime library. C11 and C++.
///
/// A generated pipeline is `int name(drawloom_context_t* ctx, args...)`: buffers as `drawloom_buffer_t*`,
/// scalars by value; and `int name_argv(drawloom_context_t* ctx, void** args)`, where args[i] is the
/// `drawloom_buffer_t*` or points to the scalar. The result is 0 or a code of error_codes.def. A null ctx
/// means `drawloom_default_context()`, the one symbol that generated code needs from this library; all else it
/// calls through `ctx->table`. So several versions can live in one process, and a program replaces any service
/// by filling a table of its own. Nothing here ends the process or throws.
///
/// Unless said otherwise functions are thread-safe, sizes are in bytes, and coordinates, extents and strides are
/// in elements.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Types and buffers ----------------------------------------------------------------------------------------

enum {
  drawloom_type_int = 0,
  drawloom_type_uint = 1,  ///< bits = 1 is bool, one byte per element in memory
  drawloom_type_float = 2,
  drawloom_type_bfloat = 3
};

/// An element type. In buffers lanes is 1.
typedef struct drawloom_type_t {
  uint8_t code;  ///< drawloom_type_int, ...
  uint8_t bits;
  uint16_t lanes;
} drawloom_type_t;

/// One dimension of a buffer: coordinates min .. min + extent - 1; stride in elements, of any sign, may be 0.
typedef struct drawloom_dim_t {
  int64_t min, extent, stride;
} drawloom_dim_t;

enum {
  drawloom_flag_host_dirty = 1,   ///< the host copy is newer than the device's; pipelines set it on what they write
  drawloom_flag_device_dirty = 2  ///< the device copy is newer than the host's
};

struct drawloom_device_table_t;  // device.h

/// An array with its shape. `host` is the address of the element whose coordinates are all `min`.
typedef struct drawloom_buffer_t {
  void* host;       ///< may be null when the buffer has no elements
  uint64_t device;  ///< device address of the same element, 0 if there is no device copy
  const struct drawloom_device_table_t* device_interface;  ///< whose address that is
  uint64_t flags;                                          ///< drawloom_flag_*
  drawloom_type_t type;
  int32_t dimensions;
  drawloom_dim_t* dim;  ///< `dimensions` of them, dimension 0 first
  void* reserved;       ///< null
} drawloom_buffer_t;

/// Bytes of one element in memory: bits rounded up to bytes, times lanes.
uint64_t drawloom_type_bytes(drawloom_type_t type);

/// Number of elements; 0 if any extent is 0 or less, 1 for rank 0.
int64_t drawloom_buffer_elements(const drawloom_buffer_t* buffer);

/// Describes a dense array at `host`: mins 0, dimension 0 has stride 1. `dim` (rank entries) stays the caller's.
void drawloom_buffer_init(drawloom_buffer_t* buffer, void* host, drawloom_type_t type, int32_t rank,
                          drawloom_dim_t* dim, const int64_t* extents);

// ---- Errors ---------------------------------------------------------------------------------------------------

enum {
  drawloom_ok = 0,
#define DRAWLOOM_ERROR(number, name, text) drawloom_error_##name = number,
#include "drawloom/error_codes.def"
#undef DRAWLOOM_ERROR
  drawloom_message_bytes = 512  ///< longest message with its terminator; longer ones end in "..."
};

/// "buffer_null", ...; "ok" for 0 and "unknown" for a number that is no code.
const char* drawloom_error_name(int code);

/// Where an error arises, in words of the user's program. Strings may be null; they must outlive the call.
typedef struct drawloom_site_t {
  const char* pipeline;
  const char* name;  ///< buffer, Func or parameter
  const char* text;  ///< see error_codes.def
  const char* loc;   ///< "file:line" of the user's source
} drawloom_site_t;

// ---- The context and its table --------------------------------------------------------------------------------

typedef struct drawloom_context_t drawloom_context_t;

/// One iteration of a parallel loop; not 0 is an error code and ends the loop early.
typedef int (*drawloom_task_t)(drawloom_context_t* ctx, int64_t index, void* closure);

/// What `drawloom_runtime_table_t::par_for` is.
typedef int (*drawloom_par_for_t)(drawloom_context_t* ctx, drawloom_task_t task, int64_t min, int64_t extent,
                                  void* closure);

/// What a pipeline demands of one buffer argument, whatever its shape.
typedef struct drawloom_buffer_check_t {
  const char* pipeline;
  const char* name;
  drawloom_type_t type;
  int32_t dimensions;
  uint32_t alignment;  ///< bytes that the host address must be a multiple of; 0: those of one element
  uint32_t written;    ///< not 0: the pipeline writes to it, so its elements must not share memory
} drawloom_buffer_check_t;

typedef union drawloom_scalar_t {
  int64_t i;   ///< for drawloom_type_int
  uint64_t u;  ///< for drawloom_type_uint
  double f;    ///< for drawloom_type_float
} drawloom_scalar_t;

enum { drawloom_bound_min = 1, drawloom_bound_max = 2 };

/// The range that a scalar argument was promised to have.
typedef struct drawloom_param_check_t {
  const char* pipeline;
  const char* name;
  drawloom_type_t type;  ///< int or uint up to 64 bits, float of 32 or 64
  uint32_t bounds;       ///< drawloom_bound_*: which of min and max count
  drawloom_scalar_t min, max;
} drawloom_param_check_t;

enum {
  drawloom_trace_load,
  drawloom_trace_store,
  drawloom_trace_begin_realization,
  drawloom_trace_end_realization,
  drawloom_trace_produce,
  drawloom_trace_consume
};

typedef struct drawloom_trace_event_t {
  uint32_t kind;  ///< drawloom_trace_*
  drawloom_type_t type;
  const char* pipeline;
  const char* func;
  int32_t dimensions;
  const int64_t* coordinates;  ///< of a load or store; min and extent in turn for a realization
  const void* value;           ///< of a load or store, else null
} drawloom_trace_event_t;

enum { drawloom_table_version = 1 };

/// Coordinates of every buffer that passes the checks lie in [-limit, limit]; see `check_size`.
static const int64_t drawloom_coordinate_limit = INT64_C(1) << 48;

/// What generated code may call. Later versions only append; `size` says how much of it is there.
/// check_* and fail return 0 or, after having called `error` once, the code.
typedef struct drawloom_runtime_table_t {
  uint32_t version;  ///< drawloom_table_version
  uint32_t size;     ///< sizeof(drawloom_runtime_table_t) when the table was made

  /// Memory aligned to 64 or `align` (a power of two up to 2 MiB), whichever is more; null when there is none.
  /// 0 bytes give an address that can be freed. Contents are undefined.
  void* (*malloc)(drawloom_context_t* ctx, uint64_t bytes, uint64_t align);
  /// Gives back what malloc of the same context returned, from any thread; null is ignored.
  void (*free)(drawloom_context_t* ctx, void* block);

  /// Calls task(ctx, i, closure) once for each i in [min, min + extent), in any order, possibly at the same time;
  /// returns when all are done. After a task fails no further ones are begun, and its code is returned (if several
  /// fail at once, that of one; the context's last error may then be another's).
  /// Inside a task it runs in the calling thread.
  drawloom_par_for_t par_for;

  /// Takes an error to whoever listens. Returns code.
  int (*error)(drawloom_context_t* ctx, int code, const char* message);
  /// One event; not 0 ends the pipeline with that code.
  int (*trace)(drawloom_context_t* ctx, const drawloom_trace_event_t* event);
  const struct drawloom_device_table_t* device;  ///< null: no devices

  /// Reports `code` with the words of error_codes.def; a..d are the integers named there.
  int (*fail)(drawloom_context_t* ctx, int code, const drawloom_site_t* site, int64_t a, int64_t b, int64_t c,
              int64_t d);

  /// All that can be said of one buffer alone: pointers, rank, type, check_size, alignment, host data up to date,
  /// and, if written, that its elements lie apart. This one is made first: the others take it for granted.
  int (*check_buffer)(drawloom_context_t* ctx, const drawloom_buffer_t* buffer, const drawloom_buffer_check_t* spec);
  /// Extents are not negative; coordinates lie within drawloom_coordinate_limit; the product of the extents that
  /// are not 0, and the sum of max(|min|, |max|, extent) * |stride| over all dimensions, both times the element's
  /// bytes, are below 2^62. So no byte offset from the host address or from coordinate 0 overflows.
  int (*check_size)(drawloom_context_t* ctx, const drawloom_buffer_t* buffer, const drawloom_buffer_check_t* spec);
  /// The buffer holds the box of `dimensions` mins and extents. A box with an extent of 0 or less needs nothing.
  int (*check_region)(drawloom_context_t* ctx, const drawloom_buffer_t* buffer, const drawloom_buffer_check_t* spec,
                      const int64_t* min, const int64_t* extent);
  /// No element of one shares memory with one of the other. Byte ranges that interleave are told apart where
  /// they are channels of one array or parts of its rows. A buffer without elements shares nothing.
  int (*check_overlap)(drawloom_context_t* ctx, const drawloom_buffer_t* a, const drawloom_buffer_check_t* spec_a,
                       const drawloom_buffer_t* b, const drawloom_buffer_check_t* spec_b);
  /// The extent of a dimension is a multiple of factor > 0 (tail=round_up on an output).
  int (*check_multiple)(drawloom_context_t* ctx, const drawloom_buffer_t* buffer, const drawloom_buffer_check_t* spec,
                        int32_t dimension, int64_t factor);
  /// The scalar at `value`, of the spec's type, lies in its range. NaN lies in no range.
  int (*check_param)(drawloom_context_t* ctx, const drawloom_param_check_t* spec, const void* value);
} drawloom_runtime_table_t;

/// Called with each error, in the thread where it arises, maybe from several at once. Must not throw or unwind.
typedef void (*drawloom_error_callback_t)(drawloom_context_t* ctx, int code, const char* message);

/// What a caller hands to a pipeline. Calls that run at the same time may share one. Make it with
/// drawloom_context_init; a program's own context may have it as its first member.
struct drawloom_context_t {
  const drawloom_runtime_table_t* table;
  void* user;                          ///< the caller's; untouched
  drawloom_error_callback_t on_error;  ///< null: one line on stderr
  int32_t num_threads;                 ///< of parallel loops; 0: as drawloom_set_num_threads says
  int32_t last_code;                   ///< read the last error through drawloom_last_error
  char last_message[drawloom_message_bytes];
  void* device_stream;    ///< CUstream of kernels and copies; null: the legacy default stream
  void* device_context;   ///< CUcontext; null: the stream's, or the primary one of device_index
  int32_t device_index;   ///< as the driver counts devices
  uint32_t device_flags;  ///< drawloom_device_*
};

enum {
  drawloom_device_wait = 1  ///< each launch waits for its kernel, so that the one that fails is known
};

/// An entry point in its uniform form.
typedef int (*drawloom_argv_function_t)(drawloom_context_t* ctx, void** args);

/// The pooled allocator, OpenMP threads, errors kept in the context, no trace, CUDA devices (device.h).
const drawloom_runtime_table_t* drawloom_default_table(void);

/// The process's own context, with the default table; never null, made before it is first asked for.
drawloom_context_t* drawloom_default_context(void);

/// Not to be called while a pipeline uses the context. A null table means the default one.
void drawloom_context_init(drawloom_context_t* ctx, const drawloom_runtime_table_t* table, void* user);

/// The newest error reported to ctx since it was made or cleared: its code, its message copied into out[0..bytes).
/// 0 and "" if there is none. out may be null.
int drawloom_last_error(drawloom_context_t* ctx, char* out, size_t bytes);
void drawloom_clear_error(drawloom_context_t* ctx);

/// An on_error callback that says nothing.
void drawloom_on_error_quiet(drawloom_context_t* ctx, int code, const char* message);

// ---- Services of the default table ----------------------------------------------------------------------------

/// Threads of parallel loops in contexts that name no number; n < 1: as many as OpenMP would take.
void drawloom_set_num_threads(int n);
int drawloom_get_num_threads(void);  ///< 0: not set

int drawloom_par_for_openmp(drawloom_context_t* ctx, drawloom_task_t task, int64_t min, int64_t extent, void* closure);
/// In order, in the calling thread.
int drawloom_par_for_serial(drawloom_context_t* ctx, drawloom_task_t task, int64_t min, int64_t extent, void* closure);

typedef struct drawloom_memory_stats_t {
  uint64_t live_blocks, live_bytes;  ///< handed out and not yet freed, as asked for
  uint64_t idle_blocks, idle_bytes;  ///< kept for reuse, as taken from the system
  uint64_t reused;                   ///< mallocs so far that an idle block served
} drawloom_memory_stats_t;

drawloom_memory_stats_t drawloom_memory_stats(void);
/// Gives all idle blocks back to the system.
void drawloom_release_memory(void);
/// Idle blocks of more than this in all are given back, oldest first. At the start 256 MiB.
void drawloom_set_memory_cap(uint64_t bytes);

#ifdef __cplusplus
}
#endif
