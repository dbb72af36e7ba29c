#pragma once
/// The rows of steps.def as data, for printers, parsers, docs and tests.

#include <string_view>
#include <vector>

namespace drawloom {

/// Columns as in steps.def. `effect` is one of exact, reassociates, approximates.
struct StepRow {
  std::string_view word, effect, pattern, example;
};

/// In the order of steps.def, which is that of the alternatives of Step.
auto step_rows() -> const std::vector<StepRow>&;

}  // namespace drawloom
