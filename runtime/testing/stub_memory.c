// The stand-in for libcuda: memory, which is the host's, and copies.
#include "stub_state.h"

EXPORTED int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  BEGIN_IN_CONTEXT;
  int result = cu_out_of_memory;
  drawloom_stub_lock();
  if (drawloom_stub_state.bytes + bytes <= drawloom_stub.memory) {
    memory_t* memory = calloc(1, sizeof *memory);
    memory->at =
        aligned_alloc(kAddressAlignment, (bytes + kAddressAlignment - 1) / kAddressAlignment * kAddressAlignment);
    memory->bytes = bytes;
    memory->next = drawloom_stub_state.memory;
    drawloom_stub_state.memory = memory;
    drawloom_stub_state.bytes += bytes;
    memset(memory->at, 0xd5, bytes);
    *address = (uint64_t)(uintptr_t)memory->at;
    result = 0;
  }
  drawloom_stub_unlock();
  return result;
}

EXPORTED int cuMemFree_v2(uint64_t address) {
  BEGIN_IN_CONTEXT;
  drawloom_stub_lock();
  memory_t** at = &drawloom_stub_state.memory;
  while (*at && (uint64_t)(uintptr_t)(*at)->at != address) at = &(*at)->next;
  memory_t* memory = *at;
  if (memory) {
    *at = memory->next;
    drawloom_stub_state.bytes -= memory->bytes;
    free(memory->at);
    free(memory);
  }
  drawloom_stub_unlock();
  return memory ? 0 : kInvalidValue;
}

/// Whether the bytes are device memory.
static int is_device(uint64_t address, size_t bytes) {
  int found = 0;
  drawloom_stub_lock();
  for (memory_t* memory = drawloom_stub_state.memory; memory && !found; memory = memory->next) {
    const uint64_t start = (uint64_t)(uintptr_t)memory->at;
    found = address >= start && address + bytes <= start + memory->bytes;
  }
  drawloom_stub_unlock();
  return found;
}

EXPORTED int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, cu_stream_t stream) {
  BEGIN_IN_CONTEXT;
  if (drawloom_stub_wrong_stream(stream) || !is_device(to, bytes)) return kInvalidValue;
  memcpy((void*)(uintptr_t)to, from, bytes);
  return 0;
}

EXPORTED int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, cu_stream_t stream) {
  BEGIN_IN_CONTEXT;
  if (drawloom_stub_wrong_stream(stream) || !is_device(from, bytes)) return kInvalidValue;
  memcpy(to, (const void*)(uintptr_t)from, bytes);
  return 0;
}

static char* side_start(const cu_rows_side_t* side) {
  char* start = side->memory == cu_memory_host ? (char*)(uintptr_t)side->host : (char*)(uintptr_t)side->device;
  return start + side->y * side->pitch + side->x_bytes;
}

EXPORTED int cuMemcpy2DAsync_v2(const cu_rows_t* rows, cu_stream_t stream) {
  BEGIN_IN_CONTEXT;
  if (drawloom_stub_wrong_stream(stream) || rows->from.pitch < rows->width_bytes ||
      rows->to.pitch < rows->width_bytes) {
    return kInvalidValue;
  }
  const cu_rows_side_t* device = rows->from.memory == cu_memory_device ? &rows->from : &rows->to;
  if (!is_device(device->device, (rows->height - 1) * device->pitch + rows->width_bytes)) return kInvalidValue;
  char *from = side_start(&rows->from), *to = side_start(&rows->to);
  for (size_t y = 0; y < rows->height; y++) {
    memcpy(to + y * rows->to.pitch, from + y * rows->from.pitch, rows->width_bytes);
  }
  return 0;
}

void drawloom_stub_free_memory(void) {
  while (drawloom_stub_state.memory) {
    memory_t* next = drawloom_stub_state.memory->next;
    free(drawloom_stub_state.memory->at);
    free(drawloom_stub_state.memory);
    drawloom_stub_state.memory = next;
  }
}
