/// The host's statements: several launches, checks, conditions.

#include "drawloom/interp/simt/call.h"
#include "kernel.h"

using namespace drawloom;

namespace {

auto run_program(const std::string& body, const std::vector<std::string>& words) -> std::pair<SimReport, Array> {
  const Program p = parsed("drawloom-ir 1\n\nfunc @p(%n: index, out %out: buffer<f32, 1>) {\n" + body + "\n}\n");
  auto call = sim_call(p, words).or_throw();
  auto report = simulate(p, call.arguments, call.options).or_throw();
  return {std::move(report), call.arrays[0]};
}

auto launch(const std::string& store) -> std::string {
  return "launch \"k\" {\nblock for %b = 0 : 2 {\nthread for %t = 0 : 32 {\nlet %i = %b * 32 + %t\n" + store +
         "\n}\n}\n}\n";
}

}  // namespace

TEST_CASE("launches run one after the other, and see what those before them wrote", "[simt]") {
  // Each round reads what the other block wrote in the round before.
  const auto [report, out] = run_program(launch("store %out[%i] = 1:f32") + "for %r = 0 : %n {\n" +
                                             launch("if %r % 2 == 0 {\nstore %out[64 + %i] = %out[63 - %i] + 1:f32\n} "
                                                    "else {\nstore %out[%i] = %out[127 - %i] + 1:f32\n}") +
                                             "}",
                                         {"n=3", "out=128"});
  for (const auto& e : report.errors) FAIL(e.text());
  CHECK(report.launches == 4);
  for (int64_t i = 0; i < 64; ++i) {
    CHECK(out.at({i}).f == 3);
    CHECK(out.at({64 + i}).f == 4);
  }
}

TEST_CASE("conditions and checks of the host", "[simt]") {
  const std::string body = "check %n < 5 \"bad_size\" \"{} is too much\"(%n)\nif %n > 2 {\n" +
                           launch("store %out[%i] = cast<f32>(%n)") + "}";
  CHECK(run_program(body, {"n=1", "out=64"}).first.launches == 0);
  const auto four = run_program(body, {"n=4", "out=64"});
  CHECK(four.second.at({63}).f == 4);
  const auto seven = run_program(body, {"n=7", "out=64"}).first;
  REQUIRE(seven.check_failure.has_value());
  CHECK(seven.check_failure->message == "7 is too much");
  CHECK(seven.launches == 0);
}

TEST_CASE("arguments that do not fit", "[simt]") {
  const Program p = parsed("drawloom-ir 1\n\nfunc @p(%n: index, out %out: buffer<f32, 1>) {\nfor %i = 0 : 0 {\n}\n}\n");
  CHECK(sim_call(p, {"n=x", "out=3"}).diag().name() == "machine_argument");
  CHECK(sim_call(p, {"n=1", "out=3", "more=1"}).diag().name() == "machine_argument");
  CHECK(sim_call(p, {"n=1", "out=3", "order=never"}).diag().name() == "machine_argument");
  for (const std::string extents : {"3/2", "3/", "/3", "3/x", ""})
    CHECK(sim_call(p, {"n=1", "out=" + extents}).diag().name() == "machine_argument");
  const auto rows = sim_call(p, {"n=1", "out=3/8x5/7x2"}).or_throw();
  CHECK(rows.arrays[0].dims[1].stride == 8);
  CHECK(rows.arrays[0].dims[2].stride == 56);
  CHECK(rows.arrays[0].data.size() == 4 * (2 + 4 * 8 + 56 + 1));
  auto call = sim_call(p, {"n=1", "out=3x3"}).or_throw();
  CHECK(simulate(p, call.arguments).diag().text().find("rank 2, not 1") != std::string::npos);
}

TEST_CASE("blocks asked for at once must fit", "[simt]") {
  const auto r =
      run_kernel({.body = "store %out[%t] = 1:f32", .threads = 512, .attributes = " registers 64 min_blocks 3"});
  REQUIRE_FALSE(r.report.clean());
  CHECK(r.report.errors[0].text().find("3 blocks") != std::string::npos);
  CHECK(run_kernel({.body = "store %out[%t] = 1:f32", .threads = 512, .attributes = " registers 64 min_blocks 2"})
            .report.clean());
}
