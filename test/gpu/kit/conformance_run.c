/* The micro-kernels of gpu_conformance on a device: `conformance_run FOLDER NAME..`. Each is called as NAME.call says with
 * the bytes of NAME.before, and its last buffer must hold the bytes of NAME.expected. Linked with the compiled kernels.
 * A kernel that fails takes its process with it: the rest go on in a new one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drawloom/device.h"

enum { kBuffers = 4, kRank = 5, kPath = 512 };

static void* read_file(const char* folder, const char* name, const char* suffix, size_t* bytes) {
  char path[kPath];
  snprintf(path, sizeof path, "%s/%s.%s", folder, name, suffix);
  FILE* file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *bytes = (size_t)ftell(file);
  rewind(file);
  char* data = calloc(1, *bytes + 1);
  if (fread(data, 1, *bytes, file) != *bytes) *bytes = 0;
  fclose(file);
  return data;
}

static const char kFails[] = "fails";

static const char* run(drawloom_context_t* ctx, const char* folder, const char* name) {
  char entry[kPath];
  snprintf(entry, sizeof entry, "%s_argv", name);
  drawloom_argv_function_t function = (drawloom_argv_function_t)dlsym(RTLD_DEFAULT, entry);
  size_t call_bytes, before_bytes, expected_bytes;
  char* call = read_file(folder, name, "call", &call_bytes);
  char* before = read_file(folder, name, "before", &before_bytes);
  char* expected = read_file(folder, name, "expected", &expected_bytes);
  if (!function || !call || !before || !expected) return "is missing";
  drawloom_buffer_t buffers[kBuffers];
  drawloom_dim_t dims[kBuffers][kRank];
  void* args[kBuffers];
  int count = 0;
  size_t at = 0, last = 0;
  char* save;
  for (char* line = strtok_r(call, "\n", &save); line && count < kBuffers;
       line = strtok_r(NULL, "\n", &save), count++) {
    // Types as in ir/type.h: int, uint, float, bfloat; the runtime has the same order.
    char* number = line;
    const long code = strtol(number, &number, 10), bits = strtol(number, &number, 10),
               rank = strtol(number, &number, 10);
    int64_t extents[kRank], elements = 1;
    for (long d = 0; d < rank; d++) elements *= extents[d] = strtol(number, &number, 10);
    const drawloom_type_t type = {(uint8_t)code, (uint8_t)bits, 1};
    drawloom_buffer_init(&buffers[count], before + at, type, (int32_t)rank, dims[count], extents);
    buffers[count].flags = drawloom_flag_host_dirty;
    // An output keeps what a kernel does not write.
    if (drawloom_to_device(ctx, &buffers[count])) return "its data do not reach the device";
    args[count] = &buffers[count];
    last = at;
    at += (size_t)elements * (size_t)bits / 8;
  }
  if (function(ctx, args) || drawloom_to_host(ctx, &buffers[count - 1])) return kFails;
  const char* problem = memcmp(before + last, expected, expected_bytes) != 0 ? "differs" : NULL;
  if (problem) {
    int shown = 0;
    for (size_t i = 0; i + 4 <= expected_bytes && shown < 3; i += 4) {
      float is, want;
      memcpy(&is, before + last + i, 4), memcpy(&want, expected + i, 4);
      if (memcmp(&is, &want, 4) != 0)
        printf("  %s[%zu] is %g (%08x), not %g\n", name, i / 4, is, *(unsigned*)&is, want), shown++;
    }
  }
  for (int i = 0; i < count; i++) drawloom_device_free(ctx, &buffers[i]);
  free(call), free(before), free(expected);
  return problem;
}

/// How far the processes have come.
typedef struct progress_t {
  int next, passed, failed;
} progress_t;

/// Until all are done or one has failed on the device.
static void run_from(progress_t* at, int argc, char** argv) {
  drawloom_context_t ctx;
  drawloom_context_init(&ctx, NULL, NULL);
  const char* problem = NULL;
  while (at->next < argc && problem != kFails) {
    const char* name = argv[at->next++];
    at->failed++;  // unless this process comes back
    problem = run(&ctx, argv[1], name);
    if (problem) printf("FAILED %s: %s\n", name, problem);
    if (!problem) at->failed--, at->passed++;
  }
  fflush(stdout);
}

int main(int argc, char** argv) {
  progress_t* at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return 2;
  *at = (progress_t){.next = 2};
  while (at->next < argc) {
    const int before = at->next;
    const pid_t child = fork();
    if (child == 0) {
      run_from(at, argc, argv);
      _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) < 0 || at->next == before) return 2;
  }
  printf("%d passed, %d failed\n", at->passed, at->failed);
  return at->failed != 0;
}
