/// What compiled host code tells the driver: grid, parameters, tensor maps; which copies are made; what is refused.

#include <cstring>

#include "drawloom/codegen/kernel.h"
#include "drawloom/driver/compile_ir.h"
#include "drawloom/driver/generator.h"
#include "host.h"
#include "with_stub_driver.h"

namespace drawloom {
namespace {

/// Parameters of the kernel of function `which` by name: `out` a buffer, `out.stride.0` its stride.
auto param_names(size_t which) -> std::vector<std::string> {
  const auto programs = prepare_ir(read_text_file(HOST_IR).or_throw(), HOST_IR, host_target()).or_throw();
  std::vector<std::string> out;
  for (const auto& p : kernel_params(*launches({programs.at(which)}).at(0)))
    out.push_back(p.buffer ? p.buffer->name : p.symbol->name);
  return out;
}

/// The bytes of each parameter during a launch.
struct Seen {
  std::vector<std::string> names;
  std::vector<const void*> at;
  std::vector<std::vector<char>> bytes;
  template <typename T>
  auto value(const std::string& name) const -> T {
    const auto found = std::find(names.begin(), names.end(), name);
    REQUIRE(found != names.end());
    T out;
    std::memcpy(&out, bytes.at(static_cast<size_t>(found - names.begin())).data(), sizeof out);
    return out;
  }
};

void record(const drawloom_stub_launch_t* launch, void* user) {
  auto& seen = *static_cast<Seen*>(user);
  for (size_t i = 0; i < seen.names.size(); ++i) {
    const bool wide = seen.names[i].find('.') == std::string::npos && seen.names[i].size() > 1;  // a buffer
    const char* from = static_cast<const char*>(launch->params[i]);
    seen.bytes.emplace_back(from, from + (wide ? 8 : 4));
  }
}

/// Of f32 in one dimension.
auto line(std::vector<float>& data, drawloom_dim_t dim) -> ShapedBuffer {
  return ShapedBuffer(data.data(), drawloom_type_t{drawloom_type_float, 32, 1}, dim);
}

TEST_CASE("a launch carries the grid, addresses, strides and scalars of its call") {
  const WithStubDriver stub;
  ListeningContext ctx;
  std::vector<float> data(100, 1.5f), result(100);
  auto in = line(data, {-7, 20, 3}), out = line(result, {5, 12, 2});
  in.flags = drawloom_flag_host_dirty;
  Seen seen{param_names(0), {}, {}};
  stub->on_launch = record;
  stub->user = &seen;
  REQUIRE(scaled(&ctx, &in, &out, 0.25f, 90) == 0);
  CHECK(std::string(stub->launch.kernel) == "scaled");
  CHECK(stub->launch.grid[0] == 12);
  CHECK(stub->launch.grid[1] == 3);
  CHECK(stub->launch.grid[2] == 1);
  CHECK(stub->launch.block[0] == 96);
  CHECK(stub->launch.shared_bytes == 256);
  CHECK(seen.value<uint64_t>("in") == in.device);
  CHECK(seen.value<uint64_t>("out") == out.device);
  CHECK(seen.value<int32_t>("in.min.0") == -7);
  CHECK(seen.value<int32_t>("in.stride.0") == 3);
  CHECK(seen.value<int32_t>("out.min.0") == 5);
  CHECK(seen.value<int32_t>("out.stride.0") == 2);
  CHECK(seen.value<float>("k") == 0.25f);
  CHECK(seen.value<int32_t>("n") == 90);
  CHECK(std::find(seen.names.begin(), seen.names.end(), "out.extent.0") == seen.names.end());  // the grid alone uses it
  // The input was brought over; of the output the device has the newest copy.
  CHECK(*on_device<float>(in) == 1.5f);
  CHECK(in.flags == 0);
  CHECK(out.flags == drawloom_flag_device_dirty);
}

TEST_CASE("what was written on the host before is forgotten with the output") {
  const WithStubDriver stub;
  ListeningContext ctx;
  std::vector<float> data(20), result(20);
  auto in = line(data, {0, 12, 1}), out = line(result, {0, 12, 1});
  out.flags = drawloom_flag_host_dirty;
  REQUIRE(scaled(&ctx, &in, &out, 1.0f, 1) == 0);
  CHECK(out.flags == drawloom_flag_device_dirty);
}

TEST_CASE("numbers beyond the kernel's 32 bits are refused before the launch") {
  const WithStubDriver stub;
  ListeningContext ctx;
  std::vector<float> data(20), result(20);
  auto in = line(data, {0, 12, 1}), out = line(result, {0, 12, 1});
  CHECK(scaled(&ctx, &in, &out, 1.0f, (int64_t{1} << 31) - 1) == 0);
  CHECK(scaled(&ctx, &in, &out, 1.0f, -(int64_t{1} << 31)) == 0);
  const int launches = stub->calls("cuLaunchKernelEx");
  CHECK(scaled(&ctx, &in, &out, 1.0f, int64_t{1} << 31) == drawloom_error_index_too_large);
  CHECK(scaled(&ctx, &in, &out, 1.0f, -(int64_t{1} << 31) - 1) == drawloom_error_index_too_large);
  CHECK(stub->calls("cuLaunchKernelEx") == launches);
}

TEST_CASE("an output without elements launches nothing") {
  const WithStubDriver stub;
  ListeningContext ctx;
  std::vector<float> data(20), result(20);
  auto in = line(data, {0, 12, 1}), out = line(result, {0, 0, 1});
  CHECK(scaled(&ctx, &in, &out, 1.0f, 1) == 0);
  CHECK(stub->calls("cuLaunchKernelEx") == 0);
}

TEST_CASE("a tensor map is encoded from the buffer of the call") {
  const WithStubDriver stub;
  ListeningContext ctx;
  std::vector<uint16_t> data(64 * 10), result(256);
  const drawloom_type_t half = {drawloom_type_float, 16, 1};
  ShapedBuffer in(data.data(), half, drawloom_dim_t{-2, 40, 1}, drawloom_dim_t{3, 9, 64});
  ShapedBuffer out(result.data(), half, drawloom_dim_t{0, 128, 1}, drawloom_dim_t{0, 1, 128});
  REQUIRE(boxed(&ctx, &in, &out) == 0);
  const auto& t = stub->tensor;
  CHECK(t.type == 6);  // CU_TENSOR_MAP_DATA_TYPE_FLOAT16
  CHECK(t.rank == 2);
  CHECK(t.address == in.device + 2 * (8 + 64));  // 8 elements and one row further
  CHECK(t.extents[0] == 32);
  CHECK(t.extents[1] == 8);
  CHECK(t.strides[0] == 128);
  CHECK(t.box[0] == 32);
  CHECK(t.box[1] == 4);
  CHECK(t.steps[0] == 1);
  CHECK(t.swizzle == 2);       // 64 bytes
  CHECK(t.l2_promotion == 2);  // 128 bytes
  CHECK(t.fill == 1);          // NaN
  CHECK(stub->launch.cluster[0] == 2);
  CHECK(stub->launch.grid[0] == 6);
  CHECK(stub->launch.shared_bytes == 1032);
  // A row of 60 elements further is 120 bytes, no multiple of 16; and nothing is left of 8 elements less 8.
  in.dims[1].stride = 60;
  CHECK(boxed(&ctx, &in, &out) == drawloom_error_bad_tensor_map);
  in.dims[0].extent = 8, in.dims[1].stride = 64;
  CHECK(boxed(&ctx, &in, &out) == drawloom_error_bad_tensor_dimension);
  CHECK(ctx.message.find("dimension 0") != std::string::npos);
}

TEST_CASE("without a driver the call fails and says so") {
  drawloom_cuda_reset("no_such_library.so");
  ListeningContext ctx;
  std::vector<float> data(20), result(20);
  auto in = line(data, {0, 12, 1}), out = line(result, {0, 12, 1});
  CHECK(scaled(&ctx, &in, &out, 1.0f, 1) == drawloom_error_no_driver);
  drawloom_cuda_reset(nullptr);
}

}  // namespace
}  // namespace drawloom
