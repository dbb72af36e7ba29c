#include <catch2/catch.hpp>

#include <set>

#include "drawloom/layout/f2.h"
#include "drawloom/support/hash.h"

using namespace drawloom;

TEST_CASE("rank, combinations and kernel agree with all sums") {
  CounterRandom random(1);
  for (int k = 0; k < 300; ++k) {
    std::vector<BitVector> columns(static_cast<size_t>(random.uniform(0, 7)));
    for (auto& c : columns) c = static_cast<BitVector>(random.uniform(0, 31));
    std::set<BitVector> sums;
    int to_nothing = 0;
    for (BitVector v = 0; v < (BitVector{1} << columns.size()); ++v) {
      BitVector sum = 0;
      for (size_t c = 0; c < columns.size(); ++c) sum ^= (v >> c & 1) ? columns[c] : 0;
      REQUIRE(times(columns, v) == sum);
      sums.insert(sum);
      to_nothing += sum == 0;
    }
    REQUIRE((size_t{1} << rank(columns)) == sums.size());
    const auto zero = kernel(columns);
    REQUIRE((1 << zero.size()) == to_nothing);
    REQUIRE(rank(zero) == static_cast<int>(zero.size()));
    for (const auto v : zero) REQUIRE(times(columns, v) == 0);
    const BitSpan span(columns);
    for (BitVector v = 0; v < 32; ++v) {
      const auto made_of = span.combination(v);
      REQUIRE(made_of.has_value() == (sums.count(v) > 0));
      if (made_of) REQUIRE(times(columns, *made_of) == v);
    }
  }
}
