#include "drawloom/steps/field_text.h"
#include "drawloom/steps/schedule.h"

namespace drawloom {
namespace {

constexpr std::string_view kHeaderWord = "drawloom-schedule";

/// `drawloom-schedule 1 for blur target x86-64-v3`.
auto parse_header(StepCursor in, Schedule& out) -> Status {
  if (!in.take(kHeaderWord)) return in.unexpected(str("`{} {}`", kHeaderWord, kScheduleVersion));
  const Loc number_loc = in.loc();
  int64_t version = 0;
  DRAWLOOM_REQUIRE(read_field(in, version));
  if (version != kScheduleVersion) return Diag(DiagKind::parse_version, number_loc, version, kScheduleVersion);
  if (!in.take("for")) return in.unexpected("`for` and the name of a pipeline");
  DRAWLOOM_REQUIRE(read_field(in, out.pipeline));
  if (in.at_end()) return Done{};
  if (!in.take("target")) return in.unexpected("`target` or the end of the line");
  out.target = in.take_rest();
  if (out.target.empty()) return in.unexpected("the name of a target");
  return Done{};
}

}  // namespace

auto print(const Schedule& schedule) -> std::string {
  std::string out = str("{} {} for {}", kHeaderWord, kScheduleVersion, schedule.pipeline);
  if (!schedule.target.empty()) out += " target " + schedule.target;
  out += "\n";
  for (const auto& line : schedule.steps) out += str("  {}\n", print(line.step));
  return out;
}

auto parse_schedule(std::string_view text, std::string_view file) -> Result<Schedule> {
  DRAWLOOM_TRY(const auto tokens, lex(text, file, NameStyle::Plain));
  TokenCursor cursor(tokens);
  Schedule out;
  DRAWLOOM_REQUIRE(parse_header(StepCursor(cursor), out));
  while (!cursor.at_end()) {
    const Loc loc = cursor.loc();
    StepCursor in(cursor);
    DRAWLOOM_TRY(auto step, read_step(in));
    out.steps.push_back({std::move(step), loc});
  }
  return out;
}

}  // namespace drawloom
