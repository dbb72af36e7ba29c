// The table of CUDA.
#include "cuda.h"

const drawloom_device_table_t drawloom_cuda_device_table = {
    .version = drawloom_device_table_version,
    .size = sizeof(drawloom_device_table_t),
    .name = "cuda",
    .launch = drawloom_cuda_launch,
    .resident = drawloom_cuda_resident,
    .tensor_map_fits = drawloom_cuda_tensor_map_fits,
    .unload = drawloom_cuda_unload,
    .check_buffer = drawloom_check_device_buffer,
    .check_overlap = drawloom_check_device_overlap,
    .buffer_malloc = drawloom_cuda_buffer_malloc,
    .buffer_free = drawloom_cuda_buffer_free,
    .to_device = drawloom_cuda_to_device,
    .to_host = drawloom_cuda_to_host,
    .malloc = drawloom_cuda_malloc,
    .free = drawloom_cuda_free,
    .sync = drawloom_cuda_sync,
    .event_create = drawloom_cuda_event_create,
    .event_record = drawloom_cuda_event_record,
    .event_elapsed = drawloom_cuda_event_elapsed,
    .event_destroy = drawloom_cuda_event_destroy,
};

const drawloom_device_table_t* drawloom_cuda_table(void) { return &drawloom_cuda_device_table; }
