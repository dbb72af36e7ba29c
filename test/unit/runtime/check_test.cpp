// The checks of the table: what they let pass, and the whole message where they do not.
#include <cmath>
#include <limits>
#include <string>

#include "catch2/catch.hpp"
#include "listening_context.h"

namespace {

using Dim = drawloom_dim_t;
constexpr int64_t kLimit = int64_t{1} << 48;

drawloom_buffer_check_t spec_of(drawloom_type_t type, int32_t dimensions, uint32_t alignment = 0,
                                uint32_t written = 0) {
  return {"blur", "in", type, dimensions, alignment, written};
}

/// "" when the check passes; else its message, after comparing code, context and number of reports.
template <typename Check>
std::string outcome(int expected, Check check) {
  ListeningContext ctx;
  const int code = check(&ctx);
  CHECK(code == expected);
  CHECK(ctx.count == (expected ? 1 : 0));
  CHECK(ctx.code == code);
  return ctx.message;
}

std::string buffer_outcome(int expected, const drawloom_buffer_t* buffer, drawloom_buffer_check_t spec) {
  return outcome(expected, [&](drawloom_context_t* ctx) { return ctx->table->check_buffer(ctx, buffer, &spec); });
}

std::string size_outcome(int expected, const drawloom_buffer_t& buffer) {
  const drawloom_buffer_check_t spec = spec_of(buffer.type, buffer.dimensions);
  return outcome(expected, [&](drawloom_context_t* ctx) { return ctx->table->check_size(ctx, &buffer, &spec); });
}

std::string region_outcome(int expected, const drawloom_buffer_t& buffer, std::initializer_list<int64_t> min,
                           std::initializer_list<int64_t> extent) {
  const drawloom_buffer_check_t spec = spec_of(buffer.type, buffer.dimensions);
  return outcome(expected, [&](drawloom_context_t* ctx) {
    return ctx->table->check_region(ctx, &buffer, &spec, min.begin(), extent.begin());
  });
}

template <typename T>
std::string param_outcome(int expected, T value, drawloom_param_check_t spec) {
  return outcome(expected, [&](drawloom_context_t* ctx) { return ctx->table->check_param(ctx, &spec, &value); });
}

alignas(64) uint16_t pixels[64];

}  // namespace

TEST_CASE("a good buffer passes", "[runtime]") {
  ShapedBuffer buffer(pixels, kUint16, Dim{0, 8, 1}, Dim{0, 8, 8});
  CHECK(buffer_outcome(0, &buffer, spec_of(kUint16, 2, 64, 1)) == "");
  ShapedBuffer scalar(pixels, kUint16);
  scalar.dim = nullptr;  // rank 0 has no dimensions to list
  CHECK(buffer_outcome(0, &scalar, spec_of(kUint16, 0)) == "");
}

TEST_CASE("pointers that are null", "[runtime]") {
  CHECK(buffer_outcome(drawloom_error_buffer_null, nullptr, spec_of(kUint16, 2)) ==
        "blur: buffer in: the buffer is null");
  ShapedBuffer no_dim(pixels, kUint16, Dim{0, 8, 1});
  no_dim.dim = nullptr;
  CHECK(buffer_outcome(drawloom_error_buffer_null, &no_dim, spec_of(kUint16, 1)) == "blur: buffer in: dim is null");
  ShapedBuffer no_host(nullptr, kUint16, Dim{0, 8, 1});
  CHECK(buffer_outcome(drawloom_error_buffer_null, &no_host, spec_of(kUint16, 1)) == "blur: buffer in: host is null");
}

TEST_CASE("an empty buffer needs no memory", "[runtime]") {
  ShapedBuffer buffer(nullptr, kUint16, Dim{0, 8, 1}, Dim{0, 0, 8});
  CHECK(buffer_outcome(0, &buffer, spec_of(kUint16, 2, 64, 1)) == "");
  buffer.host = reinterpret_cast<char*>(pixels) + 1;
  CHECK(buffer_outcome(0, &buffer, spec_of(kUint16, 2, 64, 1)) == "");
}

TEST_CASE("rank and type", "[runtime]") {
  ShapedBuffer buffer(pixels, kUint16, Dim{0, 2, 1}, Dim{0, 2, 2}, Dim{0, 2, 4});
  CHECK(buffer_outcome(drawloom_error_wrong_rank, &buffer, spec_of(kUint16, 2)) ==
        "blur: buffer in: needs 2 dimensions, has 3");
  CHECK(buffer_outcome(drawloom_error_wrong_type, &buffer, spec_of(kFloat32, 3)) ==
        "blur: buffer in: needs elements of type float32, has uint16");
  buffer.type = {drawloom_type_int, 16, 1};
  CHECK(buffer_outcome(drawloom_error_wrong_type, &buffer, spec_of({drawloom_type_bfloat, 16, 1}, 3)) ==
        "blur: buffer in: needs elements of type bfloat16, has int16");
  buffer.type = {drawloom_type_uint, 8, 4};
  CHECK(buffer_outcome(drawloom_error_wrong_type, &buffer, spec_of({drawloom_type_uint, 1, 1}, 3)) ==
        "blur: buffer in: needs elements of type bool, has uint8x4");
  buffer.type = {9, 8, 1};
  CHECK(buffer_outcome(drawloom_error_wrong_type, &buffer, spec_of(kUint8, 3)) ==
        "blur: buffer in: needs elements of type uint8, has unknown8");
}

TEST_CASE("alignment", "[runtime]") {
  char* bytes = reinterpret_cast<char*>(pixels);
  ShapedBuffer odd(bytes + 1, kUint16, Dim{0, 8, 1});
  CHECK(buffer_outcome(drawloom_error_misaligned, &odd, spec_of(kUint16, 1)) ==
        "blur: buffer in: the host address is not a multiple of 2 bytes");
  ShapedBuffer even(bytes + 2, kUint16, Dim{0, 8, 1});
  CHECK(buffer_outcome(0, &even, spec_of(kUint16, 1)) == "");
  CHECK(buffer_outcome(drawloom_error_misaligned, &even, spec_of(kUint16, 1, 32)) ==
        "blur: buffer in: the host address is not a multiple of 32 bytes");
}

TEST_CASE("data that only the device has", "[runtime]") {
  ShapedBuffer buffer(pixels, kUint16, Dim{0, 8, 1});
  buffer.flags = drawloom_flag_host_dirty;
  CHECK(buffer_outcome(0, &buffer, spec_of(kUint16, 1)) == "");
  buffer.flags = drawloom_flag_device_dirty;
  CHECK(buffer_outcome(drawloom_error_host_stale, &buffer, spec_of(kUint16, 1)) ==
        "blur: buffer in: the newest data is on the device, copy it to the host first (drawloom_to_host)");
}

TEST_CASE("elements that share memory are for reading only", "[runtime]") {
  ShapedBuffer rows_overlap(pixels, kUint16, Dim{0, 8, 1}, Dim{0, 2, 7});
  CHECK(buffer_outcome(0, &rows_overlap, spec_of(kUint16, 2)) == "");
  CHECK(buffer_outcome(drawloom_error_self_alias, &rows_overlap, spec_of(kUint16, 2, 0, 1)) ==
        "blur: buffer in: some of its elements share memory, and it is written to (look at its strides)");
}

TEST_CASE("extents", "[runtime]") {
  const ShapedBuffer negative(pixels, kUint16, Dim{0, 8, 1}, Dim{5, -1, 8});
  CHECK(size_outcome(drawloom_error_bad_extent, negative) ==
        "blur: buffer in, dimension 1: the extent is -1, needs 0 or more");
  CHECK(buffer_outcome(drawloom_error_bad_extent, &negative, spec_of(kUint16, 2)) ==
        "blur: buffer in, dimension 1: the extent is -1, needs 0 or more");
  const ShapedBuffer least(pixels, kUint16, Dim{INT64_MIN, INT64_MIN, INT64_MIN});
  CHECK(size_outcome(drawloom_error_bad_extent, least) ==
        "blur: buffer in, dimension 0: the extent is -9223372036854775808, needs 0 or more");
  CHECK(size_outcome(0, ShapedBuffer(pixels, kUint16, Dim{0, 0, 1}, Dim{-7, 1, -8})) == "");
}

TEST_CASE("coordinates end at the limit", "[runtime]") {
  CHECK(size_outcome(0, ShapedBuffer(pixels, kUint8, Dim{-kLimit, 2 * kLimit + 1, 1})) == "");
  CHECK(size_outcome(drawloom_error_size_overflow, ShapedBuffer(pixels, kUint8, Dim{-kLimit - 1, 1, 1})) ==
        "blur: buffer in, dimension 0: too large to address (min -281474976710657, extent 1, stride 1)");
  CHECK(size_outcome(drawloom_error_size_overflow, ShapedBuffer(pixels, kUint8, Dim{-kLimit, 2 * kLimit + 2, 1})) !=
        "");
  CHECK(size_outcome(0, ShapedBuffer(pixels, kUint8, Dim{kLimit, 1, 1})) == "");
  CHECK(size_outcome(drawloom_error_size_overflow, ShapedBuffer(pixels, kUint8, Dim{kLimit + 1, 0, 1})) != "");
  CHECK(size_outcome(drawloom_error_size_overflow, ShapedBuffer(pixels, kUint8, Dim{INT64_MAX, INT64_MAX, 1})) != "");
  CHECK(size_outcome(drawloom_error_size_overflow, ShapedBuffer(pixels, kUint8, Dim{2, INT64_MAX, 1})) != "");
}

TEST_CASE("a huge extent through stride 0 is fine", "[runtime]") {
  CHECK(size_outcome(0, ShapedBuffer(pixels, kFloat32, Dim{-3, int64_t{1} << 33, 0}, Dim{0, 16, 1})) == "");
}

TEST_CASE("the bytes of all elements stay below 2^62", "[runtime]") {
  // 2^30 * 2^29 elements of 4 bytes are 2^61; once more doubled they are not below 2^62. Stride 0 keeps offsets small.
  constexpr int64_t k29 = int64_t{1} << 29;
  CHECK(size_outcome(0, ShapedBuffer(pixels, kFloat32, Dim{0, 2 * k29, 0}, Dim{0, k29, 0})) == "");
  CHECK(size_outcome(drawloom_error_size_overflow,
                     ShapedBuffer(pixels, kFloat32, Dim{0, 2 * k29, 0}, Dim{0, 2 * k29, 0})) ==
        "blur: buffer in, dimension 1: too large to address (min 0, extent 1073741824, stride 0)");
  // An empty dimension does not hide that the others overflow when fused: it counts as 1.
  CHECK(size_outcome(drawloom_error_size_overflow,
                     ShapedBuffer(pixels, kUint8, Dim{0, 0, 0}, Dim{0, kLimit, 0}, Dim{0, kLimit, 0})) != "");
}

TEST_CASE("byte offsets stay below 2^62, from host and from coordinate 0", "[runtime]") {
  constexpr int64_t k40 = int64_t{1} << 40;
  // farthest coordinate 3 * stride 2^40 * 4 bytes: small. With stride 2^59: 3 * 2^59 * 4 > 2^62.
  CHECK(size_outcome(0, ShapedBuffer(pixels, kFloat32, Dim{0, 3, -k40})) == "");
  CHECK(size_outcome(drawloom_error_size_overflow, ShapedBuffer(pixels, kFloat32, Dim{0, 3, -(k40 << 19)})) ==
        "blur: buffer in, dimension 0: too large to address (min 0, extent 3, stride -576460752303423488)");
  // One element, far from coordinate 0.
  CHECK(size_outcome(drawloom_error_size_overflow, ShapedBuffer(pixels, kUint8, Dim{-kLimit, 1, 1 << 14})) != "");
  CHECK(size_outcome(0, ShapedBuffer(pixels, kUint8, Dim{-kLimit, 1, 1 << 13})) == "");
  // Far from 0 at its end: the last coordinate is 2^41 - 1, then 2^41.
  CHECK(size_outcome(0, ShapedBuffer(pixels, kUint8, Dim{k40, k40, 1 << 21})) == "");
  CHECK(size_outcome(drawloom_error_size_overflow, ShapedBuffer(pixels, kUint8, Dim{k40 + 1, k40, 1 << 21})) != "");
  // Each dimension is fine, their sum is not: 2^61 + 2^61.
  CHECK(size_outcome(0, ShapedBuffer(pixels, kUint8, Dim{0, 2, k40 << 20})) == "");
  CHECK(size_outcome(drawloom_error_size_overflow,
                     ShapedBuffer(pixels, kUint8, Dim{0, 2, k40 << 20}, Dim{0, 2, k40 << 20})) != "");
  CHECK(size_outcome(drawloom_error_size_overflow, ShapedBuffer(pixels, kUint8, Dim{0, 1, INT64_MIN})) != "");
}

TEST_CASE("regions", "[runtime]") {
  const ShapedBuffer buffer(pixels, kUint16, Dim{0, 8, 1}, Dim{-2, 4, 8});  // [0, 7] x [-2, 1]
  CHECK(region_outcome(0, buffer, {0, -2}, {8, 4}) == "");
  CHECK(region_outcome(0, buffer, {3, 1}, {1, 1}) == "");
  CHECK(region_outcome(drawloom_error_out_of_bounds, buffer, {-1, -2}, {9, 4}) ==
        "blur: buffer in, dimension 0: needs [-1, 7], has [0, 7]");
  CHECK(region_outcome(drawloom_error_out_of_bounds, buffer, {0, -2}, {9, 4}) ==
        "blur: buffer in, dimension 0: needs [0, 8], has [0, 7]");
  CHECK(region_outcome(drawloom_error_out_of_bounds, buffer, {0, -3}, {8, 5}) ==
        "blur: buffer in, dimension 1: needs [-3, 1], has [-2, 1]");
  CHECK(region_outcome(drawloom_error_out_of_bounds, buffer, {0, 1}, {8, 2}) ==
        "blur: buffer in, dimension 1: needs [1, 2], has [-2, 1]");
}

TEST_CASE("an empty region needs nothing, not even of an empty buffer", "[runtime]") {
  const ShapedBuffer buffer(pixels, kUint16, Dim{0, 8, 1}, Dim{0, 0, 8});
  CHECK(region_outcome(0, buffer, {100, 100}, {5, 0}) == "");
  CHECK(region_outcome(0, buffer, {100, 100}, {-5, 5}) == "");
  CHECK(region_outcome(drawloom_error_out_of_bounds, buffer, {0, 0}, {8, 1}) ==
        "blur: buffer in, dimension 1: needs [0, 0], has no elements");
}

TEST_CASE("a region beyond all integers does not fit", "[runtime]") {
  const ShapedBuffer buffer(pixels, kUint16, Dim{0, 8, 1});
  CHECK(region_outcome(drawloom_error_out_of_bounds, buffer, {5}, {INT64_MAX}) ==
        "blur: buffer in, dimension 0: needs [5, 9223372036854775807], has [0, 7]");
  CHECK(region_outcome(drawloom_error_out_of_bounds, buffer, {INT64_MIN}, {1}) != "");
}

TEST_CASE("a region of rank 0", "[runtime]") { CHECK(region_outcome(0, ShapedBuffer(pixels, kUint16), {}, {}) == ""); }

TEST_CASE("buffers that share memory", "[runtime]") {
  const ShapedBuffer out(pixels, kUint16, Dim{0, 8, 1}), in(pixels + 7, kUint16, Dim{0, 8, 1});
  const ShapedBuffer apart(pixels + 8, kUint16, Dim{0, 8, 1});
  const drawloom_buffer_check_t out_spec = {"blur", "out", kUint16, 1, 0, 1}, in_spec = spec_of(kUint16, 1);
  const auto check = [&](const drawloom_buffer_t& other) {
    return [&](drawloom_context_t* ctx) { return ctx->table->check_overlap(ctx, &out, &out_spec, &other, &in_spec); };
  };
  CHECK(outcome(drawloom_error_alias, check(in)) == "blur: buffer out shares memory with buffer in");
  CHECK(outcome(0, check(apart)) == "");
}

TEST_CASE("multiples", "[runtime]") {
  const ShapedBuffer buffer(pixels, kUint16, Dim{3, 16, 1}, Dim{0, 0, 8}, Dim{0, 13, 8});
  const drawloom_buffer_check_t spec = {"blur", "out", kUint16, 3, 0, 1};
  const auto check = [&](int32_t dimension, int64_t factor) {
    return [&buffer, &spec, dimension, factor](drawloom_context_t* ctx) {
      return ctx->table->check_multiple(ctx, &buffer, &spec, dimension, factor);
    };
  };
  CHECK(outcome(0, check(0, 8)) == "");
  CHECK(outcome(0, check(1, 8)) == "");
  CHECK(outcome(0, check(2, 1)) == "");
  CHECK(outcome(drawloom_error_not_multiple, check(2, 8)) ==
        "blur: buffer out, dimension 2: the extent is 13, needs a multiple of 8 (tail=round_up)");
}

TEST_CASE("integer parameters of every width", "[runtime]") {
  const auto spec = [](uint8_t bits) {
    drawloom_param_check_t result = {"blur", "radius", {drawloom_type_int, bits, 1}, 3, {}, {}};
    result.min.i = -2;
    result.max.i = 100;
    return result;
  };
  CHECK(param_outcome<int8_t>(0, -2, spec(8)) == "");
  CHECK(param_outcome<int16_t>(0, 100, spec(16)) == "");
  CHECK(param_outcome<int8_t>(drawloom_error_param_out_of_range, -3, spec(8)) ==
        "blur: parameter radius: needs a value in [-2, 100], has -3");
  CHECK(param_outcome<int16_t>(drawloom_error_param_out_of_range, 101, spec(16)) ==
        "blur: parameter radius: needs a value in [-2, 100], has 101");
  CHECK(param_outcome<int32_t>(drawloom_error_param_out_of_range, INT32_MIN, spec(32)) ==
        "blur: parameter radius: needs a value in [-2, 100], has -2147483648");
  CHECK(param_outcome<int64_t>(drawloom_error_param_out_of_range, INT64_MAX, spec(64)) ==
        "blur: parameter radius: needs a value in [-2, 100], has 9223372036854775807");
}

TEST_CASE("unsigned parameters and bool", "[runtime]") {
  drawloom_param_check_t spec = {"blur", "n", {drawloom_type_uint, 64, 1}, drawloom_bound_min, {}, {}};
  spec.min.u = uint64_t{1} << 63;
  CHECK(param_outcome<uint64_t>(0, UINT64_MAX, spec) == "");
  CHECK(param_outcome<uint64_t>(drawloom_error_param_out_of_range, 5, spec) ==
        "blur: parameter n: needs a value in [9223372036854775808, inf), has 5");
  spec.min.u = 200;
  for (const uint8_t bits : {uint8_t{8}, uint8_t{16}, uint8_t{32}}) {
    spec.type.bits = bits;
    // The bytes beyond the type are not read: 0xff there would make the value pass.
    CHECK(param_outcome<uint64_t>(drawloom_error_param_out_of_range, (UINT64_MAX << bits) | 199, spec) ==
          "blur: parameter n: needs a value in [200, inf), has 199");
  }
  spec = {"blur", "flag", {drawloom_type_uint, 1, 1}, drawloom_bound_max, {}, {}};
  CHECK(param_outcome<bool>(0, false, spec) == "");
  CHECK(param_outcome<bool>(drawloom_error_param_out_of_range, true, spec) ==
        "blur: parameter flag: needs a value in (-inf, 0], has 1");
}

TEST_CASE("float parameters", "[runtime]") {
  drawloom_param_check_t spec = {"blur", "sigma", {drawloom_type_float, 32, 1}, 3, {}, {}};
  spec.min.f = 0.5;
  spec.max.f = static_cast<double>(0.7f);
  CHECK(param_outcome<float>(0, 0.7f, spec) == "");
  CHECK(param_outcome<float>(drawloom_error_param_out_of_range, 0.75f, spec) ==
        "blur: parameter sigma: needs a value in [0.5, 0.7], has 0.75");
  CHECK(param_outcome<float>(drawloom_error_param_out_of_range, std::nanf(""), spec) ==
        "blur: parameter sigma: needs a value in [0.5, 0.7], has nan");
  spec.type.bits = 64;
  spec.bounds = drawloom_bound_max;
  spec.max.f = 4;
  CHECK(param_outcome<double>(0, -std::numeric_limits<double>::infinity(), spec) == "");
  // The value is printed far enough to tell it from the bound.
  CHECK(param_outcome<double>(drawloom_error_param_out_of_range, 4.0000000000000009, spec) ==
        "blur: parameter sigma: needs a value in (-inf, 4], has 4.000000000000001");
  spec.bounds = 0;
  CHECK(param_outcome<double>(0, std::nan(""), spec) == "");
}
