// Copies of every shape between host and device.
#include <algorithm>
#include <numeric>
#include <random>

#include "drawloom/runtime_testing.h"
#include "with_stub_driver.h"

namespace {

const drawloom_site_t kSite = {"blur", "in", nullptr, nullptr};

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
