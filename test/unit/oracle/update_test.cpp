/// Updates against plain C++.

#include "drawloom/ir/build.h"
#include "evaluated.h"

using namespace drawloom;

TEST_CASE("histogram", "[oracle]") {
  Var i("i");
  ImageParam in(UInt(8), 2, "in");
  const auto image = hashed(uint_type(8), box_of({{0, 13}, {0, 11}}));
  RDom r(0, in.width(), 0, in.height());
  Func hist("hist");
  hist(i) = 0;
  hist(cast<int32_t>(in(r.x, r.y))) += 1;
  std::vector<int> count(256);
  for (int64_t y = 0; y < 11; ++y) {
    for (int64_t x = 0; x < 13; ++x) ++count[static_cast<size_t>(image.at({x, y}).i)];
  }
  check_all<int32_t>(evaluated(hist, box_of({{0, 256}}), {{in, &image}}),
                     [&](Point p) { return count[static_cast<size_t>(p[0])]; });
}

TEST_CASE("prefix scan, also with untouched points around it", "[oracle]") {
  Var x("x");
  ImageParam in(Int(32), 1, "in");
  const auto image = hashed(int_type(32), box_of({{-5, 40}}));
  RDom r(1, 20, "r");
  Func f("f");
  f(x) = in(x);
  f(r) = f(r - 1) + in(r);
  check_all<int32_t>(evaluated(f, box_of({{-3, 30}}), {{in, &image}}), [&](Point p) {
    if (p[0] < 1 || p[0] > 20) return static_cast<int32_t>(image.at(p).i);
    uint32_t total = static_cast<uint32_t>(image.at({0}).i);
    for (int64_t k = 1; k <= p[0]; ++k) total += static_cast<uint32_t>(image.at({k}).i);
    return static_cast<int32_t>(total);
  });
}

TEST_CASE("a summed-area table by two scans", "[oracle]") {
  Var x("x"), y("y");
  ImageParam in(UInt(8), 2, "in");
  const auto image = hashed(uint_type(8), box_of({{0, 12}, {0, 9}}));
  RDom rx(1, 11, "rx"), ry(1, 8, "ry");
  Func s("s");
  s(x, y) = cast<uint32_t>(in(x, y));
  s(rx, y) += s(rx - 1, y);
  s(x, ry) += s(x, ry - 1);
  check_all<uint32_t>(evaluated(s, box_of({{0, 12}, {0, 9}}), {{in, &image}}), [&](Point p) {
    uint32_t total = 0;
    for (int64_t v = 0; v <= p[1]; ++v) {
      for (int64_t u = 0; u <= p[0]; ++u) total += static_cast<uint32_t>(image.at({u, v}).i);
    }
    return total;
  });
}

TEST_CASE("matrix product: the order of additions is that of the domain", "[oracle]") {
  Var i("i"), j("j");
  ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
  const auto ma = hashed(float_type(32), box_of({{0, 30}, {0, 5}}), 1),
             mb = hashed(float_type(32), box_of({{0, 4}, {0, 30}}), 2);
  RDom k(0, 30);
  Func c("c");
  c(i, j) = 0.1f;
  c(i, j) += a(k, j) * b(i, k) / 3.0f;
  const auto at = [](const Array& m, int64_t u, int64_t v) { return static_cast<float>(m.at({u, v}).f); };
  check_all<float>(evaluated(c, box_of({{0, 4}, {0, 5}}), {{a, &ma}, {b, &mb}}), [&](Point p) {
    float total = 0.1f;
    for (int64_t n = 0; n < 30; ++n) total = total + at(ma, n, p[1]) * at(mb, p[0], n) / 3.0f;
    return total;
  });
}

TEST_CASE("inline sum, maximum and minimum", "[oracle]") {
  Var x("x");
  ImageParam in(Int(16), 1, "in");
  const auto image = hashed(int_type(16), box_of({{0, 30}}));
  RDom r(0, 5), none(0, 0);
  Func f("f");
  f(x) = Tuple(sum(cast<int32_t>(in(x + r))), maximum(in(x + r)), minimum(in(x + r)), maximum(in(x + none)));
  const auto out = outcome({f}, {box_of({{0, 26}})}, {{in, &image}});
  const auto window = [&](int64_t x0) {
    std::vector<int64_t> v;
    for (int64_t k = 0; k < 5; ++k) v.push_back(image.at({x0 + k}).i);
    return v;
  };
  check_all<int32_t>(out.arrays[0], [&](Point p) {
    int64_t total = 0;
    for (const int64_t v : window(p[0])) total += v;
    return total;
  });
  check_all<int16_t>(out.arrays[1], [&](Point p) {
    const auto w = window(p[0]);
    return *std::max_element(w.begin(), w.end());
  });
  check_all<int16_t>(out.arrays[2], [&](Point p) {
    const auto w = window(p[0]);
    return *std::min_element(w.begin(), w.end());
  });
  check_all<int16_t>(out.arrays[3], [&](Point) { return -32768; });
}

TEST_CASE("argmin as a tuple: all components see the state before", "[oracle]") {
  Var x("x");
  ImageParam in(Int(32), 1, "in");
  const auto image = hashed(int_type(32), box_of({{0, 50}}));
  RDom r(0, 50);
  Func best("best"), swapped("swapped");
  best() = Tuple(std::numeric_limits<int32_t>::max(), -1);
  Expr better = in(r) < best()[0];
  best() = Tuple(select(better, in(r), best()[0]), select(better, cast<int32_t>(r), best()[1]));
  int64_t where = 0;
  for (int64_t i = 0; i < 50; ++i) where = image.at({i}).i < image.at({where}).i ? i : where;
  const auto out = outcome({best}, {{}}, {{in, &image}});
  CHECK(out.arrays[0].at({}).i == image.at({where}).i);
  CHECK(out.arrays[1].at({}).i == where);

  RDom twice(0, 3);
  swapped(x) = Tuple(x, x + 100);
  swapped(x) = Tuple(swapped(x)[1], swapped(x)[0] + cast<int32_t>(twice));
  const auto s = outcome({swapped}, {box_of({{0, 5}})});
  check_all<int32_t>(s.arrays[0], [](Point p) {
    int64_t a = p[0], b = p[0] + 100;
    for (int k = 0; k < 3; ++k) std::swap(a, b), b += k;
    return a;
  });
}

TEST_CASE("the first dimension of a domain runs fastest", "[oracle]") {
  RDom r(1, 2, 1, 3);
  Func f("f");
  f() = 0;
  f() = f() * 10 + cast<int32_t>(r.x + 2 * r.y);
  CHECK(evaluated(f, {}).at({}).i == 345678);
}

TEST_CASE("of several writes the last one stays; updates come in order", "[oracle]") {
  Var x("x");
  RDom r(0, 8);
  Func f("f");
  f(x) = -1;
  f(r % 3) = cast<int32_t>(r);
  f(x) = f(x) * 2;
  f(1) = f(1) + 1000;
  check_all<int32_t>(evaluated(f, box_of({{-1, 6}})), [](Point p) {
    const int32_t last[] = {6, 7, 5};
    const int32_t v = p[0] >= 0 && p[0] < 3 ? last[p[0]] * 2 : -2;
    return p[0] == 1 ? v + 1000 : v;
  });
}

TEST_CASE("scatter by data, with a parameter as extent; a negative one runs nothing", "[oracle]") {
  Var x("x");
  Param<int32_t> n("n");
  ImageParam to(Int(8), 1, "to");
  const auto where = hashed(int_type(8), box_of({{0, 60}}));
  RDom r(0, n);
  Func f("f");
  f(x) = 0;
  f(clamp(cast<int32_t>(to(r)), -20, 20)) = cast<int32_t>(r) + 1;
  for (const int64_t extent : {-3, 0, 1, 60}) {
    std::vector<int64_t> want(41);
    for (int64_t k = 0; k < extent; ++k) {
      const int64_t v = where.at({k}).i;
      want[static_cast<size_t>((v < -20 ? -20 : v > 20 ? 20 : v) + 20)] = k + 1;
    }
    check_all<int32_t>(
        evaluated(f, box_of({{-20, 41}}), {{to, &where}}, {{n.symbol(), int_value(int_type(32), extent)}}),
        [&](Point p) { return want[static_cast<size_t>(p[0] + 20)]; });
  }
}

TEST_CASE("bubbling up: reads elsewhere see the state before the iteration", "[oracle]") {
  Var x("x");
  ImageParam in(Int(16), 1, "in");
  const auto image = hashed(int_type(16), box_of({{0, 10}}));
  RDom r(0, 9, 0, 10);  // ten passes, each moves the larger of two neighbours to the right
  Func f("f");
  f(x) = in(clamp(x, 0, 9));
  Func g("g");
  g(x) = f(x);
  g(r.x + 1) = max(g(r.x), g(r.x + 1));
  // Without the other half of the exchange this is a running maximum, pass after pass.
  check_all<int16_t>(evaluated(g, box_of({{0, 10}}), {{in, &image}}), [&](Point p) {
    std::vector<int64_t> v;
    for (int64_t i = 0; i < 10; ++i) v.push_back(image.at({i}).i);
    for (int pass = 0; pass < 10; ++pass) {
      for (size_t i = 0; i < 9; ++i) v[i + 1] = std::max(v[i], v[i + 1]);
    }
    return v[static_cast<size_t>(p[0])];
  });
}

TEST_CASE("an update over an ordered dimension (Jacobi steps between fixed ends)", "[oracle]") {
  Var x("x"), t("t");
  ImageParam in(Float(32), 1, "in");
  const auto image = hashed(float_type(32), box_of({{0, 12}}));
  RDom r(1, 10, 1, 6);  // x, then t
  Func u("u");
  u(x, t) = in(x);
  u(r.x, r.y) = (u(r.x - 1, r.y - 1) + u(r.x + 1, r.y - 1)) * 0.5f;
  float state[9][12];
  for (int64_t step = 0; step < 9; ++step) {
    for (int64_t i = 0; i < 12; ++i) {
      const bool inside = step >= 1 && step <= 6 && i >= 1 && i <= 10;
      state[step][i] =
          inside ? (state[step - 1][i - 1] + state[step - 1][i + 1]) * 0.5f : static_cast<float>(image.at({i}).f);
    }
  }
  check_all<float>(evaluated(u, box_of({{0, 12}, {0, 9}}), {{in, &image}}), [&](Point p) { return state[p[1]][p[0]]; });
}

TEST_CASE("pure coordinates of one iteration are simultaneous", "[oracle]") {
  // f(x) = x; then 3 times, for all x at once, f(x) = f(x) + f(x + 1): built by hand, since the front end asks for an
  // ordered dimension here.
  auto f = make_ref<FunctionDef>("f");
  const auto x = make_symbol(SymbolKind::Var, "x"), r = make_symbol(SymbolKind::RVar, "r");
  const Type i64 = int_type(64);
  f->args = {x};
  f->types = {i64};
  f->pure = {.lhs = {var_ref(x)},
             .values = {cast(i64, var_ref(x))},
             .contracted = {cast(i64, var_ref(x))},
             .rdom = {},
             .loc = {}};
  auto domain = make_ref<ReductionDomain>();
  domain->dims = {{.symbol = r, .min = index_imm(0), .extent = index_imm(3)}};
  const auto at = [&](int64_t d) {
    return access(i64, f.get(), {}, 0, {binary(BinaryOp::Add, var_ref(x), index_imm(d))});
  };
  const ExprList values = {binary(BinaryOp::Add, access(i64, f.get(), {}, 0, {var_ref(x)}), at(1))};
  f->updates = {{.lhs = {var_ref(x)}, .values = values, .contracted = values, .rdom = domain, .loc = {}}};

  PipelineDef pipeline;
  pipeline.funcs = pipeline.outputs = {f};
  OracleInputs in;
  in.output_boxes = {box_of({{-2, 6}})};
  const auto out = evaluate(pipeline, in, false).or_throw();
  // Three steps weigh the neighbours by 1 3 3 1.
  for (int64_t p = -2; p < 4; ++p) CHECK(out.arrays[0].at({p}).i == p + 3 * (p + 1) + 3 * (p + 2) + (p + 3));
}

TEST_CASE("a left side that reads its own Func sees the state before the iteration", "[oracle]") {
  auto f = make_ref<FunctionDef>("f");
  const auto x = make_symbol(SymbolKind::Var, "x"), r = make_symbol(SymbolKind::RVar, "r");
  const auto own = [&](Expr at) { return access(kIndex, f.get(), {}, 0, {std::move(at)}); };
  f->args = {x};
  f->types = {kIndex};
  f->pure = {.lhs = {var_ref(x)}, .values = {index_imm(0)}, .contracted = {index_imm(0)}, .rdom = {}, .loc = {}};
  auto domain = make_ref<ReductionDomain>();
  domain->dims = {{.symbol = r, .min = index_imm(0), .extent = index_imm(9)}};
  // f(f(0) % 4) = f(0) + 1 + r
  const ExprList lhs = {binary(BinaryOp::Mod, own(index_imm(0)), index_imm(4))};
  const ExprList values = {binary(BinaryOp::Add, binary(BinaryOp::Add, own(index_imm(0)), index_imm(1)), var_ref(r))};
  f->updates = {{.lhs = lhs, .values = values, .contracted = values, .rdom = domain, .loc = {}}};
  PipelineDef pipeline;
  pipeline.funcs = pipeline.outputs = {f};
  OracleInputs in;
  in.output_boxes = {box_of({{0, 4}})};
  // f is index, which is no element of an array: read it through a second Func.
  auto g = make_ref<FunctionDef>("g");
  const auto y = make_symbol(SymbolKind::Var, "y");
  const Expr value = cast(int_type(32), access(kIndex, f.get(), f, 0, {var_ref(y)}));
  g->args = {y};
  g->types = {int_type(32)};
  g->pure = {.lhs = {var_ref(y)}, .values = {value}, .contracted = {value}, .rdom = {}, .loc = {}};
  pipeline.outputs = {g};

  int64_t state[4] = {};
  for (int64_t k = 0; k < 9; ++k) {
    const int64_t zero = state[0];
    state[zero % 4] = zero + 1 + k;
  }
  const auto out = evaluate(pipeline, in, false).or_throw();
  for (int64_t p = 0; p < 4; ++p) CHECK(out.arrays[0].at({p}).i == state[p]);
}
