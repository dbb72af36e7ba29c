// Device copies of buffers: dirty bits, places, checks of arguments.
#include "with_stub_driver.h"

namespace {

const drawloom_site_t kSite = {"blur", "in", nullptr, nullptr};

}  // namespace

// ---- Dirty bits ---------------------------------------------------------------------------------------------------

TEST_CASE("to_device allocates and copies once, and again when the host has changed", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  int pixels[4] = {1, 2, 3, 4};
  ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 4, 1});
  buffer.flags = drawloom_flag_host_dirty;
  CHECK(cuda().to_device(&ctx, &buffer, &kSite) == 0);
  CHECK(buffer.flags == 0);
  CHECK(buffer.device_interface == drawloom_cuda_table());
  CHECK(on_device<int>(buffer)[3] == 4);
  CHECK(cuda().to_device(&ctx, &buffer, &kSite) == 0);
  CHECK(stub->calls("cuMemcpyHtoDAsync_v2") == 1);
  pixels[3] = 5;
  buffer.flags = drawloom_flag_host_dirty;
  const uint64_t address = buffer.device;
  CHECK(cuda().to_device(&ctx, &buffer, &kSite) == 0);
  CHECK(buffer.device == address);
  CHECK(on_device<int>(buffer)[3] == 5);
  CHECK(stub->calls("cuMemcpyHtoDAsync_v2") == 2);
  CHECK(cuda().buffer_free(&ctx, &buffer, &kSite) == 0);
}

TEST_CASE("a buffer without flags is copied when it first comes to the device", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  int pixels[4] = {1, 2, 3, 4};
  ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 4, 1});
  CHECK(drawloom_to_device(&ctx, &buffer) == 0);
  CHECK(on_device<int>(buffer)[0] == 1);
  CHECK(drawloom_device_free(&ctx, &buffer) == 0);
  CHECK(buffer.device == 0);
  CHECK(buffer.device_interface == nullptr);
}

TEST_CASE("to_host copies only what is newer on the device", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  int pixels[4] = {1, 2, 3, 4};
  ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 4, 1});
  CHECK(cuda().to_device(&ctx, &buffer, &kSite) == 0);
  on_device<int>(buffer)[0] = 9;
  CHECK(cuda().to_host(&ctx, &buffer, &kSite) == 0);
  CHECK(pixels[0] == 1);
  CHECK(stub->calls("cuMemcpyDtoHAsync_v2") == 0);
  buffer.flags = drawloom_flag_device_dirty;
  CHECK(drawloom_to_host(&ctx, &buffer) == 0);
  CHECK(pixels[0] == 9);
  CHECK(buffer.flags == 0);
  CHECK(drawloom_to_host(&ctx, &buffer) == 0);
  CHECK(stub->calls("cuMemcpyDtoHAsync_v2") == 1);
  // And to_device has nothing to do while the device is newer.
  buffer.flags = drawloom_flag_device_dirty;
  CHECK(cuda().to_device(&ctx, &buffer, &kSite) == 0);
  CHECK(buffer.flags == drawloom_flag_device_dirty);
  CHECK(stub->calls("cuMemcpyHtoDAsync_v2") == 1);
  CHECK(cuda().buffer_free(&ctx, &buffer, &kSite) == 0);
  CHECK(buffer.flags == 0);  // nothing newer is anywhere any more
}

TEST_CASE("a buffer changed on both sides is refused both ways", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  int pixels[4] = {1, 2, 3, 4};
  ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 4, 1});
  CHECK(cuda().to_device(&ctx, &buffer, &kSite) == 0);
  buffer.flags = drawloom_flag_device_dirty | drawloom_flag_host_dirty;
  CHECK(cuda().to_device(&ctx, &buffer, &kSite) == drawloom_error_both_copies_newer);
  CHECK(cuda().to_host(&ctx, &buffer, &kSite) == drawloom_error_both_copies_newer);
  CHECK(ctx.message == "blur: buffer in was changed on the host and on the device, so neither copy is the newest");
  CHECK(stub->calls("cuMemcpyHtoDAsync_v2") == 1);
  CHECK(cuda().buffer_malloc(&ctx, &buffer, &kSite) == 0);  // what overwrites it all does not mind
  CHECK(cuda().buffer_free(&ctx, &buffer, &kSite) == 0);
}

TEST_CASE("buffer_malloc gives a place and copies nothing", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  int pixels[4] = {1, 2, 3, 4};
  ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 4, 1});
  buffer.flags = drawloom_flag_host_dirty;
  CHECK(cuda().buffer_malloc(&ctx, &buffer, &kSite) == 0);
  const uint64_t address = buffer.device;
  CHECK(address != 0);
  CHECK(cuda().buffer_malloc(&ctx, &buffer, &kSite) == 0);
  CHECK(buffer.device == address);
  CHECK(buffer.flags == drawloom_flag_host_dirty);
  CHECK(stub->calls("cuMemcpyHtoDAsync_v2") == 0);
  CHECK(cuda().buffer_free(&ctx, &buffer, &kSite) == 0);
}

TEST_CASE("a copy that fails leaves the flags, and no device copy that would look like one", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  int pixels[4] = {1, 2, 3, 4};
  ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 4, 1});
  buffer.flags = drawloom_flag_host_dirty;
  stub->fail("cuMemcpyHtoDAsync_v2", 0, 1, 1);
  CHECK(cuda().to_device(&ctx, &buffer, &kSite) == drawloom_error_driver_failed);
  CHECK(buffer.device == 0);
  CHECK(buffer.flags == drawloom_flag_host_dirty);
  CHECK(drawloom_device_memory_stats().live_blocks == 0);
  CHECK(cuda().to_device(&ctx, &buffer, &kSite) == 0);
  buffer.flags = drawloom_flag_device_dirty;
  stub->fail("cuMemcpyDtoHAsync_v2", 0, 1, 1);
  CHECK(cuda().to_host(&ctx, &buffer, &kSite) == drawloom_error_driver_failed);
  CHECK(buffer.flags == drawloom_flag_device_dirty);
  CHECK(cuda().to_host(&ctx, &buffer, &kSite) == 0);
  CHECK(cuda().buffer_free(&ctx, &buffer, &kSite) == 0);
}

TEST_CASE("device memory of the caller's is used and never freed", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  int pixels[4] = {1, 2, 3, 4};
  int outside[4] = {5, 6, 7, 8};  // to the runtime an address like any other
  ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 4, 1});
  drawloom_buffer_wrap_device(&buffer, drawloom_cuda_table(), reinterpret_cast<uint64_t>(outside));
  CHECK(buffer.flags == drawloom_flag_device_dirty);
  CHECK(cuda().to_device(&ctx, &buffer, &kSite) == 0);
  CHECK(cuda().buffer_malloc(&ctx, &buffer, &kSite) == 0);
  CHECK(buffer.device == reinterpret_cast<uint64_t>(outside));
  CHECK(cuda().buffer_free(&ctx, &buffer, &kSite) == 0);
  CHECK(buffer.device == 0);
  CHECK(stub->calls("cuMemAlloc_v2") == 0);
  CHECK(stub->calls("cuMemFree_v2") == 0);
}

TEST_CASE("a buffer of another kind of device is refused", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  const drawloom_device_table_t other = cuda();
  int pixels[4] = {};
  ShapedBuffer buffer(pixels, kInt32, drawloom_dim_t{0, 4, 1});
  drawloom_buffer_wrap_device(&buffer, &other, 4096);
  CHECK(cuda().to_device(&ctx, &buffer, &kSite) == drawloom_error_wrong_device);
  CHECK(ctx.message == "blur: buffer in: its device copy is on a device of another kind");
}

TEST_CASE("what is missing is named", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  CHECK(cuda().to_device(&ctx, nullptr, &kSite) == drawloom_error_buffer_null);
  CHECK(ctx.message == "blur: buffer in: the buffer is null");
  ShapedBuffer no_host(nullptr, kInt32, drawloom_dim_t{0, 4, 1});
  CHECK(cuda().to_device(&ctx, &no_host, &kSite) == drawloom_error_buffer_null);
  CHECK(ctx.message == "blur: buffer in: host is null");
  CHECK(no_host.device == 0);
  CHECK(cuda().buffer_malloc(&ctx, &no_host, &kSite) == 0);  // a buffer may live on the device alone
  CHECK(cuda().to_device(&ctx, &no_host, &kSite) == 0);
  no_host.flags = drawloom_flag_device_dirty;
  CHECK(cuda().to_host(&ctx, &no_host, &kSite) == drawloom_error_buffer_null);
  CHECK(cuda().buffer_free(&ctx, &no_host, &kSite) == 0);
  ShapedBuffer no_dim(nullptr, kInt32, drawloom_dim_t{0, 4, 1});
  no_dim.dim = nullptr;
  CHECK(cuda().to_device(&ctx, &no_dim, &kSite) == drawloom_error_buffer_null);
  CHECK(ctx.message == "blur: buffer in: dim is null");
  int pixel = 0;
  ShapedBuffer negative(&pixel, kInt32, drawloom_dim_t{0, -1, 1});
  CHECK(cuda().to_device(&ctx, &negative, &kSite) == drawloom_error_bad_extent);
}

TEST_CASE("a buffer without elements has a device copy and nothing to copy", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  ShapedBuffer buffer(nullptr, kInt32, drawloom_dim_t{0, 0, 1}, drawloom_dim_t{0, 4, 0});
  buffer.flags = drawloom_flag_host_dirty;
  CHECK(cuda().to_device(&ctx, &buffer, &kSite) == 0);
  CHECK(buffer.device != 0);
  CHECK(buffer.flags == 0);
  buffer.flags = drawloom_flag_device_dirty;
  CHECK(cuda().to_host(&ctx, &buffer, &kSite) == 0);
  CHECK(buffer.flags == 0);
  CHECK(stub->calls("cuMemcpyHtoDAsync_v2") == 0);
  CHECK(cuda().buffer_free(&ctx, &buffer, &kSite) == 0);
}

// ---- Checks of arguments ------------------------------------------------------------------------------------------

TEST_CASE("a pipeline on the device takes buffers that live there, and newer data there is welcome", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  const drawloom_buffer_check_t spec = {"blur", "in", kInt32, 1, 0, 1};
  ShapedBuffer buffer(nullptr, kInt32, drawloom_dim_t{0, 4, 1});
  CHECK(cuda().check_buffer(&ctx, &buffer, &spec) == drawloom_error_buffer_null);
  CHECK(cuda().buffer_malloc(&ctx, &buffer, &kSite) == 0);
  buffer.flags = drawloom_flag_device_dirty;
  CHECK(cuda().check_buffer(&ctx, &buffer, &spec) == 0);
  CHECK(ctx.table->check_buffer(&ctx, &buffer, &spec) == drawloom_error_buffer_null);
  CHECK(cuda().check_buffer(&ctx, nullptr, &spec) == drawloom_error_buffer_null);
  buffer.device += 2;
  CHECK(cuda().check_buffer(&ctx, &buffer, &spec) == drawloom_error_misaligned);
  buffer.device -= 2;
  buffer.dims[0].stride = 0;
  CHECK(cuda().check_buffer(&ctx, &buffer, &spec) == drawloom_error_self_alias);
  CHECK(cuda().buffer_free(&ctx, &buffer, &kSite) == 0);
}

TEST_CASE("buffers that share memory on either side are told", "[cuda]") {
  ListeningContext ctx;
  int pixels[16] = {};
  const drawloom_buffer_check_t in = {"blur", "in", kInt32, 1, 0, 0}, out = {"blur", "out", kInt32, 1, 0, 1};
  const auto pair = [&](void* host_a, uint64_t device_a, void* host_b, uint64_t device_b) {
    ShapedBuffer a(host_a, kInt32, drawloom_dim_t{0, 4, 1}), b(host_b, kInt32, drawloom_dim_t{0, 4, 1});
    a.device = device_a;
    b.device = device_b;
    return cuda().check_overlap(&ctx, &a, &in, &b, &out);
  };
  CHECK(pair(pixels, 0, pixels + 4, 0) == 0);
  CHECK(pair(pixels, 0, pixels + 3, 0) == drawloom_error_alias);
  CHECK(ctx.message == "blur: buffer in shares memory with buffer out");
  CHECK(pair(nullptr, 4096, nullptr, 4112) == 0);
  CHECK(pair(nullptr, 4096, nullptr, 4108) == drawloom_error_alias);
  CHECK(pair(pixels, 4096, nullptr, 8192) == 0);
  CHECK(pair(nullptr, 4096, pixels, 0) == 0);
  CHECK(pair(pixels, 4096, pixels, 8192) == drawloom_error_alias);  // copying back would mix them
}
