// Comparisons. Every order is total except that of floats, where a NaN makes all but != false.

#include "drawloom/analysis/row_build.h"

namespace drawloom {

using namespace rows;

auto compare_rules() -> std::span<const Rule> {
  const auto [x, y, z, p, q, c0, c1, c2] = wildcards(int_type(32));
  constexpr auto kTotal = TypeSet(kIntegers | kBools), kAny = TypeSet(kTotal | kFloats);
  static const Rule rules[] = {
      {"eq_self", kTotal, (x == x).e, truth(true).e},
      {"ne_self", kTotal, (x != x).e, truth(false).e},
      {"lt_self", kAny, (x < x).e, truth(false).e},
      {"gt_self", kAny, (x > x).e, truth(false).e},
      {"le_self", kTotal, (x <= x).e, truth(true).e},
      {"ge_self", kTotal, (x >= x).e, truth(true).e},
      // x + a = b exactly when x = b - a, in any ring
      {"eq_shift", kIntegers, (x + c0 == c1).e, (x == c1 - c0).e},
      {"ne_shift", kIntegers, (x + c0 != c1).e, (x != c1 - c0).e},
      {"eq_unshift", kIntegers, (x - c0 == c1).e, (x == c1 + c0).e},
      {"ne_unshift", kIntegers, (x - c0 != c1).e, (x != c1 + c0).e},
      {"eq_difference", kIntegers, (x - y == number(0)).e, (x == y).e},
      {"ne_difference", kIntegers, (x - y != number(0)).e, (x != y).e},
      {"eq_both_shift", kIntegers, (x + z == y + z).e, (x == y).e},
      {"ne_both_shift", kIntegers, (x + z != y + z).e, (x != y).e},
      // the same for order, where nothing wraps
      {"lt_shift", kIndices, (x + c0 < c1).e, (x < c1 - c0).e},
      {"le_shift", kIndices, (x + c0 <= c1).e, (x <= c1 - c0).e},
      {"gt_shift", kIndices, (x + c0 > c1).e, (x > c1 - c0).e},
      {"ge_shift", kIndices, (x + c0 >= c1).e, (x >= c1 - c0).e},
      {"lt_both_shift", kIndices, (x + z < y + z).e, (x < y).e},
      {"le_both_shift", kIndices, (x + z <= y + z).e, (x <= y).e},
      {"eq_scaled", kIndices, (x * c0 == number(0)).e, (x == number(0)).e,
       [](const Constants& c) { return c.c0 != 0; }},
      {"lt_scaled", kIndices, (x * c0 < y * c0).e, (x < y).e, [](const Constants& c) { return c.c0 > 0; }},
      {"le_scaled", kIndices, (x * c0 <= y * c0).e, (x <= y).e, [](const Constants& c) { return c.c0 > 0; }},
      // ends of a type
      {"lt_least", kData, (x < c0).e, truth(false).e, [](const Constants& c) { return c.is_least(c.c0); }},
      {"ge_least", kData, (x >= c0).e, truth(true).e, [](const Constants& c) { return c.is_least(c.c0); }},
      {"gt_greatest", kData, (x > c0).e, truth(false).e, [](const Constants& c) { return c.is_greatest(c.c0); }},
      {"le_greatest", kData, (x <= c0).e, truth(true).e, [](const Constants& c) { return c.is_greatest(c.c0); }},
      // min(x, y) <= x <= max(x, y)
      {"min_le", kIntegers, (min(x, y) <= x).e, truth(true).e},
      {"lt_min", kIntegers, (x < min(x, y)).e, truth(false).e},
      {"le_max", kIntegers, (x <= max(x, y)).e, truth(true).e},
      {"max_lt", kIntegers, (max(x, y) < x).e, truth(false).e},
      {"le_min_same", kIntegers, (x <= min(x, y)).e, (x <= y).e},
      {"max_le_same", kIntegers, (max(x, y) <= x).e, (y <= x).e},
      {"min_lt_same", kIntegers, (min(x, y) < x).e, (y < x).e},
      {"lt_max_same", kIntegers, (x < max(x, y)).e, (x < y).e},
      // 0 <= x%a < a
      {"mod_lt", kIntegers, (x % c0 < c1).e, truth(true).e,
       [](const Constants& c) { return c.positive(c.c0) && !c.below(c.c1, c.c0); }},
      {"mod_ge_zero", kIntegers, (x % y >= number(0)).e, truth(true).e, [](const Constants& c) { return true; }},
  };
  return rules;
}

}  // namespace drawloom
