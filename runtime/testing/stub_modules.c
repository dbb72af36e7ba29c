// The stand-in for libcuda: modules, launches, tensor maps. With DRAWLOOM_STUB_OLD there are no tensor maps.
#include <stdio.h>

#include "stub_state.h"

EXPORTED int cuModuleLoadDataEx(cu_module_t* module, const void* image, unsigned count, int* options, void** values) {
  BEGIN_IN_CONTEXT;
  drawloom_stub_pause(drawloom_stub.slow_load_ms);
  const int is_ptx = strncmp(image, ".version", 8) == 0,
            result = is_ptx ? drawloom_stub.refuse_ptx : drawloom_stub.refuse_cubin;
  for (unsigned i = 0; result && is_ptx && drawloom_stub.jit_log && i < count; i++) {
    // The size stands in the next option.
    if (options[i] == cu_jit_error_log)
      snprintf(values[i], (size_t)(uintptr_t)values[i + 1], "%s", drawloom_stub.jit_log);
  }
  if (result) return result;
  *module = calloc(1, sizeof **module);
  (*module)->context = drawloom_stub_current();
  drawloom_stub_lock();
  drawloom_stub_state.modules++;
  drawloom_stub_unlock();
  return 0;
}

EXPORTED int cuModuleUnload(cu_module_t module) {
  BEGIN;
  free(module);
  drawloom_stub_lock();
  drawloom_stub_state.modules--;
  drawloom_stub_unlock();
  return 0;
}

EXPORTED int cuModuleGetFunction(cu_function_t* function, cu_module_t module, const char* name) {
  BEGIN_IN_CONTEXT;
  if (module->context != drawloom_stub_current()) return kInvalidHandle;
  if (drawloom_stub.missing_kernel && strcmp(drawloom_stub.missing_kernel, name) == 0) return cu_not_found;
  stub_function_t* made = calloc(1, sizeof *made);
  snprintf(made->name, sizeof made->name, "%s", name);
  drawloom_stub_lock();
  made->next = drawloom_stub_state.functions;
  drawloom_stub_state.functions = made;
  drawloom_stub_unlock();
  *function = made;
  return 0;
}

EXPORTED int cuFuncSetAttribute(cu_function_t function, int attribute, int value) {
  BEGIN_IN_CONTEXT;
  (void)function;
  if (attribute < 0 || attribute >= 16) return kInvalidValue;
  drawloom_stub.function_attribute[attribute] = value;
  return 0;
}

static void note(const cu_launch_config_t* config, cu_function_t function, void** params) {
  drawloom_stub_launch_t* launch = &drawloom_stub.launch;
  memset(launch, 0, sizeof *launch);
  memcpy(launch->kernel, function->name, sizeof launch->kernel);
  memcpy(launch->grid, config->grid, sizeof launch->grid);
  memcpy(launch->block, config->block, sizeof launch->block);
  for (uint32_t i = 0; i < config->attribute_count; i++) {
    if (config->attributes[i].id == cu_launch_cluster) {
      memcpy(launch->cluster, config->attributes[i].value.cluster, sizeof launch->cluster);
    }
  }
  launch->shared_bytes = config->shared_bytes;
  launch->stream = config->stream;
  launch->context = drawloom_stub_current();
  launch->params = params;
}

EXPORTED int cuLaunchKernelEx(const cu_launch_config_t* config, cu_function_t function, void** params, void** extra) {
  BEGIN_IN_CONTEXT;
  (void)extra;
  if (drawloom_stub_wrong_stream(config->stream)) return kInvalidHandle;
  drawloom_stub_lock();
  note(config, function, params);
  if (drawloom_stub.fault_kernel && strcmp(function->name, drawloom_stub.fault_kernel) == 0)
    drawloom_stub_current()->pending_fault = drawloom_stub.fault_result;
  if (drawloom_stub.hang_kernel && strcmp(function->name, drawloom_stub.hang_kernel) == 0) {
    drawloom_stub_current()->hangs = 1;
  }
  drawloom_stub_unlock();
  if (drawloom_stub.on_launch) drawloom_stub.on_launch(&drawloom_stub.launch, drawloom_stub.user);
  return 0;
}

EXPORTED int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, cu_function_t function, int threads,
                                                         size_t shared_bytes) {
  BEGIN_IN_CONTEXT;
  (void)function, (void)threads, (void)shared_bytes;
  *blocks = drawloom_stub.blocks_per_sm;
  return 0;
}

EXPORTED int cuOccupancyMaxActiveClusters(int* clusters, cu_function_t function, const cu_launch_config_t* config) {
  BEGIN_IN_CONTEXT;
  drawloom_stub_lock();
  note(config, function, NULL);
  drawloom_stub_unlock();
  for (int i = 0; i < 3; i++) {
    if (drawloom_stub.launch.cluster[i] == 0 || config->grid[i] == 0 ||
        config->grid[i] % drawloom_stub.launch.cluster[i]) {
      return kInvalidValue;
    }
  }
  *clusters = drawloom_stub.resident_clusters;
  return 0;
}

#ifndef DRAWLOOM_STUB_OLD
EXPORTED int cuTensorMapEncodeTiled(cu_tensor_map_t* map, int type, uint32_t rank, void* address,
                                    const uint64_t* extents, const uint64_t* strides, const uint32_t* box,
                                    const uint32_t* steps, int interleave, int swizzle, int l2_promotion, int fill) {
  BEGIN_IN_CONTEXT;
  if ((uintptr_t)map % 64) return kInvalidValue;
  drawloom_stub_lock();
  drawloom_stub_tensor_t* tensor = &drawloom_stub.tensor;
  memset(tensor, 0, sizeof *tensor);
  *tensor = (drawloom_stub_tensor_t){.type = type,
                                     .interleave = interleave,
                                     .swizzle = swizzle,
                                     .l2_promotion = l2_promotion,
                                     .fill = fill,
                                     .rank = rank,
                                     .address = (uint64_t)(uintptr_t)address};
  for (uint32_t i = 0; i < rank && i < 5; i++) {
    tensor->extents[i] = extents[i];
    if (i > 0) tensor->strides[i - 1] = strides[i - 1];
    tensor->box[i] = box[i];
    tensor->steps[i] = steps[i];
  }
  // A map that a test can tell from others.
  for (int i = 0; i < 16; i++) map->opaque[i] = tensor->address + (uint64_t)i;
  drawloom_stub_unlock();
  return 0;
}
#endif

void drawloom_stub_free_modules(void) {
  while (drawloom_stub_state.functions) {
    stub_function_t* next = drawloom_stub_state.functions->next;
    free(drawloom_stub_state.functions);
    drawloom_stub_state.functions = next;
  }
}
