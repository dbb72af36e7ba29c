/// Programs as text, compiled into this process: entry points, loops, storage, parallel tasks, errors.

#include <atomic>
#include <thread>

#include "drawloom/runtime_testing.h"
#include "jit_text.h"

namespace drawloom {
namespace {

/// A context of runtime_testing.h; tells at its end that nothing leaked.
class TestContext {
 public:
  explicit TestContext(drawloom_test_options_t options = {}) : ctx_(drawloom_test_context_create(&options)) {
    REQUIRE(ctx_);
  }
  ~TestContext() {
    const drawloom_test_report_t seen = report();
    CHECK(seen.live_blocks == 0);
    CHECK(seen.damaged_blocks == 0);
    CHECK(seen.wrong_frees == 0);
    drawloom_test_context_destroy(ctx_);
  }
  TestContext(const TestContext&) = delete;
  auto get() -> drawloom_context_t* { return ctx_; }
  auto report() -> drawloom_test_report_t { return drawloom_test_report(ctx_); }
  auto message() -> std::string {
    char text[drawloom_message_bytes];
    drawloom_last_error(ctx_, text, sizeof text);
    return text;
  }

 private:
  drawloom_context_t* ctx_;
};

TEST_CASE("a loop computes and both entry points agree", "[codegen][jit]") {
  const auto module = compile(R"(
func @add(%in: buffer<f32, 1>, %bias: f32, out %out: buffer<f32, 1>) {
  for %x = 0 : extent(%out, 0) {
    store %out[%x] = %in[%x] + %bias
  }
})");
  Array<float> in({5}), out({5}), again({5});
  for (size_t i = 0; i < 5; i++) in[i] = static_cast<float>(i) * 0.5f;
  const float bias = 10;
  CHECK(run(*module, "add", nullptr, in, &bias, out) == 0);
  using Add = int(drawloom_context_t*, const drawloom_buffer_t*, float, drawloom_buffer_t*);
  CHECK(reinterpret_cast<Add*>(module->entry("add"))(nullptr, in.buffer(), bias, again.buffer()) == 0);
  for (size_t i = 0; i < 5; i++) {
    CHECK(out[i] == 10 + static_cast<float>(i) * 0.5f);
    CHECK(again[i] == out[i]);
  }
  CHECK(out.buffer()->flags == drawloom_flag_host_dirty);
  CHECK(in.buffer()->flags == 0);
  CHECK(module->entry("none") == nullptr);
  CHECK(module->argv("none") == nullptr);
}

TEST_CASE("registers that cannot become values are memory", "[codegen][jit]") {
  const auto module = compile(R"(
func @f(%in: buffer<u8, 1>, out %out: buffer<u8, 1>) {
  allocate %window: u8[16] register
  for %i = 0 : 16 {
    store %window[%i] = %in[%i]
  }
  store %out[0] = %window[cast<index>(%in[0])]
})");
  Array<uint8_t> in({16}), out({1});
  for (size_t i = 0; i < 16; i++) in[i] = static_cast<uint8_t>(7 * (i + 1) % 16);
  CHECK(run(*module, "f", nullptr, in, out) == 0);
  CHECK(out[0] == in[7]);
}

TEST_CASE("lanes of register accesses that are off may lie outside", "[codegen][jit]") {
  // `at` is a number or a variable, which keeps the registers in memory; far away where all lanes are off.
  const auto masked = [](const std::string& at, int stride, int on) {
    return str(R"(
func @f(%at: index, %far: index, %in: buffer<i32, 1>, out %out: buffer<i32, 1>) {{
  allocate %r: i32[8] register
  store %r[ramp(0, 1, 8)] = %in[ramp(0, 1, 8)]
  store %r[ramp({0}, {1}, 4); mask ramp(0, 1, 4) < broadcast({2}, 4)] = %in[ramp(8, 1, 4)]
  store %r[ramp({3}, {1}, 4); mask ramp(0, 1, 4) < broadcast(0, 4)] = %in[ramp(8, 1, 4)]
  store %out[ramp(8, 1, 4); mask ramp(0, 1, 4) < broadcast({2}, 4)] = %r[ramp({0}, {1}, 4); mask ramp(0, 1, 4) < broadcast({2}, 4)]
  store %out[ramp(8, 1, 4); mask ramp(0, 1, 4) < broadcast(0, 4)] = %r[ramp({3}, {1}, 4); mask ramp(0, 1, 4) < broadcast(0, 4)]
  store %out[ramp(0, 1, 8)] = %r[ramp(0, 1, 8)]
}})",
               at, stride, on, at == "%at" ? "%far" : "4000");
  };
  struct Case {
    int64_t at;
    int stride, on;
  };
  for (const Case c : {Case{1, -1, 2}, Case{6, 1, 2}, Case{3, -2, 2}, Case{5, 2, 2}, Case{0, -4, 1}, Case{7, 7, 1}}) {
    for (const bool variable : {false, true}) {
      INFO("at " << c.at << " stride " << c.stride << (variable ? ", variable" : ", constant"));
      const auto module = compile(masked(variable ? "%at" : std::to_string(c.at), c.stride, c.on));
      Array<int32_t> in({12}), out({12});
      for (size_t i = 0; i < 12; i++) in[i] = static_cast<int32_t>(100 + i), out[i] = -1;
      const int64_t far = int64_t{1} << 40;
      REQUIRE(run(*module, "f", nullptr, &c.at, &far, in, out) == 0);
      for (int64_t i = 0; i < 8; i++) {
        const int64_t lane = (i - c.at) / c.stride;
        const bool written = (i - c.at) % c.stride == 0 && lane >= 0 && lane < c.on;
        CHECK(out[static_cast<size_t>(i)] == (written ? 108 + lane : 100 + i));
      }
      for (int lane = 0; lane < 4; lane++) CHECK(out[static_cast<size_t>(8 + lane)] == (lane < c.on ? 108 + lane : -1));
    }
  }
}

TEST_CASE("scalars of every type arrive", "[codegen][jit]") {
  const auto module = compile(R"(
func @scalars(%a: i8, %b: u8, %c: i16, %d: u16, %e: i32, %f: u32, %g: i64, %h: u64, %i: f32, %j: f64, %k: bool, out %out: buffer<f64, 1>) {
  store %out[0] = cast<f64>(%a)
  store %out[1] = cast<f64>(%b)
  store %out[2] = cast<f64>(%c)
  store %out[3] = cast<f64>(%d)
  store %out[4] = cast<f64>(%e)
  store %out[5] = cast<f64>(%f)
  store %out[6] = cast<f64>(%g)
  store %out[7] = cast<f64>(%h)
  store %out[8] = cast<f64>(%i)
  store %out[9] = %j
  store %out[10] = cast<f64>(%k)
})");
  Array<double> out({11}), again({11});
  const int8_t a = -100;
  const uint8_t b = 200, k = 1;
  const int16_t c = -30000;
  const uint16_t d = 60000;
  const int32_t e = -2000000000;
  const uint32_t f = 4000000000u;
  const int64_t g = -5000000000;
  const uint64_t h = uint64_t(1) << 63;
  const float i = 0.5f;
  const double j = -0.25;
  REQUIRE(run(*module, "scalars", nullptr, &a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k, out) == 0);
  using Entry = int(drawloom_context_t*, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t,
                    float, double, uint8_t, drawloom_buffer_t*);
  REQUIRE(reinterpret_cast<Entry*>(module->entry("scalars"))(nullptr, a, b, c, d, e, f, g, h, i, j, k,
                                                             again.buffer()) == 0);
  const double expected[] = {-100, 200, -30000, 60000, -2e9, 4e9, -5e9, 9223372036854775808.0, 0.5, -0.25, 1};
  for (size_t n = 0; n < 11; n++) {
    CHECK(out[n] == expected[n]);
    CHECK(again[n] == expected[n]);
  }
}

TEST_CASE("loops, lets, branches; extents of 0 and below mean nothing", "[codegen][jit]") {
  const auto module = compile(R"(
func @nest(%n: i64, out %out: buffer<i32, 1>) {
  let %e = cast<index>(%n)
  for %y = -2 : %e {
    for %x = %y : 3 {
      let %v = %x * 10 + %y
      if %v % 2 == 0 {
        store %out[0] = %out[0] + cast<i32>(%v)
      } else {
        store %out[1] = %out[1] + 1:i32
      }
    }
  }
})");
  for (int64_t n : {int64_t(-5), int64_t(0), int64_t(1), int64_t(6)}) {
    int32_t even = 0, odd = 0;
    for (int64_t y = -2; y < -2 + n; y++) {
      for (int64_t x = y; x < y + 3; x++) {
        const int64_t v = x * 10 + y;
        if (v % 2 == 0)
          even += static_cast<int32_t>(v);
        else
          odd++;
      }
    }
    Array<int32_t> out({2});
    REQUIRE(run(*module, "nest", nullptr, &n, out) == 0);
    CHECK(out[0] == even);
    CHECK(out[1] == odd);
  }
}

/// min, extent and stride of a buffer are the caller's; a subscript counts from the host address.
TEST_CASE("fields of buffers are symbols", "[codegen][jit]") {
  const auto module = compile(R"(
func @fields(%in: buffer<u8, 2>, out %out: buffer<i64, 1>) {
  store %out[0] = cast<i64>(min(%in, 0))
  store %out[1] = cast<i64>(extent(%in, 0))
  store %out[2] = cast<i64>(stride(%in, 0))
  store %out[3] = cast<i64>(min(%in, 1))
  store %out[4] = cast<i64>(extent(%in, 1))
  store %out[5] = cast<i64>(stride(%in, 1))
  store %out[6] = cast<i64>(%in[(6 - min(%in, 0)) * stride(%in, 0) + (8 - min(%in, 1)) * stride(%in, 1)])
})");
  Array<uint8_t> in({4, 3});
  in.dim(0) = {5, 4, 1};
  in.dim(1) = {-7, 3, 4};
  in.dim(1).min = 7;
  for (size_t i = 0; i < 12; i++) in[i] = static_cast<uint8_t>(i);
  Array<int64_t> out({7});
  REQUIRE(run(*module, "fields", nullptr, in, out) == 0);
  const int64_t expected[] = {5, 4, 1, 7, 3, 4, 1 * 1 + 1 * 4};
  for (size_t i = 0; i < 7; i++) CHECK(out[i] == expected[i]);
}

constexpr const char* kParallel = R"(
func @rows(%in: buffer<i32, 2>, %k: i32, %on: bool, %half: f32, out %out: buffer<i32, 2>) {
  let %base = 1000:i32 * %k
  parallel for %y = 0 : extent(%out, 1) {
    allocate %row: i32[extent(%out, 0)] heap
    for %x = 0 : extent(%out, 0) {
      store %row[%x] = %in[%x * stride(%in, 0) + %y * stride(%in, 1)] + %base + cast<i32>(%y)
    }
    let %t = select(%on, cast<i32>(%half * 8.0:f32), 0:i32)
    parallel for %x = 0 : extent(%out, 0) {
      store %out[%x + %y * stride(%out, 1)] = %row[%x] * 2:i32 + %t + cast<i32>(%x)
    }
  }
})";

TEST_CASE("parallel loops see what surrounds them, in any order, also nested", "[codegen][jit]") {
  const auto module = compile(kParallel);
  for (uint32_t how : {drawloom_test_serial, drawloom_test_openmp, drawloom_test_pthread, drawloom_test_permute}) {
    TestContext ctx({.par_for = how, .num_threads = 3, .poison = 0x7f, .seed = 5});
    Array<int32_t> in({13, 9}), out({13, 9});
    for (size_t i = 0; i < in.size(); i++) in[i] = static_cast<int32_t>(i * i);
    const int32_t k = 3;
    const uint8_t on = 1;
    const float half = 0.5f;
    REQUIRE(run(*module, "rows", ctx.get(), in, &k, &on, &half, out) == 0);
    int wrong = 0;
    for (size_t i = 0; i < in.size(); i++) {
      const int32_t x = static_cast<int32_t>(i % 13), y = static_cast<int32_t>(i / 13);
      wrong += out[i] != (in[i] + 3000 + y) * 2 + 4 + x;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("when memory runs out the call says so and frees the rest", "[codegen][jit]") {
  const auto module = compile(R"(
func @three(%n: i64, out %out: buffer<u8, 1>) {
  allocate %a: u8[cast<index>(%n)] heap
  for %i = 0 : 3 {
    allocate %b: u16[10] heap
    store %b[%i] = 7:u16
    parallel for %j = 0 : 2 {
      allocate %c: f64[4, cast<index>(%n)] heap {
        store %c[0] = 1.0:f64
      }
    }
  }
  store %out[0] = 1:u8
})");
  const int64_t n = 100;
  constexpr int64_t kMallocs = 1 + 3 * (1 + 2);
  for (int64_t fail = 1; fail <= kMallocs + 1; fail++) {
    TestContext ctx({.fail_malloc = fail});
    Array<uint8_t> out({1});
    const int code = run(*module, "three", ctx.get(), &n, out);
    CHECK(ctx.report().mallocs == std::min(fail, kMallocs));
    CHECK(code == (fail <= kMallocs ? drawloom_error_out_of_memory : 0));
    CHECK(out[0] == (fail <= kMallocs ? 0 : 1));
    if (fail == 1) CHECK(ctx.message().find("three: no memory for a (100 bytes)") != std::string::npos);
    if (fail == 3) CHECK(ctx.message().find("three: no memory for c (3200 bytes)") != std::string::npos);
  }
}

TEST_CASE("storage sizes neither overflow nor go below zero", "[codegen][jit]") {
  const auto module = compile(R"(
func @size(%n: i64, out %out: buffer<u8, 1>) {
  allocate %a: f64[cast<index>(%n), 4] heap
  store %out[0] = 1:u8
})");
  for (int64_t huge : {int64_t(1) << 60, int64_t(1) << 62, std::numeric_limits<int64_t>::max()}) {
    TestContext ctx({.allocator = drawloom_test_pool});
    Array<uint8_t> out({1});
    CHECK(run(*module, "size", ctx.get(), &huge, out) == drawloom_error_out_of_memory);
  }
  TestContext ctx;
  Array<uint8_t> out({1});
  const int64_t negative = -5;
  CHECK(run(*module, "size", ctx.get(), &negative, out) == 0);
  CHECK(out[0] == 1);
}

TEST_CASE("a failed check leaves with its code and message", "[codegen][jit]") {
  const auto module = compile(R"(
func @checked(%n: i32, %f: f32, %u: u64, %b: bool, out %out: buffer<i32, 1>) {
  allocate %a: i32[8] heap
  store %out[0] = 1:i32
  parallel for %i = 0 : 4 {
    check cast<index>(%n) > %i "constraint_failed" "n is {}, 100% more than {} {} {} {}"(%n, %i, %f, %u, %b)
  }
  store %out[0] = 2:i32
})");
  TestContext ctx;
  Array<int32_t> out({1});
  const int32_t good = 4, bad = 2;
  const float f = 0.1f;
  const uint64_t u = ~uint64_t{0};
  const uint8_t b = 1;
  CHECK(run(*module, "checked", ctx.get(), &good, &f, &u, &b, out) == 0);
  CHECK(out[0] == 2);
  CHECK(run(*module, "checked", ctx.get(), &bad, &f, &u, &b, out) == drawloom_error_constraint_failed);
  CHECK(out[0] == 1);
  CHECK(ctx.message() == "n is 2, 100% more than 2 0.100000001 18446744073709551615 1");
  CHECK(ctx.report().errors == 1);
}

TEST_CASE("stack and register storage", "[codegen][jit]") {
  const auto module = compile(R"(
func @rotate(%in: buffer<f32, 1>, out %out: buffer<f32, 1>) {
  allocate %r: f32[16] rank 1 register
  allocate %s: f32[8] stack
  store %r[ramp(0, 1, 8)] = %in[ramp(0, 1, 8)]
  for %i = 0 : 3 {
    store %r[ramp(8, 1, 8)] = %in[ramp(%i * 8 + 8, 1, 8)]
    store %s[ramp(0, 1, 8)] = %r[ramp(0, 1, 8)] + %r[ramp(8, 1, 8)]
    store %out[ramp(%i * 8, 1, 8)] = %s[ramp(7, -1, 8)] + broadcast(%r[3], 8)
    store %r[ramp(0, 1, 8); mask ramp(0, 1, 8) < 6:indexx8] = %r[ramp(8, 1, 8)]
  }
})");
  Array<float> in({32}), out({24});
  for (size_t i = 0; i < 32; i++) in[i] = static_cast<float>(i * i);
  REQUIRE(run(*module, "rotate", nullptr, in, out) == 0);
  float kept[8];
  for (size_t k = 0; k < 8; k++) kept[k] = in[k];
  for (size_t i = 0; i < 3; i++) {
    for (size_t k = 0; k < 8; k++) CHECK(out[i * 8 + k] == kept[7 - k] + in[i * 8 + 8 + 7 - k] + kept[3]);
    for (size_t k = 0; k < 6; k++) kept[k] = in[i * 8 + 8 + k];
  }
}

TEST_CASE("arguments are checked before anything runs", "[codegen][jit]") {
  const auto module = compile(R"(
func @args(%in: buffer<u8, 1>, %n: i32 in [1, 10], out %a: buffer<u8, 1>, out %b: buffer<u16, 2>) {
  store %a[0] = %in[0]
})");
  QuietContext ctx;
  Array<uint8_t> in({4}, 9), a({4});
  Array<uint16_t> b({4, 4});
  const int32_t n = 10, zero = 0;
  auto call = [&] { return run(*module, "args", &ctx.context, in, &n, a, b); };
  CHECK(call() == 0);
  CHECK(a[0] == 9);
  CHECK(run(*module, "args", &ctx.context, in, &zero, a, b) == drawloom_error_param_out_of_range);
  CHECK(ctx.message() == "args: parameter n: needs a value in [1, 10], has 0");
  CHECK(run(*module, "args", &ctx.context, in, &n, a, in) == drawloom_error_wrong_rank);
  CHECK(run(*module, "args", &ctx.context, b, &n, a, b) == drawloom_error_wrong_rank);
  CHECK(run(*module, "args", &ctx.context, in, &n, in, b) == drawloom_error_alias);
  CHECK(ctx.message() == "args: buffer in shares memory with buffer a");
  b.dim(1).extent = -1;
  CHECK(call() == drawloom_error_bad_extent);
  b.dim(1) = {0, 4, 1};
  CHECK(call() == drawloom_error_self_alias);
  b.dim(1) = {0, 4, 4};
  b.buffer()->type.bits = 32;
  CHECK(call() == drawloom_error_wrong_type);
  b.buffer()->type.bits = 16;
  b.buffer()->host = nullptr;
  CHECK(call() == drawloom_error_buffer_null);
}

TEST_CASE("two inputs may be the same memory", "[codegen][jit]") {
  const auto module = compile(R"(
func @twice(%a: buffer<u8, 1>, %b: buffer<u8, 1>, out %out: buffer<u8, 1>) {
  store %out[0] = %a[0] + %b[0]
})");
  Array<uint8_t> in({1}, 21), out({1});
  CHECK(run(*module, "twice", nullptr, in, in, out) == 0);
  CHECK(out[0] == 42);
}

TEST_CASE("many modules live at once and go with their last reference", "[codegen][jit]") {
  std::vector<Ref<const JitModule>> modules;
  for (int i = 0; i < 8; i++) {
    modules.push_back(
        compile(with_words("func @f(out %out: buffer<i32, 1>) {\nstore %out[0] = $K:i32\n}", {{"K", str("{}", i)}})));
  }
  for (int i = 7; i >= 0; i--) {
    Array<int32_t> out({1});
    REQUIRE(run(*modules[size_t(i)], "f", nullptr, out) == 0);
    CHECK(out[0] == i);
    modules.pop_back();
  }
}

TEST_CASE("several threads compile at once", "[codegen][jit]") {
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([t, &right] {
      const auto programs = parse_all(
          with_words("func @f(out %out: buffer<i32, 1>) {\nstore %out[0] = $K:i32\n}", {{"K", str("{}", t)}}));
      for (int round = 0; round < 5; round++) {
        const auto module = jit_compile(programs, host_target()).or_throw();
        Array<int32_t> out({1}, -1);
        void* slots[] = {out.buffer()};
        right += module->argv("f")(nullptr, slots) == 0 && out[0] == t;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(right == 20);
}

TEST_CASE("an object from a cache loads like a fresh one; another one is refused", "[codegen][jit]") {
  const auto programs = parse_all("func @f(out %out: buffer<i32, 1>) {\nstore %out[0] = 5:i32\n}");
  const std::string object = generate_code(programs, host_target(), CodeKind::Object).or_throw();
  const auto module = jit_load(programs, object).or_throw();
  Array<int32_t> out({1});
  CHECK(run(*module, "f", nullptr, out) == 0);
  CHECK(out[0] == 5);
  const auto broken = jit_load(programs, object.substr(0, object.size() / 2));
  REQUIRE_FALSE(broken.ok());
  CHECK(broken.diag().kind() == DiagKind::jit_link);
  const auto other = jit_load(parse_all("func @g() {\n}"), object);
  REQUIRE_FALSE(other.ok());
  CHECK(other.diag().kind() == DiagKind::jit_link);
}

TEST_CASE("code for a better machine is refused, not run", "[codegen][jit]") {
  const Target host = host_target();
  if (host == with_feature(host, CpuFeature::avx512bf16)) return;
  const auto programs = parse_all("func @f() {\n}");
  const auto module = jit_compile(programs, with_feature(host, CpuFeature::avx512bf16));
  REQUIRE_FALSE(module.ok());
  CHECK(module.diag().kind() == DiagKind::jit_target);
}

}  // namespace
}  // namespace drawloom
