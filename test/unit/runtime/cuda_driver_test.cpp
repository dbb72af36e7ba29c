// Opening the driver, and what programs hear where there is none, an old one, or no device.
#include "with_stub_driver.h"

namespace {

constexpr const char* kNowhere = "/nowhere/libcuda.so.1";

/// A scope in which the driver's library is one that does not exist.
struct WithoutDriver {
  WithoutDriver() { drawloom_cuda_reset(kNowhere); }
  ~WithoutDriver() { drawloom_cuda_reset(nullptr); }
};

bool contains(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("every device call without a driver fails with a message and nothing else", "[cuda]") {
  const WithoutDriver without;
  Kernels kernels;
  const drawloom_launch_t launch = launch_of(kernels);
  const drawloom_site_t site = {"blur", "in", nullptr, nullptr};
  int pixels[4] = {1, 2, 3, 4};
  ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 4, 1});
  uint64_t handle = 0;
  int64_t count = 0;
  double ms = 0;
  ListeningContext ctx;
  int expected = 0;
  const auto heard = [&](int code) {
    CHECK(code == drawloom_error_no_driver);
    CHECK(ctx.count == ++expected);
    CHECK(contains(ctx.message, "no CUDA driver: "));
    CHECK(contains(ctx.message, kNowhere));
    CHECK(contains(ctx.message, "it takes an NVIDIA GPU with a driver for CUDA 12.0 or newer"));
  };
  heard(cuda().launch(&ctx, &launch));
  CHECK(contains(ctx.message, "blur: "));
  heard(cuda().resident(&ctx, &launch, &count));
  heard(cuda().buffer_malloc(&ctx, &buffer, &site));
  heard(cuda().to_device(&ctx, &buffer, &site));
  heard(cuda().malloc(&ctx, 100, &site, &handle));
  heard(cuda().free(&ctx, 4096));
  heard(cuda().sync(&ctx));
  heard(cuda().event_create(&ctx, &handle));
  heard(cuda().event_record(&ctx, 1));
  heard(cuda().event_elapsed(&ctx, 1, 1, &ms));
  heard(cuda().event_destroy(&ctx, 1));
  heard(drawloom_to_device(&ctx, &buffer));
  heard(drawloom_device_sync(&ctx));
  CHECK(buffer.device == 0);
  CHECK(buffer.device_interface == nullptr);
  CHECK(handle == 0);
}

TEST_CASE("without a driver, what needs no device does nothing", "[cuda]") {
  const WithoutDriver without;
  ListeningContext ctx;
  int pixels[4] = {};
  ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 4, 1});
  CHECK(drawloom_to_host(&ctx, &buffer) == 0);
  CHECK(drawloom_device_free(&ctx, &buffer) == 0);
  CHECK(cuda().to_host(&ctx, &buffer, nullptr) == 0);
  CHECK(cuda().free(&ctx, 0) == 0);
  CHECK(cuda().event_destroy(&ctx, 0) == 0);
  CHECK(drawloom_device_memory_stats().live_blocks == 0);
  drawloom_release_device_memory();
  drawloom_set_device_memory_cap(UINT64_C(2) << 30);
  CHECK(ctx.count == 0);
}

TEST_CASE("the default table's device is CUDA's", "[cuda]") {
  CHECK(drawloom_default_table()->device == drawloom_cuda_table());
  CHECK(cuda().version == drawloom_device_table_version);
  CHECK(cuda().size == sizeof(drawloom_device_table_t));
  CHECK(std::string(cuda().name) == "cuda");
}

TEST_CASE("a program's own table may have no device", "[cuda]") {
  drawloom_runtime_table_t table = *drawloom_default_table();
  table.device = nullptr;
  ListeningContext ctx;
  ctx.table = &table;
  int pixels[4] = {};
  ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 4, 1});
  CHECK(drawloom_to_device(&ctx, &buffer) == drawloom_error_no_device);
  CHECK(ctx.message == "device: no CUDA device: the context's table has none");
  CHECK(drawloom_device_sync(&ctx) == drawloom_error_no_device);
}

TEST_CASE("the codes are those of the context's error function", "[cuda]") {
  const WithoutDriver without;
  drawloom_runtime_table_t table = *drawloom_default_table();
  table.error = [](drawloom_context_t*, int code, const char*) { return code + 1000; };
  ListeningContext ctx;
  ctx.table = &table;
  CHECK(drawloom_device_sync(&ctx) == drawloom_error_no_driver + 1000);
}

TEST_CASE("a driver before CUDA 12.0 is too old", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  stub->version = 11080;
  CHECK(drawloom_device_sync(&ctx) == drawloom_error_old_driver);
  CHECK(ctx.message == "device: the CUDA driver is too old: it is for CUDA 11.8, needs 12.0 or newer");
  stub->version = 13000;  // a failure is final
  CHECK(drawloom_device_sync(&ctx) == drawloom_error_old_driver);
  CHECK(stub->calls("cuInit") == 0);
}

TEST_CASE("CUDA 12.0 is new enough", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  stub->version = 12000;
  CHECK(drawloom_device_sync(&ctx) == 0);
  CHECK(ctx.count == 0);
}

TEST_CASE("a driver that lacks a function is too old, and the function is named", "[cuda]") {
  const WithStubDriver stub(DRAWLOOM_STUB_DRIVER_OLD);
  ListeningContext ctx;
  stub->version = 12000;
  CHECK(drawloom_device_sync(&ctx) == drawloom_error_old_driver);
  CHECK(ctx.message ==
        "device: the CUDA driver is too old: it is for CUDA 12.0 without cuTensorMapEncodeTiled, needs 12.0 or newer");
}

TEST_CASE("a driver without devices", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  stub->devices = 0;
  CHECK(drawloom_device_sync(&ctx) == drawloom_error_no_device);
  CHECK(ctx.message == "device: no CUDA device: cuInit: as planted (CUDA_ERROR_NO_DEVICE)");
}

TEST_CASE("a driver that does not start", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  stub->fail("cuInit", 0, 1, 803);  // a mismatch of kernel module and library; the stand-in has no name for it
  CHECK(drawloom_device_sync(&ctx) == drawloom_error_no_driver);
  CHECK(contains(ctx.message, "device: no CUDA driver: cuInit: as planted (803)"));
}

TEST_CASE("a device number that is not there", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  for (const int number : {2, -1}) {
    ctx.device_index = number;
    CHECK(drawloom_device_sync(&ctx) == drawloom_error_no_device);
    CHECK(ctx.message == "device: no CUDA device: number " + std::to_string(number) + " was asked for, there are 2");
  }
  ctx.device_index = 1;
  CHECK(drawloom_device_sync(&ctx) == 0);
  CHECK(stub->primaries() == 1);
}

TEST_CASE("opening the driver happens at the first call and once", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  CHECK(stub->calls("cuInit") == 0);
  for (int i = 0; i < 3; i++) CHECK(drawloom_device_sync(&ctx) == 0);
  CHECK(stub->calls("cuInit") == 1);
  CHECK(stub->calls("cuDevicePrimaryCtxRetain") == 1);
}

// ---- Every call of the driver failing, one at a time --------------------------------------------------------------

namespace {

/// What the rounds below call. Not here: the functions that only say how things are or end them.
constexpr const char* kFunctions[] = {"cuDeviceGetCount",
                                      "cuDeviceGet",
                                      "cuDeviceGetName",
                                      "cuDeviceGetAttribute",
                                      "cuDevicePrimaryCtxRetain",
                                      "cuCtxPushCurrent_v2",
                                      "cuCtxGetDevice",
                                      "cuCtxGetId",
                                      "cuStreamGetId",
                                      "cuStreamSynchronize",
                                      "cuModuleGetFunction",
                                      "cuFuncSetAttribute",
                                      "cuLaunchKernelEx",
                                      "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                                      "cuOccupancyMaxActiveClusters",
                                      "cuTensorMapEncodeTiled",
                                      "cuMemAlloc_v2",
                                      "cuMemcpyHtoDAsync_v2",
                                      "cuMemcpyDtoHAsync_v2",
                                      "cuEventCreate",
                                      "cuEventRecord",
                                      "cuEventSynchronize",
                                      "cuEventElapsedTime",
                                      "cuEventDestroy_v2"};

/// Calls everything in turn until something fails; then only gives back what there is. Returns the first code.
int everything(ListeningContext& ctx) {
  Kernels kernels;
  int pixels[64] = {};
  ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 64, 1});
  uint64_t start = 0, end = 0, scratch = 0;
  int64_t count = 0;
  double ms = 0;
  drawloom_tensor_map_t map = {};
  void* params[1] = {};
  drawloom_launch_t launch = launch_of(kernels), clusters = launch;
  launch.shared_bytes = 100000;
  launch.params = launch.tensor_maps = 1;
  launch.param = params;
  launch.tensor_map = &map;
  clusters.grid[0] = clusters.cluster[0] = 2;
  int code = cuda().to_device(&ctx, &buffer, nullptr);
  map.address = buffer.device;
  map.type = kInt32;
  map.rank = 1;
  map.extent[0] = map.box[0] = 64;
  map.stride[0] = 4;
  if (!code) code = cuda().malloc(&ctx, 5000, nullptr, &scratch);
  if (!code) code = cuda().event_create(&ctx, &start);
  if (!code) code = cuda().event_create(&ctx, &end);
  if (!code) code = cuda().event_record(&ctx, start);
  if (!code) code = cuda().launch(&ctx, &launch);
  if (!code) code = cuda().event_record(&ctx, end);
  if (!code) code = cuda().event_elapsed(&ctx, start, end, &ms);
  if (!code) code = cuda().resident(&ctx, &clusters, &count);
  clusters.cluster[0] = 1;
  if (!code) code = cuda().resident(&ctx, &clusters, &count);
  buffer.flags = drawloom_flag_device_dirty;
  if (!code) code = cuda().to_host(&ctx, &buffer, nullptr);
  const int ends[] = {cuda().event_destroy(&ctx, start), cuda().event_destroy(&ctx, end), cuda().free(&ctx, scratch),
                      cuda().buffer_free(&ctx, &buffer, nullptr)};
  for (const int later : ends) code = code ? code : later;
  return code;
}

/// How often a round without failures calls the function.
int calls_of_a_round(const char* function) {
  const WithStubDriver stub;
  ListeningContext ctx;
  REQUIRE(everything(ctx) == 0);
  return stub->calls(function);
}

}  // namespace

TEST_CASE("whichever call of the driver fails, there is one message, and the next round works", "[cuda]") {
  for (const char* function : kFunctions) {
    const int calls = calls_of_a_round(function);
    CAPTURE(function);
    REQUIRE(calls > 0);
    for (int which = 0; which < calls; which++) {
      CAPTURE(which);
      const WithStubDriver stub;
      ListeningContext ctx;
      stub->fail(function, which, 1, 999);
      const int code = everything(ctx);
      // Two ways back go on all the same: a block without its stream's number (waits instead), kernels that cannot be
      // unloaded (nobody to tell).
      const std::string name = function;
      const bool forgiven = code == 0 && ctx.count == 0 && (name == "cuStreamGetId" || name == "cuCtxPushCurrent_v2");
      if (!forgiven) {
        CHECK(code == drawloom_error_driver_failed);
        CHECK(ctx.count == 1);
        CHECK(contains(ctx.message, "as planted (999)"));
      }
      CHECK(stub->current_depth() == 0);
      ListeningContext next;
      CHECK(everything(next) == 0);
      CHECK(next.count == 0);
    }
  }
}

TEST_CASE("an error function that returns 0 does not turn errors into success", "[cuda]") {
  const WithoutDriver without;
  drawloom_runtime_table_t table = *drawloom_default_table();
  table.error = [](drawloom_context_t*, int, const char*) { return 0; };
  ListeningContext ctx;
  ctx.table = &table;
  CHECK(drawloom_device_sync(&ctx) == drawloom_error_no_driver);
}
