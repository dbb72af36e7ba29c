// Division and remainder: a = b*(a/b) + a%b with 0 <= a%b < |b|, and x/0 = x%0 = 0.
//
//   (8*x + y)/8 = x + y/8    index: always.  u8 with x = 32, y = 0: 0 on the left, as 8*32 wraps, and 32 on the right
//
// So rows that look into a dividend that is a sum or product are for indices, unless only the remainder
// by a power of two counts.

#include "drawloom/analysis/row_build.h"

namespace drawloom {

using namespace rows;

auto divide_rules() -> std::span<const Rule> {
  const auto [x, y, z, p, q, c0, c1, c2] = wildcards(int_type(32));
  static const Rule rules[] = {
      {"div_one", kIntegers, (x / number(1)).e, x.e},
      {"div_zero", kIntegers, (x / number(0)).e, number(0).e},
      {"zero_div", kIntegers, (number(0) / x).e, number(0).e},
      {"div_minus_one", TypeSet(kSigned | kIndices), (x / number(-1)).e, (-x).e},
      // floor(floor(x/a)/b) = floor(x/(a*b)), a, b > 0
      {"div_div", kIntegers, ((x / c0) / c1).e, (x / (c0 * c1)).e,
       [](const Constants& c) { return c.product_fits(c.c0, c.c1); }},
      // (x*a)/b = x*(a/b) when b divides a; = x/(b/a) when a divides b. Only where x*a does not wrap.
      {"mul_div", kIndices, ((x * c0) / c1).e, (x * (c0 / c1)).e,
       [](const Constants& c) { return c.divides(c.c1, c.c0); }},
      {"mul_div_less", kIndices, ((x * c0) / c1).e, (x / (c1 / c0)).e,
       [](const Constants& c) { return c.divides(c.c0, c.c1) && c.c1 > 0; }},
      // (x*a + y)/b = x*(a/b) + y/b when b divides a
      {"sum_div", kIndices, ((x * c0 + y) / c1).e, (x * (c0 / c1) + y / c1).e,
       [](const Constants& c) { return c.divides(c.c1, c.c0); }},
      {"difference_div", kIndices, ((y - x * c0) / c1).e, (y / c1 - x * (c0 / c1)).e,
       [](const Constants& c) { return c.divides(c.c1, c.c0); }},
      {"shift_div", kIndices, ((x + c0) / c1).e, (x / c1 + c0 / c1).e,
       [](const Constants& c) { return c.divides(c.c1, c.c0); }},
      // 0 <= x%a < a
      {"mod_div", kIntegers, ((x % c0) / c1).e, number(0).e,
       [](const Constants& c) { return c.positive(c.c0) && !c.below(c.c1, c.c0); }},
      {"min_div", kIntegers, min(x / c0, y / c0).e, (min(x, y) / c0).e,
       [](const Constants& c) { return c.positive(c.c0); }},
      {"max_div", kIntegers, max(x / c0, y / c0).e, (max(x, y) / c0).e,
       [](const Constants& c) { return c.positive(c.c0); }},

      {"mod_one", kIntegers, (x % number(1)).e, number(0).e},
      {"mod_zero", kIntegers, (x % number(0)).e, number(0).e},
      {"zero_mod", kIntegers, (number(0) % x).e, number(0).e},
      {"mod_self", kIntegers, (x % x).e, number(0).e},
      // x%a is below b when a <= b
      {"mod_mod_more", kIntegers, ((x % c0) % c1).e, (x % c0).e,
       [](const Constants& c) { return c.positive(c.c0) && !c.below(c.c1, c.c0); }},
      // x%a differs from x by a multiple of b when b divides a
      {"mod_mod", kIntegers, ((x % c0) % c1).e, (x % c1).e,
       [](const Constants& c) { return c.positive(c.c0) && c.divides(c.c1, c.c0); }},
      // multiples of b vanish; where x*a wraps, only powers of two divide 2^bits
      {"mul_mod", kIndices, ((x * c0) % c1).e, number(0).e, [](const Constants& c) { return c.divides(c.c1, c.c0); }},
      {"mul_mod_wrapping", kData, ((x * c0) % c1).e, number(0).e,
       [](const Constants& c) { return c.is_power_of_two(c.c1) && c.divides(c.c1, c.c0); }},
      {"sum_mod", kIndices, ((x * c0 + y) % c1).e, (y % c1).e,
       [](const Constants& c) { return c.divides(c.c1, c.c0); }},
      {"sum_mod_wrapping", kData, ((x * c0 + y) % c1).e, (y % c1).e,
       [](const Constants& c) { return c.is_power_of_two(c.c1) && c.divides(c.c1, c.c0); }},
      {"shift_mod", kIndices, ((x + c0) % c1).e, (x % c1).e, [](const Constants& c) { return c.divides(c.c1, c.c0); }},
      {"shift_mod_wrapping", kData, ((x + c0) % c1).e, (x % c1).e,
       [](const Constants& c) { return c.is_power_of_two(c.c1) && c.divides(c.c1, c.c0); }},
      // b*(x/b) + x%b = x
      {"join", kIntegers, ((x / c0) * c0 + x % c0).e, x.e, [](const Constants& c) { return c.c0 != 0; }},
      {"rest", kIntegers, (x - (x / c0) * c0).e, (x % c0).e, [](const Constants& c) { return c.c0 != 0; }},
  };
  return rules;
}

}  // namespace drawloom
