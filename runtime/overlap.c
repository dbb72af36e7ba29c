// Do two strided boxes of elements share memory?
//
// Asking exactly is an integer program; the byte ranges alone would refuse two users' habits: channels of one
// interleaved picture (out = its red plane, in = its green one) and parts of its rows (left half to right half).
// Both are one argument. Choose a threshold; strides of at least that many bytes, of either buffer, are the outer
// ones and have a greatest common divisor g. Modulo g an outer step vanishes, so buffer a lives in the residues
// [lo_a, lo_a + len_a), where len_a is the byte range of its inner dimensions alone; likewise b. If these arcs of
// the circle of length g are disjoint, so are the buffers. Each stride that occurs is tried as threshold.
#include "internal.h"

/// Bytes [lo, lo + length).
typedef struct span_t {
  uint64_t lo, length;
} span_t;

static uint64_t stride_bytes(const drawloom_buffer_t* buffer, int32_t i) {
  int64_t stride = buffer->dim[i].stride;
  return (uint64_t)(stride < 0 ? -stride : stride) * drawloom_type_bytes(buffer->type);
}

/// What the dimensions of strides below `threshold` bytes reach. It starts at the lowest address of the whole buffer:
/// negative strides of outer dimensions count too.
static span_t inner_span(const drawloom_buffer_t* buffer, uint64_t threshold) {
  span_t span = {(uint64_t)(uintptr_t)buffer->host, drawloom_type_bytes(buffer->type)};
  for (int32_t i = 0; i < buffer->dimensions; i++) {
    uint64_t reach = stride_bytes(buffer, i) * (uint64_t)(buffer->dim[i].extent - 1);
    if (buffer->dim[i].stride < 0) span.lo -= reach;
    if (stride_bytes(buffer, i) < threshold) span.length += reach;
  }
  return span;
}

static uint64_t gcd(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static uint64_t outer_gcd(uint64_t g, const drawloom_buffer_t* buffer, uint64_t threshold) {
  for (int32_t i = 0; i < buffer->dimensions; i++) {
    uint64_t stride = stride_bytes(buffer, i);
    if (buffer->dim[i].extent > 1 && stride >= threshold) g = gcd(g, stride);
  }
  return g;
}

static int apart_modulo(const drawloom_buffer_t* a, const drawloom_buffer_t* b, uint64_t threshold) {
  uint64_t g = outer_gcd(outer_gcd(0, a, threshold), b, threshold);
  if (g == 0) return 0;
  span_t span_a = inner_span(a, threshold), span_b = inner_span(b, threshold);
  uint64_t behind = (span_b.lo % g + g - span_a.lo % g) % g;  // from a's start up to b's, going round
  return span_a.length <= behind && span_b.length <= g - behind;
}

static int apart_for_strides_of(const drawloom_buffer_t* buffer, const drawloom_buffer_t* a,
                                const drawloom_buffer_t* b) {
  for (int32_t i = 0; i < buffer->dimensions; i++) {
    uint64_t threshold = stride_bytes(buffer, i);
    if (threshold && apart_modulo(a, b, threshold)) return 1;
  }
  return 0;
}

int drawloom_may_overlap(const drawloom_buffer_t* a, const drawloom_buffer_t* b) {
  if (drawloom_buffer_elements(a) == 0 || drawloom_buffer_elements(b) == 0) return 0;
  span_t span_a = inner_span(a, UINT64_MAX), span_b = inner_span(b, UINT64_MAX);
  if (span_a.lo + span_a.length <= span_b.lo || span_b.lo + span_b.length <= span_a.lo) return 0;
  return !apart_for_strides_of(a, a, b) && !apart_for_strides_of(b, a, b);
}

/// The dimension that comes after `last` (-1: the first) in order of |stride|, equal ones by number; -1: none.
/// A sort without storage, for ranks that are small.
static int32_t next_stride(const drawloom_buffer_t* buffer, int32_t last) {
  int32_t best = -1;
  for (int32_t i = 0; i < buffer->dimensions; i++) {
    if (buffer->dim[i].extent <= 1) continue;
    if (last >= 0 && (stride_bytes(buffer, i) < stride_bytes(buffer, last) ||
                      (stride_bytes(buffer, i) == stride_bytes(buffer, last) && i <= last))) {
      continue;
    }
    if (best < 0 || stride_bytes(buffer, i) < stride_bytes(buffer, best)) best = i;
  }
  return best;
}

int drawloom_may_overlap_itself(const drawloom_buffer_t* buffer) {
  if (drawloom_buffer_elements(buffer) == 0) return 0;
  uint64_t reach = drawloom_type_bytes(buffer->type);  // what the dimensions so far cover, end to end
  for (int32_t i = next_stride(buffer, -1); i >= 0; i = next_stride(buffer, i)) {
    if (stride_bytes(buffer, i) < reach) return 1;
    reach += stride_bytes(buffer, i) * (uint64_t)(buffer->dim[i].extent - 1);
  }
  return 0;
}
