// Which CUcontext and stream a call works in, and what stays behind.
#include "with_stub_driver.h"

TEST_CASE("a context that names nothing works in the primary CUcontext of device 0 on the legacy stream", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t launch = launch_of(kernels);
  CHECK(cuda().launch(&ctx, &launch) == 0);
  CHECK(stub->launch.stream == nullptr);
  CHECK(stub->primaries() == 1);
  CHECK(stub->calls("cuLaunchKernelEx") == 1);
}

TEST_CASE("the thread's own current CUcontext is as it was after every call", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx, bad;
  bad.device_index = 9;
  Kernels kernels;
  drawloom_launch_t launch = launch_of(kernels);
  CHECK(cuda().launch(&ctx, &launch) == 0);
  CHECK(stub->current_depth() == 0);
  launch.threads = 0;
  CHECK(cuda().launch(&ctx, &launch) == drawloom_error_bad_launch);
  CHECK(stub->current_depth() == 0);
  CHECK(cuda().sync(&bad) == drawloom_error_no_device);
  CHECK(stub->current_depth() == 0);
}

TEST_CASE("a stream given by the caller brings its CUcontext along", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t launch = launch_of(kernels);
  void* own = stub->make_context(1);
  ctx.device_stream = stub->make_stream(own);
  CHECK(cuda().launch(&ctx, &launch) == 0);
  CHECK(stub->launch.stream == ctx.device_stream);
  CHECK(stub->launch.context == own);
  CHECK(stub->primaries() == 0);
}

TEST_CASE("the two fixed stream values are streams of the chosen CUcontext", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t launch = launch_of(kernels);
  for (const uintptr_t fixed : {1, 2}) {
    ctx.device_stream = reinterpret_cast<void*>(fixed);
    CHECK(cuda().launch(&ctx, &launch) == 0);
    CHECK(stub->launch.stream == ctx.device_stream);
  }
  CHECK(stub->primaries() == 1);
}

TEST_CASE("two CUcontexts have kernels of their own", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext a, b;
  Kernels kernels;
  const drawloom_launch_t launch = launch_of(kernels);
  a.device_context = stub->make_context(0);
  b.device_context = stub->make_context(1);
  for (int i = 0; i < 3; i++) {
    CHECK(cuda().launch(&a, &launch) == 0);
    CHECK(stub->launch.context == a.device_context);
    CHECK(cuda().launch(&b, &launch) == 0);
    CHECK(stub->launch.context == b.device_context);
  }
  CHECK(stub->calls("cuModuleLoadDataEx") == 2);
  CHECK(stub->modules() == 2);
}

TEST_CASE("the primary CUcontext given by hand is the same as the one chosen by number", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext by_number, by_hand;
  Kernels kernels;
  const drawloom_launch_t launch = launch_of(kernels);
  CHECK(cuda().launch(&by_number, &launch) == 0);
  by_hand.device_context = stub->launch.context;
  CHECK(cuda().launch(&by_hand, &launch) == 0);
  CHECK(stub->calls("cuModuleLoadDataEx") == 1);
}

TEST_CASE("a buffer of one CUcontext is refused in another", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext a, b;
  a.device_context = stub->make_context(0);
  b.device_context = stub->make_context(0);
  int pixels[4] = {1, 2, 3, 4};
  ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 4, 1});
  const drawloom_site_t site = {"blur", "in", nullptr, nullptr};
  CHECK(cuda().to_device(&a, &buffer, &site) == 0);
  CHECK(cuda().to_device(&b, &buffer, &site) == drawloom_error_wrong_device);
  CHECK(b.message == "blur: buffer in: its device copy is in another CUcontext");
  CHECK(cuda().buffer_malloc(&b, &buffer, &site) == drawloom_error_wrong_device);
  CHECK(cuda().buffer_free(&b, &buffer, &site) == 0);  // it may be freed from anywhere
  CHECK(drawloom_device_memory_stats().live_blocks == 0);
}

TEST_CASE("a CUcontext that is forgotten leaves nothing, and its kernels load again in the next", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t launch = launch_of(kernels);
  int pixels[4] = {1, 2, 3, 4};
  ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 4, 1});
  ctx.device_context = stub->make_context(0);
  CHECK(cuda().launch(&ctx, &launch) == 0);
  CHECK(cuda().to_device(&ctx, &buffer, nullptr) == 0);
  CHECK(stub->modules() == 1);
  CHECK(stub->memory_in_use() > 0);
  drawloom_forget_device_context(&ctx);
  CHECK(stub->modules() == 0);
  CHECK(stub->memory_in_use() == 0);
  CHECK(drawloom_device_memory_stats().live_blocks == 0);
  stub->end_context(ctx.device_context);
  ctx.device_context = stub->make_context(0);
  CHECK(cuda().launch(&ctx, &launch) == 0);
  CHECK(stub->calls("cuModuleLoadDataEx") == 2);
  CHECK(ctx.count == 0);
}

TEST_CASE("a CUcontext that the driver does not know gives an error", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  ctx.device_context = stub->make_context(0);
  stub->end_context(ctx.device_context);
  CHECK(cuda().sync(&ctx) == drawloom_error_driver_failed);
  CHECK(ctx.message == "device: cuCtxGetId: as planted (CUDA_ERROR_INVALID_CONTEXT)");
}

TEST_CASE("a null context means the default one, as for pipelines", "[cuda]") {
  const WithStubDriver stub;
  CHECK(drawloom_device_sync(nullptr) == 0);
  CHECK(stub->primaries() == 1);
}

TEST_CASE("events measure between their records", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  uint64_t start = 0, end = 0;
  double ms = 0;
  CHECK(cuda().event_create(&ctx, &start) == 0);
  CHECK(cuda().event_create(&ctx, &end) == 0);
  CHECK(start != end);
  CHECK(cuda().event_elapsed(&ctx, start, end, &ms) == drawloom_error_driver_failed);  // not recorded yet
  CHECK(cuda().event_record(&ctx, start) == 0);
  CHECK(cuda().event_record(&ctx, end) == 0);
  CHECK(cuda().event_elapsed(&ctx, start, end, &ms) == 0);
  CHECK(ms == 0.5);  // the stand-in's time from one record to the next
  CHECK(cuda().event_destroy(&ctx, start) == 0);
  CHECK(cuda().event_destroy(&ctx, end) == 0);
}
