#include <set>
#include <vector>

#include "catch2/catch.hpp"
#include "drawloom/runtime_testing.h"
#include "listening_context.h"

extern "C" {
#include "testing/permute.h"
}

namespace {

int append(drawloom_context_t*, int64_t index, void* closure) {
  static_cast<std::vector<int64_t>*>(closure)->push_back(index);
  return 0;
}

/// The order in which the first `loops` loops of a new context with this seed meet [min, min + extent).
std::vector<std::vector<int64_t>> orders(uint64_t seed, int64_t min, int64_t extent, int loops) {
  drawloom_test_options_t options = {};
  options.par_for = drawloom_test_permute;
  options.seed = seed;
  drawloom_context_t* ctx = drawloom_test_context_create(&options);
  std::vector<std::vector<int64_t>> result(static_cast<size_t>(loops));
  for (auto& order : result) ctx->table->par_for(ctx, append, min, extent, &order);
  drawloom_test_context_destroy(ctx);
  return result;
}

}  // namespace

TEST_CASE("permuted indices are a permutation", "[runtime]") {
  for (const uint64_t extent : {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 100, 257, 1000}) {
    for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, UINT64_MAX}) {
      std::set<uint64_t> images;
      for (uint64_t i = 0; i < extent; i++) images.insert(drawloom_permuted(i, extent, seed));
      CAPTURE(extent, seed);
      CHECK(images.size() == extent);
      CHECK(*images.rbegin() == extent - 1);
    }
  }
}

TEST_CASE("a huge extent is permuted without memory", "[runtime]") {
  constexpr uint64_t kExtent = (uint64_t{1} << 40) + 12345;
  std::set<uint64_t> images;
  uint64_t lower_half = 0;
  for (uint64_t i = 0; i < 1000; i++) {
    const uint64_t image = drawloom_permuted(i, kExtent, 9);
    REQUIRE(image < kExtent);
    images.insert(image);
    lower_half += image < kExtent / 2;
  }
  CHECK(images.size() == 1000);
  CHECK(lower_half > 400);  // spread over the whole: 500 +- 16 by chance
  CHECK(lower_half < 600);
}

TEST_CASE("small loops are met in all orders", "[runtime]") {
  std::set<std::vector<int64_t>> seen;
  for (uint64_t seed = 0; seed < 300; seed++) seen.insert(orders(seed, 0, 4, 1)[0]);
  CHECK(seen.size() == 24);
}

TEST_CASE("the seed decides the order, and each loop draws anew", "[runtime]") {
  const auto first = orders(1, -50, 100, 2);
  CHECK(orders(1, -50, 100, 2) == first);
  CHECK(first[0] != first[1]);
  CHECK(orders(2, -50, 100, 1)[0] != first[0]);
  std::vector<int64_t> in_order;
  for (int64_t i = -50; i < 50; i++) in_order.push_back(i);
  CHECK(first[0] != in_order);
  CHECK(std::set<int64_t>(first[0].begin(), first[0].end()) == std::set<int64_t>(in_order.begin(), in_order.end()));
}
