// Choices. Both sides are always evaluated.

#include "drawloom/analysis/row_build.h"

namespace drawloom {

using namespace rows;

auto select_rules() -> std::span<const Rule> {
  const auto [x, y, z, p, q, c0, c1, c2] = wildcards(int_type(32));
  constexpr auto kAny = TypeSet(kIntegers | kBools | kFloats);
  static const Rule rules[] = {
      {"select_same", kAny, select(p, x, x).e, x.e},
      {"select_not", kAny, select(!p, x, y).e, select(p, y, x).e},
      {"select_again_yes", kAny, select(p, select(p, x, y), z).e, select(p, x, z).e},
      {"select_again_no", kAny, select(p, x, select(p, y, z)).e, select(p, x, z).e},
      {"select_nested_and", kAny, select(p, select(q, x, y), y).e, select(p && q, x, y).e},
      {"select_nested_or", kAny, select(p, x, select(q, x, y)).e, select(p || q, x, y).e},
      // bools
      {"select_true_false", kBools, select(p, truth(true), truth(false)).e, p.e},
      {"select_false_true", kBools, select(p, truth(false), truth(true)).e, (!p).e},
      {"select_and", kBools, select(p, q, truth(false)).e, (p && q).e},
      {"select_or", kBools, select(p, truth(true), q).e, (p || q).e},
      // the order of its sides (not for floats: min may return either zero)
      {"select_lt_min", kIntegers, select(x < y, x, y).e, min(x, y).e},
      {"select_le_min", kIntegers, select(x <= y, x, y).e, min(x, y).e},
      {"select_lt_max", kIntegers, select(x < y, y, x).e, max(x, y).e},
      {"select_le_max", kIntegers, select(x <= y, y, x).e, max(x, y).e},
      {"select_gt_max", kIntegers, select(x > y, x, y).e, max(x, y).e},
      {"select_ge_max", kIntegers, select(x >= y, x, y).e, max(x, y).e},
      {"select_gt_min", kIntegers, select(x > y, y, x).e, min(x, y).e},
      {"select_ge_min", kIntegers, select(x >= y, y, x).e, min(x, y).e},
      {"select_eq", kIntegers, select(x == y, x, y).e, y.e},
      {"select_ne", kIntegers, select(x != y, x, y).e, x.e},
      // f(x) and f(y) under one f
      {"select_sum", kIntegers, select(p, x + z, y + z).e, (select(p, x, y) + z).e},
      {"select_product", kIntegers, select(p, x * z, y * z).e, (select(p, x, y) * z).e},
      {"select_difference", kIntegers, select(p, x - z, y - z).e, (select(p, x, y) - z).e},
  };
  return rules;
}

}  // namespace drawloom
