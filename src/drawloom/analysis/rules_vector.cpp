// Vectors: lane i of ramp(b, s) is b + i*s, of spread(x) it is x. What holds lane by lane moves inside.

#include "drawloom/analysis/row_build.h"

namespace drawloom {

using namespace rows;

auto vector_rules() -> std::span<const Rule> {
  const auto [x, y, z, p, q, c0, c1, c2] = wildcards(int_type(32));
  const auto w = wildcards(int_type(32).with_lanes(kRowLanes));
  constexpr auto kNumbers = TypeSet(kIntegers | kFloats), kAny = TypeSet(kNumbers | kBools);
  static const Rule rules[] = {
      {"ramp_still", kIntegers, ramp(x, number(0)).e, spread(x).e},
      // (b + i*s) + x = (b + x) + i*s
      {"ramp_add", kIntegers, (ramp(x, y) + spread(z)).e, ramp(x + z, y).e},
      {"ramp_sub", kIntegers, (ramp(x, y) - spread(z)).e, ramp(x - z, y).e},
      {"spread_sub_ramp", kIntegers, (spread(z) - ramp(x, y)).e, ramp(z - x, -y).e},
      {"ramp_mul", kIntegers, (ramp(x, y) * spread(z)).e, ramp(x * z, y * z).e},
      {"ramp_add_ramp", kIntegers, (ramp(x, c0) + ramp(y, c1)).e, ramp(x + y, c0 + c1).e},
      {"ramp_sub_ramp", kIntegers, (ramp(x, c0) - ramp(y, c1)).e, ramp(x - y, c0 - c1).e},
      {"ramp_neg", kIntegers, (-ramp(x, c0)).e, ramp(-x, number(0) - c0).e},
      // the same operation in every lane
      {"spread_add", kNumbers, (spread(x) + spread(y)).e, spread(x + y).e},
      {"spread_sub", kNumbers, (spread(x) - spread(y)).e, spread(x - y).e},
      {"spread_mul", kNumbers, (spread(x) * spread(y)).e, spread(x * y).e},
      {"spread_div", kNumbers, (spread(x) / spread(y)).e, spread(x / y).e},
      {"spread_mod", kIntegers, (spread(x) % spread(y)).e, spread(x % y).e},
      {"spread_min", kNumbers, min(spread(x), spread(y)).e, spread(min(x, y)).e},
      {"spread_max", kNumbers, max(spread(x), spread(y)).e, spread(max(x, y)).e},
      {"spread_neg", kNumbers, (-spread(x)).e, spread(-x).e},
      {"spread_eq", kAny, (spread(x) == spread(y)).e, spread(x == y).e},
      {"spread_ne", kAny, (spread(x) != spread(y)).e, spread(x != y).e},
      {"spread_lt", kAny, (spread(x) < spread(y)).e, spread(x < y).e},
      {"spread_le", kAny, (spread(x) <= spread(y)).e, spread(x <= y).e},
      {"spread_gt", kAny, (spread(x) > spread(y)).e, spread(x > y).e},
      {"spread_ge", kAny, (spread(x) >= spread(y)).e, spread(x >= y).e},
      {"spread_and", kBools, (spread(p) && spread(q)).e, spread(p && q).e},
      {"spread_or", kBools, (spread(p) || spread(q)).e, spread(p || q).e},
      {"spread_not", kBools, (!spread(p)).e, spread(!p).e},
      {"spread_select", kAny, select(spread(p), spread(x), spread(y)).e, spread(select(p, x, y)).e},
      // x + broadcast + broadcast: constants of lanes meet
      {"vector_add_spreads", kIntegers, ((w.x + spread(y)) + spread(z)).e, (w.x + spread(y + z)).e},
      // a comparison of a ramp with what does not move is settled by its ends only when the lanes are known: left to
      // forms
  };
  return rules;
}

}  // namespace drawloom
