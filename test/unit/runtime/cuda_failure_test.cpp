// Kernels that fail, and kernels that do not end.
#include "with_stub_driver.h"

TEST_CASE("a failing kernel is named by the next call and by all after it, and the process lives", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t bad = launch_of(kernels, "blur_bad"), good = launch_of(kernels, "blur_y");
  const std::string words = "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)";
  stub->fault_kernel = "blur_bad";
  CHECK(cuda().launch(&ctx, &bad) == 0);  // asynchronous
  CHECK(cuda().sync(&ctx) == drawloom_error_kernel_failed);
  CHECK(ctx.message == "device: kernel blur_bad failed on the device: " + words);
  CHECK(cuda().launch(&ctx, &good) == drawloom_error_kernel_failed);
  CHECK(ctx.message == "blur: kernel blur_bad failed on the device: " + words);
  uint64_t block = 0;
  CHECK(cuda().malloc(&ctx, 100, nullptr, &block) == drawloom_error_kernel_failed);
  CHECK(stub->current_depth() == 0);
  // Another CUcontext is not concerned.
  ListeningContext other;
  other.device_index = 1;
  CHECK(cuda().launch(&other, &good) == 0);
  CHECK(cuda().sync(&other) == 0);
}

TEST_CASE("among several kernels under way the newest is named first and the others as suspects", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t a = launch_of(kernels, "a"), b = launch_of(kernels, "b"), c = launch_of(kernels, "c");
  CHECK(cuda().launch(&ctx, &a) == 0);
  CHECK(cuda().sync(&ctx) == 0);  // a is cleared of suspicion
  stub->fault_kernel = "b";
  CHECK(cuda().launch(&ctx, &b) == 0);
  CHECK(cuda().launch(&ctx, &c) == 0);
  CHECK(cuda().launch(&ctx, &a) == 0);
  CHECK(cuda().sync(&ctx) == drawloom_error_kernel_failed);
  CHECK(ctx.message ==
        "device: kernel a (or one launched before it: c, b) failed on the device: an illegal memory access was "
        "encountered (CUDA_ERROR_ILLEGAL_ADDRESS)");
}

TEST_CASE("more suspects than are kept", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  stub->fault_kernel = "k9";
  for (int i = 0; i < 10; i++) {
    const std::string name = "k" + std::to_string(i);
    const drawloom_launch_t launch = launch_of(kernels, name.c_str());
    CHECK(cuda().launch(&ctx, &launch) == 0);
  }
  CHECK(cuda().sync(&ctx) == drawloom_error_kernel_failed);
  CHECK(ctx.message.find("kernel k9 (or one launched before it: k8, k7, k6, k5, k4, k3, k2, ...) failed") !=
        std::string::npos);
}

TEST_CASE("a failure without a launch of ours is another library's", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  stub->fail("cuStreamSynchronize", 0, 1, 719);
  CHECK(cuda().sync(&ctx) == drawloom_error_kernel_failed);
  CHECK(ctx.message == "device: kernel of another library failed on the device: as planted (CUDA_ERROR_LAUNCH_FAILED)");
}

TEST_CASE("with device_wait the launch itself reports the kernel, without suspects", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t a = launch_of(kernels, "a"), b = launch_of(kernels, "b");
  ctx.device_flags = drawloom_device_wait;
  stub->fault_kernel = "b";
  CHECK(cuda().launch(&ctx, &a) == 0);
  CHECK(cuda().launch(&ctx, &b) == drawloom_error_kernel_failed);
  CHECK(ctx.message ==
        "blur: kernel b failed on the device: an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)");
}

TEST_CASE("a wait for one stream does not clear the kernels of another", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext one, two;
  Kernels kernels;
  void* context = stub->make_context(0);
  one.device_stream = stub->make_stream(context);
  two.device_stream = stub->make_stream(context);
  const drawloom_launch_t a = launch_of(kernels, "a"), b = launch_of(kernels, "b");
  CHECK(cuda().launch(&one, &a) == 0);
  CHECK(cuda().launch(&two, &b) == 0);
  CHECK(cuda().sync(&two) == 0);
  stub->fail("cuStreamSynchronize", 0, 1, 700);
  CHECK(cuda().sync(&one) == drawloom_error_kernel_failed);
  CHECK(one.message.find("device: kernel a failed") == 0);
}

TEST_CASE("the kernel is named also where the driver no longer says whose stream or CUcontext it is", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext by_stream, by_context, stranger;
  Kernels kernels;
  const drawloom_launch_t a = launch_of(kernels, "a");
  by_context.device_context = stub->make_context(0);
  by_stream.device_stream = stub->make_stream(by_context.device_context);
  CHECK(cuda().launch(&by_stream, &a) == 0);
  stub->fail("cuStreamGetCtx", 0, 2, 700);
  CHECK(cuda().sync(&by_stream) == drawloom_error_kernel_failed);
  CHECK(by_stream.message.find("device: kernel a failed") == 0);
  stranger.device_stream = stub->make_stream(stub->make_context(0));
  CHECK(cuda().sync(&stranger) == drawloom_error_kernel_failed);
  CHECK(stranger.message.find("device: kernel of another library failed") == 0);
  stub->fail("cuCtxGetId", 0, 1, 700);
  CHECK(cuda().sync(&by_context) == drawloom_error_kernel_failed);
  CHECK(by_context.message.find("device: kernel a failed") == 0);
}

// ---- Kernels that do not end --------------------------------------------------------------------------------------

namespace {

/// A time limit for the length of a scope.
struct Timeout {
  explicit Timeout(uint32_t ms) { drawloom_set_device_timeout(ms); }
  ~Timeout() { drawloom_set_device_timeout(0); }
};

}  // namespace

TEST_CASE("with a time limit a kernel that hangs is named and the caller lives", "[cuda]") {
  const WithStubDriver stub;
  const Timeout limit(5);
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t good = launch_of(kernels, "good"), hangs = launch_of(kernels, "hangs");
  uint64_t event = 0;
  double ms = 0;
  CHECK(cuda().event_create(&ctx, &event) == 0);
  CHECK(cuda().event_record(&ctx, event) == 0);
  CHECK(cuda().launch(&ctx, &good) == 0);
  CHECK(cuda().sync(&ctx) == 0);
  CHECK(cuda().event_elapsed(&ctx, event, event, &ms) == 0);
  stub->hang_kernel = "hangs";
  CHECK(cuda().launch(&ctx, &hangs) == 0);
  CHECK(cuda().sync(&ctx) == drawloom_error_kernel_timeout);
  CHECK(ctx.message == "device: kernel hangs has not ended within 5 ms");
  CHECK(cuda().event_elapsed(&ctx, event, event, &ms) == drawloom_error_kernel_timeout);
  const int waits = stub->calls("cuStreamSynchronize");
  ctx.device_flags = drawloom_device_wait;
  CHECK(cuda().launch(&ctx, &good) == drawloom_error_kernel_timeout);
  CHECK(ctx.message == "blur: kernel good (or one launched before it: hangs) has not ended within 5 ms");
  CHECK(stub->calls("cuStreamSynchronize") == waits);  // never waits without a limit
  CHECK(stub->current_depth() == 0);
}

TEST_CASE("under a time limit no copy is begun behind a kernel that hangs", "[cuda]") {
  const WithStubDriver stub;
  const Timeout limit(5);
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t hangs = launch_of(kernels, "hangs");
  int pixels[4] = {1, 2, 3, 4};
  ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 4, 1});
  CHECK(cuda().to_device(&ctx, &buffer, nullptr) == 0);
  stub->hang_kernel = "hangs";
  CHECK(cuda().launch(&ctx, &hangs) == 0);
  buffer.flags = drawloom_flag_device_dirty;
  CHECK(cuda().to_host(&ctx, &buffer, nullptr) == drawloom_error_kernel_timeout);
  CHECK(ctx.message == "device: kernel hangs has not ended within 5 ms");
  CHECK(buffer.flags == drawloom_flag_device_dirty);
  CHECK(stub->calls("cuMemcpyDtoHAsync_v2") == 0);
  CHECK(cuda().buffer_free(&ctx, &buffer, nullptr) == 0);  // gives it to the pool, without waiting
}

TEST_CASE("a kernel that fails under a time limit has failed", "[cuda]") {
  const WithStubDriver stub;
  const Timeout limit(1000);
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t bad = launch_of(kernels, "bad");
  stub->fault_kernel = "bad";
  CHECK(cuda().launch(&ctx, &bad) == 0);
  CHECK(cuda().sync(&ctx) == drawloom_error_kernel_failed);
  CHECK(ctx.message.find("device: kernel bad failed") == 0);
}
