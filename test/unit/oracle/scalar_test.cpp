/// The integer and float semantics through definitions, against the same in plain C++ where that is defined.

#include "evaluated.h"

using namespace drawloom;

TEST_CASE("u8 arithmetic wraps like unsigned char", "[oracle]") {
  Var x("x");
  ImageParam a(UInt(8), 1, "a"), b(UInt(8), 1, "b");
  const auto va = hashed(uint_type(8), box_of({{0, 300}}), 1), vb = hashed(uint_type(8), box_of({{0, 300}}), 2);
  Func f("f");
  f(x) = Tuple(a(x) + b(x), a(x) - b(x), a(x) * b(x), -a(x), absd(a(x), b(x)));
  const auto out = outcome({f}, {box_of({{0, 300}})}, {{a, &va}, {b, &vb}});
  const auto u = [&](Point p) { return static_cast<int>(va.at(p).i); };
  const auto v = [&](Point p) { return static_cast<int>(vb.at(p).i); };
  check_all<uint8_t>(out.arrays[0], [&](Point p) { return static_cast<uint8_t>(u(p) + v(p)); });
  check_all<uint8_t>(out.arrays[1], [&](Point p) { return static_cast<uint8_t>(u(p) - v(p)); });
  check_all<uint8_t>(out.arrays[2], [&](Point p) { return static_cast<uint8_t>(u(p) * v(p)); });
  check_all<uint8_t>(out.arrays[3], [&](Point p) { return static_cast<uint8_t>(-u(p)); });
  check_all<uint8_t>(out.arrays[4], [&](Point p) { return static_cast<uint8_t>(std::abs(u(p) - v(p))); });
}

TEST_CASE("i16 division, remainder and shifts", "[oracle]") {
  Var x("x"), y("y");
  Func f("f");
  Expr a = cast<int16_t>(x * 1009), b = cast<int16_t>(y);
  f(x, y) = Tuple(a / b, a % b, a << b, a >> b);
  const auto out = outcome({f}, {box_of({{-32, 65}, {-20, 41}})});
  const auto whole = [](Point p) { return static_cast<int16_t>(p[0] * 1009); };
  const auto euclid = [&](Point p) {  // quotient and remainder with 0 <= remainder < |b|
    const int n = whole(p), d = static_cast<int>(p[1]);
    if (d == 0) return std::pair{0, 0};
    int q = n / d, rest = n % d;
    if (rest < 0) q += d > 0 ? -1 : 1, rest += std::abs(d);
    return std::pair{q, rest};
  };
  const auto left = [&](Point p, int64_t amount) {
    return amount >= 16 ? 0 : static_cast<int16_t>(static_cast<uint32_t>(whole(p)) << amount);
  };
  const auto right = [&](Point p, int64_t amount) {
    return static_cast<int16_t>(whole(p) >> (amount >= 16 ? 15 : amount));
  };
  check_all<int16_t>(out.arrays[0], [&](Point p) { return static_cast<int16_t>(euclid(p).first); });
  check_all<int16_t>(out.arrays[1], [&](Point p) { return static_cast<int16_t>(euclid(p).second); });
  check_all<int16_t>(out.arrays[2], [&](Point p) { return p[1] < 0 ? right(p, -p[1]) : left(p, p[1]); });
  check_all<int16_t>(out.arrays[3], [&](Point p) { return p[1] < 0 ? left(p, -p[1]) : right(p, p[1]); });
}

TEST_CASE("index converts from 64 bits", "[oracle]") {
  Var x("x");
  Func f("f");
  f(x) = Tuple(cast<int64_t>(x) * 1000003, cast<float>(x), cast<uint8_t>(x), x + 0);
  const int64_t far = (int64_t{1} << 33) + 12345;
  const auto out = outcome({f}, {box_of({{far, 3}})});
  check_all<int64_t>(out.arrays[0], [](Point p) { return p[0] * 1000003; });
  check_all<float>(out.arrays[1], [](Point p) { return static_cast<float>(p[0]); });
  check_all<uint8_t>(out.arrays[2], [](Point p) { return static_cast<uint8_t>(p[0]); });
  check_all<int32_t>(out.arrays[3], [](Point p) { return static_cast<int32_t>(static_cast<uint32_t>(p[0])); });
}

TEST_CASE("float to integer saturates", "[oracle]") {
  Var x("x");
  Func f("f");
  Expr v = cast<float>(x) * 1.7e7f;
  f(x) = Tuple(cast<int32_t>(v), cast<uint16_t>(v), cast<int8_t>(cast<float>(x) / 2));
  const auto out = outcome({f}, {box_of({{-300, 601}})});
  const auto clamped = [](double d, double lo, double hi) {
    return static_cast<int64_t>(d < lo ? lo : d > hi ? hi : d);
  };
  check_all<int32_t>(out.arrays[0], [&](Point p) {
    return clamped(static_cast<double>(static_cast<float>(p[0]) * 1.7e7f), -2147483648.0, 2147483647.0);
  });
  check_all<uint16_t>(out.arrays[1], [&](Point p) {
    return clamped(static_cast<double>(static_cast<float>(p[0]) * 1.7e7f), 0, 65535);
  });
  check_all<int8_t>(out.arrays[2], [&](Point p) { return clamped(static_cast<double>(p[0]) / 2, -128, 127); });
  CHECK_FALSE(out.ambiguous);
}

TEST_CASE("transcendentals are the scalar libm of the type", "[oracle]") {
  Var x("x");
  Func f("f");
  Expr v = cast<float>(x) * 0.37f;
  f(x) = Tuple(exp(v), log(v), sin(v), pow(v, 1.5f), sqrt(v), exp(cast<double>(v)));
  const auto out = outcome({f}, {box_of({{1, 50}})});
  const auto at = [](Point p) { return static_cast<float>(p[0]) * 0.37f; };
  check_all<float>(out.arrays[0], [&](Point p) { return expf(at(p)); });
  check_all<float>(out.arrays[1], [&](Point p) { return logf(at(p)); });
  check_all<float>(out.arrays[2], [&](Point p) { return sinf(at(p)); });
  check_all<float>(out.arrays[3], [&](Point p) { return powf(at(p), 1.5f); });
  check_all<float>(out.arrays[4], [&](Point p) { return sqrtf(at(p)); });
  check_all<double>(out.arrays[5], [&](Point p) { return std::exp(static_cast<double>(at(p))); });
}

TEST_CASE("open results are flagged only where they are used", "[oracle]") {
  Var x("x");
  Func f("f");
  Expr nan = cast<float>(x) / cast<float>(x);
  f(x) = select(x == 0, 2.0f, max(nan, 1.0f));
  CHECK_FALSE(outcome({f}, {box_of({{-2, 5}})}).ambiguous);
  Func g("g");
  g(x) = max(nan, 1.0f);
  CHECK_FALSE(outcome({g}, {box_of({{1, 5}})}).ambiguous);
  CHECK(outcome({g}, {box_of({{-2, 5}})}).ambiguous);
  Func h("h");
  h(x) = cast<int32_t>(nan);
  CHECK(outcome({h}, {box_of({{0, 1}})}).ambiguous);
}
