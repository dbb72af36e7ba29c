#include "mistake.h"

TEST_CASE("a buffer owns zeroed memory with dimension 0 innermost") {
  Buffer<uint16_t> b(5, 3);
  CHECK(b.dimensions() == 2);
  CHECK(b.type() == UInt(16));
  CHECK(b.dim(1).stride == 5);
  CHECK(b.number_of_elements() == 15);
  int64_t sum = 0;
  b.for_each_element([&](const std::vector<int64_t>& at) { sum += b.at(at); });
  CHECK(sum == 0);
  b(4, 2) = 7;
  CHECK(b.data()[2 * 5 + 4] == 7);
  const Buffer<uint16_t> copy = b;  // a handle
  copy(0, 0) = 9;
  CHECK(b(0, 0) == 9);
}

TEST_CASE("mins and strides of any sign") {
  Buffer<int32_t> b(std::vector<drawloom_dim_t>{{-2, 4, 3}, {10, 2, -20}});
  int32_t n = 0;
  b.for_each_element([&](const std::vector<int64_t>& at) { b.at(at) = n++; });
  CHECK(b(-2, 10) == 0);
  CHECK(b(1, 11) == 7);
  CHECK(b.data()[3 * 3 - 20] == 7);
  b.set_min({0, 0});
  CHECK(b(3, 1) == 7);
  CHECK(b.raw()->dim[0].min == 0);
}

TEST_CASE("memory of the caller, empty buffers, scalars") {
  float pixels[6] = {0, 1, 2, 3, 4, 5};
  Buffer<float> b(pixels, {{0, 3, 1}, {0, 2, 3}});
  CHECK(b(2, 1) == 5);
  b.fill(1.5f);
  CHECK(pixels[0] == 1.5f);
  CHECK(Buffer<float>(0, 4).number_of_elements() == 0);
  const auto s = Buffer<double>::scalar();
  s() = 2.5;
  CHECK(s.number_of_elements() == 1);
  CHECK(s() == 2.5);
  const Buffer<bool> flags(3);
  CHECK(runtime_type(flags.type()).bits == 1);
  flags(1) = true;
  CHECK(flags.data()[1]);
}

TEST_CASE("params hold values for calls from C++") {
  Param<float> gain("gain", 0.5f);
  CHECK(gain.get() == 0.5f);
  Param<uint8_t> n("n");
  CHECK_FALSE(value_of(*n.symbol())->is_set);
  n.set(200);
  CHECK(value_of(*n.symbol())->integer == 200);
  n.set_range(1, 250);
  CHECK(n.symbol()->min == 1);
}

TEST_CASE("an image param may be given a buffer") {
  ImageParam in(UInt(8), 1, "in");
  CHECK(contents_of(*in.buffer()) == nullptr);
  const Buffer<uint8_t> b(4);
  in.set(b);
  CHECK(contents_of(*in.buffer()) == b.shared().get());
  in.reset();
  CHECK(contents_of(*in.buffer()) == nullptr);
}
