// From results of the driver to codes and words.
//
// A kernel that fails poisons its CUcontext: the driver answers this and every later call with the same result, and
// does not say which kernel it was. So the names of the kernels that nobody has waited for yet are kept, and the first
// report names them; later reports repeat it.
#include <stdio.h>
#include <string.h>

#include "cuda.h"

int drawloom_cuda_is_kernel_failure(cu_result_t result) {
  switch (result) {
    case cu_ecc_uncorrectable:
    case cu_nvlink_uncorrectable:
    case cu_contained:
    case cu_illegal_address:
    case cu_launch_timeout:
    case cu_assert:
    case cu_hardware_stack_error:
    case cu_illegal_instruction:
    case cu_misaligned_address:
    case cu_invalid_address_space:
    case cu_invalid_pc:
    case cu_launch_failed: return 1;
  }
  return 0;
}

result_words_t drawloom_cuda_words(const driver_t* driver, cu_result_t result) {
  const char *text = NULL, *name = NULL;
  result_words_t words;
  if (driver->error_string(result, &text) != cu_success || !text) text = "unknown error";
  if (driver->error_name(result, &name) != cu_success || !name) {
    snprintf(words.text, sizeof words.text, "%s (%d)", text, result);
  } else {
    snprintf(words.text, sizeof words.text, "%s (%s)", text, name);
  }
  return words;
}

int drawloom_cuda_report(call_t* call, int code, const char* name, const char* text, int64_t a) {
  drawloom_site_t site = call->site;
  site.name = name;
  site.text = text;
  const message_t message = {.site = &site, .a = a};
  return drawloom_report(call->ctx, code, &message);
}

// ---- Kernels that nobody has waited for ---------------------------------------------------------------------------

void drawloom_cuda_note_launch(call_t* call, const char* kernel) {
  pending_t* pending = &call->state->pending;
  pthread_mutex_lock(&call->state->mutex);
  if (pending->count == kPendingLaunches) {
    memmove(&pending->launch[0], &pending->launch[1], sizeof pending->launch - sizeof pending->launch[0]);
    pending->count--;
    pending->more = 1;
  }
  pending->launch[pending->count].stream = call->stream;
  snprintf(pending->launch[pending->count].kernel, kKernelNameBytes, "%s", kernel);
  pending->count++;
  pthread_mutex_unlock(&call->state->mutex);
}

void drawloom_cuda_strike_off(device_state_t* state, cu_stream_t stream) {
  pending_t* pending = &state->pending;
  int kept = 0;
  pthread_mutex_lock(&state->mutex);
  for (int i = 0; i < pending->count; i++) {
    if (pending->launch[i].stream != stream) pending->launch[kept++] = pending->launch[i];
  }
  pending->count = kept;
  if (kept == 0) pending->more = 0;
  pthread_mutex_unlock(&state->mutex);
}

static void append(char* line, size_t bytes, const char* before, const char* text) {
  size_t length = strlen(line);
  snprintf(line + length, bytes - length, "%s%s", before, text);
}

/// "c" where it is certain; "c (or one launched before it: b, a)" where it is not.
static suspects_t name_suspects(const pending_t* pending) {
  suspects_t suspects;
  char* line = suspects.text;
  const size_t bytes = sizeof suspects.text;
  const int last = pending->count - 1;
  snprintf(line, bytes, "%s", last < 0 ? "of another library" : pending->launch[last].kernel);
  for (int i = last - 1; i >= 0; i--) {
    append(line, bytes, i == last - 1 ? " (or one launched before it: " : ", ", pending->launch[i].kernel);
  }
  if (pending->more) append(line, bytes, ", ", "...");
  if (last > 0) append(line, bytes, "", ")");
  return suspects;
}

suspects_t drawloom_cuda_suspects(device_state_t* state) {
  pthread_mutex_lock(&state->mutex);
  const suspects_t suspects = state->pending.failed ? state->pending.fault : name_suspects(&state->pending);
  pthread_mutex_unlock(&state->mutex);
  return suspects;
}

static suspects_t keep_suspects(device_state_t* state) {
  pthread_mutex_lock(&state->mutex);
  if (!state->pending.failed) state->pending.fault = name_suspects(&state->pending);
  state->pending.failed = 1;
  const suspects_t suspects = state->pending.fault;
  pthread_mutex_unlock(&state->mutex);
  return suspects;
}

static int report_kernel(call_t* call, cu_result_t result) {
  static const suspects_t stranger = {"of another library"};
  const suspects_t suspects = call->state ? keep_suspects(call->state) : stranger;
  const result_words_t words = drawloom_cuda_words(call->driver, result);
  return drawloom_cuda_report(call, drawloom_error_kernel_failed, suspects.text, words.text, 0);
}

int drawloom_cuda_failed(call_t* call, const char* function, cu_result_t result) {
  if (drawloom_cuda_is_kernel_failure(result)) return report_kernel(call, result);
  const result_words_t words = drawloom_cuda_words(call->driver, result);
  return drawloom_cuda_report(call, drawloom_error_driver_failed, function, words.text, 0);
}

int drawloom_cuda_check(call_t* call, const char* function, cu_result_t result) {
  return result == cu_success ? 0 : drawloom_cuda_failed(call, function, result);
}
