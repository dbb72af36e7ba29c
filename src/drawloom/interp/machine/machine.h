#pragma once
/// Runs a Program after any pass, with shadow memory: every element remembers whether it was written, for which logical
/// coordinates, by which parallel iteration, and whether its value means anything. What native code would get wrong
/// silently is an error here that names stage, loop values and element.

#include <optional>
#include <string>
#include <vector>

#include "drawloom/interp/scalar/array.h"
#include "drawloom/ir/program.h"
#include "drawloom/support/result.h"

namespace drawloom {

/// One per argument of the program, in its order: `array` for a buffer (not owned; outputs are written in place), or
/// `scalar` for a parameter.
struct MachineArgument {
  Array* array = nullptr;
  Value scalar;
};
using MachineArguments = std::vector<MachineArgument>;

struct MachineOptions {
  /// A lane that loads an unwritten element or that of other coordinates is an error at once, not only when it is used.
  /// The garbage lanes of round_up tails are such loads, so this suits programs without them.
  bool error_at_load = false;
  /// 0: parallel iterations run in order; else in an order drawn from the seed, anew for each loop execution.
  uint64_t parallel_seed = 0;
  /// Lane operations and loop iterations after which the run stops with machine_budget.
  uint64_t max_steps = 1'000'000'000;
  /// The run stops after so many errors; one access reports one kind once.
  int max_errors = 8;
  /// Named in every error when not empty: the pass that made the program.
  std::string pass;
};

/// Lanes moved by all loads or stores between one stage (of Stage nodes, the innermost; empty outside) and one buffer.
struct AccessCount {
  std::string stage, buffer;
  int64_t loads = 0, stores = 0;
};
struct PeakBytes {
  std::string buffer;
  int64_t bytes = 0;  ///< of its largest allocation
};
/// The failed Check that ended the run.
struct CheckFailure {
  std::string code, message;
};

struct MachineReport {
  std::vector<Diag> errors;
  std::optional<CheckFailure> check_failure;
  /// Some used value is one of several that the definition allows (value.h).
  bool ambiguous = false;
  std::vector<AccessCount> counts;  ///< sorted by stage, then buffer
  std::vector<PeakBytes> peaks;     ///< in order of the program's Allocates
  /// Elements inside output boxes that were never written.
  int64_t unwritten_outputs = 0;
  uint64_t steps = 0;

  auto clean() const -> bool { return errors.empty() && !check_failure; }
  /// Points stored (lanes) by a stage, over all buffers.
  auto stores_of(std::string_view stage) const -> int64_t;
  auto loads_of(std::string_view stage) const -> int64_t;
};

/// Errors of the Result: machine_argument (an argument does not fit the program), ir_malformed, ir_type_mismatch.
/// Errors of the run are in the report: machine_unwritten, machine_wrong_element, machine_out_of_bounds,
/// machine_garbage_used, machine_race, machine_store_to_input, machine_budget.
/// Two active lanes of one store on one element: the higher lane wins. A Vectorized loop runs its iterations in order.
auto run(const Program& program, const MachineArguments& arguments, const MachineOptions& options = {})
    -> Result<MachineReport>;

}  // namespace drawloom
