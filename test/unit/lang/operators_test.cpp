// What operands become when they meet, and that every operator knows its line.

#include "drawloom/ir/text_form.h"
#include "evaluate.h"
#include "mistake.h"

namespace {

/// Params stand for data here: they show types and, unlike images, have values. Sums of them are data.
template <typename T>
struct Data {
  Param<T> p{"p"};
  Expr e = cast<T>(select(p == p, p, p));
};

auto type(const Expr& e) -> std::string { return e.type().text(); }

/// The value of a closed expression, or one over Params that are set.
auto value(const Expr& e, const Bindings& bound = {}) -> int64_t { return evaluate(e, bound).i; }

}  // namespace

TEST_CASE("index meets literals, Params and buffer sizes in index") {
  Var x("x"), y("y");
  Param<int> p("p");
  Param<uint8_t> small("small");
  ImageParam in(UInt(8), 1, "in");
  CHECK(print(x + 1) == "%x + 1");
  CHECK(type(x + 1) == "index");
  CHECK(print(x + y * 2) == "%x + %y * 2");
  CHECK(print(x + p) == "%x + cast<index>(%p)");
  CHECK(print(x + (p * 2 - small)) == "%x + (cast<index>(%p) * 2 - cast<index>(%small))");
  CHECK(type(min(x, in.width() - 1)) == "index");
  CHECK(type(clamp(x, 0, in.dim(0).max())) == "index");
  CHECK(type(x + int64_t{1} * (int64_t{1} << 40)) == "index");
  CHECK(type(select(x < 3, x, 7)) == "index");
  CHECK(type(p + 1) == "i32");  // no index near: data
  CHECK(type(x << 2) == "index");
}

TEST_CASE("index that meets data becomes int32") {
  Var x("x");
  ImageParam u8(UInt(8), 1, "in");
  CHECK(print(x * 0.5f) == "cast<f32>(cast<i32>(%x)) * 0.5:f32");
  CHECK(type(u8(x) + x) == "i32");
  CHECK(type(cast<int64_t>(u8(x)) + x) == "i64");
  CHECK(type(u8(x) < x) == "bool");
  CHECK(print(cast<float>(x)) == "cast<f32>(%x)");  // a cast converts all 64 bits
  CHECK(type(sqrt(x)) == "f32");
  CHECK(type(abs(x)) == "index");
}

TEST_CASE("data types meet as in Halide") {
  Data<uint8_t> u8;
  Data<uint16_t> u16;
  Data<int8_t> i8;
  Data<uint32_t> u32;
  Data<float> f32;
  Data<double> f64;
  CHECK(type(u8.e + u16.e) == "u16");
  CHECK(type(i8.e + u8.e) == "i8");
  CHECK(type(i8.e + u32.e) == "i32");
  CHECK(type(u32.e * f32.e) == "f32");
  CHECK(type(f32.e + f64.e) == "f64");
  CHECK(type(max(u8.e, u16.e)) == "u16");
  CHECK(type(u8.e & i8.e) == "i8");
  CHECK(type(u8.e == i8.e) == "bool");
  CHECK(type(absd(i8.e, u8.e)) == "u8");
  CHECK(type(abs(i8.e)) == "u8");
  CHECK(type(floor(u8.e)) == "f32");
  CHECK(type(pow(f64.e, 2)) == "f64");
  CHECK(type(is_nan(f32.e)) == "bool");
  CHECK(type(select(u8.e > 3, u8.e, u16.e)) == "u16");
}

TEST_CASE("a literal takes the type of what it meets") {
  Data<uint8_t> u8;
  Data<float> f32;
  Data<bool> b;
  CHECK(type(u8.e + 255) == "u8");
  CHECK(type(1 + u8.e) == "u8");
  CHECK(type(f32.e * 2) == "f32");
  CHECK(type(f32.e * 2.0) == "f64");  // a C++ double is no literal of f32
  CHECK(type(b.e == 1) == "bool");
  CHECK(type(u8.e - int64_t{3}) == "u8");
  CHECK(type(clamp(u8.e, 3, 200)) == "u8");
  Expr sum = 0;
  sum += u8.e;
  CHECK(type(sum) == "u8");
  CHECK(caught([&] { u8.e + (-1); }).message() == "-1 is not a value of u8");
  CHECK(caught([&] { f32.e + 16777217; }).message() == "16777217 is not a value of f32");
  CHECK(caught([&] { u8.e + 0xffffffffffffffffull; }).message() == "18446744073709551615 is not a value of u8");
}

TEST_CASE("a condition is no bool of C++") {
  STATIC_REQUIRE_FALSE(std::is_constructible_v<bool, Condition>);
  Expr a = 1, b = 2;
  STATIC_REQUIRE(std::is_same_v<decltype(a == b), Condition>);
  STATIC_REQUIRE(std::is_same_v<decltype(!a), Condition>);
  STATIC_REQUIRE(std::is_same_v<decltype(a && true), Condition>);
  CHECK(value(a == b) == 0);
  CHECK(value(a != b && a < b) == 1);
  Expr t = a < b;
  CHECK(value(t && true) == 1);
  CHECK(value(!t || false) == 0);
  CHECK(value(!(t || t)) == 0);
}

TEST_CASE("every operator knows its line") {
  Var x("x"), y("y");
  const auto line = [](const Expr& e) { return e.loc().line(); };
  Func g("g");
  g(x) = x;
  const uint32_t first = __LINE__ + 1;
  const Expr a = x + 1;
  const Expr b = a * y;
  const Expr c = min(a, b);
  const Expr d = select(a < b, a, b);
  const Expr e = -a;
  const Expr f = cast<float>(a);
  const Expr h = g(x + y);
  CHECK(line(a) == first);
  CHECK(line(b) == first + 1);
  CHECK(line(c) == first + 2);
  CHECK(line(d) == first + 3);
  CHECK(line(e) == first + 4);
  CHECK(line(f) == first + 5);
  CHECK(line(h) == first + 6);
  CHECK(a.loc().file() == __FILE__);
}

TEST_CASE("shifts go by the amount that is meant, whatever its type") {
  const auto u8 = [](int v) { return cast<uint8_t>(Expr(v)); };
  CHECK(value(u8(3) << 2) == 12);
  CHECK(value(u8(3) << 9) == 0);
  CHECK(value(u8(200) << -3) == 25);
  CHECK(value(u8(200) >> -1) == 144);
  CHECK(value(u8(200) >> 300) == 0);
  // Amounts of other types, over all signs.
  Param<int> p("n");
  Param<uint16_t> q("m");
  for (int n = -300; n <= 300; ++n) {
    const Bindings bound = {{p.symbol().get(), int_value(Int(32), n)}};
    const int64_t by = std::min(std::abs(n), 8);
    const int64_t want = n < 0 ? 200 >> by : (200 << by) & 255;
    const int64_t signed_want = n < 0 ? -56 >> by : static_cast<int8_t>(-56 << by);
    CHECK(value(u8(200) << p, bound) == want);
    CHECK(value(cast<int8_t>(Expr(-56)) << p, bound) == signed_want);
    if (n >= 0) {
      const Bindings other = {{q.symbol().get(), int_value(UInt(16), n)}};
      CHECK(value(u8(200) >> q, other) == 200 >> by);
    }
  }
}

TEST_CASE("lerp of integers is the exact quotient, rounded to nearest") {
  Param<uint8_t> a("a"), b("b"), w("w");
  Param<int8_t> c("c"), d("d");
  const Expr unsigned_lerp = lerp(a, b, w), signed_lerp = lerp(c, d, w);
  REQUIRE(type(unsigned_lerp) == "u8");
  REQUIRE(type(signed_lerp) == "i8");
  const auto bind = [](const auto& p, int v) { return Bindings::value_type(p.symbol().get(), int_value(p.type(), v)); };
  for (const int from : {0, 1, 100, 254, 255}) {
    for (const int to : {0, 3, 128, 255}) {
      for (int weight = 0; weight < 256; ++weight) {
        // Halves cannot occur: 255 is odd.
        const int up = from * (255 - weight) + to * weight;
        const int want = (2 * up + 255) / 510;
        CHECK(value(unsigned_lerp, {bind(a, from), bind(b, to), bind(w, weight)}) == want);
        CHECK(value(signed_lerp, {bind(c, from - 128), bind(d, to - 128), bind(w, weight)}) == want - 128);
      }
    }
  }
  // 32 bits each: ends are met exactly.
  Param<uint32_t> e("e"), f("f"), v("v");
  const auto ends = [&](uint32_t weight) {
    const auto big = [](const auto& p, uint32_t n) {
      return Bindings::value_type(p.symbol().get(), int_value(UInt(32), n));
    };
    return value(lerp(e, f, v), {big(e, 0xfffffffe), big(f, 0xffffffff), big(v, weight)});
  };
  CHECK(ends(0) == 0xfffffffe);
  CHECK(ends(0xffffffff) == 0xffffffff);
  CHECK(ends(0x80000000) == 0xffffffff);
  CHECK(ends(0x7fffffff) == 0xfffffffe);
}

TEST_CASE("lerp of floats") {
  Param<float> w("w");
  const auto at = [&](float weight) {
    return evaluate(lerp(2.0f, 10.0f, w), {{w.symbol().get(), float_value(Float(32), weight)}}).f;
  };
  CHECK(at(0) == 2);
  CHECK(at(0.25f) == 4);
  CHECK(at(1) == 10);
  const Expr byte = cast<uint8_t>(Expr(10));
  CHECK(value(lerp(byte, cast<uint8_t>(Expr(20)), 0.25f)) == 12);  // 12.5 to even
}
