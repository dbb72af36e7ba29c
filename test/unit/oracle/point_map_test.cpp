#include "drawloom/interp/oracle/point_map.h"

#include <catch2/catch.hpp>

using drawloom::oracle::PointMap;

TEST_CASE("points are numbered in the order in which they are seen", "[oracle]") {
  PointMap map(2);
  const int64_t unseen[] = {-1, 5};
  CHECK(map.find(unseen) == -1);
  for (int round = 0; round < 2; ++round) {
    uint32_t next = 0;
    for (int64_t y = -50; y < 50; ++y) {
      for (int64_t x = 0; x < 100; ++x) {
        const int64_t p[] = {x * (int64_t{1} << 40), y};
        CHECK(map.number(p) == next++);
      }
    }
  }
  CHECK(map.size() == 10000);
  CHECK(map.find(unseen) == -1);
  PointMap scalar(0);
  CHECK(scalar.find(nullptr) == -1);
  CHECK(scalar.number(nullptr) == 0);
  CHECK(scalar.number(nullptr) == 0);
}
