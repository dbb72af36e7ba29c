/* The CUDA runtime on a real device: a plain C program that stands on the runtime library alone, with kernels written by
 * hand. `runtime_gpu kernels.ptx`; prints one line per check and "N passed, N failed". Exit status 77: no device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drawloom/device.h"

enum { kWidth = 100, kHeight = 50, kRow = 104, kLength = 1000, kSkipped = 77 };

static int passed, failed;
static drawloom_kernels_t kernels = {.name = "runtime_gpu", .capability = 90};
static const drawloom_device_table_t* device;

static void check(drawloom_context_t* ctx, const char* what, int ok) {
  char message[drawloom_message_bytes] = "";
  if (!ok) drawloom_last_error(ctx, message, sizeof message);
  printf("%-60s %s%s%s\n", what, ok ? "ok" : "FAILED", message[0] ? ": " : "", message);
  *(ok ? &passed : &failed) += 1;
}

static drawloom_launch_t launch_of(const char* kernel, int64_t blocks, int threads, int params, void** param) {
  return (drawloom_launch_t){.kernels = &kernels,
                             .kernel = kernel,
                             .grid = {blocks, 1, 1},
                             .threads = threads,
                             .params = params,
                             .param = param};
}

static const drawloom_type_t kFloat = {drawloom_type_float, 32, 1};
static const drawloom_type_t kInt = {drawloom_type_int, 32, 1};

static drawloom_buffer_t buffer_of(void* host, drawloom_type_t type, int rank, drawloom_dim_t* dim) {
  return (drawloom_buffer_t){.host = host, .type = type, .dimensions = rank, .dim = dim};
}

static int free_all(drawloom_context_t* ctx, drawloom_buffer_t** buffers, int count) {
  int code = 0;
  for (int i = 0; i < count; i++) code |= drawloom_device_free(ctx, buffers[i]);
  return code == 0;
}

// ---- The checks ---------------------------------------------------------------------------------------------------

/* One of the arguments runs backwards through its memory. Events around the kernel. */
static void vector_add(drawloom_context_t* ctx) {
  static float a[kLength], b[kLength], out[kLength];
  for (int i = 0; i < kLength; i++) {
    a[i] = (float)i;
    b[i] = (float)(2 * i + 1);
  }
  drawloom_dim_t forward = {0, kLength, 1}, backward = {0, kLength, -1}, result = {0, kLength, 1};
  drawloom_buffer_t in_a = buffer_of(a, kFloat, 1, &forward), in_b = buffer_of(b + kLength - 1, kFloat, 1, &backward);
  drawloom_buffer_t sum = buffer_of(out, kFloat, 1, &result);
  uint64_t start = 0, end = 0;
  double ms = -1;
  int code = device->to_device(ctx, &in_a, NULL) | device->to_device(ctx, &in_b, NULL) |
             device->buffer_malloc(ctx, &sum, NULL) | device->event_create(ctx, &start) |
             device->event_create(ctx, &end) | device->event_record(ctx, start);
  int n = kLength, stride = -4;
  void* params[] = {&sum.device, &in_a.device, &in_b.device, &n, &stride};
  const drawloom_launch_t launch = launch_of("vector_add", (kLength + 255) / 256, 256, 5, params);
  code |= device->launch(ctx, &launch) | device->event_record(ctx, end);
  sum.flags = drawloom_flag_device_dirty;
  code |= drawloom_to_host(ctx, &sum) | device->event_elapsed(ctx, start, end, &ms);
  check(ctx, "vector_add runs", code == 0);
  int wrong = 0;
  for (int i = 0; i < kLength; i++) wrong += out[i] != (float)i + (float)(2 * (kLength - 1 - i) + 1);
  check(ctx, "vector_add adds, one argument backwards", wrong == 0);
  check(ctx, "events give a time", ms >= 0 && ms < 10000);
  drawloom_buffer_t* all[] = {&in_a, &in_b, &sum};
  code = device->event_destroy(ctx, start) | device->event_destroy(ctx, end);
  check(ctx, "buffers and events are freed", free_all(ctx, all, 3) && code == 0);
}

static drawloom_tensor_map_t map_of(const drawloom_buffer_t* buffer, int param) {
  return (drawloom_tensor_map_t){.name = "picture",
                                 .address = buffer->device,
                                 .type = kFloat,
                                 .rank = 2,
                                 .extent = {kWidth, kHeight},
                                 .stride = {4, 4 * kRow},
                                 .box = {32, 8},
                                 .l2_promotion = 128,
                                 .param = param};
}

/* Tiles that hang over both ends; bytes between the rows must stay. */
static void tile_plus_one(drawloom_context_t* ctx) {
  static float in[kHeight * kRow], out[kHeight * kRow];
  for (int i = 0; i < kHeight * kRow; i++) {
    in[i] = (float)i;
    out[i] = -7;
  }
  drawloom_dim_t in_dim[] = {{0, kWidth, 1}, {0, kHeight, kRow}}, out_dim[] = {{0, kWidth, 1}, {0, kHeight, kRow}};
  drawloom_buffer_t source = buffer_of(in, kFloat, 2, in_dim), result = buffer_of(out, kFloat, 2, out_dim);
  int code = device->to_device(ctx, &source, NULL) | device->buffer_malloc(ctx, &result, NULL);
  const drawloom_tensor_map_t maps[] = {map_of(&source, 0), map_of(&result, 1)};
  void* params[2];
  drawloom_launch_t launch = launch_of("tile_plus_one", (kWidth + 31) / 32, 256, 2, params);
  launch.grid[1] = (kHeight + 7) / 8;
  launch.tensor_maps = 2;
  launch.tensor_map = maps;
  check(ctx, "both tensor maps fit", device->tensor_map_fits(ctx, &maps[0]) && device->tensor_map_fits(ctx, &maps[1]));
  code |= device->launch(ctx, &launch);
  result.flags = drawloom_flag_device_dirty;
  code |= drawloom_to_host(ctx, &result);
  check(ctx, "tile_plus_one runs", code == 0);
  int wrong = 0, touched = 0;
  for (int i = 0; i < kHeight * kRow; i++) {
    if (i % kRow < kWidth) {
      wrong += out[i] != (float)i + 1;
    } else {
      touched += out[i] != -7;
    }
  }
  check(ctx, "tile_plus_one loads and stores boxes, clipped at the ends", wrong == 0);
  check(ctx, "bytes between rows stay as they were", touched == 0);
  drawloom_buffer_t* all[] = {&source, &result};
  check(ctx, "pictures are freed", free_all(ctx, all, 2));
}

static void clusters(drawloom_context_t* ctx) {
  int ranks[12];
  drawloom_dim_t dim = {0, 12, 1};
  drawloom_buffer_t out = buffer_of(ranks, kInt, 1, &dim);
  int code = device->buffer_malloc(ctx, &out, NULL), wrong = 0;
  void* params[] = {&out.device};
  drawloom_launch_t launch = launch_of("cluster_ranks", 12, 1, 1, params);
  launch.cluster[0] = 4;
  code |= device->launch(ctx, &launch);
  out.flags = drawloom_flag_device_dirty;
  code |= drawloom_to_host(ctx, &out);
  for (int i = 0; i < 12; i++) wrong += ranks[i] != 400 + i % 4;
  check(ctx, "clusters of 4 by attribute", code == 0 && wrong == 0);
  int64_t blocks = 0, groups = 0;
  code = device->resident(ctx, &launch, &groups);
  launch.cluster[0] = 0;
  code |= device->resident(ctx, &launch, &blocks);
  printf("  resident: %lld blocks, %lld clusters of 4\n", (long long)blocks, (long long)groups);
  check(ctx, "residency of blocks and clusters", code == 0 && groups > 0 && blocks >= groups);
  check(ctx, "ranks are freed", drawloom_device_free(ctx, &out) == 0);
}

static void shared_memory(drawloom_context_t* ctx) {
  int last = 0;
  drawloom_buffer_t out = buffer_of(&last, kInt, 0, NULL);
  int code = device->buffer_malloc(ctx, &out, NULL);
  void* params[] = {&out.device};
  drawloom_launch_t launch = launch_of("last_shared_word", 1, 1, 1, params);
  launch.shared_bytes = 227 * 1024;
  code |= device->launch(ctx, &launch);
  out.flags = drawloom_flag_device_dirty;
  code |= drawloom_to_host(ctx, &out);
  check(ctx, "227 KiB of dynamic shared memory", code == 0 && last == 227 * 1024);
  check(ctx, "the word is freed", drawloom_device_free(ctx, &out) == 0);
}

static void memory(drawloom_context_t* ctx) {
  uint64_t first = 0, second = 0, huge = 0;
  int code = device->malloc(ctx, 5000000, NULL, &first) | device->free(ctx, first) |
             device->malloc(ctx, 5000000, NULL, &second) | device->free(ctx, second);
  check(ctx, "a freed block comes back", code == 0 && first == second);
  code = device->malloc(ctx, UINT64_C(1) << 45, NULL, &huge);
  check(ctx, "32 TiB are refused", code == drawloom_error_device_out_of_memory);
  check(ctx, "and the pool was emptied for it", drawloom_device_memory_stats().idle_blocks == 0);
}

/* Last: the primary CUcontext is of no use afterwards. */
static void fault(drawloom_context_t* ctx) {
  char message[drawloom_message_bytes];
  const drawloom_launch_t launch = launch_of("write_to_nowhere", 1, 1, 0, NULL);
  check(ctx, "a bad kernel is launched", device->launch(ctx, &launch) == 0);
  check(ctx, "the next call reports it", drawloom_device_sync(ctx) == drawloom_error_kernel_failed);
  drawloom_last_error(ctx, message, sizeof message);
  printf("  %s\n", message);
  check(ctx, "by name", strstr(message, "kernel write_to_nowhere failed") != NULL);
  check(ctx, "and so does the one after", device->launch(ctx, &launch) == drawloom_error_kernel_failed);
}

// ---- The program --------------------------------------------------------------------------------------------------

static char* read_text(const char* path) {
  enum { kMostBytes = 1 << 20 };
  FILE* file = fopen(path, "rb");
  char* text = calloc(1, kMostBytes);
  if (!file || !text || fread(text, 1, kMostBytes - 1, file) == 0) return NULL;
  fclose(file);
  return text;
}

int main(int argc, char** argv) {
  drawloom_context_t ctx;
  char message[drawloom_message_bytes];
  if (argc != 2 || !(kernels.ptx = read_text(argv[1]))) {
    fprintf(stderr, "usage: runtime_gpu kernels.ptx\n");
    return 2;
  }
  drawloom_context_init(&ctx, NULL, NULL);
  ctx.on_error = drawloom_on_error_quiet;
  device = ctx.table->device;
  drawloom_set_device_timeout(20000);
  if (drawloom_device_sync(&ctx)) {
    drawloom_last_error(&ctx, message, sizeof message);
    printf("skipped: %s\n", message);
    return kSkipped;
  }
  vector_add(&ctx);
  tile_plus_one(&ctx);
  clusters(&ctx);
  shared_memory(&ctx);
  memory(&ctx);
  fault(&ctx);
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
