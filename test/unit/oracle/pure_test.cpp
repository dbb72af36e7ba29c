/// Pure definitions against plain C++.

#include "evaluated.h"

using namespace drawloom;

TEST_CASE("a gradient is i32, also at negative coordinates", "[oracle]") {
  Var x("x"), y("y");
  Func f("f");
  f(x, y) = x + 10 * y;
  check_all<int32_t>(evaluated(f, box_of({{-3, 7}, {-2, 4}})), [](Point p) { return p[0] + 10 * p[1]; });
}

TEST_CASE("blur 3x3 of a clamped image", "[oracle]") {
  Var x("x"), y("y");
  ImageParam in(UInt(16), 2, "in");
  const auto image = hashed(uint_type(16), box_of({{2, 9}, {-1, 6}}));
  const auto clamped = BoundaryConditions::repeat_edge(in);
  Func bx("bx"), by("by");
  bx(x, y) = (clamped(x - 1, y) + clamped(x, y) + clamped(x + 1, y)) / 3;
  by(x, y) = (bx(x, y - 1) + bx(x, y) + bx(x, y + 1)) / 3;

  const auto at = [&](int64_t u, int64_t v) {
    u = u < 2 ? 2 : u > 10 ? 10 : u;
    v = v < -1 ? -1 : v > 4 ? 4 : v;
    return static_cast<uint16_t>(image.at({u, v}).i);
  };
  const auto row = [&](int64_t u, int64_t v) {
    return static_cast<uint16_t>(static_cast<uint16_t>(at(u - 1, v) + at(u, v) + at(u + 1, v)) / 3);
  };
  check_all<uint16_t>(evaluated(by, box_of({{0, 13}, {-3, 9}}), {{in, &image}}), [&](Point p) {
    return static_cast<uint16_t>(static_cast<uint16_t>(row(p[0], p[1] - 1) + row(p[0], p[1]) + row(p[0], p[1] + 1)) /
                                 3);
  });
}

TEST_CASE("a constant exterior reads nothing outside", "[oracle]") {
  Var x("x");
  ImageParam in(Int(32), 1, "in");
  const auto image = hashed(int_type(32), box_of({{0, 5}}));
  Func f("f");
  f(x) = BoundaryConditions::constant_exterior(in, 7)(x) * 2;
  const auto out = outcome({f}, {box_of({{-4, 13}})}, {{in, &image}});
  check_all<int32_t>(out.arrays[0], [&](Point p) {
    const uint32_t v = p[0] >= 0 && p[0] < 5 ? static_cast<uint32_t>(image.at({p[0]}).i) : 7u;
    return static_cast<int32_t>(v * 2);
  });
  CHECK(out.reads.at(0).box == box_of({{0, 5}}));
}

TEST_CASE("down- and upsampling, floor at negative coordinates", "[oracle]") {
  Var x("x");
  ImageParam in(Float(32), 1, "in");
  const auto image = hashed(float_type(32), box_of({{-20, 60}}));
  Func down("down"), up("up");
  down(x) = (in(2 * x) + in(2 * x + 1)) * 0.5f;
  up(x) = down(x / 2) * 0.75f + down(x / 2 - 1 + 2 * (x % 2)) * 0.25f;
  const auto at = [&](int64_t u) { return static_cast<float>(image.at({u}).f); };
  const auto half = [&](int64_t u) { return (at(2 * u) + at(2 * u + 1)) * 0.5f; };
  const auto out = outcome({up}, {box_of({{-7, 20}})}, {{in, &image}});
  check_all<float>(out.arrays[0], [&](Point p) {
    const int64_t h = p[0] >= 0 ? p[0] / 2 : -((1 - p[0]) / 2), odd = p[0] - 2 * h;
    return half(h) * 0.75f + half(h - 1 + 2 * odd) * 0.25f;
  });
  CHECK(out.reads.at(0).box == box_of({{-8, 22}}));  // down over [-4, 6]
}

TEST_CASE("a lookup by data", "[oracle]") {
  Var x("x"), i("i");
  ImageParam in(UInt(8), 1, "in");
  const auto image = hashed(uint_type(8), box_of({{0, 40}}));
  Func lut("lut"), f("f");
  lut(i) = i * i - 3 * i;
  f(x) = lut(cast<int32_t>(in(x)) - 100);
  check_all<int32_t>(evaluated(f, box_of({{0, 40}}), {{in, &image}}), [&](Point p) {
    const int64_t v = image.at(p).i - 100;
    return v * v - 3 * v;
  });
}

TEST_CASE("several outputs of different boxes, tuples, and a parameter", "[oracle]") {
  Var x("x"), y("y");
  Param<int32_t> k("k");
  Func f("f"), g("g");
  f(x) = Tuple(cast<uint8_t>(x * k), cast<float>(x) * 0.5f);
  g(x, y) = cast<int32_t>(f(x)[0]) * 1000 + y;
  const auto out =
      outcome({g, f}, {box_of({{0, 3}, {5, 2}}), box_of({{250, 10}})}, {}, {{k.symbol(), int_value(int_type(32), 3)}});
  REQUIRE(out.arrays.size() == 3);
  check_all<int32_t>(out.arrays[0], [](Point p) { return p[0] * 3 * 1000 + p[1]; });
  check_all<uint8_t>(out.arrays[1], [](Point p) { return static_cast<uint8_t>(p[0] * 3); });
  check_all<float>(out.arrays[2], [](Point p) { return static_cast<float>(p[0]) * 0.5f; });
}

TEST_CASE("median of three", "[oracle]") {
  Var x("x");
  ImageParam in(Int(16), 1, "in");
  const auto image = hashed(int_type(16), box_of({{-1, 34}}));
  Func f("f");
  f(x) = max(min(in(x - 1), in(x)), min(max(in(x - 1), in(x)), in(x + 1)));
  check_all<int16_t>(evaluated(f, box_of({{0, 32}}), {{in, &image}}), [&](Point p) {
    int64_t v[] = {image.at({p[0] - 1}).i, image.at({p[0]}).i, image.at({p[0] + 1}).i};
    std::sort(v, v + 3);
    return v[1];
  });
}

TEST_CASE("an expression and a chain of Funcs that double cost their size", "[oracle]") {
  Var x("x");
  Func f("f");
  Expr e = x + 0;
  for (int i = 0; i < 60; ++i) e = e + e;
  f(x) = e;
  std::vector<Func> chain = {f};
  for (int i = 0; i < 60; ++i) {
    Func next("g" + std::to_string(i));
    next(x) = chain.back()(x) + chain.back()(x);
    chain.push_back(next);
  }
  const auto out = outcome({chain.back(), f}, {box_of({{1, 1}}), box_of({{1, 4}})});
  CHECK(out.arrays[0].at({1}).i == 0);
  CHECK(out.steps < 2000);
}

TEST_CASE("fma nodes count only where the target has them", "[oracle]") {
  Var x("x");
  ImageParam in(Float(32), 1, "in");
  auto image = make_array(float_type(32), box_of({{0, 64}}));
  for (int64_t i = 0; i < 64; ++i)
    image.set({i}, float_value(float_type(32), 1.0 + static_cast<double>(i * i + 1) / 4096.0));
  Func f("f");
  f(x) = in(x)*in(x)-1.0f;
  const auto v = [&](Point p) { return static_cast<float>(image.at(p).f); };
  const auto plain = evaluated(f, box_of({{0, 64}}), {{in, &image}}, {}, false);
  const auto fused = evaluated(f, box_of({{0, 64}}), {{in, &image}}, {}, true);
  check_all<float>(plain, [&](Point p) {
    const float product = v(p) * v(p);
    return product - 1.0f;
  });
  check_all<float>(fused, [&](Point p) { return std::fma(v(p), v(p), -1.0f); });
  int differ = 0;
  for (int64_t i = 0; i < 64; ++i) differ += !same_value(plain.at({i}), fused.at({i}));
  CHECK(differ > 10);
}

TEST_CASE("a Func of no dimension, and an empty box", "[oracle]") {
  Var x("x");
  Func s("s"), f("f");
  s() = cast<float>(3) / 4;
  f(x) = s() + 1.0f;
  CHECK(evaluated(s, {}).at({}).f == 0.75);
  CHECK(evaluated(f, box_of({{5, 0}})).data.empty());
}
