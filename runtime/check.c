// The checks that generated code makes of its arguments before it starts.
//
// check_size is what index arithmetic of 64 bits stands on: coordinates are below a limit, and neither the bytes of all
// elements nor any offset from coordinate 0 reaches 2^62. Example, f32, min 10, extent 20, stride 8: the farthest
// coordinate is 29, its offset 29 * 8 * 4 bytes. The test itself adds and multiplies with overflow noticed.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

typedef struct words_t {
  char text[64];
} words_t;

static drawloom_site_t site_of(const drawloom_buffer_check_t* spec) {
  return (drawloom_site_t){.pipeline = spec->pipeline, .name = spec->name};
}

static int fail(drawloom_context_t* ctx, int code, const drawloom_buffer_check_t* spec, int64_t a, int64_t b, int64_t c,
                int64_t d) {
  const drawloom_site_t site = site_of(spec);
  const message_t message = {&site, NULL, a, b, c, d};
  return drawloom_report(ctx, code, &message);
}

static int fail_words(drawloom_context_t* ctx, int code, const drawloom_buffer_check_t* spec, const char* text,
                      const char* other, int64_t a) {
  drawloom_site_t site = site_of(spec);
  site.text = text;
  const message_t message = {&site, other, a, 0, 0, 0};
  return drawloom_report(ctx, code, &message);
}

// ---- One buffer -----------------------------------------------------------------------------------------------

static words_t type_words(drawloom_type_t type) {
  static const char* const names[] = {"int", "uint", "float", "bfloat"};
  words_t words;
  const char* name = type.code < 4 ? names[type.code] : "unknown";
  if (type.code == drawloom_type_uint && type.bits == 1) {
    snprintf(words.text, sizeof words.text, "bool");
  } else {
    snprintf(words.text, sizeof words.text, "%s%d", name, type.bits);
  }
  if (type.lanes != 1) {
    size_t length = strlen(words.text);
    snprintf(words.text + length, sizeof words.text - length, "x%d", type.lanes);
  }
  return words;
}

static int check_kind(drawloom_context_t* ctx, const drawloom_buffer_t* buffer, const drawloom_buffer_check_t* spec) {
  if (!buffer) return fail_words(ctx, drawloom_error_buffer_null, spec, "the buffer", NULL, 0);
  if (buffer->dimensions != spec->dimensions) {
    return fail(ctx, drawloom_error_wrong_rank, spec, buffer->dimensions, spec->dimensions, 0, 0);
  }
  if (memcmp(&buffer->type, &spec->type, sizeof buffer->type) != 0) {
    const words_t has = type_words(buffer->type), needs = type_words(spec->type);
    return fail_words(ctx, drawloom_error_wrong_type, spec, has.text, needs.text, 0);
  }
  if (!buffer->dim && buffer->dimensions > 0) return fail_words(ctx, drawloom_error_buffer_null, spec, "dim", NULL, 0);
  return 0;
}

static int check_host(drawloom_context_t* ctx, const drawloom_buffer_t* buffer, const drawloom_buffer_check_t* spec) {
  if (drawloom_buffer_elements(buffer) == 0) return 0;
  if (!buffer->host) return fail_words(ctx, drawloom_error_buffer_null, spec, "host", NULL, 0);
  uint64_t alignment = spec->alignment ? spec->alignment : drawloom_type_bytes(spec->type);
  if ((uintptr_t)buffer->host % alignment != 0) {
    return fail(ctx, drawloom_error_misaligned, spec, (int64_t)alignment, 0, 0, 0);
  }
  if (buffer->flags & drawloom_flag_device_dirty) return fail(ctx, drawloom_error_host_stale, spec, 0, 0, 0, 0);
  if (spec->written && drawloom_may_overlap_itself(buffer)) {
    return fail(ctx, drawloom_error_self_alias, spec, 0, 0, 0, 0);
  }
  return 0;
}

int drawloom_check_buffer(drawloom_context_t* ctx, const drawloom_buffer_t* buffer,
                          const drawloom_buffer_check_t* spec) {
  int code = check_kind(ctx, buffer, spec);
  if (!code) code = drawloom_check_size(ctx, buffer, spec);
  if (!code) code = check_host(ctx, buffer, spec);
  return code;
}

static uint64_t magnitude(int64_t value) { return value < 0 ? 0 - (uint64_t)value : (uint64_t)value; }

/// total += a * b, all below 2^62; false if the sum is not.
static int add_product(uint64_t* total, uint64_t a, uint64_t b) {
  uint64_t product;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*total, product, total) &&
         *total < UINT64_C(1) << 62;
}

/// Adds one dimension to the number of bytes that all elements would take and to the farthest byte offset.
static int add_dimension(const drawloom_dim_t* dim, uint64_t* volume, uint64_t* reach, uint64_t bytes) {
  const int64_t limit = drawloom_coordinate_limit;
  int64_t last = dim->min;  // of an empty dimension, min is the only coordinate that counts
  if (dim->extent > 0 && __builtin_add_overflow(dim->min, dim->extent - 1, &last)) return 0;
  if (dim->min < -limit || dim->min > limit || last > limit) return 0;
  uint64_t points = 0;
  if (!add_product(&points, *volume, dim->extent ? (uint64_t)dim->extent : 1)) return 0;
  *volume = points;
  uint64_t farthest = magnitude(dim->min);
  if (magnitude(last) > farthest) farthest = magnitude(last);
  if ((uint64_t)dim->extent > farthest) farthest = (uint64_t)dim->extent;
  uint64_t offset = 0;
  return add_product(&offset, farthest, magnitude(dim->stride)) && add_product(reach, offset, bytes);
}

int drawloom_check_size(drawloom_context_t* ctx, const drawloom_buffer_t* buffer, const drawloom_buffer_check_t* spec) {
  uint64_t bytes = drawloom_type_bytes(spec->type), volume = bytes, reach = bytes;
  for (int32_t i = 0; i < spec->dimensions; i++) {
    const drawloom_dim_t* dim = &buffer->dim[i];
    if (dim->extent < 0) return fail(ctx, drawloom_error_bad_extent, spec, i, dim->extent, 0, 0);
    if (!add_dimension(dim, &volume, &reach, bytes)) {
      return fail(ctx, drawloom_error_size_overflow, spec, i, dim->min, dim->extent, dim->stride);
    }
  }
  return 0;
}

int drawloom_check_multiple(drawloom_context_t* ctx, const drawloom_buffer_t* buffer,
                            const drawloom_buffer_check_t* spec, int32_t dimension, int64_t factor) {
  int64_t extent = buffer->dim[dimension].extent;
  if (extent % factor == 0) return 0;
  return fail(ctx, drawloom_error_not_multiple, spec, dimension, extent, factor, 0);
}

// ---- Regions and pairs ----------------------------------------------------------------------------------------

/// The last coordinate of an interval that is not empty; one that no buffer can have stays so.
static int64_t last_of(int64_t min, int64_t extent) {
  int64_t last;
  return __builtin_add_overflow(min, extent - 1, &last) ? INT64_MAX : last;
}

static words_t interval_words(int64_t min, int64_t last) {
  words_t words;
  snprintf(words.text, sizeof words.text, "[%lld, %lld]", (long long)min, (long long)last);
  return words;
}

int drawloom_check_region(drawloom_context_t* ctx, const drawloom_buffer_t* buffer, const drawloom_buffer_check_t* spec,
                          const int64_t* min, const int64_t* extent) {
  for (int32_t i = 0; i < spec->dimensions; i++) {
    if (extent[i] <= 0) return 0;
  }
  for (int32_t i = 0; i < spec->dimensions; i++) {
    const drawloom_dim_t* dim = &buffer->dim[i];
    int64_t last = last_of(min[i], extent[i]), has_last = dim->min + dim->extent - 1;
    if (min[i] >= dim->min && last <= has_last) continue;
    const words_t needs = interval_words(min[i], last), has = interval_words(dim->min, has_last);
    return fail_words(ctx, drawloom_error_out_of_bounds, spec, dim->extent ? has.text : "no elements", needs.text, i);
  }
  return 0;
}

int drawloom_check_overlap(drawloom_context_t* ctx, const drawloom_buffer_t* a, const drawloom_buffer_check_t* spec_a,
                           const drawloom_buffer_t* b, const drawloom_buffer_check_t* spec_b) {
  if (!drawloom_may_overlap(a, b)) return 0;
  return fail_words(ctx, drawloom_error_alias, spec_a, NULL, spec_b->name, 0);
}

// ---- Scalars --------------------------------------------------------------------------------------------------

static drawloom_scalar_t load_int(int bits, const void* value) {
  switch (bits) {
    case 8: return (drawloom_scalar_t){.i = *(const int8_t*)value};
    case 16: return (drawloom_scalar_t){.i = *(const int16_t*)value};
    case 32: return (drawloom_scalar_t){.i = *(const int32_t*)value};
    default: return (drawloom_scalar_t){.i = *(const int64_t*)value};
  }
}

static drawloom_scalar_t load_uint(int bits, const void* value) {
  switch (bits) {
    case 1:
    case 8: return (drawloom_scalar_t){.u = *(const uint8_t*)value};
    case 16: return (drawloom_scalar_t){.u = *(const uint16_t*)value};
    case 32: return (drawloom_scalar_t){.u = *(const uint32_t*)value};
    default: return (drawloom_scalar_t){.u = *(const uint64_t*)value};
  }
}

static drawloom_scalar_t load_scalar(drawloom_type_t type, const void* value) {
  if (type.code == drawloom_type_int) return load_int(type.bits, value);
  if (type.code == drawloom_type_uint) return load_uint(type.bits, value);
  return (drawloom_scalar_t){.f = type.bits == 32 ? *(const float*)value : *(const double*)value};
}

/// a <= b; false when either is NaN.
static int at_most(drawloom_type_t type, drawloom_scalar_t a, drawloom_scalar_t b) {
  if (type.code == drawloom_type_int) return a.i <= b.i;
  if (type.code == drawloom_type_uint) return a.u <= b.u;
  return a.f <= b.f;
}

/// The shortest decimal that reads back as the value.
static void print_float(char* out, size_t bytes, drawloom_type_t type, double value) {
  for (int digits = 6; digits <= 17; digits++) {
    snprintf(out, bytes, "%.*g", digits, value);
    double back = strtod(out, NULL);
    if (type.bits == 32 ? (float)back == (float)value : back == value) return;
  }
}

static words_t scalar_words(drawloom_type_t type, drawloom_scalar_t value) {
  words_t words;
  if (type.code == drawloom_type_int) {
    snprintf(words.text, sizeof words.text, "%lld", (long long)value.i);
  } else if (type.code == drawloom_type_uint) {
    snprintf(words.text, sizeof words.text, "%llu", (unsigned long long)value.u);
  } else {
    print_float(words.text, sizeof words.text, type, value.f);
  }
  return words;
}

static words_t range_words(const drawloom_param_check_t* spec) {
  words_t words = {"(-inf, "};
  if (spec->bounds & drawloom_bound_min) {
    const words_t min = scalar_words(spec->type, spec->min);
    snprintf(words.text, sizeof words.text, "[%.28s, ", min.text);
  }
  size_t length = strlen(words.text);
  if (spec->bounds & drawloom_bound_max) {
    const words_t max = scalar_words(spec->type, spec->max);
    snprintf(words.text + length, sizeof words.text - length, "%.28s]", max.text);
  } else {
    snprintf(words.text + length, sizeof words.text - length, "inf)");
  }
  return words;
}

int drawloom_check_param(drawloom_context_t* ctx, const drawloom_param_check_t* spec, const void* value) {
  const drawloom_scalar_t scalar = load_scalar(spec->type, value);
  const int low = (spec->bounds & drawloom_bound_min) && !at_most(spec->type, spec->min, scalar);
  const int high = (spec->bounds & drawloom_bound_max) && !at_most(spec->type, scalar, spec->max);
  if (!low && !high) return 0;
  const words_t has = scalar_words(spec->type, scalar), needs = range_words(spec);
  const drawloom_site_t site = {.pipeline = spec->pipeline, .name = spec->name, .text = has.text};
  const message_t message = {&site, needs.text, 0, 0, 0, 0};
  return drawloom_report(ctx, drawloom_error_param_out_of_range, &message);
}
