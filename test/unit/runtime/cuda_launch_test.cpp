// Launches: shape, clusters, shared memory, residency, parameters.
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
