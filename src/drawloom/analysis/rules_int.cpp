// Sums, products, minima, bits. Data integers are numbers modulo 2^bits, so what holds in a ring holds for them; index
// is the integers. Constants move outwards and to the right, where they meet: ((x + 3) + y) - 5 -> (x + y) - 2.

#include "drawloom/analysis/row_build.h"

namespace drawloom {

using namespace rows;

auto int_rules() -> std::span<const Rule> {
  const auto [x, y, z, p, q, c0, c1, c2] = wildcards(int_type(32));
  static const Rule rules[] = {
      // x + 0 = x
      {"add_zero", kIntegers, (x + number(0)).e, x.e},
      {"sub_zero", kIntegers, (x - number(0)).e, x.e},
      // (x + a) + b = x + (a + b), and the same for every mixture of signs
      {"add_add", kIntegers, ((x + c0) + c1).e, (x + (c0 + c1)).e},
      {"sub_add", kIntegers, ((x - c0) + c1).e, (x + (c1 - c0)).e},
      {"add_sub", kIntegers, ((x + c0) - c1).e, (x + (c0 - c1)).e},
      {"sub_sub", kIntegers, ((x - c0) - c1).e, (x - (c0 + c1)).e},
      {"from_add", kIntegers, ((c0 - x) + c1).e, ((c0 + c1) - x).e},
      {"from_sub", kIntegers, ((c0 - x) - c1).e, ((c0 - c1) - x).e},
      {"sub_from", kIntegers, (c0 - (c1 - x)).e, (x + (c0 - c1)).e},
      {"from_sum", kIntegers, (c0 - (x + c1)).e, ((c0 - c1) - x).e},
      // x + -3 = x - 3
      {"add_negative", TypeSet(kSigned | kIndices), (x + c0).e, (x - (number(0) - c0)).e,
       [](const Constants& c) { return c.c0 < 0 && c.c0 != c.least(); }},
      {"sub_negative", TypeSet(kSigned | kIndices), (x - c0).e, (x + (number(0) - c0)).e,
       [](const Constants& c) { return c.c0 < 0 && c.c0 != c.least(); }},
      // constants move out: (x + a) + y = (x + y) + a
      {"sum_constant_out", kIntegers, ((x + c0) + y).e, ((x + y) + c0).e},
      {"difference_constant_out", kIntegers, ((x + c0) - y).e, ((x - y) + c0).e},
      {"difference_of_sum", kIntegers, (y - (x + c0)).e, ((y - x) - c0).e},
      // x - x = 0
      {"sub_self", kIntegers, (x - x).e, number(0).e},
      {"sub_then_add", kIntegers, ((x - y) + y).e, x.e},
      {"add_then_sub", kIntegers, ((x + y) - y).e, x.e},
      {"sub_of_sum", kIntegers, (x - (x + y)).e, (number(0) - y).e},
      {"sub_of_difference", kIntegers, (x - (x - y)).e, y.e},
      {"difference_of_sums", kIntegers, ((x + z) - (y + z)).e, (x - y).e},
      // x + -y = x - y
      {"add_negated", kIntegers, (x + -y).e, (x - y).e},
      {"sub_negated", kIntegers, (x - -y).e, (x + y).e},
      {"neg_neg", kIntegers, (-(-x)).e, x.e},
      {"neg_difference", kIntegers, (-(x - y)).e, (y - x).e},
      {"zero_minus", kIntegers, (number(0) - x).e, (-x).e},
      // x*1 = x, x*0 = 0, x*-1 = -x
      {"mul_one", kIntegers, (x * number(1)).e, x.e},
      {"mul_zero", kIntegers, (x * number(0)).e, number(0).e},
      {"mul_minus_one", TypeSet(kSigned | kIndices), (x * number(-1)).e, (-x).e},
      {"mul_mul", kIntegers, ((x * c0) * c1).e, (x * (c0 * c1)).e},
      {"neg_mul", kIntegers, ((-x) * c0).e, (x * (number(0) - c0)).e},
      // x*a + x*b = x*(a + b)
      {"twice", kIntegers, (x + x).e, (x * number(2)).e},
      {"factor_constants", kIntegers, (x * c0 + x * c1).e, (x * (c0 + c1)).e},
      {"factor_constants_sub", kIntegers, (x * c0 - x * c1).e, (x * (c0 - c1)).e},
      {"factor_one", kIntegers, (x * c0 + x).e, (x * (c0 + number(1))).e},
      {"factor_one_sub", kIntegers, (x * c0 - x).e, (x * (c0 - number(1))).e},
      {"factor", kIntegers, (x * z + y * z).e, ((x + y) * z).e},
      {"factor_sub", kIntegers, (x * z - y * z).e, ((x - y) * z).e},
      // (x + a)*b = x*b + a*b, where both are constants: the sum is seen by what stands around
      {"distribute", kIntegers, ((x + c0) * c1).e, (x * c1 + c0 * c1).e},

      // lattice: min and max of any order
      {"min_self", kIntegers, min(x, x).e, x.e},
      {"max_self", kIntegers, max(x, x).e, x.e},
      {"min_min", kIntegers, min(min(x, c0), c1).e, min(x, min(c0, c1)).e},
      {"max_max", kIntegers, max(max(x, c0), c1).e, max(x, max(c0, c1)).e},
      {"min_of_min", kIntegers, min(x, min(x, y)).e, min(x, y).e},
      {"max_of_max", kIntegers, max(x, max(x, y)).e, max(x, y).e},
      {"min_of_max", kIntegers, min(x, max(x, y)).e, x.e},
      {"max_of_min", kIntegers, max(x, min(x, y)).e, x.e},
      {"clamp_above", kIntegers, max(min(x, c0), c1).e, c1.e, [](const Constants& c) { return !c.below(c.c1, c.c0); }},
      {"clamp_below", kIntegers, min(max(x, c0), c1).e, c1.e, [](const Constants& c) { return !c.below(c.c0, c.c1); }},
      {"min_greatest", kData, min(x, c0).e, x.e, [](const Constants& c) { return c.is_greatest(c.c0); }},
      {"min_least", kData, min(x, c0).e, c0.e, [](const Constants& c) { return c.is_least(c.c0); }},
      {"max_greatest", kData, max(x, c0).e, c0.e, [](const Constants& c) { return c.is_greatest(c.c0); }},
      {"max_least", kData, max(x, c0).e, x.e, [](const Constants& c) { return c.is_least(c.c0); }},
      // translation is monotone where nothing wraps
      {"min_shifted", kIndices, min(x + z, y + z).e, (min(x, y) + z).e},
      {"max_shifted", kIndices, max(x + z, y + z).e, (max(x, y) + z).e},
      {"min_constant_apart", kIndices, min(x + c0, x).e, (x + min(c0, number(0))).e},
      {"max_constant_apart", kIndices, max(x + c0, x).e, (x + max(c0, number(0))).e},

      // Boolean algebra bit by bit
      {"and_zero", TypeSet(kIntegers | kBools), (x & number(0)).e, number(0).e},
      {"and_self", TypeSet(kIntegers | kBools), (x & x).e, x.e},
      {"and_ones", TypeSet(kIntegers | kBools), (x & number(-1)).e, x.e},
      {"or_zero", TypeSet(kIntegers | kBools), (x | number(0)).e, x.e},
      {"or_self", TypeSet(kIntegers | kBools), (x | x).e, x.e},
      {"or_ones", TypeSet(kIntegers | kBools), (x | number(-1)).e, number(-1).e},
      {"xor_zero", TypeSet(kIntegers | kBools), (x ^ number(0)).e, x.e},
      {"xor_self", TypeSet(kIntegers | kBools), (x ^ x).e, number(0).e},
      {"and_and", kIntegers, ((x & c0) & c1).e, (x & (c0 & c1)).e},
      {"or_or", kIntegers, ((x | c0) | c1).e, (x | (c0 | c1)).e},
      {"xor_xor", kIntegers, ((x ^ c0) ^ c1).e, (x ^ (c0 ^ c1)).e},
      {"and_absorb", kIntegers, (x & (x | y)).e, x.e},
      {"or_absorb", kIntegers, (x | (x & y)).e, x.e},
      {"not_not", kIntegers, (~(~x)).e, x.e},
      {"and_complement", kIntegers, (x & ~x).e, number(0).e},

      // x*2^0 = x
      {"shl_zero", kIntegers, (x << number(0)).e, x.e},
      {"shr_zero", kIntegers, (x >> number(0)).e, x.e},
      {"zero_shl", kIntegers, (number(0) << x).e, number(0).e},
      {"zero_shr", kIntegers, (number(0) >> x).e, number(0).e},
      {"shl_shl", kData, ((x << c0) << c1).e, (x << (c0 + c1)).e,
       [](const Constants&
              c) { return c.c0 >= 0 && c.c1 >= 0 && c.c0 < 64 && c.c1 < 64 && c.c0 + c.c1 < c.type.bits; }},
      {"shr_shr", kData, ((x >> c0) >> c1).e, (x >> (c0 + c1)).e,
       [](const Constants&
              c) { return c.c0 >= 0 && c.c1 >= 0 && c.c0 < 64 && c.c1 < 64 && c.c0 + c.c1 < c.type.bits; }},
  };
  return rules;
}

}  // namespace drawloom
