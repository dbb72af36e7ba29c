#pragma once
/// One case: a pipeline, a schedule, and the sizes and data it runs on.

#include <map>
#include <optional>

#include "coverage.h"
#include "drawloom/lang/function.h"
#include "drawloom/steps/schedule.h"
#include "random_schedule.h"

namespace drawloom::fuzz {

struct Extent {
  int64_t min = 0, extent = 0;
};

/// Strides of an argument. padded: rows longer than the width. spread: x stride 3. turned: the last dimension is the
/// dense one. upside_down: the last dimension runs backwards.
enum class Strides : uint8_t { dense, padded, spread, turned, upside_down };

/// By name. The box of an input counts only where the pipeline leaves it open (all accesses clamped to the input itself);
/// else the input gets exactly what the nest says it reads.
struct Sizes {
  std::map<std::string, std::vector<Extent>> boxes;
  std::map<std::string, int64_t> params;
  std::map<std::string, Strides> strides;
  uint64_t data_seed = 0;
  uint64_t parallel_seed = 0;
  bool obey = true;  ///< output sizes are changed to fit what the schedule demands (round_up tails, bounds)
};

struct Case {
  uint64_t seed = 0;
  PipelineRef pipeline;
  Schedule schedule;
  Sizes sizes;
  std::optional<Nest> nest;  ///< with all of `schedule` applied, where that is known
};

struct CaseOptions {
  bool native = false;
  bool draw_only = false;   ///< the schedule is counted, nothing runs
  bool exact_need = false;  ///< a schedule that asks for more of an input than the pipeline does by itself fails
  bool every_pass = false;  ///< the machine runs after each pass, not only the first and the last
};

enum class Outcome : uint8_t { passed, failed, ambiguous, graph_refused, call_refused, too_large, over_budget };
struct Verdict {
  Outcome outcome = Outcome::passed;
  std::string kind;  ///< of a failure: what stays the same while a case is shrunk
  std::string details;
  std::string pass;  ///< after which the machine saw it, where it did
};

/// The case of a seed. A step that breaks while the schedule is drawn gives the schedule up to it.
auto make_case(uint64_t seed, const ScheduleOptions& options = {}) -> Case;
/// Sizes and data of a seed.
auto sizes_of(uint64_t seed, const PipelineDef& pipeline) -> Sizes;
/// Runs it on the oracle, on the machine and, if asked, natively.
auto check_case(const Case& c, const CaseOptions& options, Coverage* coverage = nullptr) -> Verdict;
/// Pipeline, schedule and sizes as text.
auto case_text(const Case& c) -> std::string;

}  // namespace drawloom::fuzz
