// Launches: shape, clusters, shared memory, residency, parameters; kernels that fail.
#include "with_stub_driver.h"

TEST_CASE("a launch reaches the driver as it was described", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  drawloom_launch_t launch = launch_of(kernels);
  int width = 17;
  float scale = 0.5f;
  void* params[] = {&width, &scale};
  launch.grid[0] = 70000;
  launch.grid[1] = 3;
  launch.grid[2] = 2;
  launch.threads = 384;
  launch.shared_bytes = 1000;
  launch.params = 2;
  launch.param = params;
  struct Seen {
    int width = 0;
    float scale = 0;
  } seen;
  stub->user = &seen;
  stub->on_launch = [](const drawloom_stub_launch_t* at, void* user) {
    auto* into = static_cast<Seen*>(user);
    into->width = *static_cast<int*>(at->params[0]);
    into->scale = *static_cast<float*>(at->params[1]);
  };
  CHECK(cuda().launch(&ctx, &launch) == 0);
  CHECK(seen.width == 17);
  CHECK(seen.scale == 0.5f);
  CHECK(stub->launch.grid[0] == 70000);
  CHECK(stub->launch.grid[1] == 3);
  CHECK(stub->launch.grid[2] == 2);
  CHECK(stub->launch.block[0] == 384);
  CHECK(stub->launch.block[1] == 1);
  CHECK(stub->launch.block[2] == 1);
  CHECK(stub->launch.shared_bytes == 1000);
  CHECK(stub->launch.cluster[0] == 0);  // no attribute
}

TEST_CASE("clusters become an attribute, and large ones are allowed first", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  drawloom_launch_t launch = launch_of(kernels);
  launch.grid[0] = 12;
  launch.grid[1] = 4;
  launch.cluster[0] = 2;
  launch.cluster[1] = 4;
  CHECK(cuda().launch(&ctx, &launch) == 0);
  CHECK(stub->launch.cluster[0] == 2);
  CHECK(stub->launch.cluster[1] == 4);
  CHECK(stub->launch.cluster[2] == 1);
  CHECK(stub->calls("cuFuncSetAttribute") == 0);
  launch.cluster[0] = 4;
  for (int i = 0; i < 2; i++) CHECK(cuda().launch(&ctx, &launch) == 0);
  CHECK(stub->calls("cuFuncSetAttribute") == 1);
  CHECK(stub->function_attribute[14] == 1);  // CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
}

TEST_CASE("a launch of clusters of one is a plain one", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  drawloom_launch_t launch = launch_of(kernels);
  launch.cluster[0] = launch.cluster[1] = launch.cluster[2] = 1;
  CHECK(cuda().launch(&ctx, &launch) == 0);
  CHECK(stub->launch.cluster[0] == 0);
}

TEST_CASE("dynamic shared memory is allowed when a launch wants more than any before", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  drawloom_launch_t launch = launch_of(kernels);
  CHECK(cuda().launch(&ctx, &launch) == 0);
  CHECK(stub->calls("cuFuncSetAttribute") == 0);
  const auto with = [&](int64_t bytes) {
    launch.shared_bytes = bytes;
    CHECK(cuda().launch(&ctx, &launch) == 0);
    CHECK(stub->launch.shared_bytes == bytes);
    return stub->function_attribute[8];  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  };
  CHECK(with(100000) == 100000);
  CHECK(with(50000) == 100000);
  CHECK(with(100000) == 100000);
  CHECK(stub->calls("cuFuncSetAttribute") == 1);
  CHECK(with(232448) == 232448);
  CHECK(stub->calls("cuFuncSetAttribute") == 2);
}

TEST_CASE("a grid without blocks launches nothing and is no error", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  for (int i = 0; i < 3; i++) {
    drawloom_launch_t launch = launch_of(kernels);
    launch.grid[i] = 0;
    CHECK(cuda().launch(&ctx, &launch) == 0);
  }
  CHECK(stub->calls("cuLaunchKernelEx") == 0);
  CHECK(ctx.count == 0);
}

TEST_CASE("shapes that no device takes are refused with what is wrong", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const auto refused = [&](void (*change)(drawloom_launch_t*)) {
    drawloom_launch_t launch = launch_of(kernels);
    change(&launch);
    CHECK(cuda().launch(&ctx, &launch) == drawloom_error_bad_launch);
    return ctx.message;
  };
  CHECK(refused([](auto* l) { l->threads = 0; }) ==
        "blur: kernel blur_y: the number of threads per block is 0, needs 1 to 1024");
  CHECK(refused([](auto* l) { l->threads = 1025; }) ==
        "blur: kernel blur_y: the number of threads per block is 1025, needs 1 to 1024");
  CHECK(refused([](auto* l) { l->shared_bytes = 232449; }) ==
        "blur: kernel blur_y: its shared memory in bytes is 232449, needs at most what a block of this device has");
  CHECK(refused([](auto* l) { l->shared_bytes = -1; }) ==
        "blur: kernel blur_y: its shared memory in bytes is -1, needs at most what a block of this device has");
  CHECK(refused([](auto* l) { l->grid[0] = INT64_C(1) << 31; }) ==
        "blur: kernel blur_y: grid.x is 2147483648, needs 0 to 2147483647");
  CHECK(refused([](auto* l) { l->grid[1] = 65536; }) == "blur: kernel blur_y: grid.y is 65536, needs 0 to 65535");
  CHECK(refused([](auto* l) { l->grid[2] = -1; }) == "blur: kernel blur_y: grid.z is -1, needs 0 to 65535");
  CHECK(refused([](auto* l) {
          l->grid[1] = 3;
          l->cluster[1] = 2;
        }) == "blur: kernel blur_y: grid.y is 3, needs a multiple of the cluster");
  CHECK(refused([](auto* l) { l->cluster[0] = 17; }) ==
        "blur: kernel blur_y: an extent of its clusters is 17, needs 1 to 16");
  CHECK(refused([](auto* l) { l->cluster[0] = -1; }) ==
        "blur: kernel blur_y: an extent of its clusters is -1, needs 1 to 16");
  CHECK(refused([](auto* l) { l->cluster[0] = l->cluster[1] = 8; }) ==
        "blur: kernel blur_y: the number of blocks per cluster is 64, needs 1 to 16");
  CHECK(refused([](auto* l) { l->tensor_maps = 17; }) ==
        "blur: kernel blur_y: the number of tensor maps is 17, needs 0 to 16");
  CHECK(stub->calls("cuLaunchKernelEx") == 0);
}

TEST_CASE("clusters need compute capability 9.0", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  kernels.capability = 80;
  stub->capability = 80;
  drawloom_launch_t launch = launch_of(kernels);
  CHECK(cuda().launch(&ctx, &launch) == 0);
  launch.grid[0] = launch.cluster[0] = 2;
  CHECK(cuda().launch(&ctx, &launch) == drawloom_error_bad_launch);
  CHECK(ctx.message ==
        "blur: kernel blur_y: the number of blocks per cluster is 2, needs 1 before compute capability 9.0");
}

TEST_CASE("a message names the user's line", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  drawloom_launch_t launch = launch_of(kernels);
  launch.loc = "blur.cpp:41";
  launch.threads = 0;
  CHECK(cuda().launch(&ctx, &launch) == drawloom_error_bad_launch);
  CHECK(ctx.message == "blur.cpp:41: blur: kernel blur_y: the number of threads per block is 0, needs 1 to 1024");
}

TEST_CASE("the number of resident blocks is that of one multiprocessor times theirs", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  drawloom_launch_t launch = launch_of(kernels);
  launch.grid[0] = 0;  // not read
  int64_t count = -1;
  CHECK(cuda().resident(&ctx, &launch, &count) == 0);
  CHECK(count == 2 * 132);
}

TEST_CASE("the number of resident clusters is the driver's", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  drawloom_launch_t launch = launch_of(kernels);
  launch.cluster[0] = 2;
  launch.cluster[1] = 3;
  launch.shared_bytes = 200000;
  int64_t count = -1;
  CHECK(cuda().resident(&ctx, &launch, &count) == 0);
  CHECK(count == 60);
  CHECK(stub->launch.shared_bytes == 200000);
  CHECK(stub->function_attribute[8] == 200000);
  launch.threads = 0;
  CHECK(cuda().resident(&ctx, &launch, &count) == drawloom_error_bad_launch);
  CHECK(count == 0);
}

// ---- Kernels that fail --------------------------------------------------------------------------------------------

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
