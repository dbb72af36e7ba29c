/// Values, masks, loops, shared memory and races.

#include "drawloom/ir/build.h"
#include "drawloom/ir/rewrite.h"
#include "kernel.h"

using namespace drawloom;

TEST_CASE("every thread of a grid runs once", "[simt]") {
  const auto r =
      run_kernel({.body = "store %out[%b * 64 + %t] = %in[%b * 64 + %t] * 2:f32 + 1:f32", .threads = 64, .blocks = 3});
  CHECK(r.report.clean());
  for (int64_t i = 0; i < 192; ++i) CHECK(r.out.at({i}).f == static_cast<double>(i % 251 - 125) * 2 + 1);
}

TEST_CASE("lanes part at an if and at loops of different lengths, and meet again", "[simt]") {
  const auto r = run_kernel({.body = R"(
    allocate %sum: f32[1] register
    store %sum[0] = 0:f32
    for %i = 0 : %t % 5 {
      store %sum[0] = %sum[0] + 1:f32
    }
    if %t < 7 {
      store %sum[0] = %sum[0] + 100:f32
    } else {
      store %sum[0] = %sum[0] + 200:f32
    }
    store %out[%t] = %sum[0])"});
  CHECK(r.report.clean());
  for (int64_t t = 0; t < 32; ++t) CHECK(r.out.at({t}).f == static_cast<double>(t % 5) + (t < 7 ? 100 : 200));
}

TEST_CASE("shared memory between warps needs the block's barrier", "[simt]") {
  const std::string before = "store %s[%t] = 0:f32\nsync block\nstore %s[%t] = %in[%t]\n",
                    after = "store %out[%t] = %s[63 - %t]";
  keeps({.body = before + "sync block\n" + after, .threads = 64});
  breaks({.body = before + after, .threads = 64}, DiagKind::device_race, "`s[", 0);
  const auto r = run_kernel({.body = before + "sync block\n" + after, .threads = 64});
  for (int64_t t = 0; t < 64; ++t) CHECK(r.out.at({t}).f == static_cast<double>(63 - t - 125));
}

TEST_CASE("lanes of a warp need the warp's barrier", "[simt]") {
  const std::string before = "store %s[%t] = %in[%t]\n", after = "store %out[%t] = %s[31 - %t]";
  keeps({.body = before + "sync warp\n" + after});
  breaks({.body = before + after}, DiagKind::device_race, "lane", 2);
}

TEST_CASE("a second pass over shared memory needs the second barrier", "[simt]") {
  const auto body = [](bool second) {
    return std::string(
               "for %i = 0 : 3 {\nstore %s[%t] = %in[%t + %i]\nsync block\nstore %out[%t + 64 * %i] = %s[63 - %t]\n") +
           (second ? "sync block\n" : "") + "}";
  };
  keeps({.body = body(true), .threads = 64});
  breaks({.body = body(false), .threads = 64}, DiagKind::device_race, "`s[");
}

TEST_CASE("two lanes may write one value to one place, not two", "[simt]") {
  keeps({.body = "store %s[0] = 5:f32\nsync warp\nstore %out[%t] = %s[0]"});
  breaks({.body = "store %s[0] = %in[%t]\nsync warp\nstore %out[%t] = %s[0]"}, DiagKind::device_race, "writes", 1);
}

TEST_CASE("blocks do not see each other", "[simt]") {
  breaks({.body = "store %out[%t] = cast<f32>(%b)", .blocks = 2}, DiagKind::device_race, "writes `out`", 1);
  breaks({.body = "if %b == 0 {\nstore %out[%t] = 1:f32\n} else {\nstore %out[64 + %t] = %out[%t]\n}", .blocks = 2},
         DiagKind::device_race, "`out`");
}

TEST_CASE("what was never written may be moved, not used", "[simt]") {
  breaks({.body = "store %out[%t] = %s[%t]"}, DiagKind::device_uninitialised, "`s`", 1);
  breaks({.body = "allocate %r: f32[2] register\nstore %out[%t] = %r[1]"}, DiagKind::device_uninitialised, "`r`", 2);
  breaks({.body = "if %s[%t] > 0:f32 {\nstore %out[%t] = 1:f32\n}"}, DiagKind::device_uninitialised, "decides an if",
         1);
  keeps({.body = "allocate %r: f32[2] register\nstore %r[0] = %s[%t]\nstore %out[%t] = select(%t < 64, 1:f32, %r[0])"});
}

TEST_CASE("outside a buffer", "[simt]") {
  breaks({.body = "store %out[%t + 4090] = 1:f32"}, DiagKind::device_out_of_bounds, "lane 6", 1);
  breaks({.body = "store %s[%t + 250] = 1:f32"}, DiagKind::device_out_of_bounds, "s[256]", 1);
  breaks({.body = "store %out[%t] = %in[%t - 1]"}, DiagKind::device_out_of_bounds, "lane 0", 1);
}

TEST_CASE("index arithmetic has 32 bits", "[simt]") {
  breaks({.body = "store %out[(%t * 100000000 + %t) % 64] = 1:f32"}, DiagKind::device_protocol, "32 bits", 1);
  keeps({.body = "store %out[(%t * 60000000 + %t) % 4096] = 1:f32"});
}

TEST_CASE("collectives need their whole group", "[simt]") {
  breaks({.body = "if %t < 16 {\nsync block\n}"}, DiagKind::device_protocol, "16 of its 32", 2);
  breaks({.body = "if %t < 32 {\nsync block\n}", .threads = 64}, DiagKind::device_deadlock, "32 of 64 threads", 2);
  breaks({.body = "if warp_uniform(%t) == 0 {\n}"}, DiagKind::device_protocol, "warp_uniform of 1", 1);
  keeps({.body = "if warp_uniform(%t / 32) == 0 {\nelect {\nstore %out[0] = 1:f32\n}\n}", .threads = 64});
  breaks({.body = "if %t < 16 {\nelect {\nstore %out[0] = 1:f32\n}\n}"}, DiagKind::device_protocol, "16 of its 32", 2);
}

TEST_CASE("named barriers", "[simt]") {
  const std::string write = "store %s[%t] = %in[%t]\n", read = "store %out[%t] = %s[63 - %t]\n";
  keeps({.body = write + "sync named 1 threads 64\n" + read, .threads = 64});
  breaks({.body = "if %t < 32 {\nsync named 1 threads 64\n} else {\nsync named 1 threads 96\n}", .threads = 96},
         DiagKind::device_protocol, "threads here and");
  // Two pairs of warps meet at one number: each pair may complete the other's.
  breaks({.body = "if %t < 64 {\nsync named 1 threads 64\n} else {\nsync named 1 threads 64\n}", .threads = 128},
         DiagKind::device_protocol, "another group");
  keeps({.body = "if %t < 64 {\nsync named 1 threads 64\n} else {\nsync named 2 threads 64\n}", .threads = 128});
  keeps({.body = "sync named 1 threads 128\nif %t < 64 {\nsync named 2 threads 64\n}\nsync block\nif %t >= 64 {\nsync "
                 "named 2 threads 64\n}",
         .threads = 128});
  // One warp hands over without waiting.
  keeps({.body = "if %t < 32 {\n" + write +
                 "sync arrive 1 threads 64\n} else {\nsync named 1 threads 64\nstore %out[%t] = %s[%t - 32]\n}",
         .threads = 64});
  breaks({.body = "if %t < 32 {\nsync arrive 1 threads 64\nsync arrive 1 threads 64\n}", .threads = 64},
         DiagKind::device_protocol, "twice", 3);
}

TEST_CASE("bank conflicts are counted", "[simt]") {
  const auto r = run_kernel({.body = "store %s[%t * 2] = 1:f32\nsync warp\nstore %out[%t] = %s[%t * 2 % 64 / 32 * 0]"},
                            {.count_bank_conflicts = true});
  REQUIRE(r.report.clean());
  REQUIRE(r.report.bank_conflicts.size() == 2);
  CHECK(r.report.bank_conflicts[0].wavefronts == 2);  // every second word: two words in each even bank
  CHECK(r.report.bank_conflicts[1].wavefronts == 1);  // all lanes read one word
}

TEST_CASE("a run is a function of its seed", "[simt]") {
  const Kernel k{.body = "store %s[%t] = %in[%t]\nstore %out[%t] = %s[63 - %t]", .threads = 64};
  const SimOptions o{.order = WarpOrder::random, .moment = AsyncMoment::random, .seed = 11};
  const auto a = run_kernel(k, o), b = run_kernel(k, o);
  REQUIRE(a.report.errors.size() == b.report.errors.size());
  CHECK(a.report.steps == b.report.steps);
  for (size_t i = 0; i < a.report.errors.size(); ++i) CHECK(a.report.errors[i].text() == b.report.errors[i].text());
}

namespace {

/// Stores of one number get what `value` makes of it.
struct StoresGet : Rewriter<StoresGet> {
  Expr (*value)(const SymbolRef& symbol, const Expr& stored);
  SymbolRef symbol = make_symbol(SymbolKind::Let, "x", float_type(32));
  explicit StoresGet(Expr (*v)(const SymbolRef& symbol, const Expr& stored)) : value(v) {}
  auto on(const Store& n, const Stmt&) -> Stmt { return store(n.buffer, n.index, value(symbol, n.value)); }
};

auto run_with(Expr (*value)(const SymbolRef& symbol, const Expr& stored)) -> Ran {
  Program p = parsed(Kernel{.body = "store %out[%t] = cast<f32>(%t)"}.text());
  p.body = StoresGet(value).rewrite(p.body);
  for (const auto& d : verify(p, 0)) FAIL(d.text());
  Ran out{.report = {}, .out = make_array(float_type(32), {{.extent = 4096}})};
  Array in = hashed_input(float_type(32), 4096);
  out.report = simulate(p, {{.array = &in}, {.array = &out.out}}, {}).or_throw();
  return out;
}

auto times(const Expr& a, double b) -> Expr { return binary(BinaryOp::Mul, a, float_imm(float_type(32), b)); }
auto plus_one(const Expr& a) -> Expr { return binary(BinaryOp::Add, a, float_imm(float_type(32), 1)); }

}  // namespace

TEST_CASE("a symbol that two lets of a statement bind means the value of each in its own body", "[simt]") {
  const auto r = run_with([](const SymbolRef& x, const Expr& t) {
    const Expr body = plus_one(var_ref(x));
    return binary(BinaryOp::Mul, let(x, times(t, 2), body), let(x, times(t, 3), body));
  });
  CHECK(r.report.clean());
  for (int64_t t = 0; t < 32; ++t) CHECK(r.out.at({t}).f == static_cast<double>((2 * t + 1) * (3 * t + 1)));
}

TEST_CASE("behind an inner let of the same symbol the outer value holds again", "[simt]") {
  const auto r = run_with([](const SymbolRef& x, const Expr& t) {
    const Expr inner = let(x, times(t, 3), plus_one(var_ref(x)));
    return let(x, times(t, 2), binary(BinaryOp::Mul, inner, var_ref(x)));
  });
  CHECK(r.report.clean());
  for (int64_t t = 0; t < 32; ++t) CHECK(r.out.at({t}).f == static_cast<double>((3 * t + 1) * 2 * t));
}
