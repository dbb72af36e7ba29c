/* What the programs of the kit share: buffers filled from seeds, times on the device, results as JSON lines. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "drawloom/device.h"

/* A dense buffer of rank 1 to 3 with room of its own on the host. */
typedef struct array_t {
  drawloom_buffer_t buffer;
  drawloom_dim_t dim[3];
  void* data;
  int64_t elements;
} array_t;

extern drawloom_context_t kit_context;
extern const drawloom_type_t kit_f32, kit_f16;

/* rank extents; `pitch` elements from row to row (0: dense). Ends the program where there is no memory. */
array_t array_of(drawloom_type_t type, int rank, const int64_t* extents, int64_t pitch);
void array_free(array_t* a);

/* Values from a seed alone: standard normals; integers from {-1, 0, 1}. */
enum fill { fill_normal, fill_signs };
void array_fill(array_t* a, enum fill how, uint64_t seed);
float half_to_float(uint16_t bits);
uint16_t float_to_half(float v);
uint64_t mix(uint64_t x);

/* Brings the result to the host. Not 0: failed, and says why. */
int to_host(array_t* a);

/* The median of `rounds` times of each of `count` functions, in ms, taken in turns; a time is the mean of `repeats` calls.
 * At most kMostCandidates functions and kMostRounds rounds: more fails. */
typedef int (*timed_t)(void* what);
typedef struct candidate_t {
  const char* name;
  timed_t run;
  void* what;
  double median, best;
} candidate_t;
enum { kMostCandidates = 64, kMostRounds = 64 };
int time_in_turns(candidate_t* list, int count, int rounds, int repeats);

/* cuBLAS, opened at run time; null functions where it is not there. D = A B for row-major f16, f32 within. */
int cublas_open(void);
int cublas_gemm(uint64_t a, uint64_t b, uint64_t d, int m, int n, int k);
/* A copy within the device by the driver. */
int driver_copy(uint64_t to, uint64_t from, size_t bytes);
/* Clock in MHz and power in W, by NVML; -1 where it is not there. */
void clocks_and_power(int* mhz, double* watts);
