#include <catch2/catch.hpp>

#include "drawloom/nest/region.h"
#include "pipelines.h"

using namespace drawloom;
using namespace drawloom::testing;

namespace {

auto chain_schedule(int stages, std::string_view warm) -> std::string {
  std::string s;
  for (int i = stages - 1; i >= 0; --i) s += str("  compute_at s{} out.y\n  store_root s{} warm={}\n", i, i, warm);
  return s;
}

struct Windows {
  int64_t deepest = 0, sum = 0, most_warm = 0;
};
auto row_windows(const Nest& nest) -> Windows {
  Windows w;
  QueryCache cache;
  for (size_t i = 0; i + 1 < nest.graph->funcs.size(); ++i) {
    const auto& facts = realisation_facts(nest, {static_cast<int>(i), 0}, cache);
    REQUIRE(facts.slide_of(1) != nullptr);
    REQUIRE(facts.window[1].has_value());
    w.deepest = std::max(w.deepest, *facts.window[1]);
    w.sum += *facts.window[1];
    w.most_warm = std::max(w.most_warm, facts.warm_iterations);
  }
  return w;
}

}  // namespace

// The figures are those of the paper model of sliding rows (32 stages that read 5 rows each): a consumer that computes all its
// first rows at once needs all of theirs, 5 + 4 per stage below it; with a gradual start every stage keeps 5 rows.
TEST_CASE("a chain of 32 stencils keeps 129 rows with a whole start and 5 with a gradual one") {
  const auto chain = stencil_chain(32, 2);
  const auto whole = row_windows(scheduled(chain, chain_schedule(32, "whole")));
  CHECK(whole.deepest == 129);
  CHECK(whole.sum == 2144);
  CHECK(whole.most_warm == 0);
  const auto gradual = row_windows(scheduled(chain, chain_schedule(32, "gradual")));
  CHECK(gradual.deepest == 5);
  CHECK(gradual.sum == 160);
  CHECK(gradual.most_warm == 128);
}

TEST_CASE("blur slides in y") {
  const auto nest = scheduled(blur(), "  compute_at bx out.y\n  store_root bx\n");
  INFO(print_nest(nest));
  QueryCache cache;
  const auto& facts = realisation_facts(nest, {0, 0}, cache);
  CHECK(facts.window[1] == 3);
  CHECK(facts.slides.size() == 1);
  CHECK(facts.slides[0].gradual);
  CHECK(facts.warm_iterations == 2);
}

TEST_CASE("a slide survives a split of the loop it slides along") {
  const auto nest = scheduled(blur(), "  split out.y -> yo, yi by 4\n  compute_at bx out.yi\n  store_root bx\n");
  INFO(print_nest(nest));
  QueryCache cache;
  const auto& facts = realisation_facts(nest, {0, 0}, cache);
  REQUIRE(facts.slides.size() == 1);
  CHECK(facts.slides[0].chain.size() == 2);
  CHECK(facts.window[1] == 3);
}
