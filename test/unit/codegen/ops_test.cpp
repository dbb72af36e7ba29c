/// Every operator of ir/ops.def, every type, several lane counts, against scalar_reference.h.

#include "ops_case.h"

namespace drawloom {
namespace {

/// One operation on T with up to three operands: how it is built, what it gives, which elements are fixed.
template <typename T, typename R>
struct Op {
  std::string name;
  int arity;
  std::function<Expr(const ExprList&)> build;
  R (*eval)(T, T, T);
  bool (*counts)(T, T) = [](T, T) { return true; };
};

template <typename T, typename R>
void check_ops(const std::vector<Op<T, R>>& ops, Target target = host_target()) {
  Array<T> a({kCount}), b({kCount}), c({kCount}), unused({kCount});
  fill_pairs(a, b, 1);
  fill_pairs(c, unused, 2);
  for (int lanes : kLanes) {
    std::vector<Program> programs;
    for (const auto& op : ops) {
      const std::vector<Type> inputs(static_cast<size_t>(op.arity), ir_type<T>());
      programs.push_back(map_program(op.name, inputs, ir_type<R>(), lanes, op.build));
    }
    const auto module = jit_compile(programs, target).or_throw();
    for (const auto& op : ops) {
      INFO(op.name << " of " << ir_type<T>().text() << " in " << lanes << " lanes");
      Array<R> out({kCount});
      if (op.arity == 1) REQUIRE(run(*module, op.name, nullptr, a, out) == 0);
      if (op.arity == 2) REQUIRE(run(*module, op.name, nullptr, a, b, out) == 0);
      if (op.arity == 3) REQUIRE(run(*module, op.name, nullptr, a, b, c, out) == 0);
      const std::function<R(size_t)> expected = [&](size_t i) { return op.eval(T(a[i]), T(b[i]), T(c[i])); };
      CHECK(mismatches<R>(out, expected, [&](size_t i) { return op.counts(T(a[i]), T(b[i])); }) == 0);
    }
  }
}

auto with(BinaryOp op) {
  return [op](const ExprList& v) { return binary(op, v[0], v[1]); };
}
auto with(UnaryOp op) {
  return [op](const ExprList& v) { return unary(op, v[0]); };
}
auto with(Intrinsic function) {
  return [function](const ExprList& v) { return call(function, v); };
}

#define BINARY(Name, fn) \
  Op<T, T> { #Name "_op", 2, with(BinaryOp::Name), [](T a, T b, T) -> T { return reference::fn(a, b); } }
#define COMPARE(Name, op) \
  Op<T, bool> { #Name "_op", 2, with(BinaryOp::Name), [](T a, T b, T) -> bool { return a op b; } }
#define MATH(Name, arity, ...) \
  Op<T, T> { #Name "_op", arity, with(Intrinsic::Name), [](T a, T b, T c) -> T { (void)b, (void)c; return __VA_ARGS__; } }

template <typename T>
auto arithmetic_ops() -> std::vector<Op<T, T>> {
  std::vector<Op<T, T>> ops = {BINARY(Add, add), BINARY(Sub, sub), BINARY(Mul, mul), BINARY(Div, div),
                               BINARY(Mod, mod), BINARY(Min, min), BINARY(Max, max)};
  // Min and max may give either operand when one is NaN or both are zeros.
  for (size_t i = 5; i < 7; i++) {
    ops[i].counts = [](T a, T b) { return a == a && b == b && !(a == 0 && b == 0); };
  }
  ops.push_back({"neg", 1, with(UnaryOp::Neg), [](T a, T, T) -> T { return reference::neg(a); }});
  ops.push_back({"select", 3, [](const ExprList& v) { return select(binary(BinaryOp::LT, v[0], v[1]), v[2], v[0]); },
                 [](T a, T b, T c) -> T { return a < b ? c : a; }});
  return ops;
}

template <typename T>
auto compare_ops() -> std::vector<Op<T, bool>> {
  return {COMPARE(EQ, ==), COMPARE(NE, !=), COMPARE(LT, <), COMPARE(LE, <=), COMPARE(GT, >), COMPARE(GE, >=)};
}

template <typename T>
void check_magnitudes() {
  using R = typename reference::Magnitude<T>::type;
  check_ops<T, R>({{"abs_op", 1, with(Intrinsic::Abs), [](T a, T, T) -> R { return reference::abs(a); }},
                   {"absd_op", 2, with(Intrinsic::Absd), [](T a, T b, T) -> R { return reference::absd(a, b); }}});
}

TEMPLATE_TEST_CASE("integer operators", "[codegen][ops]", int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                   uint64_t) {
  using T = TestType;
  auto ops = arithmetic_ops<T>();
  ops.push_back(BINARY(BitAnd, bit_and));
  ops.push_back(BINARY(BitOr, bit_or));
  ops.push_back(BINARY(BitXor, bit_xor));
  ops.push_back(BINARY(Shl, shl));
  ops.push_back(BINARY(Shr, shr));
  ops.push_back({"bitnot", 1, with(UnaryOp::BitNot), [](T a, T, T) -> T { return static_cast<T>(~a); }});
  check_ops<T, T>(ops);
  check_ops<T, bool>(compare_ops<T>());
  check_magnitudes<T>();
}

template <typename T>
auto rounding_ops() -> std::vector<Op<T, T>> {
  return {MATH(Floor, 1, std::floor(a)), MATH(Ceil, 1, std::ceil(a)), MATH(Trunc, 1, std::trunc(a)),
          MATH(Round, 1, std::nearbyint(a)), MATH(Sqrt, 1, std::sqrt(a))};
}

TEMPLATE_TEST_CASE("float operators", "[codegen][ops]", float, double) {
  using T = TestType;
  auto ops = arithmetic_ops<T>();
  for (auto& op : rounding_ops<T>()) ops.push_back(op);
  check_ops<T, T>(ops);
  check_ops<T, bool>(compare_ops<T>());
  check_ops<T, bool>({{"is_nan", 1, with(Intrinsic::IsNan), [](T a, T, T) -> bool { return a != a; }}});
  check_magnitudes<T>();
}

TEMPLATE_TEST_CASE("libm lane by lane is the host's", "[codegen][ops]", float, double) {
  using T = TestType;
  check_ops<T, T>({MATH(Exp, 1, std::exp(a)), MATH(Log, 1, std::log(a)), MATH(Pow, 2, std::pow(a, b)),
                   MATH(Sin, 1, std::sin(a)), MATH(Cos, 1, std::cos(a))});
}

TEMPLATE_TEST_CASE("fma rounds once", "[codegen][ops]", float, double) {
  using T = TestType;
  if (!host_target().has_fma()) return;
  check_ops<T, T>({MATH(Fma, 3, std::fma(a, b, c))});
}

TEMPLATE_TEST_CASE("a product and a sum are never contracted", "[codegen][ops]", float, double) {
  using T = TestType;
  const auto sum = [](const ExprList& v) { return binary(BinaryOp::Add, binary(BinaryOp::Mul, v[0], v[1]), v[2]); };
  check_ops<T, T>({{"muladd", 3, sum, [](T a, T b, T c) -> T {
                      const volatile T product = a * b;
                      return product + c;
                    }}});
}

TEMPLATE_TEST_CASE("baseline x86-64 gives the same bits", "[codegen][ops]", float, double) {
  using T = TestType;
  auto ops = arithmetic_ops<T>();
  for (auto& op : rounding_ops<T>()) ops.push_back(op);
  check_ops<T, T>(ops, x86_64_target(1));
}

TEMPLATE_TEST_CASE("baseline x86-64 integers", "[codegen][ops]", int16_t, int64_t, uint8_t, uint32_t) {
  using T = TestType;
  auto ops = arithmetic_ops<T>();
  ops.push_back(BINARY(Shl, shl));
  ops.push_back(BINARY(Shr, shr));
  check_ops<T, T>(ops, x86_64_target(1));
}

TEST_CASE("logic", "[codegen][ops]") {
  using T = bool;
  check_ops<T, bool>({COMPARE(And, &&), COMPARE(Or, ||), COMPARE(EQ, ==), COMPARE(NE, !=), COMPARE(LT, <), COMPARE(GE, >=)});
  check_ops<T, bool>({{"not_op", 1, with(UnaryOp::Not), [](T a, T, T) { return !a; }},
                      {"xor_op", 2, with(BinaryOp::BitXor), [](T a, T b, T) { return a != b; }}});
}

TEMPLATE_TEST_CASE("division by constants", "[codegen][ops]", int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                   uint32_t, uint64_t) {
  using T = TestType;
  Array<T> a({kCount}), unused({kCount}), out({kCount});
  fill_pairs(a, unused, 3);
  const std::vector<T> divisors = {T(0), T(1), T(2), T(3), T(7), T(9), T(10), T(16), T(100), T(-1), T(-3), T(-8),
                                   std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  for (int lanes : {1, 8, 32}) {
    std::vector<Program> programs;
    for (size_t k = 0; k < divisors.size(); k++) {
      const Expr d = constant(ir_type<T>().with_lanes(lanes), static_cast<int64_t>(divisors[k]));
      for (auto op : {BinaryOp::Div, BinaryOp::Mod}) {
        programs.push_back(map_program(str("{}{}", op == BinaryOp::Div ? "div" : "mod", k), {ir_type<T>()}, ir_type<T>(), lanes,
                                       [&](const ExprList& v) { return binary(op, v[0], d); }));
      }
    }
    const auto module = jit_compile(programs, host_target()).or_throw();
    for (size_t k = 0; k < divisors.size(); k++) {
      INFO(ir_type<T>().text() << " by " << +divisors[k] << " in " << lanes << " lanes");
      const auto all = [](size_t) { return true; };
      REQUIRE(run(*module, str("div{}", k), nullptr, a, out) == 0);
      CHECK(mismatches<T>(out, [&](size_t i) { return reference::div<T>(a[i], divisors[k]); }, all) == 0);
      REQUIRE(run(*module, str("mod{}", k), nullptr, a, out) == 0);
      CHECK(mismatches<T>(out, [&](size_t i) { return reference::mod<T>(a[i], divisors[k]); }, all) == 0);
    }
  }
}

/// Casts from T to each of To.
template <typename T, typename... To>
void check_casts() {
  Array<T> a({kCount}), unused({kCount});
  fill_pairs(a, unused, 4);
  for (int lanes : kLanes) {
    const std::vector<Program> programs = {
        map_program(str("to_{}", ir_type<To>()), {ir_type<T>()}, ir_type<To>(), lanes,
                    [lanes](const ExprList& v) { return cast(ir_type<To>().with_lanes(lanes), v[0]); })...};
    const auto module = jit_compile(programs, host_target()).or_throw();
    auto check_one = [&]<typename R>(R) {
      INFO(ir_type<T>().text() << " to " << ir_type<R>().text() << " in " << lanes << " lanes");
      Array<R> out({kCount});
      REQUIRE(run(*module, str("to_{}", ir_type<R>()), nullptr, a, out) == 0);
      const std::function<R(size_t)> expected = [&](size_t i) { return reference::convert<R>(T(a[i])); };
      const auto fixed = [&](size_t i) { return a[i] == a[i] || std::is_floating_point_v<R> || std::is_same_v<R, bool>; };
      CHECK(mismatches<R>(out, expected, fixed) == 0);
    };
    (check_one(To()), ...);
  }
}

TEMPLATE_TEST_CASE("casts", "[codegen][ops]", bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
                   float, double) {
  check_casts<TestType, bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float, double>();
}

}  // namespace
}  // namespace drawloom
