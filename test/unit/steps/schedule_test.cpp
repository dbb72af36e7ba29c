#include <catch2/catch.hpp>

#include "drawloom/steps/schedule.h"

using namespace drawloom;

namespace {

auto step(std::string_view text) -> Step { return parse_step(text, {}).or_throw(); }
auto lines(const std::vector<std::string>& texts) -> std::vector<ScheduleLine> {
  std::vector<ScheduleLine> out;
  for (const auto& t : texts) out.push_back({step(t), {}});
  return out;
}
auto texts(const std::vector<ScheduleLine>& list) -> std::vector<std::string> {
  std::vector<std::string> out;
  for (const auto& l : list) out.push_back(print(l.step));
  return out;
}
using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("a schedule's text round-trips and keeps lines") {
  const std::string text =
      "drawloom-schedule 1 for blur target x86-64-v3\n"
      "  split blur.x -> xo, x by 8\n"
      "  vectorize blur.x\n"
      "  parallel blur.y\n";
  const auto s = parse_schedule(text, "a.sched").or_throw();
  CHECK(s.pipeline == "blur");
  CHECK(s.target == "x86-64-v3");
  REQUIRE(s.steps.size() == 3);
  CHECK(s.steps[1].loc.text() == "a.sched:3:3");
  CHECK(print(s) == text);
  CHECK(parse_schedule(print(s), "b.sched").or_throw() == s);
}

TEST_CASE("comments and blank lines are skipped, a target is optional") {
  const auto s =
      parse_schedule("// best so far\n\ndrawloom-schedule 1 for f\n\n  unroll f.c // three\n", "a").or_throw();
  CHECK(s.target.empty());
  REQUIRE(s.steps.size() == 1);
  CHECK(print(s) == "drawloom-schedule 1 for f\n  unroll f.c\n");
}

TEST_CASE("a schedule of another version, or none, is refused with its line") {
  const auto version = parse_schedule("\ndrawloom-schedule 2 for f\n", "a.sched");
  REQUIRE_FALSE(version.ok());
  CHECK(version.diag().text() == "a.sched:2:19: error: unknown version `2`; this build reads `1` [parse_version]");
  const auto none = parse_schedule("split f.x -> a, b by 2\n", "a.sched");
  REQUIRE_FALSE(none.ok());
  CHECK(none.diag().message() == "expected `drawloom-schedule 1`, found `split`");
  CHECK_FALSE(parse_schedule("", "a.sched").ok());
  const auto inside = parse_schedule("drawloom-schedule 1 for f\n  unroll f.c\n  unrol f.d\n", "a.sched");
  REQUIRE_FALSE(inside.ok());
  CHECK(inside.diag().loc().text() == "a.sched:3:3");
}

TEST_CASE("recorded steps are ordered: bounds, then Funcs from the outputs, then storage") {
  const auto out = order_recorded(lines({
                                      "fold_storage bx.y to 4",
                                      "compute_at bx out.yi",
                                      "split out.y -> yo, yi by 32",
                                      "unroll out.c",
                                      "bound out.c 0 3",
                                      "vectorize bx.x",
                                  }),
                                  {"out", "bx"});
  CHECK(texts(out) == Words{"bound out.c 0 3", "split out.y -> yo, yi by 32", "unroll out.c", "compute_at bx out.yi",
                            "vectorize bx.x", "fold_storage bx.y to 4"});
}

TEST_CASE("loop steps of one stage keep their order, stages of a Func stand in theirs") {
  const auto out = order_recorded(lines({
                                      "split f.update(1).x -> x, xi by 4",
                                      "split f.x -> x, xi by 8",
                                      "reorder f xi x",
                                      "split f.update(0).x -> x, xi by 2",
                                      "vectorize f.xi",
                                  }),
                                  {"f"});
  CHECK(texts(out) == Words{"split f.x -> x, xi by 8", "reorder f xi x", "vectorize f.xi",
                            "split f.update(0).x -> x, xi by 2", "split f.update(1).x -> x, xi by 4"});
}

TEST_CASE("of two placements the last wins, and computing comes before storing") {
  CHECK(texts(order_recorded(lines({"store_root f", "compute_root f", "compute_at f g.y", "store_at f g.x"}),
                             {"g", "f"})) == Words{"compute_at f g.y", "store_at f g.x"});
  CHECK(texts(order_recorded(lines({"compute_at f g.y", "store_root f", "compute_inline f"}), {"g", "f"})) ==
        Words{"compute_inline f"});
  // Of another Func: untouched.
  CHECK(texts(order_recorded(lines({"compute_root f", "compute_root h"}), {"h", "f"})) ==
        Words{"compute_root h", "compute_root f"});
}
