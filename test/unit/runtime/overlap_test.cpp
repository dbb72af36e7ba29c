// Which strided boxes share memory: named cases, and all of them against a count of every byte.
#include <random>
#include <set>

#include "catch2/catch.hpp"
#include "listening_context.h"

extern "C" {
#include "internal.h"
}

namespace {

using Dim = drawloom_dim_t;

alignas(64) unsigned char memory[1 << 16];
unsigned char* const kMiddle = memory + sizeof memory / 2;

bool may_overlap(const drawloom_buffer_t& a, const drawloom_buffer_t& b) {
  const bool result = drawloom_may_overlap(&a, &b);
  CHECK(static_cast<bool>(drawloom_may_overlap(&b, &a)) == result);
  return result;
}

/// Adds each byte of each element; counts those that were there.
int add_bytes(const drawloom_buffer_t& buffer, std::multiset<const unsigned char*>& bytes, int dim,
              const unsigned char* at) {
  const int64_t size = (buffer.type.bits + 7) / 8;
  int shared = 0;
  if (dim < 0) {
    for (int64_t i = 0; i < size; i++) {
      shared += bytes.count(at + i) > 0;
      bytes.insert(at + i);
    }
    return shared;
  }
  for (int64_t i = 0; i < buffer.dim[dim].extent; i++) {
    shared += add_bytes(buffer, bytes, dim - 1, at + i * buffer.dim[dim].stride * size);
  }
  return shared;
}

bool really_overlap(const drawloom_buffer_t& a, const drawloom_buffer_t& b) {
  std::multiset<const unsigned char*> of_a, of_b;
  add_bytes(a, of_a, a.dimensions - 1, static_cast<unsigned char*>(a.host));
  add_bytes(b, of_b, b.dimensions - 1, static_cast<unsigned char*>(b.host));
  for (const unsigned char* byte : of_a) {
    if (of_b.count(byte)) return true;
  }
  return false;
}

ShapedBuffer random_buffer(std::mt19937& random) {
  const auto draw = [&random](int lo, int hi) { return lo + static_cast<int>(random() % unsigned(hi - lo + 1)); };
  ShapedBuffer buffer(kMiddle + draw(-12, 12), draw(0, 1) ? kUint8 : kUint16);
  buffer.dimensions = draw(0, 3);
  for (int i = 0; i < buffer.dimensions; i++) buffer.dims[i] = {draw(-3, 3), draw(0, 4), draw(-12, 12)};
  return buffer;
}

}  // namespace

TEST_CASE("byte ranges that do not meet", "[runtime]") {
  const ShapedBuffer a(kMiddle, kUint16, Dim{0, 10, 1});
  CHECK_FALSE(may_overlap(a, ShapedBuffer(kMiddle + 20, kUint8, Dim{0, 10, 1})));
  CHECK(may_overlap(a, ShapedBuffer(kMiddle + 19, kUint8, Dim{0, 10, 1})));
  CHECK_FALSE(may_overlap(a, ShapedBuffer(kMiddle - 10, kUint8, Dim{0, 10, 1})));
  CHECK(may_overlap(a, ShapedBuffer(kMiddle - 9, kUint8, Dim{0, 10, 1})));
  CHECK(may_overlap(a, a));
}

TEST_CASE("negative strides reach below host", "[runtime]") {
  const ShapedBuffer a(kMiddle, kUint8, Dim{0, 10, -1});  // bytes -9 .. 0
  CHECK(may_overlap(a, ShapedBuffer(kMiddle - 9, kUint8)));
  CHECK_FALSE(may_overlap(a, ShapedBuffer(kMiddle - 10, kUint8)));
  CHECK_FALSE(may_overlap(a, ShapedBuffer(kMiddle + 1, kUint8)));
  const ShapedBuffer both(kMiddle, kUint8, Dim{0, 4, 1}, Dim{0, 3, -10});  // -20 .. -17, -10 .. -7, 0 .. 3
  CHECK(may_overlap(both, ShapedBuffer(kMiddle - 18, kUint8)));
  CHECK_FALSE(may_overlap(both, ShapedBuffer(kMiddle - 21, kUint8)));
  CHECK_FALSE(may_overlap(both, ShapedBuffer(kMiddle + 4, kUint8)));
}

TEST_CASE("stride 0 takes one element, however large the extent", "[runtime]") {
  const ShapedBuffer a(kMiddle, kFloat32, Dim{0, int64_t{1} << 33, 0});
  CHECK_FALSE(may_overlap(a, ShapedBuffer(kMiddle + 4, kUint8, Dim{0, 100, 1})));
  CHECK(may_overlap(a, ShapedBuffer(kMiddle + 3, kUint8, Dim{0, 100, 1})));
}

TEST_CASE("an empty buffer overlaps nothing, not itself", "[runtime]") {
  const ShapedBuffer empty(kMiddle, kUint8, Dim{0, 10, 1}, Dim{0, 0, 10});
  CHECK_FALSE(may_overlap(empty, empty));
  CHECK_FALSE(may_overlap(empty, ShapedBuffer(kMiddle, kUint8, Dim{0, 100, 1})));
}

TEST_CASE("channels of an interleaved picture are apart", "[runtime]") {
  const auto channel = [](int c) { return ShapedBuffer(kMiddle + c, kUint8, Dim{0, 7, 3}, Dim{0, 5, 21}); };
  CHECK_FALSE(may_overlap(channel(0), channel(1)));
  CHECK_FALSE(may_overlap(channel(0), channel(2)));
  CHECK(may_overlap(channel(1), channel(1)));
  // Two channels of one, the third of the other.
  const ShapedBuffer two(kMiddle + 1, kUint8, Dim{0, 2, 1}, Dim{0, 7, 3}, Dim{0, 5, 21});
  CHECK_FALSE(may_overlap(two, channel(0)));
  CHECK(may_overlap(two, channel(2)));
}

TEST_CASE("parts of the same rows are apart", "[runtime]") {
  const ShapedBuffer left(kMiddle, kUint16, Dim{0, 8, 1}, Dim{0, 9, 20});
  CHECK_FALSE(may_overlap(left, ShapedBuffer(kMiddle + 2 * 8, kUint16, Dim{8, 12, 1}, Dim{0, 9, 20})));
  CHECK(may_overlap(left, ShapedBuffer(kMiddle + 2 * 8, kUint16, Dim{8, 13, 1}, Dim{0, 9, 20})));
  // The right part mirrored in y, two rows at a time.
  CHECK_FALSE(may_overlap(left, ShapedBuffer(kMiddle + 2 * (8 + 160), kUint16, Dim{0, 12, 1}, Dim{0, 4, -40})));
}

TEST_CASE("what is said to be apart is apart", "[runtime]") {
  std::mt19937 random(20240611);
  int apart = 0, said_apart = 0;
  for (int i = 0; i < 20000; i++) {
    const ShapedBuffer a = random_buffer(random), b = random_buffer(random);
    const bool overlap = really_overlap(a, b);
    if (overlap) REQUIRE(drawloom_may_overlap(&a, &b));
    apart += !overlap;
    said_apart += !drawloom_may_overlap(&a, &b);
  }
  // The test sees both answers often, and the rule finds most of the cases there are.
  REQUIRE(apart > 2000);
  REQUIRE(apart < 18000);
  REQUIRE(said_apart > apart / 2);
}

TEST_CASE("layouts whose elements lie apart", "[runtime]") {
  const auto shares = [](const ShapedBuffer& buffer) { return drawloom_may_overlap_itself(&buffer) != 0; };
  CHECK_FALSE(shares(ShapedBuffer(kMiddle, kUint16)));
  CHECK_FALSE(shares(ShapedBuffer(kMiddle, kUint16, Dim{0, 8, 1}, Dim{0, 4, 8})));
  CHECK_FALSE(shares(ShapedBuffer(kMiddle, kUint16, Dim{0, 8, 1}, Dim{0, 4, -11})));
  CHECK_FALSE(shares(ShapedBuffer(kMiddle, kUint16, Dim{0, 8, 3}, Dim{0, 3, 1}, Dim{0, 4, 24})));  // interleaved
  CHECK(shares(ShapedBuffer(kMiddle, kUint16, Dim{0, 8, 1}, Dim{0, 4, 7})));
  CHECK(shares(ShapedBuffer(kMiddle, kUint16, Dim{0, 8, 0})));
  CHECK(shares(ShapedBuffer(kMiddle, kUint16, Dim{0, 8, 1}, Dim{0, 8, 1})));
  CHECK(shares(ShapedBuffer(kMiddle, kUint16, Dim{0, 2, 5}, Dim{0, 2, -5})));
  // A dimension of one element may have any stride, and an empty buffer any.
  CHECK_FALSE(shares(ShapedBuffer(kMiddle, kUint16, Dim{0, 8, 1}, Dim{0, 1, 0})));
  CHECK_FALSE(shares(ShapedBuffer(kMiddle, kUint16, Dim{0, 8, 0}, Dim{0, 0, 0})));
}

TEST_CASE("a buffer that is said to be apart from itself is", "[runtime]") {
  std::mt19937 random(7);
  int said_apart = 0;
  for (int i = 0; i < 20000; i++) {
    const ShapedBuffer buffer = random_buffer(random);
    std::multiset<const unsigned char*> bytes;
    const bool shares = add_bytes(buffer, bytes, buffer.dimensions - 1, static_cast<unsigned char*>(buffer.host)) > 0;
    if (shares) REQUIRE(drawloom_may_overlap_itself(&buffer));
    said_apart += !drawloom_may_overlap_itself(&buffer);
  }
  REQUIRE(said_apart > 2000);
}
