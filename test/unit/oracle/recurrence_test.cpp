/// Definitions that read their own Func at smaller coordinates.

#include "evaluated.h"

using namespace drawloom;

TEST_CASE("Fibonacci wraps at 32 bits", "[oracle]") {
  Var t("t");
  Func f(UInt(32), 1, "f");
  f(t) = select(t == 0, 0u, t == 1, 1u, f(t - 1) + f(t - 2));
  std::vector<uint32_t> want = {0, 1};
  for (size_t i = 2; i < 60; ++i) want.push_back(want[i - 1] + want[i - 2]);
  check_all<uint32_t>(evaluated(f, box_of({{0, 60}})), [&](Point p) { return want[static_cast<size_t>(p[0])]; });
}

TEST_CASE("heat by a pure recurrence over space and time", "[oracle]") {
  Var x("x"), t("t");
  ImageParam in(Float(64), 1, "in");
  const auto image = hashed(float_type(64), box_of({{0, 40}}));
  Func u(Float(64), 2, "u");
  u(x, t) = select(t == 0, in(clamp(x, 0, 39)), u(x - 1, t - 1) * 0.25 + u(x, t - 1) * 0.5 + u(x + 1, t - 1) * 0.25);
  const auto out = outcome({u}, {box_of({{10, 8}, {5, 1}})}, {{in, &image}});
  check_all<double>(out.arrays[0], [&](Point p) {
    std::vector<double> now;
    for (int64_t i = -20; i < 60; ++i) now.push_back(image.at({i < 0 ? 0 : i > 39 ? 39 : i}).f);
    for (int s = 0; s < 5; ++s) {
      auto next = now;
      for (size_t i = 1; i + 1 < now.size(); ++i) next[i] = now[i - 1] * 0.25 + now[i] * 0.5 + now[i + 1] * 0.25;
      now = next;
    }
    return now[static_cast<size_t>(p[0] + 20)];
  });
  CHECK(out.reads.at(0).box == box_of({{5, 18}}));  // five steps widen [10, 17] by five
}

TEST_CASE("an IIR filter, and one that runs 100,000 steps deep", "[oracle]") {
  Var t("t");
  Func f(Float(32), 1, "f");
  f(t) = select(t == 0, 1.0f, f(t - 1) * 0.99f + cast<float>(t % 7));
  float want = 1.0f;
  for (int i = 1; i <= 100'000; ++i) want = want * 0.99f + static_cast<float>(i % 7);
  CHECK(same_value(evaluated(f, box_of({{100'000, 1}})).at({100'000}),
                   float_value(float_type(32), static_cast<double>(want))));
}

TEST_CASE("the game of life", "[oracle]") {
  Var x("x"), y("y"), t("t");
  ImageParam in(UInt(8), 2, "in");
  auto start = make_array(uint_type(8), box_of({{0, 16}, {0, 16}}));
  for (int64_t i = 0; i < 256; ++i) {
    const Point p = {i % 16, i / 16};
    start.set(p, int_value(uint_type(8), hashed_value(uint_type(8), 4, p).i < 90));
  }
  const auto wide = BoundaryConditions::constant_exterior(in, cast<uint8_t>(0));
  Func u(UInt(8), 3, "u");
  Expr n = u(x - 1, y - 1, t - 1) + u(x, y - 1, t - 1) + u(x + 1, y - 1, t - 1) + u(x - 1, y, t - 1) +
           u(x + 1, y, t - 1) + u(x - 1, y + 1, t - 1) + u(x, y + 1, t - 1) + u(x + 1, y + 1, t - 1);
  u(x, y, t) = select(t == 0, wide(x, y), cast<uint8_t>(n == 3 || (n == 2 && u(x, y, t - 1) == 1)));

  constexpr int kPad = 8, kSize = 16 + 2 * kPad;
  std::vector<std::vector<int>> now(kSize, std::vector<int>(kSize));
  for (int j = 0; j < 16; ++j) {
    for (int i = 0; i < 16; ++i) now[size_t(j + kPad)][size_t(i + kPad)] = static_cast<int>(start.at({i, j}).i);
  }
  for (int s = 0; s < 6; ++s) {
    auto next = now;
    for (size_t j = 1; j + 1 < kSize; ++j) {
      for (size_t i = 1; i + 1 < kSize; ++i) {
        int around = -now[j][i];
        for (size_t v = j - 1; v <= j + 1; ++v) {
          for (size_t h = i - 1; h <= i + 1; ++h) around += now[v][h];
        }
        next[j][i] = around == 3 || (around == 2 && now[j][i]);
      }
    }
    now = next;
  }
  check_all<uint8_t>(evaluated(u, box_of({{-1, 18}, {-1, 18}, {6, 1}}), {{in, &start}}),
                     [&](Point p) { return now[static_cast<size_t>(p[1] + kPad)][static_cast<size_t>(p[0] + kPad)]; });
}

TEST_CASE("a recurrence that is consumed and then updated", "[oracle]") {
  Var t("t");
  RDom r(3, 2);
  Func f(Int(32), 1, "f"), g("g");
  f(t) = select(t == 0, 1, f(t - 1) * 2);
  f(r) = 0;
  g(t) = f(t) + f(t + 1);
  // The pure stage reads the pure stage: the zeros stay where they were written.
  const int32_t state[] = {1, 2, 4, 0, 0, 32, 64, 128};
  check_all<int32_t>(evaluated(g, box_of({{0, 7}})), [&](Point p) { return state[p[0]] + state[p[0] + 1]; });
}
