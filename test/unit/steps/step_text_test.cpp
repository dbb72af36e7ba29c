#include <catch2/catch.hpp>

#include "drawloom/steps/schedule.h"
#include "drawloom/steps/step_rows.h"

using namespace drawloom;

namespace {

const Loc kLine(make_ref<FileName>("s.sched"), 7, 1);

auto parsed(std::string_view text) -> Step { return parse_step(text, kLine).or_throw(); }
auto problem(std::string_view text) -> Diag {
  auto result = parse_step(text, kLine);
  REQUIRE_FALSE(result.ok());
  return result.diag();
}

}  // namespace

TEST_CASE("a split reads its names, factor and tail") {
  const auto step = std::get<Split>(parsed("split blur.x -> xo, xi by 8 tail=round_up"));
  CHECK(step.loop == LoopName{{"blur"}, "x"});
  CHECK(step.outer == "xo");
  CHECK(step.inner == "xi");
  CHECK(step.factor == Amount{8, ""});
  CHECK(step.tail.kind == Tail::Kind::round_up);
}

TEST_CASE("fields at their default are not printed") {
  CHECK(print(Step(Split{{{"f"}, "x"}, "x", "xi", {4, ""}, {}})) == "split f.x -> x, xi by 4");
  CHECK(print(Step(Split{{{"f"}, "x"}, "x", "xi", {0, "n"}, {Tail::Kind::filled, -1}})) ==
        "split f.x -> x, xi by n tail=filled(-1)");
  CHECK(print(Step(StoreAt{"f", {{"g"}, "y"}, WarmUp::automatic})) == "store_at f g.y");
  CHECK(print(Step(StoreAt{"f", {{"g"}, "y"}, WarmUp::gradual})) == "store_at f g.y warm=gradual");
}

TEST_CASE("stages and realisations have names") {
  const auto loop = std::get<Unroll>(parsed("unroll h[2].update(1).rx")).loop;
  CHECK(loop.stage == StageName{"h", 1, 2});
  CHECK(loop.loop == "rx");
  CHECK(loop.text() == "h[2].update(1).rx");
}

TEST_CASE("every step prints what it reads") {
  const std::vector<std::string> lines = {
      "split f.update(0).x -> x, xi by 8 tail=shrink",
      "split f.x -> xo, xi by n tail=filled(0)",
      "fuse f.x y -> t",
      "reorder f xi yi xo yo",
      "reorder f.update(2) rx x",
      "rename f.x -> lane",
      "unroll f[0].xi",
      "vectorize f.xi",
      "parallel f.y",
      "compute_at f g.update(1).y",
      "store_at f g.y warm=whole",
      "compute_root f",
      "store_root f warm=gradual",
      "compute_inline f",
      "bound f.c 0 3",
      "bound f.c -2 channels",
      "align f.x by 4",
      "store_in f register",
      "store_in f stack",
      "fold_storage f.y to 4",
      "nontemporal f",
      "partition f.x never",
      "partition f.x auto",
  };
  std::vector<bool> seen(step_rows().size());
  for (const auto& line : lines) {
    const Step step = parsed(line);
    CHECK(print(step) == line);
    CHECK(parsed(print(step)) == step);
    seen[step.index()] = true;
  }
  for (size_t i = 0; i < seen.size(); ++i) {
    INFO(step_rows()[i].word);
    CHECK(seen[i]);
  }
}

TEST_CASE("blanks are free, and words do not match the start of longer words") {
  CHECK(parsed("  split   f.x->xo,xi   by 8") == parsed("split f.x -> xo, xi by 8"));
  CHECK(problem("split f.x -> xo, xi byte 8").message() == "expected `by`, found `byte`");
}

TEST_CASE("an unknown step names the nearest") {
  const auto d = problem("vectorise f.x");
  CHECK(d.name() == "parse_unknown_name");
  CHECK(d.message() == "unknown step `vectorise`");
  CHECK(d.help() == "did you mean `vectorize`?");
  CHECK(d.loc().text() == "s.sched:7:1");
}

TEST_CASE("mistakes in a step are named at their column") {
  CHECK(problem("split f.x -> xo xi by 8").text() ==
        "s.sched:7:17: error: expected `,`, found `xi` [parse_unexpected]");
  CHECK(problem("split f.x -> xo, xi by 8 tail=guard").text() ==
        "s.sched:7:31: error: unknown tail `guard` [parse_unknown_name]\n"
        "help: one of predicate, round_up, filled, shrink");
  CHECK(problem("store_at f g.y worm=whole").message() == "expected `warm=` or the end of the line, found `worm`");
  CHECK(problem("unroll f").message() == "expected `.` and the name of a loop, found the end of the line");
  CHECK(problem("parallel f.y now").message() == "expected the end of the line, found `now`");
  CHECK(problem("align f.x by 99999999999999999999").name() == "parse_number");
  CHECK(problem("align f.x by four").message() == "expected an integer, found `four`");
  CHECK(problem("store_in f argument").message() == "unknown memory `argument`");
  CHECK(problem("reorder f").message() == "expected names, found the end of the line");
  CHECK(problem("").message() == "expected a step, found the end of the line");
}
