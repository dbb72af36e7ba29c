/* The hand-written kernels on a device, from plain C: `gpu_kit check NAME` compares with the definition, `gpu_kit bench NAME`
 * times against the driver's copy or cuBLAS in the same process, `gpu_kit pair EXTENTxEXTENT NAME..` times any kernels of the
 * kit that turn one buffer of f32 into another of the same extents, and prints what each leaves as a hash, `gpu_kit gemm
 * MxNxK [NAME..]` times kernels with the arguments of gemm beside cuBLAS. One JSON line for each result; exit status 0 when all of
 * them are right, 77 without a device. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemm.h"
#include "gemm_relu_bias.h"
#include "kit.h"
#include "softmax_row.h"
#include "stencil7.h"
#include "transpose.h"

enum { kNoDevice = 77, kSamples = 4096 };
static int failures;

static void report(const char* what, int wrong, const char* why) {
  char message[drawloom_message_bytes] = "";
  if (wrong) drawloom_last_error(&kit_context, message, sizeof message);
  printf("{\"check\": \"%s\", \"right\": %s, \"why\": \"%s%s\"}\n", what, wrong ? "false" : "true", wrong ? why : "",
         message);
  fflush(stdout);
  failures += wrong != 0;
}

// ---- transpose ------------------------------------------------------------------------------------------------------

typedef int (*two_buffers_t)(drawloom_context_t*, const drawloom_buffer_t*, drawloom_buffer_t*);

static int transpose_wrong(two_buffers_t run, int64_t nx, int64_t ny, int64_t pitch_a, int64_t pitch_t) {
  array_t a = array_of(kit_f32, 2, (int64_t[]){ny, nx}, pitch_a),
          t = array_of(kit_f32, 2, (int64_t[]){nx, ny}, pitch_t);
  a.buffer.dim = a.dim, t.buffer.dim = t.dim;
  array_fill(&a, fill_normal, 5);
  int wrong = run(&kit_context, &a.buffer, &t.buffer) || to_host(&t);
  const float *in = a.data, *out = t.data;
  for (int64_t y = 0; y < ny && !wrong; y++) {
    for (int64_t x = 0; x < nx && !wrong; x++) wrong = out[y * t.dim[1].stride + x] != in[x * a.dim[1].stride + y];
  }
  array_free(&a), array_free(&t);
  return wrong;
}

static void check_transpose(void) {
  const int64_t sizes[][2] = {{64, 64}, {4, 4},   {128, 192}, {100, 36}, {1, 1},
                              {7, 65},  {33, 31}, {257, 300}, {0, 5},    {1000, 2052}};
  char name[96];
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const int64_t nx = sizes[i][0], ny = sizes[i][1];
    snprintf(name, sizeof name, "transpose %lldx%lld", (long long)nx, (long long)ny);
    report(name, transpose_wrong(transpose, nx, ny, 0, 0), "elements differ ");
    report(name, transpose_wrong(transpose, nx, ny, ny + 3, nx + 5), "elements differ with odd pitches ");
    if (nx % 4 || ny % 4) continue;
    snprintf(name, sizeof name, "transpose_tma %lldx%lld", (long long)nx, (long long)ny);
    report(name, transpose_wrong(transpose_tma, nx, ny, 0, 0), "elements differ ");
    report(name, transpose_wrong(transpose_tma, nx, ny, ny + 8, nx + 4), "elements differ with pitches ");
  }
}

// ---- softmax --------------------------------------------------------------------------------------------------------

static int softmax_wrong(int64_t n, int64_t rows, int64_t pitch) {
  array_t in = array_of(kit_f32, 2, (int64_t[]){n, rows}, pitch),
          out = array_of(kit_f32, 2, (int64_t[]){n, rows}, pitch);
  in.buffer.dim = in.dim, out.buffer.dim = out.dim;
  array_fill(&in, fill_normal, 11);
  int wrong = softmax_row(&kit_context, &in.buffer, &out.buffer) || to_host(&out);
  for (int64_t y = 0; y < rows && !wrong; y++) {
    const float *v = (const float*)in.data + y * in.dim[1].stride, *e = (const float*)out.data + y * out.dim[1].stride;
    double largest = -INFINITY, sum = 0;
    for (int64_t x = 0; x < n; x++) largest = fmax(largest, v[x]);
    for (int64_t x = 0; x < n; x++) sum += exp(v[x] - largest);
    for (int64_t x = 0; x < n && !wrong; x++) {
      const double want = exp(v[x] - largest) / sum;
      wrong = !(fabs(e[x] - want) <= 1e-5 * want + 1e-38);
    }
  }
  array_free(&in), array_free(&out);
  return wrong;
}

static void check_softmax(void) {
  const int64_t sizes[][3] = {{4096, 64, 0}, {1000, 7, 0}, {4, 3, 0},       {1, 2, 0},   {255, 5, 0},
                              {257, 5, 300}, {5000, 9, 0}, {4092, 3, 4100}, {8192, 4, 0}};
  char name[96];
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    snprintf(name, sizeof name, "softmax_row %lldx%lld", (long long)sizes[i][0], (long long)sizes[i][1]);
    report(name, softmax_wrong(sizes[i][0], sizes[i][1], sizes[i][2]), "elements differ ");
  }
}

// ---- stencil --------------------------------------------------------------------------------------------------------

static int stencil_wrong(int64_t nx, int64_t ny, int64_t nz) {
  array_t u = array_of(kit_f32, 3, (int64_t[]){nx, ny, nz}, 0), v = array_of(kit_f32, 3, (int64_t[]){nx, ny, nz}, 0);
  u.buffer.dim = u.dim, v.buffer.dim = v.dim;
  array_fill(&u, fill_normal, 3);
  int wrong = stencil7(&kit_context, &u.buffer, &v.buffer, 0.4f, 0.1f) || to_host(&v);
  const float *a = u.data, *b = v.data;
  const int64_t sy = nx, sz = nx * ny;
  for (int64_t z = 0; z < nz && !wrong; z++) {
    for (int64_t y = 0; y < ny && !wrong; y++) {
      for (int64_t x = 0; x < nx && !wrong; x++) {
        const int64_t i = z * sz + y * sy + x;
        const float west = x > 0 ? a[i - 1] : 0, east = x + 1 < nx ? a[i + 1] : 0, south = y > 0 ? a[i - sy] : 0,
                    north = y + 1 < ny ? a[i + sy] : 0, below = z > 0 ? a[i - sz] : 0,
                    above = z + 1 < nz ? a[i + sz] : 0;
        const float sum = ((west + east) + (south + north)) + (below + above);
        wrong = b[i] != fmaf(0.4f, a[i], 0.1f * sum);
      }
    }
  }
  array_free(&u), array_free(&v);
  return wrong;
}

/// Launches right after uploads of 4 GiB, when the device's address translation is cold and loads are slow: what races
/// then shows, and not in launches back to back. All results must agree; `check stencil7` compares smaller ones with the host.
static void check_stencil_after_uploads(void) {
  enum { kRounds = 30 };
  const int64_t extents[] = {1024, 1024, 1024};
  array_t u = array_of(kit_f32, 3, extents, 0), first = array_of(kit_f32, 3, extents, 0);
  u.buffer.dim = u.dim, first.buffer.dim = first.dim;
  array_fill(&u, fill_normal, 3);
  int failed = stencil7(&kit_context, &u.buffer, &first.buffer, 0.4f, 0.1f) || to_host(&first);
  for (int i = 0; i < kRounds && !failed; i++) {
    array_t v = array_of(kit_f32, 3, extents, 0);
    v.buffer.dim = v.dim;
    v.buffer.flags |= drawloom_flag_host_dirty;
    failed = drawloom_to_device(&kit_context, &v.buffer) || stencil7(&kit_context, &u.buffer, &v.buffer, 0.4f, 0.1f) ||
             to_host(&v);
    int64_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
    for (int64_t k = 0; k < v.elements; k++) wrong += ((uint32_t*)v.data)[k] != ((uint32_t*)first.data)[k];
    char name[96];
    snprintf(name, sizeof name, "stencil7 1024x1024x1024 after upload %d, %lld elements differ from the first launch's",
             i, (long long)wrong);
    report(name, failed || wrong != 0, failed ? "failed " : "elements differ ");
    array_free(&v);
  }
  if (failed) report("stencil7 after uploads", 1, "failed ");
  array_free(&u), array_free(&first);
}

static void check_stencil(void) {
  const int64_t sizes[][3] = {{128, 16, 64}, {256, 64, 70},   {4, 1, 1},      {132, 17, 3},
                              {64, 33, 129}, {260, 50, 67},   {1, 1, 1},      {7, 9, 5},
                              {129, 16, 10}, {1024, 1024, 9}, {1200, 800, 13}};
  char name[96];
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    snprintf(name, sizeof name, "stencil7 %lldx%lldx%lld", (long long)sizes[i][0], (long long)sizes[i][1],
             (long long)sizes[i][2]);
    report(name, stencil_wrong(sizes[i][0], sizes[i][1], sizes[i][2]), "elements differ ");
  }
}

// ---- gemm -----------------------------------------------------------------------------------------------------------

typedef int (*gemm_function_t)(drawloom_context_t*, const drawloom_buffer_t*, const drawloom_buffer_t*,
                               drawloom_buffer_t*, int64_t);
enum { kMultiprocessors = 132 };

static int relu_bias(drawloom_context_t* ctx, const drawloom_buffer_t* a, const drawloom_buffer_t* b,
                     drawloom_buffer_t* d, int64_t n);
static array_t bias;

typedef struct gemm_case_t {
  array_t a, b, d;
  int64_t m, n, k, resident;
  gemm_function_t run;
} gemm_case_t;

/* `even`: rows are multiples of so many elements: 8 is what TMA asks for. */
static void gemm_open(gemm_case_t* c, int64_t m, int64_t n, int64_t k, int64_t even, enum fill how) {
  c->m = m, c->n = n, c->k = k;
  c->a = array_of(kit_f16, 2, (int64_t[]){k, m}, (k + even - 1) / even * even + (k == 0) * even);
  c->b = array_of(kit_f16, 2, (int64_t[]){n, k}, (n + even - 1) / even * even);
  c->d = array_of(kit_f16, 2, (int64_t[]){n, m}, (n + even - 1) / even * even);
  c->a.buffer.dim = c->a.dim, c->b.buffer.dim = c->b.dim, c->d.buffer.dim = c->d.dim;
  array_fill(&c->a, how, 1), array_fill(&c->b, how, 77);
}
static void gemm_close(gemm_case_t* c) { array_free(&c->a), array_free(&c->b), array_free(&c->d); }

/* Signs: every element equals the sum of integers. Normals: samples against float64. */
static int gemm_wrong(gemm_case_t* c, enum fill how, int with_bias) {
  const int64_t all = c->m * c->n, count = how == fill_signs && all < 1 << 20 ? all : kSamples;
  int wrong = 0;
#pragma omp parallel for reduction(| : wrong)
  for (int64_t s = 0; s < count; s++) {
    const uint64_t at = count == all ? (uint64_t)s : mix((uint64_t)s) % (uint64_t)(all ? all : 1);
    if (!all) continue;
    const int64_t i = (int64_t)at / c->n, j = (int64_t)at % c->n;
    double sum = 0, sizes = 0;
    for (int64_t k = 0; k < c->k; k++) {
      const double p = (double)half_to_float(((uint16_t*)c->a.data)[i * c->a.dim[1].stride + k]) *
                       (double)half_to_float(((uint16_t*)c->b.data)[k * c->b.dim[1].stride + j]);
      sum += p, sizes += fabs(p);
    }
    if (with_bias) sum = fmax(sum + ((float*)bias.data)[j], 0);
    const double got = half_to_float(((uint16_t*)c->d.data)[i * c->d.dim[1].stride + j]);
    if (how == fill_signs) wrong |= got != (double)half_to_float(float_to_half((float)sum));
    if (how == fill_normal) wrong |= !(fabs(got - sum) <= fabs(sum) / 1024 + sqrt((double)c->k) / 16384 + 1e-6);
  }
  return wrong;
}

static void check_gemm_with(const char* title, gemm_function_t run, int64_t even, int with_bias) {
  const int64_t sizes[][3] = {{128, 256, 64},   {128, 256, 0},     {128, 256, 1},     {128, 256, 63}, {128, 256, 65},
                              {256, 512, 128},  {1, 1, 64},        {7, 7, 128},       {255, 257, 64}, {257, 255, 128},
                              {1024, 512, 448}, {300, 1000, 8192}, {2048, 2048, 512}, {5000, 264, 96}};
  char name[96];
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    for (int how = 0; how < 2; how++) {
      gemm_case_t c;
      gemm_open(&c, sizes[i][0], sizes[i][1], sizes[i][2], even, (enum fill)how);
      if (with_bias) {
        bias = array_of(kit_f32, 1, (int64_t[]){c.n}, 0);
        bias.buffer.dim = bias.dim;
        array_fill(&bias, (enum fill)how, 9);
      }
      snprintf(name, sizeof name, "%s %lldx%lldx%lld, rows of %lld, %s", title, (long long)c.m, (long long)c.n,
               (long long)c.k, (long long)even, how ? "signs" : "normal");
      const int failed = run(&kit_context, &c.a.buffer, &c.b.buffer, &c.d.buffer, kMultiprocessors) || to_host(&c.d);
      report(name, failed || gemm_wrong(&c, (enum fill)how, with_bias), failed ? "failed " : "elements differ ");
      gemm_close(&c);
      if (with_bias) array_free(&bias);
    }
  }
}
static int relu_bias(drawloom_context_t* ctx, const drawloom_buffer_t* a, const drawloom_buffer_t* b,
                     drawloom_buffer_t* d, int64_t n) {
  return gemm_relu_bias(ctx, a, b, &bias.buffer, d, n);
}
static void check_gemm(void) {
  check_gemm_with("gemm", gemm, 8, 0);
  check_gemm_with("gemm", gemm, 1, 0);
  check_gemm_with("gemm", gemm, 8191, 0);
}
static void check_gemm_cluster(void) { check_gemm_with("gemm_cluster", gemm_cluster, 8, 0); }
static void check_gemm_relu_bias(void) {
  check_gemm_with("gemm_relu_bias", relu_bias, 8, 1);
  check_gemm_with("gemm_relu_bias", relu_bias, 1, 1);
}

// ---- benches --------------------------------------------------------------------------------------------------------

static void say_rates(const char* what, const candidate_t* list, int count, double amount, const char* unit) {
  int mhz;
  double watts;
  clocks_and_power(&mhz, &watts);
  for (int i = 0; i < count; i++) {
    printf(
        "{\"bench\": \"%s\", \"what\": \"%s\", \"median_ms\": %.5f, \"best_ms\": %.5f, \"%s\": %.1f, \"of_first\": "
        "%.4f, \"mhz\": %d, \"watts\": %.0f}\n",
        what, list[i].name, list[i].median, list[i].best, unit, amount / list[i].median,
        list[0].median / list[i].median, mhz, watts);
  }
  fflush(stdout);
}

typedef struct pair_t {
  array_t *a, *b;
  two_buffers_t run;
} pair_t;
static int run_pair(void* what) {
  pair_t* p = what;
  return p->run(&kit_context, &p->a->buffer, &p->b->buffer);
}
static int copy_pair(void* what) {
  pair_t* p = what;
  return driver_copy(p->b->buffer.device, p->a->buffer.device, (size_t)p->a->elements * 4);
}
static int stencil_pair(void* what) {
  pair_t* p = what;
  return stencil7(&kit_context, &p->a->buffer, &p->b->buffer, 0.4f, 0.1f);
}

static void bench_pair(const char* name, int rank, const int64_t* extents, candidate_t* list, int count,
                       pair_t* pairs) {
  array_t a = array_of(kit_f32, rank, extents, 0), b = array_of(kit_f32, rank, extents, 0);
  a.buffer.dim = a.dim, b.buffer.dim = b.dim;
  array_fill(&a, fill_normal, 1);
  for (int i = 0; i < count; i++) {
    pairs[i].a = &a, pairs[i].b = &b;
    list[i].what = &pairs[i];
  }
  const drawloom_device_table_t* device = kit_context.table->device;
  const int code = device->to_device(&kit_context, &a.buffer, NULL) |
                   device->buffer_malloc(&kit_context, &b.buffer, NULL) | time_in_turns(list, count, 15, 3);
  if (code) report(name, 1, "failed ");
  if (!code) say_rates(name, list, count, 8e-6 * (double)a.elements, "gb_per_s");
  array_free(&a), array_free(&b);
}

static void bench_transpose(void) {
  candidate_t list[] = {{.name = "copy", .run = copy_pair},
                        {.name = "transpose", .run = run_pair},
                        {.name = "transpose_tma", .run = run_pair}};
  pair_t pairs[] = {{0}, {.run = transpose}, {.run = transpose_tma}};
  bench_pair("transpose 16384", 2, (int64_t[]){16384, 16384}, list, 3, pairs);
}
static void bench_softmax(void) {
  candidate_t list[] = {{.name = "copy", .run = copy_pair}, {.name = "softmax_row", .run = run_pair}};
  pair_t pairs[] = {{0}, {.run = softmax_row}};
  bench_pair("softmax_row 4096 x 16384", 2, (int64_t[]){4096, 16384}, list, 2, pairs);
}
static void bench_stencil(void) {
  candidate_t list[] = {{.name = "copy", .run = copy_pair}, {.name = "stencil7", .run = stencil_pair}};
  pair_t pairs[2] = {{0}};
  bench_pair("stencil7 768", 3, (int64_t[]){768, 768, 768}, list, 2, pairs);
  bench_pair("stencil7 1024", 3, (int64_t[]){1024, 1024, 1024}, list, 2, pairs);
}

/// Any kernels of the kit, found by name.
static void bench_variants(int rank, const int64_t* extents, int names, char** name) {
  candidate_t list[kMostCandidates] = {{.name = "copy", .run = copy_pair}};
  pair_t pairs[kMostCandidates] = {{0}};
  int count = 1;
  array_t a = array_of(kit_f32, rank, extents, 0);
  a.buffer.dim = a.dim;
  array_fill(&a, fill_normal, 1);
  for (int i = 0; i < names && count < kMostCandidates; i++) {
    pairs[count].run = (two_buffers_t)dlsym(RTLD_DEFAULT, name[i]);
    if (!pairs[count].run) {
      report(name[i], 1, "not in this kit ");
      continue;
    }
    array_t b = array_of(kit_f32, rank, extents, 0);
    b.buffer.dim = b.dim;
    // On the device too it starts as it does here: memory comes from a pool, where an earlier result may lie.
    b.buffer.flags |= drawloom_flag_host_dirty;
    const int code = drawloom_to_device(&kit_context, &b.buffer) ||
                     pairs[count].run(&kit_context, &a.buffer, &b.buffer) || to_host(&b);
    uint64_t hash = 0;
    for (int64_t k = 0; !code && k < b.elements; k++) hash = mix(hash ^ ((uint32_t*)b.data)[k]);
    printf("{\"variant\": \"%s\", \"hash\": \"%016llx\"}\n", name[i], (unsigned long long)hash);
    array_free(&b);
    if (code) report(name[i], 1, "failed ");
    if (!code) list[count++] = (candidate_t){.name = name[i], .run = run_pair};
  }
  array_free(&a);
  bench_pair("pair", rank, extents, list, count, pairs);
}

static int run_gemm(void* what) {
  gemm_case_t* c = what;
  return c->run(&kit_context, &c->a.buffer, &c->b.buffer, &c->d.buffer, c->resident);
}
static int run_cublas(void* what) {
  gemm_case_t* c = what;
  return cublas_gemm(c->a.buffer.device, c->b.buffer.device, c->d.buffer.device, (int)c->m, (int)c->n, (int)c->k);
}
/// cuBLAS, gemm, and `more` of the kit's kernels with its arguments, by name. Launches are long enough in a row for the host's
/// part of the first to be lost among them.
static int bench_gemm_size(const int64_t* mnk, int more, char** name) {
  static gemm_case_t cases[kMostCandidates];
  candidate_t list[kMostCandidates];
  gemm_case_t c;
  int count = 0;
  gemm_open(&c, mnk[0], mnk[1], mnk[2], 8, fill_normal);
  const double flops = 2. * (double)c.m * (double)c.n * (double)c.k;
  const drawloom_device_table_t* device = kit_context.table->device;
  int code = device->to_device(&kit_context, &c.a.buffer, NULL) | device->to_device(&kit_context, &c.b.buffer, NULL) |
             device->buffer_malloc(&kit_context, &c.d.buffer, NULL);
  if (!cublas_open()) list[count] = (candidate_t){.name = "cublas", .run = run_cublas}, cases[count++] = c;
  const struct {
    const char* name;
    gemm_function_t run;
    int64_t resident;
  } own[] = {{"gemm", gemm, kMultiprocessors},
             {"gemm, a block for each tile", gemm, 65535},
             {"gemm_cluster", gemm_cluster, kMultiprocessors / 2}};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    list[count] = (candidate_t){.name = own[i].name, .run = run_gemm}, cases[count] = c;
    cases[count].run = own[i].run, cases[count++].resident = own[i].resident;
  }
  for (int i = 0; i < more && count < kMostCandidates; i++) {
    list[count] = (candidate_t){.name = name[i], .run = run_gemm}, cases[count] = c;
    cases[count].run = (gemm_function_t)dlsym(RTLD_DEFAULT, name[i]), cases[count].resident = kMultiprocessors;
    if (cases[count].run)
      count++;
    else
      report(name[i], 1, "not in this kit ");
  }
  for (int i = 0; i < count; i++) {
    list[i].what = &cases[i];
    cases[i].a.buffer.dim = cases[i].a.dim, cases[i].b.buffer.dim = cases[i].b.dim,
    cases[i].d.buffer.dim = cases[i].d.dim;
  }
  char title[96];
  snprintf(title, sizeof title, "gemm %lldx%lldx%lld", (long long)c.m, (long long)c.n, (long long)c.k);
  code |= time_in_turns(list, count, 15, flops < 1e11 ? 40 : 5);
  if (code) report(title, 1, "failed ");
  if (!code) say_rates(title, list, count, 1e-9 * flops, "tflops");
  gemm_close(&c);
  return code;
}

static void bench_gemm(void) {
  const int64_t sizes[][3] = {{2048, 2048, 2048}, {4096, 4096, 4096}, {8192, 8192, 8192}, {8192, 8192, 256}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    if (bench_gemm_size(sizes[i], 0, NULL)) return;
  }
}

/// The extents in a word like 64x32; returns how many there are.
static int extents_of(const char* word, int64_t* out) {
  int count = 0;
  for (char* at = (char*)word; count < 3 && *at; at += *at == 'x') out[count++] = strtoll(at, &at, 10);
  return count;
}

// ---- the command ----------------------------------------------------------------------------------------------------

static const struct {
  const char *verb, *name;
  void (*run)(void);
} kJobs[] = {{"check", "transpose", check_transpose},
             {"check", "softmax_row", check_softmax},
             {"check", "stencil7", check_stencil},
             {"check", "stencil7_after_uploads", check_stencil_after_uploads},
             {"check", "gemm", check_gemm},
             {"check", "gemm_cluster", check_gemm_cluster},
             {"check", "gemm_relu_bias", check_gemm_relu_bias},
             {"bench", "transpose", bench_transpose},
             {"bench", "softmax_row", bench_softmax},
             {"bench", "stencil7", bench_stencil},
             {"bench", "gemm", bench_gemm}};

int main(int argc, char** argv) {
  drawloom_context_init(&kit_context, NULL, NULL);
  uint64_t event;
  if (kit_context.table->device->event_create(&kit_context, &event)) return kNoDevice;
  int64_t extents[3];
  const int rank = argc > 2 ? extents_of(argv[2], extents) : 0;
  if (rank > 0 && argc > 3 && strcmp(argv[1], "pair") == 0) {
    bench_variants(rank, extents, argc - 3, argv + 3);
    return failures != 0;
  }
  if (rank == 3 && strcmp(argv[1], "gemm") == 0) return bench_gemm_size(extents, argc - 3, argv + 3) || failures != 0;
  for (size_t i = 0; argc == 3 && i < sizeof kJobs / sizeof *kJobs; i++) {
    if (strcmp(argv[1], kJobs[i].verb) || strcmp(argv[2], kJobs[i].name)) continue;
    kJobs[i].run();
    return failures != 0;
  }
  fprintf(stderr, "usage: gpu_kit check|bench NAME, or pair EXTENTxEXTENT NAME.., or gemm MxNxK [NAME..]\n");
  return 2;
}
