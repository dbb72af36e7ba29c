// Devices of whatever kind: the checks of arguments, and what programs call by name.
#include "drawloom/device.h"
#include "internal.h"

int drawloom_check_device_buffer(drawloom_context_t* ctx, const drawloom_buffer_t* buffer,
                                 const drawloom_buffer_check_t* spec) {
  if (!buffer || buffer->device == 0) return drawloom_check_buffer(ctx, buffer, spec);
  drawloom_buffer_t there = *buffer;
  there.host = (void*)(uintptr_t)buffer->device;  // looked at as a number
  there.flags = 0;
  return drawloom_check_buffer(ctx, &there, spec);
}

/// Whether the device copies may overlap; 0 unless both are there.
static int overlap_on_device(const drawloom_buffer_t* a, const drawloom_buffer_t* b) {
  if (a->device == 0 || b->device == 0) return 0;
  drawloom_buffer_t there_a = *a, there_b = *b;
  there_a.host = (void*)(uintptr_t)a->device;
  there_b.host = (void*)(uintptr_t)b->device;
  return drawloom_may_overlap(&there_a, &there_b);
}

int drawloom_check_device_overlap(drawloom_context_t* ctx, const drawloom_buffer_t* a,
                                  const drawloom_buffer_check_t* spec_a, const drawloom_buffer_t* b,
                                  const drawloom_buffer_check_t* spec_b) {
  const int on_host = a->host && b->host && drawloom_may_overlap(a, b);
  if (!on_host && !overlap_on_device(a, b)) return 0;
  const drawloom_site_t site = {.pipeline = spec_a->pipeline, .name = spec_a->name};
  const message_t message = {.site = &site, .other = spec_b->name};
  return drawloom_report(ctx, drawloom_error_alias, &message);
}

// ---- For programs -------------------------------------------------------------------------------------------------

static drawloom_context_t* some(drawloom_context_t* ctx) { return ctx ? ctx : drawloom_default_context(); }

static int no_devices(drawloom_context_t* ctx) {
  const drawloom_site_t site = {.pipeline = "device", .text = "the context's table has none"};
  const message_t message = {.site = &site};
  return drawloom_report(ctx, drawloom_error_no_device, &message);
}

int drawloom_to_host(drawloom_context_t* ctx, drawloom_buffer_t* buffer) {
  if (!buffer->device_interface) return 0;
  return buffer->device_interface->to_host(some(ctx), buffer, NULL);
}

int drawloom_to_device(drawloom_context_t* ctx, drawloom_buffer_t* buffer) {
  const drawloom_device_table_t* device = some(ctx)->table->device;
  return device ? device->to_device(some(ctx), buffer, NULL) : no_devices(some(ctx));
}

int drawloom_device_free(drawloom_context_t* ctx, drawloom_buffer_t* buffer) {
  if (!buffer->device_interface) return 0;
  return buffer->device_interface->buffer_free(some(ctx), buffer, NULL);
}

int drawloom_device_sync(drawloom_context_t* ctx) {
  const drawloom_device_table_t* device = some(ctx)->table->device;
  return device ? device->sync(some(ctx)) : no_devices(some(ctx));
}

void drawloom_buffer_wrap_device(drawloom_buffer_t* buffer, const drawloom_device_table_t* table, uint64_t address) {
  buffer->device = address;
  buffer->device_interface = table;
  buffer->flags = drawloom_flag_device_dirty;
}
