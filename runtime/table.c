// The default table, the process's default context, and the promises of their layout.
#include <assert.h>
#include <string.h>

#include "drawloom/device.h"
#include "internal.h"

// Generated code holds these offsets as numbers (x86-64 and every other LP64 target).
static_assert(sizeof(drawloom_type_t) == 4, "ABI");
static_assert(sizeof(drawloom_dim_t) == 24, "ABI");
static_assert(sizeof(drawloom_buffer_t) == 56, "ABI");
static_assert(offsetof(drawloom_buffer_t, host) == 0, "ABI");
static_assert(offsetof(drawloom_buffer_t, device) == 8, "ABI");
static_assert(offsetof(drawloom_buffer_t, flags) == 24, "ABI");
static_assert(offsetof(drawloom_buffer_t, dim) == 40, "ABI");
static_assert(offsetof(drawloom_context_t, table) == 0, "ABI");
static_assert(offsetof(drawloom_runtime_table_t, malloc) == 8, "ABI");
static_assert(offsetof(drawloom_runtime_table_t, device) == 48, "ABI");
static_assert(offsetof(drawloom_runtime_table_t, fail) == 56, "ABI");
static_assert(sizeof(drawloom_runtime_table_t) == 112, "append only, and raise this number");

// device.h: generated code fills in or reads these.
static_assert(sizeof(drawloom_kernels_t) == 48, "ABI");
static_assert(offsetof(drawloom_kernels_t, capability) == 32, "ABI");
static_assert(offsetof(drawloom_kernels_t, loaded) == 40, "ABI");
static_assert(sizeof(drawloom_tensor_map_t) == 168, "ABI");
static_assert(offsetof(drawloom_tensor_map_t, extent) == 24, "ABI");
static_assert(offsetof(drawloom_tensor_map_t, box) == 104, "ABI");
static_assert(offsetof(drawloom_tensor_map_t, param) == 160, "ABI");
static_assert(sizeof(drawloom_launch_t) == 96, "ABI");
static_assert(offsetof(drawloom_launch_t, grid) == 24, "ABI");
static_assert(offsetof(drawloom_launch_t, shared_bytes) == 64, "ABI");
static_assert(offsetof(drawloom_launch_t, param) == 80, "ABI");
static_assert(offsetof(drawloom_device_table_t, launch) == 16, "ABI");
static_assert(offsetof(drawloom_device_table_t, buffer_malloc) == 64, "ABI");
static_assert(sizeof(drawloom_device_table_t) == 152, "append only, and raise this number");

static int default_trace(drawloom_context_t* ctx, const drawloom_trace_event_t* event) {
  (void)ctx, (void)event;
  return 0;
}

static const drawloom_runtime_table_t default_table = {
    .version = drawloom_table_version,
    .size = sizeof(drawloom_runtime_table_t),
    .malloc = drawloom_pool_malloc,
    .free = drawloom_pool_free,
    .par_for = drawloom_par_for_openmp,
    .error = drawloom_default_error,
    .trace = default_trace,
    .device = &drawloom_cuda_device_table,
    .fail = drawloom_default_fail,
    .check_buffer = drawloom_check_buffer,
    .check_size = drawloom_check_size,
    .check_region = drawloom_check_region,
    .check_overlap = drawloom_check_overlap,
    .check_multiple = drawloom_check_multiple,
    .check_param = drawloom_check_param,
};

static drawloom_context_t default_context = {.table = &default_table};

const drawloom_runtime_table_t* drawloom_default_table(void) { return &default_table; }

drawloom_context_t* drawloom_default_context(void) { return &default_context; }

void drawloom_context_init(drawloom_context_t* ctx, const drawloom_runtime_table_t* table, void* user) {
  memset(ctx, 0, sizeof *ctx);
  ctx->table = table ? table : &default_table;
  ctx->user = user;
}
