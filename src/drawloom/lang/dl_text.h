#pragma once
/// The text of pipelines, `*.dl` (docs/language.md has the grammar): an algorithm, and optionally a schedule and one run
/// of it. Every bug becomes such a file.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drawloom/lang/function.h"
#include "drawloom/steps/schedule.h"
#include "drawloom/support/result.h"

namespace drawloom {

inline constexpr int kPipelineVersion = 1;

/// A pipeline with what one run of it needs. Lists that are empty were not said.
struct DlCase {
  struct Range {
    int64_t min = 0, extent = 0;
    friend auto operator==(const Range&, const Range&) -> bool = default;
  };
  /// The box of an output (of a Func: all its components) or of an input.
  struct Size {
    std::string name;
    std::vector<Range> dims;
    friend auto operator==(const Size&, const Size&) -> bool = default;
  };
  /// The value of a parameter: a constant of its type.
  struct Setting {
    std::string param;
    Expr value;
  };
  /// How an argument lies in memory, in a word of whoever runs the case.
  struct Strides {
    std::string name, word;
    friend auto operator==(const Strides&, const Strides&) -> bool = default;
  };

  PipelineRef pipeline;
  Schedule schedule;
  std::vector<Size> sizes;
  std::vector<Setting> settings;
  std::vector<Strides> strides;
  uint64_t seed = 0;
};

/// The algorithm alone. What an embedded Buffer holds is not written: it becomes an input.
auto print(const PipelineDef& pipeline) -> std::string;
auto print(const DlCase& c) -> std::string;

/// Errors: parse_*, name_unused, and all that define() and close_pipeline() report.
auto parse_case(std::string_view text, std::string_view file) -> Result<DlCase>;

/// Structural equality; Funcs, symbols and buffers correspond by name. The order of Funcs does not count.
auto equal_by_name(const PipelineDef& a, const PipelineDef& b) -> bool;
auto equal_by_name(const DlCase& a, const DlCase& b) -> bool;

}  // namespace drawloom
