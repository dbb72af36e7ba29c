#include "drawloom/interp/scalar/array.h"

#include <catch2/catch.hpp>
#include <set>

using namespace drawloom;

TEST_CASE("every element type keeps its values in memory") {
  for (const Type t : {kBool, int_type(8), uint_type(8), int_type(16), uint_type(16), int_type(32), uint_type(32),
                       int_type(64), uint_type(64), float_type(32), float_type(64)}) {
    auto a = make_array(t, {{.min = -2, .extent = 5}, {.min = 7, .extent = 3}});
    CHECK(a.data.size() == static_cast<size_t>(15 * t.bytes()));
    fill_hashed(a, 1);
    for (int64_t y = 7; y < 10; ++y) {
      for (int64_t x = -2; x < 3; ++x) CHECK(same_value(a.at({x, y}), hashed_value(t, 1, {x, y})));
    }
  }
}

TEST_CASE("strides of any sign use exactly the memory that the box spans") {
  auto a =
      make_strided_array(int_type(32), {{.min = 0, .extent = 4, .stride = -3}, {.min = 1, .extent = 2, .stride = 20}});
  CHECK(a.data.size() == (3 * 3 + 20 + 1) * 4);
  CHECK(a.first == 9);
  std::set<int64_t> positions;
  for (int64_t y = 1; y < 3; ++y) {
    for (int64_t x = 0; x < 4; ++x) {
      const int64_t c[] = {x, y};
      positions.insert(a.position(c));
    }
  }
  CHECK(positions == std::set<int64_t>{0, 3, 6, 9, 20, 23, 26, 29});
  const int64_t outside[] = {4, 1};
  CHECK_FALSE(a.contains(outside));
}

TEST_CASE("an empty box has no memory, rank 0 has one element") {
  CHECK(make_array(float_type(32), {{.min = 0, .extent = 0}, {.min = 0, .extent = 3}}).data.empty());
  auto scalar = make_array(float_type(32), {});
  scalar.set({}, float_value(float_type(32), 2.5));
  CHECK(scalar.at({}).f == 2.5);
  CHECK(scalar.elements() == 1);
}

TEST_CASE("hashed integers take their whole range, hashed neighbours differ") {
  std::set<int64_t> seen;
  for (int64_t x = 0; x < 4000; ++x) seen.insert(hashed_value(uint_type(8), 3, {x}).i);
  CHECK(seen.size() == 256);
  CHECK(hashed_value(int_type(64), 3, {1, 2}).i != hashed_value(int_type(64), 3, {2, 1}).i);
}
