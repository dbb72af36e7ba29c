#pragma once
/// A Schedule: a header and a list of steps. A value: copy, compare, mutate, print.

#include "drawloom/steps/step.h"
#include "drawloom/support/result.h"

namespace drawloom {

inline constexpr int kScheduleVersion = 1;

/// A step and where it was written (a text line, or a C++ line).
struct ScheduleLine {
  Step step;
  Loc loc;
  friend auto operator==(const ScheduleLine& a, const ScheduleLine& b) -> bool { return a.step == b.step; }
};

struct Schedule {
  std::string pipeline;
  std::string target;  ///< empty: any
  std::vector<ScheduleLine> steps;
  friend auto operator==(const Schedule&, const Schedule&) -> bool = default;
};

/// The step's word, `split`.
auto step_word(const Step& step) -> std::string_view;
/// One line, `split blur.x -> xo, xi by 8 tail=round_up`.
auto print(const Step& step) -> std::string;
/// `drawloom-schedule 1 for blur target x86-64-v3`, then one indented line per step.
auto print(const Schedule& schedule) -> std::string;

/// Errors: parse_unexpected, parse_unknown_name (a step word; with the nearest), parse_version, parse_number.
auto parse_step(std::string_view text, const Loc& loc) -> Result<Step>;
auto parse_schedule(std::string_view text, std::string_view file) -> Result<Schedule>;

/// Puts steps recorded by the fluent API, whose order is free, into the order in which text is applied (design section 4):
/// bounds; then Func by Func from outputs to inputs its placement and each stage's loop steps in written order; then
/// storage. `funcs_from_outputs` names the Funcs consumers first. Stable. A placement said twice: the last wins.
auto order_recorded(std::vector<ScheduleLine> recorded, const std::vector<std::string>& funcs_from_outputs)
    -> std::vector<ScheduleLine>;

}  // namespace drawloom
