// Device copies of buffers: when they come, when they are brought up to date, when they go.
//
// A buffer has up to two copies and two bits that say which is newer: host_dirty, device_dirty; neither: they are
// equal, or there is no device copy; both: an error, since no order of copying is right. Generated code sets the bit of
// an output where it wrote it. So
//     to_device       copies if host_dirty is set or there is no device copy yet, and clears host_dirty
//     to_host         copies if device_dirty is set, and clears it
//     buffer_malloc   makes room for what a kernel will write, and copies nothing
//     buffer_free     drops the device copy and its bit, whatever it holds
// Example: two pipelines on the device, one after the other, whose picture nobody looks at between them: one copy
// there, none back before to_host.
//
// Device memory may be the caller's, or a view of another buffer's: it is never released here, and bytes between the
// elements are not touched.
#include "cuda.h"

static const drawloom_site_t* site_or_default(const drawloom_site_t* site) {
  static const drawloom_site_t unknown = {.pipeline = "device", .name = "?"};
  return site ? site : &unknown;
}

static int fail_words(drawloom_context_t* ctx, int code, const drawloom_site_t* site, const char* text) {
  drawloom_site_t said = *site_or_default(site);
  said.text = text;
  const message_t message = {.site = &said};
  return drawloom_report(ctx, code, &message);
}

/// So that no offset overflows, also for buffers that no pipeline has checked.
static int check(drawloom_context_t* ctx, const drawloom_buffer_t* buffer, const drawloom_site_t* site) {
  if (!buffer) return fail_words(ctx, drawloom_error_buffer_null, site, "the buffer");
  if (!buffer->dim && buffer->dimensions > 0) return fail_words(ctx, drawloom_error_buffer_null, site, "dim");
  const drawloom_buffer_check_t spec = {.pipeline = site_or_default(site)->pipeline,
                                        .name = site_or_default(site)->name,
                                        .type = buffer->type,
                                        .dimensions = buffer->dimensions};
  return drawloom_check_size(ctx, buffer, &spec);
}

static int check_host(drawloom_context_t* ctx, const drawloom_buffer_t* buffer, const drawloom_site_t* site) {
  return buffer->host ? 0 : fail_words(ctx, drawloom_error_buffer_null, site, "host");
}

static int check_flags(drawloom_context_t* ctx, const drawloom_buffer_t* buffer, const drawloom_site_t* site) {
  const uint64_t both = drawloom_flag_host_dirty | drawloom_flag_device_dirty;
  return (buffer->flags & both) == both ? fail_words(ctx, drawloom_error_both_copies_newer, site, NULL) : 0;
}

/// A device copy of this CUcontext. Memory that was allocated elsewhere than in the pool is taken on trust.
static int check_place(call_t* call, const drawloom_buffer_t* buffer) {
  const device_state_t* owner = drawloom_cuda_owner(buffer->device);
  if (buffer->device_interface && buffer->device_interface != drawloom_cuda_table()) {
    return drawloom_cuda_report(call, drawloom_error_wrong_device, call->site.name, "on a device of another kind", 0);
  }
  if (owner && owner != call->state) {
    return drawloom_cuda_report(call, drawloom_error_wrong_device, call->site.name, "in another CUcontext", 0);
  }
  return 0;
}

/// Bytes that the device copy takes, and how far above its start `device` is.
static void extent_of(const drawloom_buffer_t* buffer, uint64_t* bytes, uint64_t* offset) {
  *bytes = *offset = 0;
  if (drawloom_buffer_elements(buffer) > 0) drawloom_cuda_span(buffer, bytes, offset);
}

/// Whether the device copy is a block that was allocated for this buffer: not memory of the caller's, and not a view
/// of another buffer's, which may have data of others between the elements.
static int owns_device_copy(const drawloom_buffer_t* buffer) {
  uint64_t bytes = 0, offset = 0;
  extent_of(buffer, &bytes, &offset);
  return drawloom_cuda_is_block(buffer->device - offset, bytes);
}

/// *fresh = whether it had none.
static int need_device_copy(call_t* call, drawloom_buffer_t* buffer, int* fresh) {
  uint64_t bytes = 0, offset = 0, address = 0;
  *fresh = buffer->device == 0;
  if (!*fresh) return check_place(call, buffer);
  extent_of(buffer, &bytes, &offset);
  int code = drawloom_cuda_alloc(call, bytes, call->site.name, &address);
  if (code) return code;
  buffer->device = address + offset;
  buffer->device_interface = drawloom_cuda_table();
  return 0;
}

static void forget_device_copy(drawloom_buffer_t* buffer) {
  buffer->device = 0;
  buffer->device_interface = NULL;
  buffer->flags &= ~(uint64_t)drawloom_flag_device_dirty;
}

int drawloom_cuda_buffer_malloc(drawloom_context_t* ctx, drawloom_buffer_t* buffer, const drawloom_site_t* site) {
  call_t call;
  int fresh = 0;
  int code = check(ctx, buffer, site);
  if (!code) code = drawloom_cuda_enter(&call, ctx, site);
  if (code) return code;
  code = need_device_copy(&call, buffer, &fresh);
  drawloom_cuda_leave(&call);
  return code;
}

int drawloom_cuda_buffer_free(drawloom_context_t* ctx, drawloom_buffer_t* buffer, const drawloom_site_t* site) {
  call_t call;
  int code = check(ctx, buffer, site);
  if (code || buffer->device == 0) return code;
  if (owns_device_copy(buffer)) {
    code = drawloom_cuda_enter(&call, ctx, site);
    if (code) return code;
    drawloom_cuda_release(&call, buffer->device);
    drawloom_cuda_leave(&call);
  }
  forget_device_copy(buffer);
  return 0;
}

static int bring_to_device(call_t* call, drawloom_buffer_t* buffer) {
  int fresh = 0;
  int code = need_device_copy(call, buffer, &fresh);
  if (code || (!fresh && !(buffer->flags & drawloom_flag_host_dirty))) return code;
  if (drawloom_buffer_elements(buffer) > 0) {
    code = drawloom_cuda_copy(call, buffer, owns_device_copy(buffer) ? cuda_to_device : cuda_to_shared_device);
  }
  if (!code) {
    buffer->flags &= ~(uint64_t)drawloom_flag_host_dirty;
  } else if (fresh) {  // a copy with nothing in it must not look like one
    drawloom_cuda_release(call, buffer->device);
    forget_device_copy(buffer);
  }
  return code;
}

int drawloom_cuda_to_device(drawloom_context_t* ctx, drawloom_buffer_t* buffer, const drawloom_site_t* site) {
  call_t call;
  int code = check(ctx, buffer, site);
  if (!code) code = check_flags(ctx, buffer, site);
  const int from_host = !code && (buffer->device == 0 || (buffer->flags & drawloom_flag_host_dirty));
  if (from_host && drawloom_buffer_elements(buffer) > 0) code = check_host(ctx, buffer, site);
  if (!code) code = drawloom_cuda_enter(&call, ctx, site);
  if (code) return code;
  code = bring_to_device(&call, buffer);
  drawloom_cuda_leave(&call);
  return code;
}

int drawloom_cuda_to_host(drawloom_context_t* ctx, drawloom_buffer_t* buffer, const drawloom_site_t* site) {
  call_t call;
  int code = check(ctx, buffer, site);
  if (!code) code = check_flags(ctx, buffer, site);
  if (code || !(buffer->flags & drawloom_flag_device_dirty)) return code;
  if (drawloom_buffer_elements(buffer) > 0) {
    code = check_host(ctx, buffer, site);
    if (!code) code = drawloom_cuda_enter(&call, ctx, site);
    if (code) return code;
    code = check_place(&call, buffer);
    if (!code) code = drawloom_cuda_copy(&call, buffer, cuda_to_host);
    drawloom_cuda_leave(&call);
  }
  if (!code) buffer->flags &= ~(uint64_t)drawloom_flag_device_dirty;
  return code;
}
