// Putting kernels on streams, and asking how many blocks of one the device holds.
//
// What a launch says is checked first, value by value, because the driver answers "invalid argument" to all of it. Then
// the function is found or loaded (module.c), tensor maps are encoded or found (tensor_map.c), and the kernel is put on
// the stream and noted: if it fails, some later call learns of it, and the note says who it may have been (status.c).
// Nothing is waited for unless the context asks for it.
//
// An empty grid is checked and not launched: it is what a picture without rows gives.
#include <string.h>

#include "cuda.h"

static int bad(call_t* call, const drawloom_launch_t* launch, const char* what, int64_t value, const char* needs) {
  drawloom_site_t site = call->site;
  site.name = launch->kernel;
  site.text = what;
  const message_t message = {.site = &site, .other = needs, .a = value};
  return drawloom_report(call->ctx, drawloom_error_bad_launch, &message);
}

static int64_t cluster_of(const drawloom_launch_t* launch, int i) {
  return launch->cluster[i] ? launch->cluster[i] : 1;
}

static int64_t cluster_blocks(const drawloom_launch_t* launch) {
  return cluster_of(launch, 0) * cluster_of(launch, 1) * cluster_of(launch, 2);
}

/// What launch and resident both read.
static int check_shape(call_t* call, const drawloom_launch_t* launch) {
  enum { kMostThreads = 1024, kMostClusterBlocks = 16, kClusterCapability = 90 };
  if (launch->threads < 1 || launch->threads > kMostThreads) {
    return bad(call, launch, "the number of threads per block", launch->threads, "1 to 1024");
  }
  if (launch->shared_bytes < 0 || launch->shared_bytes > call->state->max_shared_bytes) {
    return bad(call, launch, "its shared memory in bytes", launch->shared_bytes,
               "at most what a block of this device has");
  }
  for (int i = 0; i < 3; i++) {
    if (cluster_of(launch, i) < 1 || cluster_of(launch, i) > kMostClusterBlocks) {
      return bad(call, launch, "an extent of its clusters", cluster_of(launch, i), "1 to 16");
    }
  }
  const int64_t blocks = cluster_blocks(launch);
  if (blocks > kMostClusterBlocks) return bad(call, launch, "the number of blocks per cluster", blocks, "1 to 16");
  if (blocks > 1 && call->state->capability < kClusterCapability) {
    return bad(call, launch, "the number of blocks per cluster", blocks, "1 before compute capability 9.0");
  }
  return 0;
}

static int check_grid(call_t* call, const drawloom_launch_t* launch) {
  static const int64_t most[] = {INT32_MAX, 65535, 65535};
  static const char* const names[] = {"grid.x", "grid.y", "grid.z"};
  static const char* const ranges[] = {"0 to 2147483647", "0 to 65535", "0 to 65535"};
  for (int i = 0; i < 3; i++) {
    if (launch->grid[i] < 0 || launch->grid[i] > most[i])
      return bad(call, launch, names[i], launch->grid[i], ranges[i]);
    if (launch->grid[i] % cluster_of(launch, i) != 0) {
      return bad(call, launch, names[i], launch->grid[i], "a multiple of the cluster");
    }
  }
  return 0;
}

static int is_empty(const drawloom_launch_t* launch) {
  return launch->grid[0] == 0 || launch->grid[1] == 0 || launch->grid[2] == 0;
}

/// The driver's words for it; `attribute` is the room for the cluster.
static cu_launch_config_t config_of(const call_t* call, const drawloom_launch_t* launch,
                                    cu_launch_attribute_t* attribute) {
  memset(attribute, 0, sizeof *attribute);
  attribute->id = cu_launch_cluster;
  for (int i = 0; i < 3; i++) attribute->value.cluster[i] = (uint32_t)cluster_of(launch, i);
  return (cu_launch_config_t){
      .grid = {(uint32_t)launch->grid[0], (uint32_t)launch->grid[1], (uint32_t)launch->grid[2]},
      .block = {(uint32_t)launch->threads, 1, 1},
      .shared_bytes = (uint32_t)launch->shared_bytes,
      .stream = call->stream,
      .attributes = attribute,
      .attribute_count = cluster_blocks(launch) > 1,
  };
}

static int check_params(call_t* call, const drawloom_launch_t* launch) {
  if (launch->tensor_maps < 0 || launch->tensor_maps > drawloom_tensor_maps) {
    return bad(call, launch, "the number of tensor maps", launch->tensor_maps, "0 to 16");
  }
  for (int i = 0; i < launch->tensor_maps; i++) {
    const int param = launch->tensor_map[i].param;
    if (param < 0 || param >= launch->params) {
      return bad(call, launch, "the parameter of a tensor map", param, "the number of a parameter");
    }
  }
  return 0;
}

static int encode_maps(call_t* call, const drawloom_launch_t* launch, cu_tensor_map_t* maps) {
  for (int i = 0; i < launch->tensor_maps; i++) {
    int code = drawloom_cuda_tensor_map(call, &launch->tensor_map[i], &maps[i]);
    if (code) return code;
    launch->param[launch->tensor_map[i].param] = &maps[i];
  }
  return 0;
}

/// The maps live only as long as the call.
static void forget_maps(const drawloom_launch_t* launch) {
  for (int i = 0; i < launch->tensor_maps; i++) launch->param[launch->tensor_map[i].param] = NULL;
}

static int put_on_stream(call_t* call, const drawloom_launch_t* launch, cu_function_t function) {
  cu_launch_attribute_t attribute;
  const cu_launch_config_t config = config_of(call, launch, &attribute);
  cu_result_t result = call->driver->launch(&config, function, launch->param, NULL);
  if (result) return drawloom_cuda_failed(call, "cuLaunchKernelEx", result);
  drawloom_cuda_note_launch(call, launch->kernel);
  return call->ctx->device_flags & drawloom_device_wait ? drawloom_cuda_wait(call) : 0;
}

static int run(call_t* call, const drawloom_launch_t* launch) {
  cu_tensor_map_t maps[drawloom_tensor_maps];
  cu_function_t function = NULL;
  int code = drawloom_cuda_function(call, launch, &function);
  if (!code) code = encode_maps(call, launch, maps);
  if (!code) code = put_on_stream(call, launch, function);
  forget_maps(launch);
  return code;
}

static drawloom_site_t site_of(const drawloom_launch_t* launch) {
  return (drawloom_site_t){.pipeline = launch->kernels->name, .name = launch->kernel, .loc = launch->loc};
}

int drawloom_cuda_launch(drawloom_context_t* ctx, const drawloom_launch_t* launch) {
  call_t call;
  const drawloom_site_t site = site_of(launch);
  int code = drawloom_cuda_enter(&call, ctx, &site);
  if (code) return code;
  code = check_shape(&call, launch);
  if (!code) code = check_grid(&call, launch);
  if (!code) code = check_params(&call, launch);
  if (!code && !is_empty(launch)) code = run(&call, launch);
  drawloom_cuda_leave(&call);
  return code;
}

// ---- Residency ------------------------------------------------------------------------------------------------------

static int count_resident(call_t* call, const drawloom_launch_t* launch, int64_t* count) {
  cu_function_t function = NULL;
  int code = drawloom_cuda_function(call, launch, &function), number = 0;
  if (code) return code;
  if (cluster_blocks(launch) == 1) {
    code = drawloom_cuda_check(
        call, "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        call->driver->resident_blocks(&number, function, launch->threads, (size_t)launch->shared_bytes));
    *count = (int64_t)number * call->state->multiprocessors;
    return code;
  }
  drawloom_launch_t large = *launch;  // the query wants a grid; one that cannot be what limits the answer
  for (int i = 0; i < 3; i++) large.grid[i] = cluster_of(launch, i);
  large.grid[0] *= call->state->multiprocessors;
  cu_launch_attribute_t attribute;
  const cu_launch_config_t config = config_of(call, &large, &attribute);
  code = drawloom_cuda_check(call, "cuOccupancyMaxActiveClusters",
                             call->driver->resident_clusters(&number, function, &config));
  *count = number;
  return code;
}

int drawloom_cuda_resident(drawloom_context_t* ctx, const drawloom_launch_t* launch, int64_t* count) {
  call_t call;
  const drawloom_site_t site = site_of(launch);
  *count = 0;
  int code = drawloom_cuda_enter(&call, ctx, &site);
  if (code) return code;
  code = check_shape(&call, launch);
  if (!code) code = count_resident(&call, launch, count);
  drawloom_cuda_leave(&call);
  return code;
}
