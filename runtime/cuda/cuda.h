/// What the files of the CUDA runtime share: the state kept of each CUcontext, and the life of one call.
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "drawloom/device.h"
#include "driver.h"

typedef struct loaded_t loaded_t;
typedef struct tensor_cache_t tensor_cache_t;

enum { kPendingLaunches = 8, kKernelNameBytes = 64, kDeviceNameBytes = 96 };

/// The kernels that may be meant, in words.
typedef struct suspects_t {
  char text[kPendingLaunches * kKernelNameBytes];
} suspects_t;

/// Kernels put on streams of a CUcontext whose end nobody has waited for yet, the newest last. When the device fails
/// the driver does not say which of them it was.
typedef struct pending_t {
  struct {
    cu_stream_t stream;
    char kernel[kKernelNameBytes];
  } launch[kPendingLaunches];
  int count;
  int more;  ///< older ones that found no room
  int failed;
  suspects_t fault;  ///< once failed: who
} pending_t;

/// What is kept of one CUcontext, from the first call in it until it is forgotten.
typedef struct device_state_t device_state_t;
struct device_state_t {
  device_state_t* next;
  const driver_t* driver;
  cu_context_t context;
  unsigned long long id;  ///< the driver's: a new CUcontext may get the address of an old one
  cu_device_t device;
  int primary;  ///< 1 + the ordinal of the device whose primary CUcontext we keep it to be; 0: not ours
  int capability, multiprocessors, max_shared_bytes;
  char name[kDeviceNameBytes];
  pthread_mutex_t mutex;  ///< over pending and tensor_cache
  pending_t pending;
  tensor_cache_t* tensor_cache;
  loaded_t* loaded;  ///< under module.c's mutex
  int blocks_out;    ///< blocks of it that a call has taken out of the pool's lists; under the pool's mutex
};

/// One call: begun with enter, which makes the CUcontext current, and ended with leave if that succeeded.
typedef struct call_t {
  drawloom_context_t* ctx;
  drawloom_site_t site;
  const driver_t* driver;
  device_state_t* state;
  cu_stream_t stream;
} call_t;

/// `site` may be null. On failure all is reported and undone.
int drawloom_cuda_enter(call_t* call, drawloom_context_t* ctx, const drawloom_site_t* site);
void drawloom_cuda_leave(call_t* call);

// ---- status.c: from results of the driver to codes and words -------------------------------------------------------

/// "invalid argument (CUDA_ERROR_INVALID_VALUE)"
typedef struct result_words_t {
  char text[192];
} result_words_t;
result_words_t drawloom_cuda_words(const driver_t* driver, cu_result_t result);

/// Whether the result says that a kernel failed, which poisons the CUcontext.
int drawloom_cuda_is_kernel_failure(cu_result_t result);

/// Reports `code` with the call's pipeline and the words given; see error_codes.def.
int drawloom_cuda_report(call_t* call, int code, const char* name, const char* text, int64_t a);

/// Reports a result that is not success: kernel_failed where a kernel's failure is behind it, else driver_failed.
int drawloom_cuda_failed(call_t* call, const char* function, cu_result_t result);
/// 0, or the code after a report.
int drawloom_cuda_check(call_t* call, const char* function, cu_result_t result);

void drawloom_cuda_note_launch(call_t* call, const char* kernel);
/// The stream's kernels have ended.
void drawloom_cuda_strike_off(device_state_t* state, cu_stream_t stream);

suspects_t drawloom_cuda_suspects(device_state_t* state);

// ---- wait.c -------------------------------------------------------------------------------------------------------

/// Waits for the call's stream and strikes its kernels off the list.
int drawloom_cuda_wait(call_t* call);
int drawloom_cuda_wait_event(call_t* call, cu_event_t event);
/// Before a call in which the driver itself may wait for the stream: under a time limit, waits here.
int drawloom_cuda_settle(call_t* call);

// ---- The other files ---------------------------------------------------------------------------------------------

/// The function of a launch in the call's CUcontext, loaded if need be and allowed what the launch asks for.
int drawloom_cuda_function(call_t* call, const drawloom_launch_t* launch, cu_function_t* function);
/// The state's modules go. Its CUcontext is current.
void drawloom_cuda_unload_state(const driver_t* driver, device_state_t* state);
void drawloom_cuda_unload(drawloom_context_t* ctx, drawloom_kernels_t* kernels);

int drawloom_cuda_launch(drawloom_context_t* ctx, const drawloom_launch_t* launch);
int drawloom_cuda_resident(drawloom_context_t* ctx, const drawloom_launch_t* launch, int64_t* count);

/// Encodes, or takes from the cache.
int drawloom_cuda_tensor_map(call_t* call, const drawloom_tensor_map_t* map, cu_tensor_map_t* out);
int drawloom_cuda_tensor_map_fits(drawloom_context_t* ctx, const drawloom_tensor_map_t* map);

/// A block of the pool; `what` it is for, in a message.
int drawloom_cuda_alloc(call_t* call, uint64_t bytes, const char* what, uint64_t* address);
/// Whose live block the address lies in; null: nobody's.
const device_state_t* drawloom_cuda_owner(uint64_t address);
/// Whether these bytes, as they were asked for, are a live block.
int drawloom_cuda_is_block(uint64_t address, uint64_t bytes);
/// Ends the live block in which the address lies; 0 if there is none.
int drawloom_cuda_release(call_t* call, uint64_t address);
/// All idle blocks go back to the driver.
void drawloom_cuda_trim(const driver_t* driver);
/// The blocks of a state, live ones too, go back; waits for those that another call has in hand. Its CUcontext is
/// current, and no call is under way in it.
void drawloom_cuda_drop_blocks(const driver_t* driver, device_state_t* state);
int drawloom_cuda_malloc(drawloom_context_t* ctx, uint64_t bytes, const drawloom_site_t* site, uint64_t* address);
int drawloom_cuda_free(drawloom_context_t* ctx, uint64_t address);

typedef enum copy_way_t {
  cuda_to_host,
  cuda_to_device,        ///< what lies between the elements there is nobody's, and may change
  cuda_to_shared_device  ///< what lies between the elements there stays as it is
} copy_way_t;

/// Copies the elements of a buffer from `host` to `device` or back. Waits for it.
int drawloom_cuda_copy(call_t* call, const drawloom_buffer_t* buffer, copy_way_t way);
/// What the elements span: *bytes from the lowest address on, the element of all mins *offset bytes above it. The buffer
/// has elements, and passed check_size.
void drawloom_cuda_span(const drawloom_buffer_t* buffer, uint64_t* bytes, uint64_t* offset);

int drawloom_cuda_buffer_malloc(drawloom_context_t* ctx, drawloom_buffer_t* buffer, const drawloom_site_t* site);
int drawloom_cuda_buffer_free(drawloom_context_t* ctx, drawloom_buffer_t* buffer, const drawloom_site_t* site);
int drawloom_cuda_to_device(drawloom_context_t* ctx, drawloom_buffer_t* buffer, const drawloom_site_t* site);
int drawloom_cuda_to_host(drawloom_context_t* ctx, drawloom_buffer_t* buffer, const drawloom_site_t* site);

int drawloom_cuda_sync(drawloom_context_t* ctx);
int drawloom_cuda_event_create(drawloom_context_t* ctx, uint64_t* event);
int drawloom_cuda_event_record(drawloom_context_t* ctx, uint64_t event);
int drawloom_cuda_event_elapsed(drawloom_context_t* ctx, uint64_t start, uint64_t end, double* ms);
int drawloom_cuda_event_destroy(drawloom_context_t* ctx, uint64_t event);

/// Forgets every CUcontext, closes the driver, and takes another library from now on; null: the system's. For tests:
/// no call may be under way.
void drawloom_cuda_reset(const char* library);
