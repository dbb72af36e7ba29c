#include "drawloom/lang/dl_text.h"
#include "mistake.h"

namespace {

auto parsed(const std::string& text) -> DlCase { return parse_case(text, "t.dl").or_throw(); }
auto problem(const std::string& text) -> Diag {
  auto result = parse_case(text, "t.dl");
  REQUIRE_FALSE(result.ok());
  return result.diag();
}

const std::string kBlur =
    "drawloom-pipeline 1 blur\n"
    "input in: buffer<u16, 2>\n"
    "param n: i32 in [1, 64]\n"
    "\n"
    "func bx(x, y): u16 = (in(x - 1, y) + in(x, y) + in(x + cast<index>(n), y)) / 3:u16\n"
    "\n"
    "func blur(x, y): u16 = (bx(x, y - 1) + bx(x, y) + bx(x, y + 1)) / 3:u16\n"
    "\n"
    "output blur\n";

}  // namespace

TEST_CASE("a pipeline's text reads back as itself") {
  const auto c = parsed(kBlur);
  CHECK(print(c) == kBlur);
  REQUIRE(c.pipeline->funcs.size() == 2);
  CHECK(c.pipeline->funcs[1]->types[0] == UInt(16));
  CHECK(c.pipeline->params[0]->max == 64);
  CHECK(c.pipeline->funcs[0]->loc.text() == "t.dl:5:6");
}

TEST_CASE("types may be left to the language's rules") {
  const auto c = parsed(
      "drawloom-pipeline 1 f\ninput in: buffer<u8, 1>\nparam g: f32\n"
      "func f(x): f32 = in(x) * g + 0.5 + x\noutput f\n");
  CHECK(print(*c.pipeline).find("= cast<f32>(in(x)) * g + 0.5:f32 + cast<f32>(cast<i32>(x))") != std::string::npos);
  CHECK(c.pipeline->funcs[0]->pure.contracted[0].get() != c.pipeline->funcs[0]->pure.values[0].get());
}

TEST_CASE("updates, domains, tuples, sharing and recurrences survive") {
  const std::string text =
      "drawloom-pipeline 1 both\n"
      "allow reassociates\n"
      "input in: buffer<u8, 2>\n"
      "\n"
      "func hist(d0): i32 = 0:i32\n"
      "update hist over rx = 0 : extent(in, 0), ry = min(in, 1) : 3\n"
      "  hist(cast<index>(in(rx, ry))) = hist(cast<index>(in(rx, ry))) + 1:i32\n"
      "update hist\n"
      "  hist(5) = 0:i32\n"
      "\n"
      "func u(x, t): f32 = select(t == 0, 1.0:f32, u(x - 1, t - 1) * 0.5:f32)\n"
      "\n"
      "func both(x): (i32, f32)\n"
      "  #1 = u(x, 3) + 1.0:f32\n"
      "  = hist(x), #1 * #1\n"
      "\n"
      "output both, hist\n";
  const auto c = parsed(text);
  CHECK(print(c) == text);
  CHECK(c.pipeline->allowed == Effect::reassociates);
  CHECK(c.pipeline->funcs[1]->ordered_dim == 1);
  CHECK(c.pipeline->funcs[0]->updates[0].rdom->dims.size() == 2);
  CHECK(c.pipeline->output_buffers.size() == 3);
}

TEST_CASE("a shared line may stand before the domain whose variable it uses") {
  const std::string text =
      "drawloom-pipeline 1 f\n"
      "input in: buffer<i32, 1>\n"
      "\n"
      "func f(x): i32 = 0:i32\n"
      "update f\n"
      "  #1 = in(rx) * 3:i32\n"
      "  over rx = 0 : 10\n"
      "  f(cast<index>(#1)) = #1\n"
      "\n"
      "output f\n";
  CHECK(print(parsed(text)) == text);
}

TEST_CASE("what C++ builds prints and reads back equal") {
  Var x("x"), y("y");
  RDom r(-1, 3, "k");
  ImageParam in(Float(32), 2, "in");
  Param<float> gain("gain");
  const Func edge = BoundaryConditions::repeat_edge(in);
  Func blur("blur"), out("out"), scan("scan");
  blur(x, y) = sum(edge(x + r, y)) * gain;
  const Expr twice = blur(x, y) * 2.0f;
  out(x, y) = select(twice > 1.0f, twice, lerp(twice, 0.25f, gain));
  RDom t(1, 9, "t");
  scan(x, y) = out(x, y);
  scan(t, y) += scan(t - 1, y);
  DlCase c;
  c.pipeline = Pipeline({scan, out}, "all").definition();
  out.compute_root().vectorize(x, 8);
  c.schedule = Pipeline(c.pipeline).schedule();
  c.sizes = {{"scan", {{0, 10}, {-1, 7}}}};
  c.settings = {{"gain", Expr(0.1f)}};
  c.strides = {{"in", "padded"}};
  c.seed = 42;
  const auto text = print(c);
  const auto back = parsed(text);
  CHECK(equal_by_name(c, back));
  CHECK(print(back) == text);
  auto other = back;
  other.seed = 43;
  CHECK_FALSE(equal_by_name(c, other));
}

TEST_CASE("a case has a schedule, sizes, settings and a seed") {
  const std::string text = kBlur +
                           "\nschedule target x86-64-v3 {\n"
                           "  split blur.x -> xo, x by 8\n"
                           "  vectorize blur.x\n"
                           "}\n"
                           "\nsize blur = 0 : 64, -3 : 48\n"
                           "set n = 3:i32\n"
                           "strides in padded\n"
                           "seed 18446744073709551615\n";
  const auto c = parsed(text);
  CHECK(print(c) == text);
  CHECK(c.schedule.target == "x86-64-v3");
  CHECK(c.schedule.pipeline == "blur");
  REQUIRE(c.schedule.steps.size() == 2);
  CHECK(c.schedule.steps[1].loc.text() == "t.dl:13:3");
  CHECK(c.sizes[0].dims[1] == DlCase::Range{-3, 48});
}

TEST_CASE("mistakes in text are those of C++, at their place") {
  const auto with = [](const std::string& lines) { return "drawloom-pipeline 1 f\ninput in: buffer<u8, 1>\n" + lines; };
  CHECK(problem(with("func f(x): u8 = in(x, x)\noutput f\n")).text() ==
        "t.dl:3:17: error: in has 1 dimension, but is called with 2 [func_arity]");
  CHECK(problem(with("func f(x): u8 = in(y)\noutput f\n")).message() == "unknown name `y`");
  CHECK(problem(with("func f(x): u8 = inn(x)\noutput f\n")).help() == "did you mean `in`?");
  CHECK(problem(with("func f(x): u8 = in(x) * 0.5\noutput f\n")).name() == "func_type");
  CHECK(problem(with("func f(x): u8 = in(x) + (x < 3)\noutput f\n")).name() == "type_clash");
  CHECK(problem(with("func f(x): u8 = f(x)\noutput f\n")).name() == "recurrence_unordered");
  CHECK(words(problem(with("func f(x): u8 = in(x)\nfunc g(x): u8 = f(x)\noutput f\n"))) ==
        "name_unused: no output needs the func `g`");
  CHECK(problem(with("func f(x): u8 = 1:u8\noutput f\n")).message() == "no output needs the input `in`");
  CHECK(problem(with("func f(x): u8 = in(x)\nfunc g(x): u8 = f(x)\nupdate f\n  f(x) = 0:u8\noutput g\n")).name() ==
        "func_frozen");
  CHECK(problem(with("func min(x): u8 = in(x)\noutput min\n")).name() == "name_malformed");
  CHECK(problem(with("func in(x): u8 = in(x)\noutput f\n")).name() == "parse_redefined");
  CHECK(problem(with("fun f(x): u8 = in(x)\n")).help() == "did you mean `func`?");
  CHECK(problem(with("func f(x): u8 = in(x)\n")).name() == "pipeline_empty");
  CHECK(problem("drawloom-pipeline 2 f\n").name() == "parse_version");
  CHECK(problem("drawloom-schedule 1 for f\n").message() == "expected `drawloom-pipeline 1`, found `drawloom`");
  CHECK(problem(with("func f(x): u8 = in(x)\nupdate f over rx = 0 : in(0)\n  f(rx) = 0:u8\noutput f\n")).name() ==
        "rdom_bounds");
  const auto step = problem(kBlur + "schedule {\n  unrol blur.x\n}\n");
  CHECK(step.loc().text() == "t.dl:11:3");
  CHECK(step.name() == "parse_unknown_name");
  CHECK(problem(kBlur + "size blur = 0 : 4\n").message() == "blur has 2 dimensions, not 1");
  CHECK(problem(kBlur + "set n = 0.5\n").message() == "expected a value of i32, found another expression");
}
