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

TEST_CASE("any function of the driver that fails gives a code and a message, and the next call works", "[cuda]") {
  // What one round of everything calls, on a fresh state each time.
  const auto round = [](ListeningContext& ctx) {
    Kernels kernels;
    drawloom_launch_t launch = launch_of(kernels);
    drawloom_launch_t clusters = launch;
    clusters.cluster[0] = 2;
    clusters.grid[0] = 2;
    int pixels[8] = {};
    ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 8, 1});
    uint64_t start = 0, end = 0;
    int64_t count = 0;
    double ms = 0;
    launch.shared_bytes = 100000;
    int code = cuda().to_device(&ctx, &buffer, nullptr);
    if (!code) code = cuda().event_create(&ctx, &start);
    if (!code) code = cuda().event_create(&ctx, &end);
    if (!code) code = cuda().event_record(&ctx, start);
    if (!code) code = cuda().launch(&ctx, &launch);
    if (!code) code = cuda().event_record(&ctx, end);
    if (!code) code = cuda().event_elapsed(&ctx, start, end, &ms);
    if (!code) code = cuda().resident(&ctx, &launch, &count);
    if (!code) code = cuda().resident(&ctx, &clusters, &count);
    buffer.flags = drawloom_flag_device_dirty;
    if (!code) code = cuda().to_host(&ctx, &buffer, nullptr);
    if (!code) code = cuda().event_destroy(&ctx, start);
    if (!code) code = cuda().event_destroy(&ctx, end);
    cuda().buffer_free(&ctx, &buffer, nullptr);
    return code;
  };
  for (const char* function : {"cuDeviceGetCount",
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
                               "cuMemAlloc_v2",
                               "cuMemcpyHtoDAsync_v2",
                               "cuMemcpyDtoHAsync_v2",
                               "cuEventCreate",
                               "cuEventRecord",
                               "cuEventSynchronize",
                               "cuEventElapsedTime",
                               "cuEventDestroy_v2"}) {
    CAPTURE(function);
    const WithStubDriver stub;
    ListeningContext ctx;
    stub->fail(function, 0, 1, 999);
    CHECK(round(ctx) == drawloom_error_driver_failed);
    CHECK(ctx.count == 1);
    CHECK(contains(ctx.message, "as planted (999)"));
    CHECK(stub->current_depth() == 0);
    CHECK(round(ctx) == 0);
    CHECK(ctx.count == 1);
    CHECK(stub->calls(function) > 1);
  }
}
