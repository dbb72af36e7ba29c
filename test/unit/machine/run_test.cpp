/// What programs compute: loops of every kind, vectors, storage, checks.

#include "run_text.h"

using namespace drawloom;

TEST_CASE("loops run from min for extent iterations", "[machine]") {
  auto o = filled({{.min = -3, .extent = 6}}, [](auto&) { return 99; });
  const auto text = [](const char* kind) {
    return str(R"(func @p(%n: index, out %o: buffer<i32, 1>) {
  {} for %x = min(%o, 0) : %n {
    store %o[%x] = cast<i32>(%x * extent(%o, 0) + stride(%o, 0))
  }
})",
               kind);
  };
  for (const char* kind : {"", "parallel", "vectorized", "unrolled"}) {
    for (const int64_t n : {-2, 0, 1, 6}) {
      auto a = o;
      const auto r = run_text(text(kind), {&a}, {}, {int_value(kIndex, n)});
      CHECK(errors_of(r).empty());
      for (int64_t x = -3; x < 3; ++x) CHECK(a.at({x}).i == (x + 3 < n ? x * 6 + 1 : 99));
      CHECK(r.unwritten_outputs == 6 - (n < 0 ? 0 : n));
    }
  }
}

TEST_CASE("the order of parallel iterations follows the seed", "[machine]") {
  // Each iteration notes how far a counter is; the race this is, is reported, the order still shows.
  const char* text = R"(func @p(out %o: buffer<i32, 1>) {
  allocate %n: i32[1] stack
  store %n[0] = 0:i32
  parallel for %x = 0 : 6 {
    store %o[%x] = %n[0]
    store %n[0] = %n[0] + 1:i32
  }
})";
  const auto order = [&](uint64_t seed) {
    auto o = row(6);
    run_text(text, {&o}, {.parallel_seed = seed});
    return ints(o);
  };
  CHECK(order(0) == std::vector<int64_t>{0, 1, 2, 3, 4, 5});
  CHECK(order(7) == order(7));
  std::vector<std::vector<int64_t>> seen;
  for (uint64_t seed = 1; seed < 9; ++seed) {
    auto sorted = order(seed);
    seen.push_back(sorted);
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == std::vector<int64_t>{0, 1, 2, 3, 4, 5});
  }
  std::sort(seen.begin(), seen.end());
  CHECK(std::unique(seen.begin(), seen.end()) - seen.begin() > 5);
}

TEST_CASE("vectors: ramps, broadcasts, selection, gathers", "[machine]") {
  auto in = filled({{.min = 0, .extent = 8}}, [](auto& p) { return 100 - p[0] * p[0]; });
  auto o = row(8);
  const char* text = R"(func @p(%in: buffer<i32, 1>, out %o: buffer<i32, 1>) {
  let %x = ramp(7, -2, 4)
  let %v = %in[%x]
  store %o[ramp(0, 1, 4)] = select(%x > broadcast(3, 4), %v, -%v)
  store %o[ramp(4, 1, 4)] = cast<i32x4>(%x * %x) + broadcast(%in[0], 4)
})";
  CHECK(errors_of(run_text(text, {&in, &o})).empty());
  CHECK(ints(o) == std::vector<int64_t>{51, 75, -91, -99, 149, 125, 109, 101});
}

TEST_CASE("of two lanes on one element the higher wins", "[machine]") {
  auto o = row(2);
  const char* text = R"(func @p(out %o: buffer<i32, 1>) {
  let %x = ramp(0, 1, 6)
  store %o[%x % broadcast(2, 6); mask %x < broadcast(5, 6)] = cast<i32x6>(%x)
})";
  CHECK(errors_of(run_text(text, {&o})).empty());
  CHECK(ints(o) == std::vector<int64_t>{4, 3});
}

TEST_CASE("both sides are evaluated; a shared node is evaluated once", "[machine]") {
  auto in = row(1), o = row(1);
  std::string text = "func @p(%in: buffer<i32, 1>, out %o: buffer<i32, 1>) {\n  #0 = %in[0] + 1:i32\n";
  for (int i = 1; i <= 60; ++i) text += str("  #{} = #{} + #{}\n", i, i - 1, i - 1);
  text += "  store %o[0] = #60\n}";
  const auto r = run_text(text, {&in, &o});
  CHECK(errors_of(r).empty());
  CHECK(ints(o) == std::vector<int64_t>{0});  // 2^60 in 32 bits
  CHECK(r.loads_of("") == 1);
  CHECK(r.steps < 100);
}

TEST_CASE("lets name values in expressions and statements", "[machine]") {
  auto o = row(3);
  const char* text = R"(func @p(out %o: buffer<i32, 1>) {
  for %x = 0 : 3 {
    let %a = cast<i32>(%x) + 10:i32
    store %o[%x] = let(%b = %a * %a, %b - let(%c = %b + 1:i32, %c * 2:i32))
  }
})";
  CHECK(errors_of(run_text(text, {&o})).empty());
  CHECK(ints(o) == std::vector<int64_t>{-102, -123, -146});
}

TEST_CASE("every allocation is fresh", "[machine]") {
  auto o = row(3);
  const auto text = [](const char* first, const char* inside) {
    return str(R"(func @p(out %o: buffer<i32, 1>) {
  {0}
  for %x = 0 : 3 {
    {1}
    if %x == 0 {
      store %t[0] = 5:i32
    }
    store %o[%x] = %t[0]
  }
})",
               first, inside);
  };
  const char* allocate = "allocate %t: i32[1] heap";
  CHECK(errors_of(run_text(text(allocate, ""), {&o})).empty());
  const auto r = run_text(text("", allocate), {&o});
  REQUIRE(r.errors.size() == 1);
  CHECK(r.errors[0].message() == "p (x = 1) reads `t`(0), which was never written, and uses it in `o`(1)");
}

TEST_CASE("buffers of rank 0 and 2, multi-dimensional and flat", "[machine]") {
  auto o = filled({{.min = 1, .extent = 3}, {.min = -1, .extent = 2}}, [](auto&) { return 0; });
  const char* logical = R"(func @p(out %o: buffer<i32, 2>) {
  allocate %k: i32[] register
  allocate %t: i32[3, 2] heap
  store %k[] = 10:i32
  for %y = 0 : 2 {
    for %x = 0 : 3 {
      store %t[%x, %y; origin %x, %y] = cast<i32>(%x) + %k[] * cast<i32>(%y)
      store %o[%x + 1, %y - 1] = %t[%x, %y; origin %x, %y]
    }
  }
})";
  const char* flat = R"(func @p(out %o: buffer<i32, 2>) flat_storage {
  allocate %k: i32[1] rank 0 register
  allocate %t: i32[6] rank 2 heap
  store %k[0] = 10:i32
  for %y = 0 : 2 {
    for %x = 0 : 3 {
      store %t[%x + 3 * %y; origin %x, %y] = cast<i32>(%x) + %k[0] * cast<i32>(%y)
      store %o[%x + stride(%o, 1) * %y] = %t[%x + 3 * %y; origin %x, %y]
    }
  }
})";
  auto o2 = o;
  CHECK(errors_of(run_text(logical, {&o})).empty());
  CHECK(errors_of(run_text(flat, {&o2})).empty());
  CHECK(ints(o) == std::vector<int64_t>{0, 1, 2, 10, 11, 12});
  CHECK(ints(o2) == ints(o));
}

TEST_CASE("a failed check ends the run with its code and words", "[machine]") {
  auto o = row(2);
  const char* text = R"(func @p(%n: i32, out %o: buffer<i32, 1>) {
  store %o[0] = 1:i32
  check %n < 3:i32 "param_range" "n is {}, extent {}" (%n, extent(%o, 0))
  store %o[1] = 1:i32
})";
  const auto good = run_text(text, {&o}, {}, {int_value(int_type(32), 2)});
  CHECK(good.clean());
  CHECK(good.unwritten_outputs == 0);
  const auto bad = run_text(text, {&o}, {}, {int_value(int_type(32), 4)});
  REQUIRE(bad.check_failure);
  CHECK(bad.check_failure->code == "param_range");
  CHECK(bad.check_failure->message == "n is 4, extent 2");
  CHECK(bad.errors.empty());
  CHECK(bad.unwritten_outputs == 1);
}

TEST_CASE("open results are flagged, garbage lanes are not", "[machine]") {
  auto o = make_array(float_type(32), {{.min = 0, .extent = 1}});
  const char* text = "func @p(%a: f32, out %o: buffer<f32, 1>) {\nstore %o[0] = max(%a, 0.0:f32)\n}";
  const auto run_with = [&](double a) { return run_text(text, {&o}, {}, {float_value(float_type(32), a)}).ambiguous; };
  CHECK_FALSE(run_with(0.0));
  CHECK(run_with(-0.0));
}
