#pragma once
/// Random schedules: steps proposed from what the nest offers now, kept when `apply` accepts them.

#include "coverage.h"
#include "drawloom/nest/nest.h"
#include "drawloom/support/hash.h"

namespace drawloom::fuzz {

struct ScheduledNest {
  Nest nest;
  Schedule schedule;
};

/// A step that was refused, and the schedule it was proposed to.
struct RefusedStep {
  Schedule before;
  ScheduleLine line;
  DiagKind kind;
};

struct ScheduleOptions {
  Coverage* coverage = nullptr;                 ///< tries are counted there
  std::vector<RefusedStep>* refused = nullptr;  ///< and refusals collected
  bool deep = false;                            ///< few Funcs, and more steps for each
};

/// Something that `apply` or a query of the nest broke while the schedule was drawn. The case holds the steps so far and
/// the one that broke.
struct ScheduleBroke {
  std::string what;
  Schedule schedule;
};

/// Draws a schedule for `start`. Throws ScheduleBroke.
auto random_schedule(const Nest& start, CounterRandom random, const ScheduleOptions& options = {}) -> ScheduledNest;

/// Applies the steps that are accepted, in order; the schedule keeps those. Throws ScheduleBroke.
auto replay(const Nest& start, const Schedule& schedule) -> ScheduledNest;

/// One step with the promises about it checked: it survives its text; `apply` refuses with words or succeeds; if `prints`, the
/// new nest prints. Throws ScheduleBroke (with only this step) where a promise is broken.
auto apply_checked(const Nest& nest, const ScheduleLine& line, bool prints) -> Result<Nest>;

}  // namespace drawloom::fuzz
