#include "catch2/catch.hpp"
#include "listening_context.h"

TEST_CASE("bytes of a type", "[runtime]") {
  CHECK(drawloom_type_bytes({drawloom_type_uint, 1, 1}) == 1);
  CHECK(drawloom_type_bytes({drawloom_type_int, 8, 1}) == 1);
  CHECK(drawloom_type_bytes({drawloom_type_bfloat, 16, 1}) == 2);
  CHECK(drawloom_type_bytes({drawloom_type_float, 64, 1}) == 8);
  CHECK(drawloom_type_bytes({drawloom_type_uint, 16, 5}) == 10);
}

TEST_CASE("number of elements", "[runtime]") {
  using Dim = drawloom_dim_t;
  const ShapedBuffer scalar(nullptr, kUint8);
  CHECK(drawloom_buffer_elements(&scalar) == 1);
  const ShapedBuffer box(nullptr, kUint8, Dim{-3, 4, 1}, Dim{9, 6, 0});
  CHECK(drawloom_buffer_elements(&box) == 24);
  // One empty dimension empties the whole, however large the others.
  const ShapedBuffer empty(nullptr, kUint8, Dim{0, int64_t{1} << 62, 1}, Dim{0, int64_t{1} << 62, 1}, Dim{0, 0, 1});
  CHECK(drawloom_buffer_elements(&empty) == 0);
  const ShapedBuffer negative(nullptr, kUint8, Dim{0, -2, 1}, Dim{0, -2, 1});
  CHECK(drawloom_buffer_elements(&negative) == 0);
}

TEST_CASE("a dense buffer", "[runtime]") {
  drawloom_buffer_t buffer;
  drawloom_dim_t dim[3];
  const int64_t extents[] = {7, 5, 3};
  uint16_t data[7 * 5 * 3];
  drawloom_buffer_init(&buffer, data, kUint16, 3, dim, extents);
  CHECK(buffer.host == data);
  CHECK(buffer.dim == dim);
  CHECK(buffer.dimensions == 3);
  CHECK(buffer.device == 0);
  CHECK(buffer.flags == 0);
  CHECK(buffer.type.bits == 16);
  CHECK(dim[0].stride == 1);
  CHECK(dim[1].stride == 7);
  CHECK(dim[2].stride == 35);
  CHECK(dim[2].min == 0);
  CHECK(dim[2].extent == 3);
  CHECK(drawloom_buffer_elements(&buffer) == 105);
}
