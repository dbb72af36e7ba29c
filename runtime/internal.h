/// What the files of the runtime share with each other and with nobody else.
#pragma once

#include "drawloom/runtime.h"

/// The operands of one message; see error_codes.def.
typedef struct message_t {
  const drawloom_site_t* site;
  const char* other;
  int64_t a, b, c, d;
} message_t;

/// Formats the text of `code` and hands it to the context's error function. Returns code.
int drawloom_report(drawloom_context_t* ctx, int code, const message_t* message);

int drawloom_default_error(drawloom_context_t* ctx, int code, const char* message);
int drawloom_default_fail(drawloom_context_t* ctx, int code, const drawloom_site_t* site, int64_t a, int64_t b,
                          int64_t c, int64_t d);

void* drawloom_pool_malloc(drawloom_context_t* ctx, uint64_t bytes, uint64_t align);
void drawloom_pool_free(drawloom_context_t* ctx, void* block);

int drawloom_check_buffer(drawloom_context_t* ctx, const drawloom_buffer_t* buffer,
                          const drawloom_buffer_check_t* spec);
int drawloom_check_size(drawloom_context_t* ctx, const drawloom_buffer_t* buffer, const drawloom_buffer_check_t* spec);
int drawloom_check_region(drawloom_context_t* ctx, const drawloom_buffer_t* buffer, const drawloom_buffer_check_t* spec,
                          const int64_t* min, const int64_t* extent);
int drawloom_check_overlap(drawloom_context_t* ctx, const drawloom_buffer_t* a, const drawloom_buffer_check_t* spec_a,
                           const drawloom_buffer_t* b, const drawloom_buffer_check_t* spec_b);
int drawloom_check_multiple(drawloom_context_t* ctx, const drawloom_buffer_t* buffer,
                            const drawloom_buffer_check_t* spec, int32_t dimension, int64_t factor);
int drawloom_check_param(drawloom_context_t* ctx, const drawloom_param_check_t* spec, const void* value);

/// cuda/: what drawloom_cuda_table returns.
extern const struct drawloom_device_table_t drawloom_cuda_device_table;

/// check_buffer and check_overlap of device.h.
int drawloom_check_device_buffer(drawloom_context_t* ctx, const drawloom_buffer_t* buffer,
                                 const drawloom_buffer_check_t* spec);
int drawloom_check_device_overlap(drawloom_context_t* ctx, const drawloom_buffer_t* a,
                                  const drawloom_buffer_check_t* spec_a, const drawloom_buffer_t* b,
                                  const drawloom_buffer_check_t* spec_b);

/// Whether two buffers that passed check_buffer may share memory; false only where they provably do not.
int drawloom_may_overlap(const drawloom_buffer_t* a, const drawloom_buffer_t* b);
/// Whether two elements of a buffer that passed check_size may share memory.
int drawloom_may_overlap_itself(const drawloom_buffer_t* buffer);

/// Threads that a parallel loop of this context asks for; 0: the implementation's own choice.
int drawloom_wanted_threads(const drawloom_context_t* ctx);
