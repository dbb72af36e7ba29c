#include "drawloom/interp/scalar/value.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace drawloom;

namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInf = std::numeric_limits<double>::infinity();

auto op(BinaryOp o, Type t, int64_t a, int64_t b) -> int64_t {
  bool ambiguous = false;
  const Value v = eval_binary(o, int_value(t, a), int_value(t, b), ambiguous);
  CHECK_FALSE(ambiguous);
  return v.i;
}
auto fop(BinaryOp o, Type t, double a, double b) -> double {
  bool ambiguous = false;
  const double r = eval_binary(o, float_value(t, a), float_value(t, b), ambiguous).f;
  CHECK_FALSE(ambiguous);
  return r;
}
auto to_int(Type to, Type from, double v) -> int64_t {
  bool ambiguous = false;
  const Value r = eval_cast(to, float_value(from, v), ambiguous);
  CHECK(r.type == to);
  CHECK_FALSE(ambiguous);
  return r.i;
}
auto call(Intrinsic f, std::vector<Value> args) -> Value {
  args.resize(3);
  return eval_call(f, args.data());
}

const Type i8 = int_type(8), u8 = uint_type(8), i16 = int_type(16), u16 = uint_type(16), i32 = int_type(32),
           u32 = uint_type(32), i64 = int_type(64), u64 = uint_type(64), f32 = float_type(32), f64 = float_type(64);
const int64_t kMin64 = std::numeric_limits<int64_t>::min(), kMax64 = std::numeric_limits<int64_t>::max();

}  // namespace

TEST_CASE("integers wrap at their own width") {
  CHECK(op(BinaryOp::Add, i8, 127, 1) == -128);
  CHECK(op(BinaryOp::Add, u8, 255, 1) == 0);
  CHECK(op(BinaryOp::Sub, u16, 0, 1) == 65535);
  CHECK(op(BinaryOp::Mul, i16, 300, 300) == 90000 - 65536);
  CHECK(op(BinaryOp::Mul, i32, 65536, 65536) == 0);
  CHECK(op(BinaryOp::Add, i64, kMax64, 1) == kMin64);
  CHECK(op(BinaryOp::Sub, u64, 0, 1) == -1);  // the bits of 2^64 - 1
  CHECK(eval_unary(UnaryOp::Neg, int_value(i8, -128)).i == -128);
  CHECK(eval_unary(UnaryOp::Neg, int_value(u8, 1)).i == 255);
  CHECK(eval_unary(UnaryOp::BitNot, int_value(u8, 1)).i == 254);
  CHECK(eval_unary(UnaryOp::BitNot, int_value(kBool, 1)).i == 0);
  CHECK(eval_unary(UnaryOp::Not, int_value(kBool, 0)).i == 1);
}

TEST_CASE("division leaves a remainder that is never negative, and is defined everywhere") {
  for (const Type t : {i8, i16, i32, i64, kIndex}) {
    for (const int64_t a : {-7, -6, -1, 0, 1, 6, 7}) {
      for (const int64_t b : {-3, -2, -1, 1, 2, 3}) {
        const int64_t q = op(BinaryOp::Div, t, a, b), r = op(BinaryOp::Mod, t, a, b);
        CHECK(q * b + r == a);
        CHECK(r >= 0);
        CHECK(r < (b < 0 ? -b : b));
      }
      CHECK(op(BinaryOp::Div, t, a, 0) == 0);
      CHECK(op(BinaryOp::Mod, t, a, 0) == 0);
    }
  }
  CHECK(op(BinaryOp::Div, i32, -7, 2) == -4);
  CHECK(op(BinaryOp::Div, i32, -7, -2) == 4);
  CHECK(op(BinaryOp::Div, i8, -128, -1) == -128);
  CHECK(op(BinaryOp::Mod, i8, -128, -1) == 0);
  CHECK(op(BinaryOp::Div, i64, kMin64, -1) == kMin64);
  CHECK(op(BinaryOp::Mod, i64, -1, kMin64) == kMax64);  // -1 = 1 * min + (2^63 - 1)
  CHECK(op(BinaryOp::Div, i64, -1, kMin64) == 1);
  CHECK(op(BinaryOp::Div, u64, -1, 2) == kMax64);
  CHECK(op(BinaryOp::Mod, u8, 250, 100) == 50);
}

TEST_CASE("shifts: negative amounts turn round, beyond the width nothing is left but the sign") {
  CHECK(op(BinaryOp::Shl, i32, 1, 31) == std::numeric_limits<int32_t>::min());
  CHECK(op(BinaryOp::Shl, i32, 1, 32) == 0);
  CHECK(op(BinaryOp::Shl, i32, 12, -2) == 3);
  CHECK(op(BinaryOp::Shr, i32, 3, -2) == 12);
  CHECK(op(BinaryOp::Shr, i32, -8, 1) == -4);
  CHECK(op(BinaryOp::Shr, i32, -8, 40) == -1);
  CHECK(op(BinaryOp::Shr, i32, 8, 40) == 0);
  CHECK(op(BinaryOp::Shl, i8, -1, -128) == -1);  // 128 to the right
  CHECK(op(BinaryOp::Shl, u8, 1, 8) == 0);
  CHECK(op(BinaryOp::Shl, u8, 255, 7) == 128);
  CHECK(op(BinaryOp::Shr, u8, 255, 200) == 0);  // no u8 is negative
  CHECK(op(BinaryOp::Shr, u64, -1, 63) == 1);
  CHECK(op(BinaryOp::Shr, i64, kMin64, kMin64) == 0);  // 2^63 to the left
  CHECK(op(BinaryOp::Shl, i64, kMin64, kMin64) == -1);
}

TEST_CASE("comparison, min and max follow the signedness") {
  CHECK(op(BinaryOp::LT, u64, 1, -1) == 1);
  CHECK(op(BinaryOp::LT, i64, 1, -1) == 0);
  CHECK(op(BinaryOp::Max, u64, 1, -1) == -1);
  CHECK(op(BinaryOp::Max, i64, 1, -1) == 1);
  CHECK(op(BinaryOp::Min, u8, 200, 100) == 100);
  CHECK(op(BinaryOp::GE, u32, 5, 5) == 1);
  CHECK(op(BinaryOp::NE, i8, 5, 5) == 0);
  CHECK(op(BinaryOp::BitXor, u8, 0xf0, 0xff) == 0x0f);
  CHECK(op(BinaryOp::And, kBool, 1, 0) == 0);
  CHECK(op(BinaryOp::Or, kBool, 1, 0) == 1);
}

TEST_CASE("each float operation rounds once, to its type") {
  const float a = 16777216.0f;  // 2^24: one more is no float
  CHECK(fop(BinaryOp::Add, f32, a, 1) == a);
  CHECK(fop(BinaryOp::Add, f64, a, 1) == 16777217.0);
  CHECK(fop(BinaryOp::Div, f32, 1, 3) == static_cast<double>(1.0f / 3.0f));
  CHECK(fop(BinaryOp::Div, f64, 1, 0) == kInf);
  CHECK(std::isnan(fop(BinaryOp::Div, f64, 0, 0)));
  CHECK(fop(BinaryOp::Mod, f64, -7.5, 2) == 0.5);
  CHECK(fop(BinaryOp::Mod, f64, 7.5, -2) == -0.5);
  CHECK(std::isnan(fop(BinaryOp::Mod, f32, 1, 0)));
  // (1 + 2^-12)^2 - 1: the product does not fit into float, fma keeps its last bit
  const double x = 1 + std::ldexp(1, -12);
  const double rounded = fop(BinaryOp::Sub, f32, fop(BinaryOp::Mul, f32, x, x), 1);
  const Value fused = call(Intrinsic::Fma, {float_value(f32, x), float_value(f32, x), float_value(f32, -1)});
  CHECK(rounded == std::ldexp(1, -11));
  CHECK(fused.f == std::ldexp(1, -11) + std::ldexp(1, -24));
}

TEST_CASE("what the definition leaves open is flagged") {
  const auto flagged = [](BinaryOp o, Type t, double a, double b) {
    bool ambiguous = false;
    eval_binary(o, float_value(t, a), float_value(t, b), ambiguous);
    return ambiguous;
  };
  for (const Type t : {f32, f64}) {
    CHECK(flagged(BinaryOp::Min, t, kNan, 1));
    CHECK(flagged(BinaryOp::Max, t, 1, kNan));
    CHECK(flagged(BinaryOp::Max, t, 0.0, -0.0));
    CHECK_FALSE(flagged(BinaryOp::Max, t, 0.0, 0.0));
    CHECK_FALSE(flagged(BinaryOp::Min, t, -1, 0.0));
    CHECK_FALSE(flagged(BinaryOp::Add, t, kNan, 1));
    bool ambiguous = false;
    eval_cast(i32, float_value(t, kNan), ambiguous);
    CHECK(ambiguous);
    ambiguous = false;
    CHECK(eval_cast(kBool, float_value(t, kNan), ambiguous).i == 1);
    CHECK_FALSE(ambiguous);
  }
  CHECK(fop(BinaryOp::LT, f64, kNan, 1) == 0);
  bool ambiguous = false;
  CHECK(eval_binary(BinaryOp::NE, float_value(f64, kNan), float_value(f64, kNan), ambiguous).i == 1);
  CHECK(eval_binary(BinaryOp::EQ, float_value(f64, 0.0), float_value(f64, -0.0), ambiguous).i == 1);
}

TEST_CASE("float to integer truncates and saturates") {
  CHECK(to_int(i32, f64, 2.9) == 2);
  CHECK(to_int(i32, f64, -2.9) == -2);
  CHECK(to_int(u8, f32, 255.9) == 255);
  CHECK(to_int(u8, f32, 256) == 255);
  CHECK(to_int(u8, f32, -0.9) == 0);
  CHECK(to_int(u8, f32, -5) == 0);
  CHECK(to_int(i8, f32, 127.5) == 127);
  CHECK(to_int(i8, f32, -1000) == -128);
  CHECK(to_int(i32, f32, 3e9) == std::numeric_limits<int32_t>::max());
  CHECK(to_int(i64, f64, 9.3e18) == kMax64);
  CHECK(to_int(i64, f64, -9.3e18) == kMin64);
  CHECK(to_int(i64, f64, std::ldexp(1, 62)) == int64_t{1} << 62);
  CHECK(to_int(u64, f64, 1.8e19) == static_cast<int64_t>(uint64_t{18000000000000000000u}));
  CHECK(to_int(u64, f64, kInf) == -1);
  CHECK(to_int(u64, f64, -kInf) == 0);
  CHECK(to_int(kIndex, f64, -kInf) == kMin64);
  CHECK(to_int(kBool, f64, 0.5) == 1);
}

TEST_CASE("other casts wrap, round to nearest even, or ask whether it is zero") {
  bool amb = false;
  CHECK(eval_cast(i8, int_value(i32, 200), amb).i == -56);
  CHECK(eval_cast(u8, int_value(i32, -1), amb).i == 255);
  CHECK(eval_cast(u64, int_value(i8, -1), amb).i == -1);
  CHECK(eval_cast(i32, int_value(kIndex, int64_t{1} << 32 | 5), amb).i == 5);
  CHECK(eval_cast(kIndex, int_value(u32, -1), amb).i == 4294967295);
  CHECK(eval_cast(kBool, int_value(i32, 256), amb).i == 1);
  CHECK(eval_cast(f32, int_value(kBool, 1), amb).f == 1.0);
  CHECK(eval_cast(f32, int_value(i32, 16777217), amb).f == 16777216.0);
  CHECK(eval_cast(f32, int_value(i32, 16777219), amb).f == 16777220.0);
  // 2^63 - 1 + a bit: by way of double it would round twice
  CHECK(eval_cast(f32, int_value(i64, (int64_t{1} << 60) + (int64_t{1} << 36) + 1), amb).f ==
        std::ldexp(1, 60) + std::ldexp(1, 37));
  CHECK(eval_cast(f64, int_value(u64, -1), amb).f == std::ldexp(1, 64));
  CHECK(eval_cast(f32, float_value(f64, 0.1), amb).f == static_cast<double>(0.1f));
  CHECK_FALSE(amb);
}

TEST_CASE("intrinsics") {
  CHECK(call(Intrinsic::Abs, {int_value(i8, -128)}).i == 128);
  CHECK(call(Intrinsic::Abs, {int_value(i8, -128)}).type == u8);
  CHECK(call(Intrinsic::Abs, {int_value(kIndex, -3)}).type == kIndex);
  CHECK(call(Intrinsic::Absd, {int_value(i8, -128), int_value(i8, 127)}).i == 255);
  CHECK(call(Intrinsic::Absd, {int_value(u64, 1), int_value(u64, -1)}).i == -2);
  CHECK(call(Intrinsic::Absd, {int_value(i64, kMin64), int_value(i64, kMax64)}).i == -1);
  CHECK(call(Intrinsic::Absd, {float_value(f32, 1), float_value(f32, 3)}).f == 2);
  CHECK(call(Intrinsic::Round, {float_value(f32, 2.5)}).f == 2);
  CHECK(call(Intrinsic::Round, {float_value(f64, 3.5)}).f == 4);
  CHECK(call(Intrinsic::Floor, {float_value(f64, -0.5)}).f == -1);
  CHECK(call(Intrinsic::Ceil, {float_value(f64, 0.25)}).f == 1);
  CHECK(call(Intrinsic::Trunc, {float_value(f64, -1.75)}).f == -1);
  CHECK(call(Intrinsic::Sqrt, {float_value(f32, 2)}).f == static_cast<double>(sqrtf(2)));
  CHECK(call(Intrinsic::Exp, {float_value(f32, 1)}).f == static_cast<double>(expf(1)));
  CHECK(call(Intrinsic::Exp, {float_value(f64, 1)}).f == exp(1.0));
  CHECK(call(Intrinsic::Log, {float_value(f32, 10)}).f == static_cast<double>(logf(10)));
  CHECK(call(Intrinsic::Sin, {float_value(f32, 3)}).f == static_cast<double>(sinf(3)));
  CHECK(call(Intrinsic::Cos, {float_value(f64, 3)}).f == cos(3.0));
  CHECK(call(Intrinsic::Pow, {float_value(f32, 3), float_value(f32, 0.5)}).f == static_cast<double>(powf(3, 0.5f)));
  CHECK(call(Intrinsic::IsNan, {float_value(f32, kNan)}).i == 1);
  CHECK(call(Intrinsic::IsNan, {float_value(f32, 0)}).i == 0);
}

TEST_CASE("values compare by bits, except that NaN is NaN") {
  CHECK(same_value(float_value(f32, kNan), float_value(f32, -kNan)));
  CHECK_FALSE(same_value(float_value(f64, 0.0), float_value(f64, -0.0)));
  CHECK_FALSE(same_value(int_value(i32, 1), int_value(u32, 1)));
  CHECK(int_value(u64, -1).text() == "18446744073709551615");
  CHECK(number_value(f32, 3).f == 3);
}
