/// Work counts and sizes, against counting by hand.

#include "run_text.h"

using namespace drawloom;

TEST_CASE("points per stage and peak bytes of a slid chain", "[machine]") {
  // blur of 3 taps over rows 0 .. 9: t is computed for 12 rows, once each, in a ring of 3 (4 would hide nothing)
  const char* text = R"(func @p(%in: buffer<i32, 1>, out %o: buffer<i32, 1>) {
  allocate %t: i32[3] heap
  for %y = -2 : 12 {
    stage "t" {
      store %t[(%y + 1) % 3; origin %y + 1] = %in[%y + 1] * 2:i32
    }
    if %y >= 0 {
      stage "o" {
        store %o[%y; origin %y] = %t[(%y - 1) % 3; origin %y - 1] + %t[%y % 3; origin %y] + %t[(%y + 1) % 3; origin %y + 1]
      }
    }
  }
})";
  auto in = filled({{.min = -1, .extent = 12}}, [](auto& p) { return p[0]; });
  auto o = row(10);
  const auto r = run_text(text, {&in, &o});
  CHECK(errors_of(r).empty());
  CHECK(o.at({4}).i == 2 * (3 + 4 + 5));
  CHECK(r.stores_of("t") == 12);
  CHECK(r.loads_of("t") == 12);
  CHECK(r.stores_of("o") == 10);
  CHECK(r.loads_of("o") == 30);
  REQUIRE(r.peaks.size() == 1);
  CHECK(r.peaks[0].buffer == "t");
  CHECK(r.peaks[0].bytes == 12);
  REQUIRE(r.counts.size() == 4);
  CHECK(r.counts[0].stage == "o");
  CHECK(r.counts[0].buffer == "o");
  CHECK(r.counts[1].buffer == "t");
  CHECK(r.counts[1].loads == 30);
}

TEST_CASE("only active lanes count, and the largest allocation is the peak", "[machine]") {
  const char* text = R"(func @p(out %o: buffer<i32, 1>) {
  for %x = 0 : 3 {
    allocate %t: u8[%x * 2, 5] heap
    stage "s" {
      for %i = 0 : %x * 2 {
        store %t[%i, 0] = 1:u8
      }
    }
    stage "o" {
      let %r = ramp(%x * 4, 1, 4)
      store %o[%r; mask %r < broadcast(10, 4)] = broadcast(0:i32, 4)
    }
  }
})";
  auto o = row(10);
  const auto r = run_text(text, {&o});
  CHECK(errors_of(r).empty());
  CHECK(r.stores_of("o") == 10);
  CHECK(r.stores_of("s") == 0 + 2 + 4);
  CHECK(r.peaks.at(0).bytes == 20);
}
