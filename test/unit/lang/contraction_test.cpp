// Which sums become fma: always the same, however the C++ program shared its expressions.

#include "drawloom/ir/text_form.h"
#include "mistake.h"

namespace {

/// The value of `define(f)` with fma nodes, over a b c d.
struct Contraction {
  Param<float> a{"a"}, b{"b"}, c{"c"}, d{"d"};
  template <typename F>
  auto operator()(F&& build) -> std::string {
    Func f("f");
    f() = build();
    return print(f.definition()->pure.contracted[0]);
  }
};

}  // namespace

TEST_CASE_METHOD(Contraction, "sums and differences of a product") {
  auto& c14n = *this;
  CHECK(c14n([&] { return a * b + c; }) == "fma(%a, %b, %c)");
  CHECK(c14n([&] { return c + a * b; }) == "fma(%a, %b, %c)");
  CHECK(c14n([&] { return a * b - c; }) == "fma(%a, %b, -%c)");
  CHECK(c14n([&] { return c - a * b; }) == "fma(-%a, %b, %c)");
  CHECK(c14n([&] { return a + b; }) == "%a + %b");
  CHECK(c14n([&] { return a * b; }) == "%a * %b");
}

TEST_CASE_METHOD(Contraction, "of two products the left one") {
  auto& c14n = *this;
  CHECK(c14n([&] { return a * b + c * d; }) == "fma(%a, %b, %c * %d)");
  CHECK(c14n([&] { return a * b - c * d; }) == "fma(%a, %b, -(%c * %d))");
  CHECK(c14n([&] { return (a * b + c * d) + a * d; }) == "fma(%a, %d, fma(%a, %b, %c * %d))");
  CHECK(c14n([&] { return (a * b + c) * d + b; }) == "fma(fma(%a, %b, %c), %d, %b)");
}

TEST_CASE_METHOD(Contraction, "a product used twice stays, shared or written twice") {
  auto& c14n = *this;
  CHECK(c14n([&] { return a * b + a * b; }) == "%a * %b + %a * %b");
  CHECK(c14n([&] {
          const Expr p = a * b;
          return p + c + p * d;
        }) == "#1 = %a * %b; fma(#1, %d, #1 + %c)");
  CHECK(c14n([&] { return a * b + c + (a * b) * d; }) == "fma(%a * %b, %d, %a * %b + %c)");
  // b * a is another expression than a * b.
  CHECK(c14n([&] { return a * b + b * a; }) == "fma(%a, %b, %b * %a)");
  // The sum is used twice, but is one expression: its product is used once.
  CHECK(c14n([&] { return (a * b + c) * (a * b + c); }) == "fma(%a, %b, %c) * fma(%a, %b, %c)");
}

TEST_CASE("uses are counted over the whole definition") {
  Param<float> a("a"), b("b"), c("c");
  Func f("f");
  f() = Tuple(a * b + c, a * b);
  CHECK(print(f.definition()->pure.contracted[0]) == "%a * %b + %c");
}

TEST_CASE("integers and values as written are left alone") {
  Param<int> a("a"), b("b"), c("c");
  Param<float> x("x"), y("y");
  Func f("f"), g("g");
  f() = a * b + c;
  CHECK(print(f.definition()->pure.contracted[0]) == "%a * %b + %c");
  CHECK(f.definition()->pure.contracted[0].get() == f.definition()->pure.values[0].get());
  g() = x * y + 1.0f;
  CHECK(print(g.definition()->pure.values[0]) == "%x * %y + 1.0:f32");
  CHECK(print(g.definition()->pure.contracted[0]) == "fma(%x, %y, 1.0:f32)");
}

TEST_CASE("updates are contracted on their own") {
  Var x("x");
  RDom r(0, 16);
  ImageParam a(Float(32), 1, "a"), b(Float(32), 1, "b");
  Func f("f");
  f() = 0.0f;
  f() += a(r) * b(r);
  const auto& u = f.definition()->updates[0];
  const auto* fma = u.contracted[0].as<Call>();
  REQUIRE(fma);
  CHECK(fma->function == Intrinsic::Fma);
  CHECK(fma->args[2].as<Access>() != nullptr);
}
