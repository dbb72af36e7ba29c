/// Every operator of ir/ops.def, every type, several lane counts, against scalar_reference.h.

#include "ops_case.h"

namespace drawloom {
namespace {

/// One operation on T with up to three operands: how it is built, what it gives, which elements are fixed.
template <typename T, typename R>
struct Op {
  const char* name;
  Build build;
  R (*eval)(T, T, T);
  bool (*counts)(T, T) = [](T, T) { return true; };
};

/// Number of elements of one operation that are wrong; reports the first.
template <typename T, typename R>
auto wrong_elements(const Op<T, R>& op, Array<R>& out, size_t offset, Array<T>& a, Array<T>& b, Array<T>& c) -> int {
  int wrong = 0;
  for (size_t i = 0; i < kCount; i++) {
    const T x = T(a[i]), y = T(b[i]), z = T(c[i]);
    if (!op.counts(x, y)) continue;
    const R is = R(out[offset + i]), should = op.eval(x, y, z);
    if (same<R>(is, should)) continue;
    if (wrong++ == 0)
      UNSCOPED_INFO(op.name << "(" << +x << ", " << +y << ", " << +z << ") is " << +is << ", should be " << +should);
  }
  return wrong;
}

template <typename T, typename R>
void check_ops(const std::vector<Op<T, R>>& ops, const Target& target = host_target()) {
  Array<T> a({kCount}), b({kCount}), c({kCount}), unused({kCount});
  fill_pairs(a, b, 1);
  fill_pairs(c, unused, 2);
  std::vector<Build> builds;
  for (const auto& op : ops) builds.push_back(op.build);
  for (int lanes : kLanes) {
    const Type t = ir_type<T>();
    const auto module = jit_compile({map_program("ops", {t, t, t}, ir_type<R>(), lanes, builds)}, target).or_throw();
    Array<R> out({kCount * static_cast<int64_t>(ops.size())});
    REQUIRE(run(*module, "ops", nullptr, a, b, c, out) == 0);
    for (size_t k = 0; k < ops.size(); k++) {
      INFO(ops[k].name << " of " << t.text() << " in " << lanes << " lanes for " << target.text());
      CHECK(wrong_elements(ops[k], out, k * kCount, a, b, c) == 0);
    }
  }
}

auto with(BinaryOp op) -> Build {
  return {[](int n, const ExprList& v) { return binary(static_cast<BinaryOp>(n), v[0], v[1]); }, static_cast<int>(op)};
}
auto with(UnaryOp op) -> Build {
  return {[](int n, const ExprList& v) { return unary(static_cast<UnaryOp>(n), v[0]); }, static_cast<int>(op)};
}
auto with(Intrinsic function) -> Build {
  auto make = [](int n, const ExprList& v) {
    const auto f = static_cast<Intrinsic>(n);
    return call(f, ExprList(v.begin(), v.begin() + arity(f)));
  };
  return {make, static_cast<int>(function)};
}

#define BINARY(Name, fn)                                                              \
  Op<T, T> {                                                                          \
    #Name, with(BinaryOp::Name), [](T a, T b, T) -> T { return reference::fn(a, b); } \
  }
#define COMPARE(Name, op)                                                   \
  Op<T, bool> {                                                             \
    #Name, with(BinaryOp::Name), [](T a, T b, T) -> bool { return a op b; } \
  }
#define MATH(Name, ...)                                                                            \
  Op<T, T> {                                                                                       \
    #Name, with(Intrinsic::Name), [](T a, T b, T c) -> T { return (void)b, (void)c, __VA_ARGS__; } \
  }

template <typename T>
auto arithmetic_ops() -> std::vector<Op<T, T>> {
  std::vector<Op<T, T>> ops = {BINARY(Min, min), BINARY(Max, max), BINARY(Add, add), BINARY(Sub, sub),
                               BINARY(Mul, mul), BINARY(Div, div), BINARY(Mod, mod)};
  // Min and max may give either operand when one is NaN or both are zeros.
  for (size_t i = 0; i < 2; i++) {
    ops[i].counts = [](T a, T b) { return a == a && b == b && !(a == 0 && b == 0); };
  }
  ops.push_back({"Neg", with(UnaryOp::Neg), [](T a, T, T) -> T { return reference::neg(a); }});
  auto choose = [](int, const ExprList& v) { return select(binary(BinaryOp::LT, v[0], v[1]), v[2], v[0]); };
  ops.push_back({"Select", {choose}, [](T a, T b, T c) -> T { return a < b ? c : a; }});
  return ops;
}

template <typename T>
auto integer_ops() -> std::vector<Op<T, T>> {
  auto ops = arithmetic_ops<T>();
  for (const auto& op :
       {BINARY(BitAnd, bit_and), BINARY(BitOr, bit_or), BINARY(BitXor, bit_xor), BINARY(Shl, shl), BINARY(Shr, shr)}) {
    ops.push_back(op);
  }
  ops.push_back({"BitNot", with(UnaryOp::BitNot), [](T a, T, T) -> T { return static_cast<T>(~a); }});
  return ops;
}

template <typename T>
auto float_ops() -> std::vector<Op<T, T>> {
  auto ops = arithmetic_ops<T>();
  for (const auto& op : {MATH(Floor, std::floor(a)), MATH(Ceil, std::ceil(a)), MATH(Trunc, std::trunc(a)),
                         MATH(Round, std::nearbyint(a)), MATH(Sqrt, std::sqrt(a))}) {
    ops.push_back(op);
  }
  return ops;
}

template <typename T>
void check_compares() {
  check_ops<T, bool>(
      {COMPARE(EQ, ==), COMPARE(NE, !=), COMPARE(LT, <), COMPARE(LE, <=), COMPARE(GT, >), COMPARE(GE, >=)});
}

template <typename T>
void check_magnitudes() {
  using R = typename reference::Magnitude<T>::type;
  check_ops<T, R>({{"Abs", with(Intrinsic::Abs), [](T a, T, T) -> R { return reference::abs(a); }},
                   {"Absd", with(Intrinsic::Absd), [](T a, T b, T) -> R { return reference::absd(a, b); }}});
}

template <typename T>
void check_integer() {
  check_ops<T, T>(integer_ops<T>());
  check_compares<T>();
  check_magnitudes<T>();
}

TEST_CASE("integer operators", "[codegen][ops]") {
  check_integer<int8_t>();
  check_integer<int16_t>();
  check_integer<int32_t>();
  check_integer<int64_t>();
  check_integer<uint8_t>();
  check_integer<uint16_t>();
  check_integer<uint32_t>();
  check_integer<uint64_t>();
}

template <typename T>
void check_float() {
  check_ops<T, T>(float_ops<T>());
  check_compares<T>();
  check_ops<T, bool>({{"IsNan", with(Intrinsic::IsNan), [](T a, T, T) -> bool { return a != a; }}});
  check_magnitudes<T>();
}

TEST_CASE("float operators", "[codegen][ops]") {
  check_float<float>();
  check_float<double>();
}

template <typename T>
void check_libm() {
  check_ops<T, T>({MATH(Exp, std::exp(a)), MATH(Log, std::log(a)), MATH(Pow, std::pow(a, b)), MATH(Sin, std::sin(a)),
                   MATH(Cos, std::cos(a))});
}

TEST_CASE("libm lane by lane is the host's", "[codegen][ops]") {
  check_libm<float>();
  check_libm<double>();
}

/// LLVM folds known functions of constants by its own means; the machine's libm must be called instead.
TEST_CASE("libm of constants is called, not folded", "[codegen][ops]") {
  const auto module = compile(R"(
func @f(out %out: buffer<f32, 1>) {
  store %out[0] = exp(0.7:f32)
  store %out[1] = pow(1.1:f32, 2.0:f32)
  store %out[2] = sin(1e+10:f32)
  store %out[3] = pow(-inf:f32, 0.5:f32)
})");
  Array<float> out({4});
  REQUIRE(run(*module, "f", nullptr, out) == 0);
  volatile float values[] = {0.7f, 1.1f, 1e10f};
  CHECK(out[0] == std::exp(values[0]));
  CHECK(out[1] == std::pow(values[1], 2.0f));
  CHECK(out[2] == std::sin(values[2]));
  CHECK(out[3] == std::numeric_limits<float>::infinity());
}

template <typename T>
void check_fma() {
  if (host_target().has_fma()) check_ops<T, T>({MATH(Fma, std::fma(a, b, c))});
  auto sum = [](int, const ExprList& v) { return binary(BinaryOp::Add, binary(BinaryOp::Mul, v[0], v[1]), v[2]); };
  check_ops<T, T>({{"MulAdd", {sum}, [](T a, T b, T c) -> T {
                      const volatile T product = a * b;
                      return product + c;
                    }}});
}

TEST_CASE("fma rounds once, and a product and a sum are never contracted", "[codegen][ops]") {
  check_fma<float>();
  check_fma<double>();
}

TEST_CASE("baseline x86-64 gives the same bits", "[codegen][ops]") {
  check_ops<float, float>(float_ops<float>(), x86_64_target(1));
  check_ops<double, double>(float_ops<double>(), x86_64_target(1));
  check_ops<uint8_t, uint8_t>(integer_ops<uint8_t>(), x86_64_target(1));
  check_ops<int16_t, int16_t>(integer_ops<int16_t>(), x86_64_target(1));
  check_ops<uint32_t, uint32_t>(integer_ops<uint32_t>(), x86_64_target(1));
  check_ops<int64_t, int64_t>(integer_ops<int64_t>(), x86_64_target(1));
}

/// LLVM ends the process over an operation that it cannot select.
template <typename T>
void check_emits(const std::vector<Op<T, T>>& ops, const Target& target) {
  std::vector<Build> builds;
  for (const auto& op : ops) builds.push_back(op.build);
  for (int lanes : {7, 256 / static_cast<int>(sizeof(T)) / 4}) {
    const Type t = ir_type<T>();
    INFO(t.text() << " in " << lanes << " lanes for " << target.text());
    CHECK(generate_code({map_program("ops", {t, t, t}, t, lanes, builds)}, target, CodeKind::Object).ok());
  }
}

TEST_CASE("every target takes every operation", "[codegen][ops]") {
  for (const char* text : {"x86-64-v3-avx2", "x86-64-v4", "x86-64-v4-avx512bw", "x86-64-v4-avx512vl-avx512dq"}) {
    const Target target = parse_target(text).or_throw();
    check_emits<uint8_t>(integer_ops<uint8_t>(), target);
    check_emits<int16_t>(integer_ops<int16_t>(), target);
    check_emits<int64_t>(integer_ops<int64_t>(), target);
    check_emits<float>(float_ops<float>(), target);
  }
}

TEST_CASE("logic", "[codegen][ops]") {
  using T = bool;
  check_ops<T, bool>(
      {COMPARE(And, &&), COMPARE(Or, ||), COMPARE(EQ, ==), COMPARE(NE, !=), COMPARE(LT, <), COMPARE(GE, >=)});
  check_ops<T, bool>({{"Not", with(UnaryOp::Not), [](T a, T, T) { return !a; }},
                      {"BitXor", with(BinaryOp::BitXor), [](T a, T b, T) { return a != b; }}});
}

template <typename T>
constexpr T kDivisors[] = {T(0),
                           T(1),
                           T(2),
                           T(3),
                           T(7),
                           T(9),
                           T(10),
                           T(16),
                           T(100),
                           T(-1),
                           T(-3),
                           T(-8),
                           std::numeric_limits<T>::min(),
                           std::numeric_limits<T>::max()};

template <typename T>
void check_constant_division() {
  Array<T> a({kCount}), unused({kCount});
  fill_pairs(a, unused, 3);
  std::vector<Build> builds;
  constexpr int n = std::size(kDivisors<T>);
  auto divide = [](int k, const ExprList& v) {
    const Expr by = constant(v[0].type(), static_cast<int64_t>(kDivisors<T>[k / 2]));
    return binary(k % 2 ? BinaryOp::Mod : BinaryOp::Div, v[0], by);
  };
  for (int k = 0; k < 2 * n; k++) builds.push_back({divide, k});
  for (int lanes : {1, 8, 32}) {
    const Type t = ir_type<T>();
    const auto module = jit_compile({map_program("divide", {t}, t, lanes, builds)}, host_target()).or_throw();
    Array<T> out({2 * n * kCount});
    REQUIRE(run(*module, "divide", nullptr, a, out) == 0);
    for (int k = 0; k < 2 * n; k++) {
      INFO(t.text() << (k % 2 ? " % " : " / ") << +kDivisors<T>[k / 2] << " in " << lanes << " lanes");
      int wrong = 0;
      for (size_t i = 0; i < kCount; i++) {
        const T by = kDivisors<T>[k / 2];
        wrong += out[size_t(k) * kCount + i] != (k % 2 ? reference::mod<T>(a[i], by) : reference::div<T>(a[i], by));
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("division by constants", "[codegen][ops]") {
  check_constant_division<int8_t>();
  check_constant_division<int16_t>();
  check_constant_division<int32_t>();
  check_constant_division<int64_t>();
  check_constant_division<uint8_t>();
  check_constant_division<uint16_t>();
  check_constant_division<uint32_t>();
  check_constant_division<uint64_t>();
}

/// From T to R. A NaN to an integer may give anything.
template <typename T, typename R>
auto cast_op() -> Op<T, R> {
  auto build = [](int, const ExprList& v) { return cast(ir_type<R>().with_lanes(v[0].type().lanes), v[0]); };
  constexpr bool open = std::is_floating_point_v<T> && !std::is_floating_point_v<R> && !std::is_same_v<R, bool>;
  return {"cast", {build}, [](T a, T, T) { return reference::convert<R>(a); }, [](T a, T) { return !open || a == a; }};
}

template <typename T, typename R>
void check_cast(const JitModule& module, int lanes, Array<T>& a) {
  INFO(ir_type<T>().text() << " to " << ir_type<R>().text() << " in " << lanes << " lanes");
  Array<R> out({kCount});
  REQUIRE(run(module, str("to_{}", ir_type<R>()), nullptr, a, out) == 0);
  CHECK(wrong_elements(cast_op<T, R>(), out, 0, a, a, a) == 0);
}

template <typename T, typename... To>
void check_casts() {
  Array<T> a({kCount}), unused({kCount});
  fill_pairs(a, unused, 4);
  for (int lanes : kLanes) {
    const std::vector<Program> programs = {
        map_program(str("to_{}", ir_type<To>()), {ir_type<T>()}, ir_type<To>(), lanes, {cast_op<T, To>().build})...};
    const auto module = jit_compile(programs, host_target()).or_throw();
    (check_cast<T, To>(*module, lanes, a), ...);
  }
}
template <typename T>
void check_casts_from() {
  check_casts<T, bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float, double>();
}

TEST_CASE("casts", "[codegen][ops]") {
  check_casts_from<bool>();
  check_casts_from<int8_t>();
  check_casts_from<int16_t>();
  check_casts_from<int32_t>();
  check_casts_from<int64_t>();
  check_casts_from<uint8_t>();
  check_casts_from<uint16_t>();
  check_casts_from<uint32_t>();
  check_casts_from<uint64_t>();
  check_casts_from<float>();
  check_casts_from<double>();
}

}  // namespace
}  // namespace drawloom
