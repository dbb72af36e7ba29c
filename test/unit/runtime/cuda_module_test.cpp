// Loading kernels: cubin, then PTX; once; from several threads.
#include <atomic>
#include <thread>

#include "with_stub_driver.h"

TEST_CASE("the cubin is taken where the driver takes it", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t launch = launch_of(kernels);
  stub->refuse_ptx = 218;
  CHECK(cuda().launch(&ctx, &launch) == 0);
  CHECK(stub->calls("cuModuleLoadDataEx") == 1);
}

TEST_CASE("a cubin that the driver is too old for is replaced by the PTX", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t launch = launch_of(kernels);
  stub->version = 12000;
  stub->refuse_cubin = 200;
  CHECK(cuda().launch(&ctx, &launch) == 0);
  CHECK(stub->calls("cuModuleLoadDataEx") == 2);
  CHECK(cuda().launch(&ctx, &launch) == 0);
  CHECK(stub->calls("cuModuleLoadDataEx") == 2);
  CHECK(ctx.count == 0);
}

TEST_CASE("kernels without a cubin are loaded from PTX", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  kernels.cubin = nullptr;
  kernels.cubin_bytes = 0;
  const drawloom_launch_t launch = launch_of(kernels);
  stub->refuse_cubin = 200;
  CHECK(cuda().launch(&ctx, &launch) == 0);
  CHECK(stub->calls("cuModuleLoadDataEx") == 1);
}

TEST_CASE("when neither is taken the message has both reasons and the driver's log", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t launch = launch_of(kernels);
  stub->refuse_cubin = 200;
  stub->refuse_ptx = 218;
  stub->jit_log = "ptxas: line 7: unknown opcode\n";
  CHECK(cuda().launch(&ctx, &launch) == drawloom_error_kernels_not_loaded);
  CHECK(
      ctx.message ==
      "blur: its kernels cannot run on Stub 0 (compute capability 9.0): cubin: as planted (CUDA_ERROR_INVALID_IMAGE); "
      "PTX: as planted (CUDA_ERROR_INVALID_PTX): ptxas: line 7: unknown opcode");
  stub->refuse_ptx = 0;  // nothing of the failure stays
  CHECK(cuda().launch(&ctx, &launch) == 0);
}

TEST_CASE("a cubin alone that is refused", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  kernels.ptx = nullptr;
  const drawloom_launch_t launch = launch_of(kernels);
  stub->refuse_cubin = 200;
  CHECK(cuda().launch(&ctx, &launch) == drawloom_error_kernels_not_loaded);
  CHECK(
      ctx.message ==
      "blur: its kernels cannot run on Stub 0 (compute capability 9.0): cubin: as planted (CUDA_ERROR_INVALID_IMAGE)");
}

TEST_CASE("kernels without any code", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  kernels.cubin = nullptr;
  kernels.ptx = nullptr;
  const drawloom_launch_t launch = launch_of(kernels);
  CHECK(cuda().launch(&ctx, &launch) == drawloom_error_kernels_not_loaded);
  CHECK(ctx.message ==
        "blur: its kernels cannot run on Stub 0 (compute capability 9.0): there is neither a cubin nor PTX");
}

TEST_CASE("the device's compute capability is compared before the driver is asked", "[cuda]") {
  ListeningContext ctx;
  {
    const WithStubDriver stub;
    Kernels kernels;
    const drawloom_launch_t launch = launch_of(kernels);
    stub->capability = 86;
    CHECK(cuda().launch(&ctx, &launch) == drawloom_error_kernels_not_loaded);
    CHECK(ctx.message == "blur: its kernels cannot run on Stub 0 (compute capability 8.6): they need 9.0 or newer");
    CHECK(stub->calls("cuModuleLoadDataEx") == 0);
  }
  for (const bool exact : {false, true}) {
    const WithStubDriver stub;
    Kernels kernels;
    kernels.flags = exact ? drawloom_kernels_exact : 0;
    const drawloom_launch_t launch = launch_of(kernels);
    stub->capability = 100;
    CHECK(cuda().launch(&ctx, &launch) == (exact ? drawloom_error_kernels_not_loaded : 0));
  }
  CHECK(ctx.message == "blur: its kernels cannot run on Stub 0 (compute capability 10.0): they need 9.0 exactly");
}

TEST_CASE("a kernel that the code lacks is named", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t launch = launch_of(kernels, "blur_z");
  stub->missing_kernel = "blur_z";
  CHECK(cuda().launch(&ctx, &launch) == drawloom_error_kernels_not_loaded);
  CHECK(ctx.message ==
        "blur: its kernels cannot run on Stub 0 (compute capability 9.0): the code has no kernel of the name blur_z");
  CHECK(stub->modules() == 1);
}

TEST_CASE("a load for which memory lacks is tried again without the idle blocks", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t launch = launch_of(kernels);
  uint64_t block = 0;
  CHECK(cuda().malloc(&ctx, 1000, nullptr, &block) == 0);
  CHECK(cuda().free(&ctx, block) == 0);
  CHECK(drawloom_device_memory_stats().idle_blocks == 1);
  stub->fail("cuModuleLoadDataEx", 0, 1, 2);
  CHECK(cuda().launch(&ctx, &launch) == 0);
  CHECK(drawloom_device_memory_stats().idle_blocks == 0);
}

TEST_CASE("module and function are loaded once, whatever the number of launches and kernels", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t y = launch_of(kernels, "blur_y"), x = launch_of(kernels, "blur_x");
  for (int i = 0; i < 5; i++) {
    CHECK(cuda().launch(&ctx, &y) == 0);
    CHECK(std::string(stub->launch.kernel) == "blur_y");
    CHECK(cuda().launch(&ctx, &x) == 0);
    CHECK(std::string(stub->launch.kernel) == "blur_x");
  }
  CHECK(stub->calls("cuModuleLoadDataEx") == 1);
  CHECK(stub->calls("cuModuleGetFunction") == 2);
}

TEST_CASE("unloaded kernels are loaded again", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t launch = launch_of(kernels);
  CHECK(cuda().launch(&ctx, &launch) == 0);
  cuda().unload(&ctx, &kernels);
  CHECK(stub->modules() == 0);
  CHECK(kernels.loaded == nullptr);
  CHECK(cuda().launch(&ctx, &launch) == 0);
  CHECK(stub->calls("cuModuleLoadDataEx") == 2);
}

TEST_CASE("threads that race for a kernel load it once", "[cuda]") {
  const WithStubDriver stub;
  Kernels kernels;
  stub->slow_load_ms = 20;  // long enough that all of them arrive meanwhile
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([&, t] {
      ListeningContext ctx;
      drawloom_launch_t launch = launch_of(kernels, t % 2 ? "blur_x" : "blur_y");
      launch.shared_bytes = 50000 + 1000 * t;
      for (int i = 0; i < 50; i++) failures += cuda().launch(&ctx, &launch) != 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(stub->calls("cuModuleLoadDataEx") == 1);
  CHECK(stub->calls("cuModuleGetFunction") == 2);
  CHECK(stub->calls("cuDevicePrimaryCtxRetain") == 1);
  CHECK(stub->calls("cuLaunchKernelEx") == 8 * 50);
}
