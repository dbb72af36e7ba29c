// Floats: only what gives the same bits for every operand, signed zeros and infinities included (one NaN is as good as
// another).

#include <cmath>

#include "drawloom/analysis/row_build.h"

namespace drawloom {

using namespace rows;

namespace {

/// 1/c is exact and c is far from the ends of every format.
auto has_exact_reciprocal(const Constants& c) -> bool {
  int exponent = 0;
  return std::abs(std::frexp(c.f0, &exponent)) == 0.5 && std::abs(exponent) < 10;
}

}  // namespace

auto float_rules() -> std::span<const Rule> {
  const auto [x, y, z, p, q, c0, c1, c2] = wildcards(float_type(32));
  static const Rule rules[] = {
      {"mul_one_float", kFloats, (x * real(1)).e, x.e},
      {"div_one_float", kFloats, (x / real(1)).e, x.e},
      {"mul_minus_one_float", kFloats, (x * real(-1)).e, (-x).e},
      {"div_minus_one_float", kFloats, (x / real(-1)).e, (-x).e},
      // -0 + -0 = -0 and +0 + -0 = +0; adding +0 would change -0
      {"add_minus_zero", kFloats, (x + real(-0.0f)).e, x.e},
      {"sub_plus_zero", kFloats, (x - real(0.0f)).e, x.e},
      {"neg_neg_float", kFloats, (-(-x)).e, x.e},
      {"add_negated_float", kFloats, (x + -y).e, (x - y).e},
      {"sub_negated_float", kFloats, (x - -y).e, (x + y).e},
      {"mul_negated_both", kFloats, ((-x) * (-y)).e, (x * y).e},
      {"div_negated_both", kFloats, ((-x) / (-y)).e, (x / y).e},
      // both round the same real number
      {"div_power_of_two", kFloats, (x / c0).e, (x * (real(1) / c0)).e, has_exact_reciprocal},
      {"min_self_float", kFloats, min(x, x).e, x.e},
      {"max_self_float", kFloats, max(x, x).e, x.e},
      {"abs_neg", kFloats, fn(Intrinsic::Abs, -x).e, fn(Intrinsic::Abs, x).e},
      {"abs_abs", kFloats, fn(Intrinsic::Abs, fn(Intrinsic::Abs, x)).e, fn(Intrinsic::Abs, x).e},
      {"floor_floor", kFloats, fn(Intrinsic::Floor, fn(Intrinsic::Floor, x)).e, fn(Intrinsic::Floor, x).e},
      {"ceil_ceil", kFloats, fn(Intrinsic::Ceil, fn(Intrinsic::Ceil, x)).e, fn(Intrinsic::Ceil, x).e},
      {"trunc_trunc", kFloats, fn(Intrinsic::Trunc, fn(Intrinsic::Trunc, x)).e, fn(Intrinsic::Trunc, x).e},
      {"round_round", kFloats, fn(Intrinsic::Round, fn(Intrinsic::Round, x)).e, fn(Intrinsic::Round, x).e},
      // one rounding either way
      {"fma_one", kFloats, fn(Intrinsic::Fma, x, real(1), y).e, (x + y).e},
      {"fma_minus_zero", kFloats, fn(Intrinsic::Fma, x, y, real(-0.0f)).e, (x * y).e},
  };
  return rules;
}

}  // namespace drawloom
