// Device memory: reuse, streams, limits, and threads.
#include <functional>
#include <thread>

#include "with_stub_driver.h"

namespace {

uint64_t get(ListeningContext& ctx, uint64_t bytes) {
  uint64_t address = 0;
  CHECK(cuda().malloc(&ctx, bytes, nullptr, &address) == 0);
  return address;
}

void put(ListeningContext& ctx, uint64_t address) { CHECK(cuda().free(&ctx, address) == 0); }

/// Blocks that the driver was asked for.
int made(const WithStubDriver& stub) { return stub->calls("cuMemAlloc_v2"); }

/// Leaves the first cap behind.
struct Cap {
  explicit Cap(uint64_t bytes) { drawloom_set_device_memory_cap(bytes); }
  ~Cap() { drawloom_set_device_memory_cap(UINT64_C(2) << 30); }
};

}  // namespace

TEST_CASE("a freed device block serves the next demand of its size", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  for (const uint64_t bytes : {1ull, 600ull, 300000ull, 20000000ull}) {
    const uint64_t first = get(ctx, bytes), reused = drawloom_device_memory_stats().reused;
    CHECK(first % 256 == 0);
    put(ctx, first);
    CHECK(drawloom_device_memory_stats().idle_blocks == 1);
    CHECK(drawloom_device_memory_stats().idle_bytes >= bytes);
    CHECK(drawloom_device_memory_stats().idle_bytes <= 512 + bytes * 9 / 8);
    const int before = made(stub);
    const uint64_t second = get(ctx, bytes);
    CHECK(second == first);
    CHECK(made(stub) == before);
    CHECK(drawloom_device_memory_stats().reused == reused + 1);
    CHECK(drawloom_device_memory_stats().live_blocks == 1);
    CHECK(drawloom_device_memory_stats().live_bytes == bytes);
    put(ctx, second);
    drawloom_release_device_memory();
    CHECK(drawloom_device_memory_stats().idle_blocks == 0);
    CHECK(stub->memory_in_use() == 0);
  }
}

TEST_CASE("a block of no bytes has an address that can be freed", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  const uint64_t a = get(ctx, 0), b = get(ctx, 0);
  CHECK(a != 0);
  CHECK(a != b);
  put(ctx, a);
  put(ctx, b);
}

TEST_CASE("an idle block serves only its own stream, and only its own CUcontext", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext one, two, other;
  void* context = stub->make_context(0);
  one.device_stream = stub->make_stream(context);
  two.device_stream = stub->make_stream(context);
  other.device_stream = stub->make_stream(stub->make_context(0));
  const uint64_t first = get(one, 1000);
  put(one, first);  // kernels of stream one may still use it
  const uint64_t second = get(two, 1000), third = get(other, 1000);
  CHECK(second != first);
  CHECK(third != first);
  CHECK(get(one, 1000) == first);
  put(one, first);
  put(two, second);
  put(other, third);
}

TEST_CASE("a block freed in another CUcontext waits for its own before it serves again", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext owner, other;
  owner.device_context = stub->make_context(0);
  other.device_context = stub->make_context(0);
  const uint64_t block = get(owner, 1000);
  const int waits = stub->calls("cuCtxSynchronize");
  put(other, block);
  CHECK(stub->calls("cuCtxSynchronize") == waits + 1);
  CHECK(get(owner, 1000) == block);
  put(owner, block);
}

TEST_CASE("when memory lacks, idle blocks go back and the driver is asked again", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  stub->memory = 1000000;
  const uint64_t a = get(ctx, 600000);
  put(ctx, a);
  const uint64_t b = get(ctx, 900000);  // both do not fit
  CHECK(b != 0);
  CHECK(drawloom_device_memory_stats().idle_blocks == 0);
  put(ctx, b);
}

TEST_CASE("when memory lacks for good, the message says for what and how much", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  stub->memory = 1000000;
  const uint64_t kept = get(ctx, 600000);
  const drawloom_site_t site = {"blur", "blur_x", nullptr, nullptr};
  uint64_t address = 1;
  CHECK(cuda().malloc(&ctx, 500000, &site, &address) == drawloom_error_device_out_of_memory);
  CHECK(ctx.message == "blur: no device memory for blur_x (500000 bytes)");
  CHECK(address == 0);
  CHECK(cuda().malloc(&ctx, UINT64_MAX, &site, &address) == drawloom_error_device_out_of_memory);
  CHECK(drawloom_device_memory_stats().live_blocks == 1);
  std::vector<int> pixels(200000);
  ShapedBuffer buffer(pixels.data(), kInt32, drawloom_dim_t{0, 200000, 1});
  CHECK(cuda().to_device(&ctx, &buffer, &site) == drawloom_error_device_out_of_memory);
  CHECK(ctx.message == "blur: no device memory for blur_x (800000 bytes)");
  CHECK(buffer.device == 0);
  put(ctx, kept);
  CHECK(cuda().to_device(&ctx, &buffer, &site) == 0);  // and life goes on
  CHECK(cuda().buffer_free(&ctx, &buffer, &site) == 0);
}

TEST_CASE("over the cap the oldest idle device blocks go", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  const Cap cap(100000);
  const uint64_t a = get(ctx, 40000), b = get(ctx, 45000), c = get(ctx, 50000);
  put(ctx, a);
  put(ctx, b);
  CHECK(drawloom_device_memory_stats().idle_blocks == 2);
  put(ctx, c);
  CHECK(drawloom_device_memory_stats().idle_blocks == 2);
  const int before = made(stub);
  CHECK(get(ctx, 45000) == b);
  CHECK(get(ctx, 50000) == c);
  CHECK(made(stub) == before);
  put(ctx, b);
  put(ctx, c);
  drawloom_set_device_memory_cap(0);
  CHECK(drawloom_device_memory_stats().idle_blocks == 0);
  CHECK(stub->memory_in_use() == 0);
}

TEST_CASE("what is no device memory of ours cannot be freed", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  CHECK(cuda().free(&ctx, 0x1234) == drawloom_error_not_device_memory);
  CHECK(ctx.message == "device: 0x1234 is no device memory that was allocated here");
  const uint64_t block = get(ctx, 1000);
  put(ctx, block);
  CHECK(cuda().free(&ctx, block) == drawloom_error_not_device_memory);  // twice
}

TEST_CASE("after a kernel has failed, memory is still given back without an end of the process", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const drawloom_launch_t launch = launch_of(kernels);
  int pixels[4] = {};
  ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 4, 1});
  CHECK(cuda().to_device(&ctx, &buffer, nullptr) == 0);
  stub->fault_kernel = "blur_y";
  CHECK(cuda().launch(&ctx, &launch) == 0);
  buffer.flags = drawloom_flag_device_dirty;
  CHECK(cuda().to_host(&ctx, &buffer, nullptr) == drawloom_error_kernel_failed);
  CHECK(buffer.flags == drawloom_flag_device_dirty);
  CHECK(cuda().buffer_free(&ctx, &buffer, nullptr) == 0);
  drawloom_release_device_memory();
  CHECK(drawloom_device_memory_stats().live_blocks == 0);
  CHECK(drawloom_device_memory_stats().idle_blocks == 0);
}

TEST_CASE("threads share the device pool", "[cuda]") {
  const WithStubDriver stub;
  std::vector<std::thread> threads;
  std::vector<int> failures(4, 0);
  for (size_t t = 0; t < 4; t++) {
    threads.emplace_back([t, &failures] {
      ListeningContext ctx;
      for (uint64_t i = 0; i < 300; i++) {
        uint64_t a = 0, b = 0;
        failures[t] += cuda().malloc(&ctx, 1000 + 700 * (i % 5), nullptr, &a) != 0;
        failures[t] += cuda().malloc(&ctx, 5000, nullptr, &b) != 0;
        *reinterpret_cast<uint64_t*>(a) = t;
        *reinterpret_cast<uint64_t*>(b) = t;
        failures[t] += *reinterpret_cast<uint64_t*>(a) != t;
        failures[t] += cuda().free(&ctx, b) != 0;
        failures[t] += cuda().free(&ctx, a) != 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == std::vector<int>(4, 0));
  CHECK(drawloom_device_memory_stats().live_blocks == 0);
}

namespace {

/// Forgets the CUcontext of `ctx` while `work`, in another thread, waits for it.
void forget_during(const WithStubDriver& stub, ListeningContext& ctx, const std::function<void()>& work) {
  stub->slow_wait_ms = 50;  // long enough for forgetting to come in between
  const int waits = stub->calls("cuCtxSynchronize");
  std::thread worker(work);
  while (stub->calls("cuCtxSynchronize") == waits) std::this_thread::yield();
  drawloom_forget_device_context(&ctx);
  CHECK(stub->memory_in_use() == 0);
  stub->end_context(ctx.device_context);
  worker.join();
  CHECK(drawloom_device_memory_stats().live_blocks == 0);
  CHECK(drawloom_device_memory_stats().idle_blocks == 0);
  CHECK(drawloom_device_memory_stats().idle_bytes == 0);
}

}  // namespace

TEST_CASE("a CUcontext is forgotten while another's call frees a block of it", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext owner, other;
  owner.device_context = stub->make_context(0);
  other.device_context = stub->make_context(0);
  const uint64_t block = get(owner, 1000);
  int code = -1;
  forget_during(stub, owner, [&] { code = cuda().free(&other, block); });
  CHECK(code == 0);
}

TEST_CASE("a CUcontext is forgotten while its idle blocks go back to the driver", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext owner;
  owner.device_context = stub->make_context(0);
  const uint64_t first = get(owner, 1000), second = get(owner, 5000);
  put(owner, first);
  put(owner, second);
  forget_during(stub, owner, [] { drawloom_release_device_memory(); });
}
