// Boolean algebra. Both sides of && and || are always evaluated and everything is defined, so dropping one is harmless.

#include "drawloom/analysis/row_build.h"

namespace drawloom {

using namespace rows;

auto bool_rules() -> std::span<const Rule> {
  const auto [x, y, z, p, q, c0, c1, c2] = wildcards(int_type(32));
  constexpr auto kTotal = TypeSet(kIntegers | kBools), kAny = TypeSet(kTotal | kFloats);
  static const Rule rules[] = {
      {"and_true", kBools, (p && truth(true)).e, p.e},
      {"and_false", kBools, (p && truth(false)).e, truth(false).e},
      {"or_true", kBools, (p || truth(true)).e, truth(true).e},
      {"or_false", kBools, (p || truth(false)).e, p.e},
      {"and_same", kBools, (p && p).e, p.e},
      {"or_same", kBools, (p || p).e, p.e},
      {"and_not", kBools, (p && !p).e, truth(false).e},
      {"or_not", kBools, (p || !p).e, truth(true).e},
      {"not_twice", kBools, (!(!p)).e, p.e},
      {"and_absorbs", kBools, (p && (p || q)).e, p.e},
      {"or_absorbs", kBools, (p || (p && q)).e, p.e},
      {"and_again", kBools, (p && (p && q)).e, (p && q).e},
      {"or_again", kBools, (p || (p || q)).e, (p || q).e},
      {"de_morgan_and", kBools, (!p && !q).e, (!(p || q)).e},
      {"de_morgan_or", kBools, (!p || !q).e, (!(p && q)).e},
      // equality is decided even with a NaN; order is not
      {"not_eq", kAny, (!(x == y)).e, (x != y).e},
      {"not_ne", kAny, (!(x != y)).e, (x == y).e},
      {"not_lt", kTotal, (!(x < y)).e, (y <= x).e},
      {"not_le", kTotal, (!(x <= y)).e, (y < x).e},
      {"not_gt", kTotal, (!(x > y)).e, (x <= y).e},
      {"not_ge", kTotal, (!(x >= y)).e, (x < y).e},
      {"lt_and_gt", kAny, (x < y && y < x).e, truth(false).e},
      {"lt_and_le", kAny, (x < y && y <= x).e, truth(false).e},
      {"lt_and_eq", kAny, (x < y && x == y).e, truth(false).e},
      {"le_or_lt", kTotal, (x <= y || y < x).e, truth(true).e},
      // x < a and x < b
      {"lt_and_lt", kIntegers, (x < c0 && x < c1).e, (x < min(c0, c1)).e},
      {"gt_and_gt", kIntegers, (x > c0 && x > c1).e, (x > max(c0, c1)).e},
      {"lt_or_lt", kIntegers, (x < c0 || x < c1).e, (x < max(c0, c1)).e},
      {"gt_or_gt", kIntegers, (x > c0 || x > c1).e, (x > min(c0, c1)).e},
      {"le_and_le", kIntegers, (x <= c0 && x <= c1).e, (x <= min(c0, c1)).e},
      {"ge_and_ge", kIntegers, (x >= c0 && x >= c1).e, (x >= max(c0, c1)).e},
  };
  return rules;
}

}  // namespace drawloom
