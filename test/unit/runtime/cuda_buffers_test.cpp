// Device copies of buffers: dirty bits, and copies of every shape. The stand-in's device memory is host memory, so a
// test reads and writes it through `device`.
#include <algorithm>
#include <numeric>
#include <random>

#include "drawloom/runtime_testing.h"
#include "with_stub_driver.h"

namespace {

const drawloom_site_t kSite = {"blur", "in", nullptr, nullptr};

template <typename T>
T* on_device(const drawloom_buffer_t& buffer) {
  return reinterpret_cast<T*>(buffer.device);
}

/// Calls f(offset in elements) for each element of a buffer.
template <typename F>
void each_offset(const drawloom_buffer_t& buffer, F f, int32_t d = 0, int64_t offset = 0) {
  if (d == buffer.dimensions) {
    f(offset);
    return;
  }
  for (int64_t i = 0; i < buffer.dim[d].extent; i++) each_offset(buffer, f, d + 1, offset + i * buffer.dim[d].stride);
}

/// To the device, changed there, and back: all elements arrive, and no byte between them changes at the host. Returns
/// how many copies of any kind the driver made.
template <typename T>
int round_trip(const WithStubDriver& stub, std::vector<T>& memory, ShapedBuffer& buffer) {
  const auto copies = [&] {
    return stub->calls("cuMemcpyHtoDAsync_v2") + stub->calls("cuMemcpyDtoHAsync_v2") +
           stub->calls("cuMemcpy2DAsync_v2");
  };
  ListeningContext ctx;
  T next = 1;
  for (T& element : memory) element = next++;
  std::vector<T> expected = memory;
  const int before = copies();
  REQUIRE(cuda().to_device(&ctx, &buffer, &kSite) == 0);
  T* host = static_cast<T*>(buffer.host);
  int wrong = 0;
  each_offset(buffer, [&](int64_t offset) { wrong += on_device<T>(buffer)[offset] != host[offset]; });
  CHECK(wrong == 0);
  each_offset(buffer, [&](int64_t offset) {
    on_device<T>(buffer)[offset] = static_cast<T>(host[offset] + 100);
    expected[static_cast<size_t>(host - memory.data() + offset)] = static_cast<T>(host[offset] + 100);
  });
  buffer.flags = drawloom_flag_device_dirty;
  REQUIRE(cuda().to_host(&ctx, &buffer, &kSite) == 0);
  CHECK(memory == expected);
  CHECK(buffer.flags == 0);
  const int made = copies() - before;
  REQUIRE(cuda().buffer_free(&ctx, &buffer, &kSite) == 0);
  return made;
}

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

// ---- Shapes -------------------------------------------------------------------------------------------------------

TEST_CASE("dense buffers are one copy each way, in any order of dimensions and signs", "[cuda]") {
  const WithStubDriver stub;
  std::vector<int32_t> memory(24);
  ShapedBuffer plain(memory.data(), kInt32, drawloom_dim_t{-2, 4, 1}, drawloom_dim_t{7, 3, 4},
                     drawloom_dim_t{0, 2, 12});
  CHECK(round_trip(stub, memory, plain) == 2);
  ShapedBuffer turned(memory.data(), kInt32, drawloom_dim_t{0, 2, 12}, drawloom_dim_t{0, 3, 4},
                      drawloom_dim_t{0, 4, 1});
  CHECK(round_trip(stub, memory, turned) == 2);
  ShapedBuffer mirrored(memory.data() + 3, kInt32, drawloom_dim_t{0, 4, -1}, drawloom_dim_t{0, 6, 4});
  CHECK(round_trip(stub, memory, mirrored) == 2);
  ShapedBuffer backwards(memory.data() + 23, kInt32, drawloom_dim_t{0, 4, -1}, drawloom_dim_t{0, 6, -4});
  CHECK(round_trip(stub, memory, backwards) == 2);
  ShapedBuffer scalar(memory.data() + 5, kInt32);
  CHECK(round_trip(stub, memory, scalar) == 2);
}

TEST_CASE("a crop of a picture is copied row by row in one call each way", "[cuda]") {
  const WithStubDriver stub;
  std::vector<int32_t> memory(1000 * 300);
  ShapedBuffer crop(memory.data() + 1000 * 20 + 50, kInt32, drawloom_dim_t{50, 400, 1}, drawloom_dim_t{20, 250, 1000});
  const int rows_before = stub->calls("cuMemcpy2DAsync_v2");
  CHECK(round_trip(stub, memory, crop) == 2);
  CHECK(stub->calls("cuMemcpy2DAsync_v2") == rows_before + 2);
  ShapedBuffer flipped(memory.data() + 1000 * 269 + 50, kInt32, drawloom_dim_t{50, 400, 1},
                       drawloom_dim_t{20, 250, -1000});
  CHECK(round_trip(stub, memory, flipped) == 2);
}

TEST_CASE("a channel of an interleaved picture is packed", "[cuda]") {
  const WithStubDriver stub;
  std::vector<uint8_t> memory(3 * 64 * 48);
  ShapedBuffer green(memory.data() + 1, kUint8, drawloom_dim_t{0, 64, 3}, drawloom_dim_t{0, 48, 3 * 64});
  CHECK(round_trip(stub, memory, green) == 2);
  CHECK(stub->calls("cuMemcpy2DAsync_v2") == 0);
  ShapedBuffer mirrored(memory.data() + 1 + 3 * 63, kUint8, drawloom_dim_t{0, 64, -3}, drawloom_dim_t{0, 48, 3 * 64});
  CHECK(round_trip(stub, memory, mirrored) == 2);
}

TEST_CASE("the staging block is given back, and its lack is an error", "[cuda]") {
  const WithStubDriver stub;
  std::vector<uint8_t> memory(3 * 64);
  ShapedBuffer green(memory.data() + 1, kUint8, drawloom_dim_t{0, 64, 3});
  drawloom_test_options_t options = {};
  options.fail_malloc = 2;
  drawloom_context_t* ctx = drawloom_test_context_create(&options);
  REQUIRE(ctx);
  CHECK(cuda().to_device(ctx, &green, &kSite) == 0);
  CHECK(drawloom_test_report(ctx).live_blocks == 0);
  CHECK(drawloom_test_report(ctx).damaged_blocks == 0);
  green.flags = drawloom_flag_device_dirty;
  CHECK(cuda().to_host(ctx, &green, &kSite) == drawloom_error_out_of_memory);
  char message[drawloom_message_bytes];
  drawloom_last_error(ctx, message, sizeof message);
  CHECK(std::string(message) == "blur: no memory for a copy between host and device (190 bytes)");
  CHECK(green.flags == drawloom_flag_device_dirty);
  CHECK(cuda().to_host(ctx, &green, &kSite) == 0);
  CHECK(cuda().buffer_free(ctx, &green, &kSite) == 0);
  CHECK(drawloom_test_report(ctx).live_blocks == 0);
  drawloom_test_context_destroy(ctx);
}

TEST_CASE("elements that repeat or overlap come to the device too", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  int pixels[20];
  std::iota(pixels, pixels + 20, 1);
  ShapedBuffer broadcast(pixels, kInt32, drawloom_dim_t{0, 5, 1}, drawloom_dim_t{0, 100, 0});
  CHECK(cuda().to_device(&ctx, &broadcast, &kSite) == 0);
  for (int i = 0; i < 5; i++) CHECK(on_device<int>(broadcast)[i] == pixels[i]);
  CHECK(cuda().buffer_free(&ctx, &broadcast, &kSite) == 0);
  ShapedBuffer windows(pixels, kInt32, drawloom_dim_t{0, 4, 1}, drawloom_dim_t{0, 6, 3});  // each shares one element
  CHECK(cuda().to_device(&ctx, &windows, &kSite) == 0);
  for (int i = 0; i < 19; i++) CHECK(on_device<int>(windows)[i] == pixels[i]);
  CHECK(cuda().buffer_free(&ctx, &windows, &kSite) == 0);
}

TEST_CASE("a view of device memory that others use too is written element by element", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  std::vector<uint8_t> picture(3 * 20 * 10, 7), green(20 * 10);
  std::iota(green.begin(), green.end(), 1);
  ShapedBuffer whole(picture.data(), kUint8, drawloom_dim_t{0, 3 * 20, 1}, drawloom_dim_t{0, 10, 3 * 20});
  REQUIRE(cuda().to_device(&ctx, &whole, &kSite) == 0);
  // Its green channel, at the host and on the device; then a part of that with overlapping rows of 9 windows of 4.
  std::vector<uint8_t> copy = picture;
  for (size_t i = 0; i < green.size(); i++) copy[3 * i + 1] = green[i];
  ShapedBuffer channel(copy.data() + 1, kUint8, drawloom_dim_t{0, 20, 3}, drawloom_dim_t{0, 10, 3 * 20});
  drawloom_buffer_wrap_device(&channel, drawloom_cuda_table(), whole.device + 1);
  channel.flags = drawloom_flag_host_dirty;
  CHECK(cuda().to_device(&ctx, &channel, &kSite) == 0);
  CHECK(std::vector<uint8_t>(on_device<uint8_t>(whole), on_device<uint8_t>(whole) + copy.size()) == copy);
  std::vector<uint8_t> last = copy;
  for (int i = 0; i < 4 + 8 * 2; i++) last[static_cast<size_t>(60 + i)] = static_cast<uint8_t>(200 + i);
  std::vector<uint8_t> source = last;
  source[0] = 99;  // outside the windows: must not arrive
  ShapedBuffer windows(source.data() + 60, kUint8, drawloom_dim_t{0, 4, 1}, drawloom_dim_t{0, 9, 2});
  drawloom_buffer_wrap_device(&windows, drawloom_cuda_table(), whole.device + 60);
  windows.flags = drawloom_flag_host_dirty;
  CHECK(cuda().to_device(&ctx, &windows, &kSite) == 0);
  CHECK(std::vector<uint8_t>(on_device<uint8_t>(whole), on_device<uint8_t>(whole) + last.size()) == last);
  // Views are let go; the memory ends with the buffer it was allocated for.
  CHECK(cuda().buffer_free(&ctx, &channel, &kSite) == 0);
  CHECK(cuda().buffer_free(&ctx, &windows, &kSite) == 0);
  CHECK(channel.device == 0);
  CHECK(drawloom_device_memory_stats().live_blocks == 1);
  CHECK(cuda().buffer_free(&ctx, &whole, &kSite) == 0);
  CHECK(drawloom_device_memory_stats().live_blocks == 0);
}

TEST_CASE("elements far apart are copied without what lies between", "[cuda]") {
  const WithStubDriver stub;
  stub->memory = UINT64_C(3) << 30;
  // 3 planes of 5 x 4 bytes, 40 MiB apart: one window does not hold them all.
  std::vector<uint8_t> memory(2 * (40 << 20) + 1000);
  ListeningContext ctx;
  ShapedBuffer planes(memory.data(), kUint8, drawloom_dim_t{0, 5, 2}, drawloom_dim_t{0, 4, 100},
                      drawloom_dim_t{0, 3, 40 << 20});
  uint8_t next = 1;
  each_offset(planes, [&](int64_t offset) { memory[static_cast<size_t>(offset)] = next++; });
  CHECK(cuda().to_device(&ctx, &planes, &kSite) == 0);
  next = 1;
  int wrong = 0;
  each_offset(planes, [&](int64_t offset) { wrong += on_device<uint8_t>(planes)[offset] != next++; });
  CHECK(wrong == 0);
  CHECK(cuda().buffer_free(&ctx, &planes, &kSite) == 0);
}

TEST_CASE("random shapes keep every element and every byte between", "[cuda]") {
  const WithStubDriver stub;
  std::mt19937 random(7);
  const auto draw = [&](int64_t lo, int64_t hi) {
    return lo + static_cast<int64_t>(random() % static_cast<uint64_t>(hi - lo + 1));
  };
  for (int round = 0; round < 300; round++) {
    CAPTURE(round);
    // Strides that leave room: each dimension starts where the one before ends, with a gap; then order and signs.
    drawloom_dim_t dims[3];
    int64_t reach = 1, start = 0;
    for (drawloom_dim_t& dim : dims) {
      dim = {draw(-5, 5), draw(1, 9), reach * draw(1, 3) + draw(0, 2)};
      if (draw(0, 3) == 0) dim.stride = reach;
      reach = dim.stride * (dim.extent - 1) + reach;
    }
    for (drawloom_dim_t& dim : dims) {
      if (draw(0, 1)) {
        start += dim.stride * (dim.extent - 1);
        dim.stride = -dim.stride;
      }
    }
    std::shuffle(dims, dims + 3, random);
    std::vector<uint16_t> memory(static_cast<size_t>(reach) + 10);
    ShapedBuffer buffer(memory.data() + 5 + start, kUint16, dims[0], dims[1], dims[2]);
    round_trip(stub, memory, buffer);
  }
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
