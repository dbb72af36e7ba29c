// Copying a strided array between host and device.
//
// Both copies have the same shape and strides, so signs do not matter: each is walked from its lowest address with
// strides made positive. Dimensions are sorted by stride; those that follow one another without a gap form a *run* of
// bytes, the rest is *outer*. One run is one copy. Else there are two ways:
//   rows    one 2D copy for each index of the outer dimensions but the first;
//   staged  a block of host memory laid out like the array (a window of it, if that is long): elements are packed
//           into it or unpacked from it, and the window is copied as a whole. On the way to the host the bytes between
//           the elements stay in the staging block. On the way to the device they arrive there: only where the device
//           memory is this array's alone.
// The cheaper one by a rough estimate is taken: rows for crops of pictures, staging for strided channels.
#include <string.h>

#include "cuda.h"

enum {
  kMostDims = 64,  // those of extent 2 and more: check_size keeps their product below 2^62
  kWindowBytes = 64 << 20,
  // In bytes that could be copied instead.
  kCallCost = 50000,
  kRowCost = 64
};

typedef struct plan_dim_t {
  uint64_t extent, stride_bytes;
} plan_dim_t;

/// A normalised array.
typedef struct plan_t {
  uint64_t run_bytes;
  int outer;  // dimensions in dim, by rising stride
  plan_dim_t dim[kMostDims];
} plan_t;

/// One copy under way.
typedef struct transfer_t {
  call_t* call;
  const plan_t* plan;
  char* host;  // the lowest addresses
  uint64_t device;
  copy_way_t way;
} transfer_t;

// ---- Plans --------------------------------------------------------------------------------------------------------

static uint64_t stride_bytes(const drawloom_buffer_t* buffer, int32_t i) {
  const int64_t stride = buffer->dim[i].stride;
  return (uint64_t)(stride < 0 ? -stride : stride) * drawloom_type_bytes(buffer->type);
}

static void insert(plan_t* plan, plan_dim_t dim) {
  int at = plan->outer++;
  for (; at > 0 && plan->dim[at - 1].stride_bytes > dim.stride_bytes; at--) plan->dim[at] = plan->dim[at - 1];
  plan->dim[at] = dim;
}

static void plan_for(const drawloom_buffer_t* buffer, plan_t* plan) {
  plan->run_bytes = drawloom_type_bytes(buffer->type);
  plan->outer = 0;
  for (int32_t i = 0; i < buffer->dimensions && plan->outer < kMostDims; i++) {
    const plan_dim_t dim = {(uint64_t)buffer->dim[i].extent, stride_bytes(buffer, i)};
    if (dim.extent > 1 && dim.stride_bytes) insert(plan, dim);  // stride 0: the same elements again
  }
  int merged = 0;
  while (merged < plan->outer && plan->dim[merged].stride_bytes == plan->run_bytes) {
    plan->run_bytes *= plan->dim[merged++].extent;
  }
  plan->outer -= merged;
  memmove(plan->dim, plan->dim + merged, (size_t)plan->outer * sizeof plan->dim[0]);
}

void drawloom_cuda_span(const drawloom_buffer_t* buffer, uint64_t* bytes, uint64_t* offset) {
  *bytes = drawloom_type_bytes(buffer->type);
  *offset = 0;
  for (int32_t i = 0; i < buffer->dimensions; i++) {
    const uint64_t reach = stride_bytes(buffer, i) * (uint64_t)(buffer->dim[i].extent - 1);
    *bytes += reach;
    if (buffer->dim[i].stride < 0) *offset += reach;
  }
}

/// What `dims` outer dimensions span.
static uint64_t span_of(const plan_t* plan, int dims) {
  uint64_t bytes = plan->run_bytes;
  for (int i = 0; i < dims; i++) bytes += (plan->dim[i].extent - 1) * plan->dim[i].stride_bytes;
  return bytes;
}

static double count_of(const plan_t* plan, int from) {
  double count = 1;
  for (int i = from; i < plan->outer; i++) count *= (double)plan->dim[i].extent;
  return count;
}

/// How many outer dimensions a staging window holds.
static int window_dims(const plan_t* plan) {
  int dims = plan->outer;
  while (dims > 0 && span_of(plan, dims) > kWindowBytes) dims--;
  return dims;
}

static int rows_are_cheaper(const plan_t* plan) {
  if (plan->dim[0].stride_bytes < plan->run_bytes) return 0;
  if (plan->dim[0].stride_bytes > INT32_MAX) return 1;  // nearly a window each
  const int dims = window_dims(plan);
  const double rows = count_of(plan, 0), calls = count_of(plan, 1), windows = count_of(plan, dims);
  return calls * kCallCost + rows * (kRowCost + (double)plan->run_bytes) <
         windows * (kCallCost + 2 * (double)span_of(plan, dims));
}

// ---- Walking ------------------------------------------------------------------------------------------------------

/// Offsets of all indices of the dimensions [from, to), one after the other.
typedef struct walk_t {
  const plan_t* plan;
  int from, to;
  uint64_t offset;
  uint64_t index[kMostDims];
} walk_t;

static void start(walk_t* walk, const plan_t* plan, int from, int to) {
  walk->plan = plan;
  walk->from = from;
  walk->to = to;
  walk->offset = 0;
  memset(walk->index, 0, sizeof walk->index);
}

/// 0 after the last one.
static int advance(walk_t* walk) {
  for (int i = walk->from; i < walk->to; i++) {
    const plan_dim_t* dim = &walk->plan->dim[i];
    walk->offset += dim->stride_bytes;
    if (++walk->index[i] < dim->extent) return 1;
    walk->offset -= dim->extent * dim->stride_bytes;
    walk->index[i] = 0;
  }
  return 0;
}

// ---- Copies -------------------------------------------------------------------------------------------------------

static int copy_bytes(const transfer_t* t, char* host, uint64_t device, uint64_t bytes) {
  const driver_t* driver = t->call->driver;
  if (t->way == cuda_to_host) {
    return drawloom_cuda_check(t->call, "cuMemcpyDtoHAsync",
                               driver->copy_to_host(host, device, bytes, t->call->stream));
  }
  return drawloom_cuda_check(t->call, "cuMemcpyHtoDAsync",
                             driver->copy_to_device(device, host, bytes, t->call->stream));
}

static int copy_rows_at(const transfer_t* t, uint64_t offset) {
  const plan_dim_t* rows = &t->plan->dim[0];
  const cu_rows_side_t host = {.memory = cu_memory_host, .host = t->host + offset, .pitch = rows->stride_bytes};
  const cu_rows_side_t device = {.memory = cu_memory_device, .device = t->device + offset, .pitch = rows->stride_bytes};
  const cu_rows_t copy = {.from = (t->way == cuda_to_host) ? device : host,
                          .to = (t->way == cuda_to_host) ? host : device,
                          .width_bytes = t->plan->run_bytes,
                          .height = rows->extent};
  return drawloom_cuda_check(t->call, "cuMemcpy2DAsync", t->call->driver->copy_rows(&copy, t->call->stream));
}

static int copy_rows(const transfer_t* t) {
  walk_t walk;
  int code = 0;
  // What no 2D copy can say: the driver takes pitches of up to 31 bits, and none below the width (elements overlap).
  const uint64_t pitch = t->plan->dim[0].stride_bytes;
  const int single = pitch > INT32_MAX || pitch < t->plan->run_bytes;
  start(&walk, t->plan, single ? 0 : 1, t->plan->outer);
  do {
    code = single ? copy_bytes(t, t->host + walk.offset, t->device + walk.offset, t->plan->run_bytes)
                  : copy_rows_at(t, walk.offset);
  } while (!code && advance(&walk));
  return code;
}

/// Between the elements of one window at `host` and the staging block.
static void pack(const transfer_t* t, char* host, char* stage, int dims) {
  walk_t walk;
  start(&walk, t->plan, 0, dims);
  do {
    char *at_host = host + walk.offset, *at_stage = stage + walk.offset;
    memcpy((t->way == cuda_to_host) ? at_host : at_stage, (t->way == cuda_to_host) ? at_stage : at_host,
           t->plan->run_bytes);
  } while (advance(&walk));
}

static int copy_window(const transfer_t* t, uint64_t offset, char* stage, int dims) {
  if (t->way != cuda_to_host) pack(t, t->host + offset, stage, dims);
  int code = copy_bytes(t, stage, t->device + offset, span_of(t->plan, dims));
  if (!code) code = drawloom_cuda_wait(t->call);  // the block is used again
  if (!code && t->way == cuda_to_host) pack(t, t->host + offset, stage, dims);
  return code;
}

static int copy_staged(const transfer_t* t) {
  drawloom_context_t* ctx = t->call->ctx;
  const int dims = window_dims(t->plan);
  const uint64_t bytes = span_of(t->plan, dims);
  char* stage = ctx->table->malloc(ctx, bytes, 0);
  if (!stage) {
    return drawloom_cuda_report(t->call, drawloom_error_out_of_memory, "a copy between host and device", NULL,
                                (int64_t)bytes);
  }
  walk_t walk;
  int code = 0;
  start(&walk, t->plan, dims, t->plan->outer);
  do {
    code = copy_window(t, walk.offset, stage, dims);
  } while (!code && advance(&walk));
  ctx->table->free(ctx, stage);
  return code;
}

static int copy_all(const transfer_t* t) {
  if (t->plan->outer == 0) return copy_bytes(t, t->host, t->device, t->plan->run_bytes);
  return t->way == cuda_to_shared_device || rows_are_cheaper(t->plan) ? copy_rows(t) : copy_staged(t);
}

int drawloom_cuda_copy(call_t* call, const drawloom_buffer_t* buffer, copy_way_t way) {
  plan_t plan;
  uint64_t bytes = 0, offset = 0;
  plan_for(buffer, &plan);
  drawloom_cuda_span(buffer, &bytes, &offset);
  const transfer_t t = {call, &plan, (char*)buffer->host - offset, buffer->device - offset, way};
  int code = drawloom_cuda_settle(call);  // copies of memory that is not pinned wait inside the driver
  if (!code) code = copy_all(&t);
  return code ? code : drawloom_cuda_wait(call);
}
