#define _GNU_SOURCE
#include "kit.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

drawloom_context_t kit_context;
const drawloom_type_t kit_f32 = {drawloom_type_float, 32, 1}, kit_f16 = {drawloom_type_float, 16, 1};

array_t array_of(drawloom_type_t type, int rank, const int64_t* extents, int64_t pitch) {
  array_t a = {.buffer = {.type = type, .dimensions = rank}};
  int64_t stride = 1;
  for (int d = 0; d < rank; d++) {
    a.dim[d] = (drawloom_dim_t){0, extents[d], stride};
    stride *= d == 0 && pitch ? pitch : extents[d];
  }
  a.elements = stride > 0 ? stride : 0;
  a.data = aligned_alloc(64, ((size_t)a.elements * (type.bits / 8u) + 127) / 64 * 64);
  if (!a.data) {
    fprintf(stderr, "no memory for %lld elements\n", (long long)a.elements);
    exit(1);
  }
  memset(a.data, 0xa5, (size_t)a.elements * (type.bits / 8u));
  a.buffer.host = a.data;
  return a;
}

void array_free(array_t* a) {
  a->buffer.dim = a->dim;
  drawloom_device_free(&kit_context, &a->buffer);
  free(a->data);
}

uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

float half_to_float(uint16_t h) {
  const uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023;
  if (exponent == 0) return ldexpf((float)fraction, -24) * (sign ? -1.f : 1.f);
  const uint32_t bits = sign | (exponent == 31 ? 0x7f800000 : (exponent + 112) << 23) | fraction << 13;
  float out;
  memcpy(&out, &bits, 4);
  return out;
}

/* To nearest even. */
uint16_t float_to_half(float v) {
  uint32_t bits;
  memcpy(&bits, &v, 4);
  const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
  const float magnitude = fabsf(v);
  if (!(magnitude < 65520.f)) return (uint16_t)(sign | (v != v ? 0x7e00 : 0x7c00));
  if (magnitude == 0) return sign;
  int exponent;
  frexpf(magnitude, &exponent);
  const int unit = (exponent < -13 ? -13 : exponent) - 11; /* log2 of the last bit that is kept */
  const float scaled = nearbyintf(ldexpf(magnitude, -unit));
  const int field = exponent < -13 ? 0 : exponent + 13;
  return (uint16_t)(sign | ((field << 10) + (int)scaled));
}

static float normal(uint64_t bits) {
  const float u = ((float)(bits >> 40) + 1.f) / 16777217.f, v = (float)(bits >> 16 & 0xffffff) / 16777216.f;
  return sqrtf(-2.f * logf(u)) * cosf(6.2831853f * v);
}

void array_fill(array_t* a, enum fill how, uint64_t seed) {
#pragma omp parallel for
  for (int64_t i = 0; i < a->elements; i++) {
    const uint64_t bits = mix((uint64_t)i + seed * 0x9e3779b97f4a7c15u);
    const float v = how == fill_normal ? normal(bits) : (float)(int)(bits % 3) - 1.f;
    if (a->buffer.type.bits == 32) ((float*)a->data)[i] = v;
    if (a->buffer.type.bits == 16) ((uint16_t*)a->data)[i] = float_to_half(v);
  }
  a->buffer.flags |= drawloom_flag_host_dirty;
}

int to_host(array_t* a) { return drawloom_to_host(&kit_context, &a->buffer); }

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int time_in_turns(candidate_t* list, int count, int rounds, int repeats) {
  const drawloom_device_table_t* device = kit_context.table->device;
  uint64_t start, end;
  double times[kMostCandidates][kMostRounds];
  if (count > kMostCandidates || rounds > kMostRounds) return 1;
  int code = device->event_create(&kit_context, &start) | device->event_create(&kit_context, &end);
  for (int i = 0; i < count && !code; i++) code = list[i].run(list[i].what) | drawloom_device_sync(&kit_context);
  for (int r = 0; r < rounds && !code; r++) {
    for (int i = 0; i < count && !code; i++) {
      code |= device->event_record(&kit_context, start);
      for (int k = 0; k < repeats; k++) code |= list[i].run(list[i].what);
      code |= device->event_record(&kit_context, end) | device->event_elapsed(&kit_context, start, end, &times[i][r]);
      times[i][r] /= repeats;
    }
  }
  for (int i = 0; i < count && !code; i++) {
    qsort(times[i], (size_t)rounds, sizeof(double), by_value);
    list[i].median = times[i][rounds / 2], list[i].best = times[i][0];
  }
  device->event_destroy(&kit_context, start), device->event_destroy(&kit_context, end);
  return code;
}

// ---- Libraries of NVIDIA's, by their C names ------------------------------------------------------------------------

typedef int (*gemm_t)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                      const void*, void*, int, int, int, int);
static void* cublas_handle;
static gemm_t cublas_gemm_ex;

int cublas_open(void) {
  const char* names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
  void* library = NULL;
  for (int i = 0; i < 3 && !library; i++) library = dlopen(names[i], RTLD_NOW);
  if (!library) return 1;
  int (*create)(void**) = (int (*)(void**))dlsym(library, "cublasCreate_v2");
  cublas_gemm_ex = (gemm_t)dlsym(library, "cublasGemmEx");
  return !create || !cublas_gemm_ex || create(&cublas_handle);
}

int cublas_gemm(uint64_t a, uint64_t b, uint64_t d, int m, int n, int k) {
  enum { op_n = 0, real_16f = 2, compute_32f = 68, algorithm_default = -1 };
  const float one = 1, zero = 0;
  if (!cublas_handle) return 1;
  // Column-major: the transposed problem, D' = B' A'.
  return cublas_gemm_ex(cublas_handle, op_n, op_n, n, m, k, &one, (void*)b, real_16f, n, (void*)a, real_16f, k, &zero,
                        (void*)d, real_16f, n, compute_32f, algorithm_default);
}

int driver_copy(uint64_t to, uint64_t from, size_t bytes) {
  static int (*copy)(uint64_t, uint64_t, size_t, void*);
  if (!copy) {
    // The runtime leaves no context current behind.
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int (*retain)(void**, int) = library ? (int (*)(void**, int))dlsym(library, "cuDevicePrimaryCtxRetain") : NULL;
    int (*set)(void*) = library ? (int (*)(void*))dlsym(library, "cuCtxSetCurrent") : NULL;
    if (!retain || !set || retain(&context, 0) || set(context)) return 1;
    copy = (int (*)(uint64_t, uint64_t, size_t, void*))dlsym(library, "cuMemcpyDtoDAsync_v2");
  }
  return copy ? copy(to, from, bytes, NULL) : 1;
}

void clocks_and_power(int* mhz, double* watts) {
  *mhz = -1, *watts = -1;
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (!library) return;
  int (*init)(void) = (int (*)(void))dlsym(library, "nvmlInit_v2");
  int (*get)(unsigned, void**) = (int (*)(unsigned, void**))dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
  int (*clock)(void*, int, unsigned*) = (int (*)(void*, int, unsigned*))dlsym(library, "nvmlDeviceGetClockInfo");
  int (*power)(void*, unsigned*) = (int (*)(void*, unsigned*))dlsym(library, "nvmlDeviceGetPowerUsage");
  void* gpu;
  unsigned value;
  if (!init || !get || !clock || !power || init() || get(0, &gpu)) return;
  if (!clock(gpu, 1, &value)) *mhz = (int)value;
  if (!power(gpu, &value)) *watts = value / 1000.0;
}
