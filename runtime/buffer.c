// Facts about types and shapes that callers and the checks share.
#include "drawloom/runtime.h"

uint64_t drawloom_type_bytes(drawloom_type_t type) { return (type.bits + 7u) / 8u * (uint64_t)type.lanes; }

int64_t drawloom_buffer_elements(const drawloom_buffer_t* buffer) {
  int64_t product = 1;
  for (int32_t i = 0; i < buffer->dimensions; i++) {
    if (buffer->dim[i].extent <= 0) return 0;
  }
  for (int32_t i = 0; i < buffer->dimensions; i++) {
    // A shape that check_size would refuse is not worth a trap here.
    if (__builtin_mul_overflow(product, buffer->dim[i].extent, &product)) return INT64_MAX;
  }
  return product;
}

void drawloom_buffer_init(drawloom_buffer_t* buffer, void* host, drawloom_type_t type, int32_t rank,
                          drawloom_dim_t* dim, const int64_t* extents) {
  int64_t stride = 1;
  for (int32_t i = 0; i < rank; i++) {
    dim[i] = (drawloom_dim_t){0, extents[i], stride};
    stride = (int64_t)((uint64_t)stride * (uint64_t)extents[i]);  // nonsense extents are check_size's to report
  }
  *buffer = (drawloom_buffer_t){.host = host, .type = type, .dimensions = rank, .dim = dim};
}
