#pragma once
/// What the cases reached. Plain counters, so that they can live in memory shared with the processes that run the cases.

#include <cstdint>
#include <string>
#include <variant>

#include "drawloom/nest/nest.h"
#include "drawloom/steps/step.h"
#include "drawloom/support/diag.h"

namespace drawloom::fuzz {

inline constexpr size_t kStepKinds = std::variant_size_v<Step>;
inline constexpr size_t kDiagKinds = 0
#define DIAG(...) +1
#include "drawloom/support/diags.def"
#undef DIAG
    ;

struct Coverage {
  uint64_t cases, passed, failed, crashed;
  uint64_t ambiguous, graph_refused, call_refused, too_large, over_budget;  ///< discarded
  uint64_t applied[kStepKinds], refused[kStepKinds];
  uint64_t reasons[kDiagKinds];            ///< refusals by kind
  uint64_t pairs[kStepKinds][kStepKinds];  ///< cases with a step of kind i before one of kind j
  uint64_t tails[4];                       ///< splits applied, by tail
  uint64_t slide, fold, placed3, vector, parallel, unrolled, gradual, strided, native;  ///< cases that have one
  uint64_t excess_need;  ///< cases that ask for more of an input than the unscheduled pipeline
  uint64_t odd_min;      ///< cases with an output not from 0
  uint64_t size_zero, size_one, size_prime, size_below_vector, size_above_vector;  ///< outputs of such an extent
  uint64_t machine_runs, native_runs;

  void add_step(const Step& step, const Diag* refused);
  void add_nest(const Nest& nest, const Schedule& schedule);
  void add_extent(int64_t extent);
  /// What another process counted.
  void add(const Coverage& other);
  /// Cases that went before all judges.
  auto judged() const -> uint64_t {
    return cases - crashed - ambiguous - graph_refused - call_refused - too_large - over_budget;
  }
  /// Several lines.
  auto text() const -> std::string;
};

}  // namespace drawloom::fuzz
