#pragma once
/// A `.dl` case before three judges: the oracle says what is right, the machine runs the program after every pass of
/// lowering, the processor runs the machine code.

#include <string>
#include <vector>

#include "drawloom/lang/dl_text.h"
#include "drawloom/support/target.h"

namespace drawloom {

/// What one judge found.
struct CaseStep {
  std::string where;    ///< a pass (on the machine), or `native`
  std::string problem;  ///< empty: the same bits as the oracle's, and no machine error
};

struct CaseReport {
  std::vector<CaseStep> steps;
  /// Nothing was compared, since the definition leaves a value open, or the call was refused by all alike: why.
  std::string not_compared;

  /// The first step with a problem, or null.
  auto first_problem() const -> const CaseStep*;
};

struct CaseRunOptions {
  bool native = true;
  uint64_t parallel_seed = 1;  ///< of the machine's order of parallel iterations; 0: in order
  uint64_t max_steps = 2'000'000'000;
};

/// Boxes of inputs that the case does not say are those that the nest says are read; outputs that it does not say have 16
/// elements from 0 in each dimension. Data are hashes of name, coordinates and seed.
/// Errors: those of make_nest and apply, bounds_unknown, oracle_*, compile_other_pipeline.
auto run_case(const DlCase& c, const Target& target, const CaseRunOptions& options = {}) -> Result<CaseReport>;

}  // namespace drawloom
