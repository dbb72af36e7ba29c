#pragma once
/// Runs programs with launches as the hardware would, and distrusts them: the lanes of each warp in lockstep, warps and
/// asynchronous agents in an order drawn from a seed, every byte of shared and device memory with a record of who touched
/// it. What goes wrong on the chip only now and then, or hangs it, is an error here with the line of the statement.

#include <optional>
#include <string>
#include <vector>

#include "drawloom/interp/scalar/array.h"
#include "drawloom/ir/program.h"
#include "drawloom/support/result.h"

namespace drawloom {

/// One per argument of the program, in its order: `array` for a buffer (not owned; outputs are written in place), or
/// `scalar` for a parameter. The memory of an array begins `misaligned_bytes` past a multiple of 256.
struct SimArgument {
  Array* array = nullptr;
  Value scalar;
  int misaligned_bytes = 0;
};

/// Which of the warps that can go on runs next. Producer first: the warps of the first role; consumer first: of the last;
/// latest: the one that could go on last.
enum class WarpOrder : uint8_t { in_order, random, producer_first, consumer_first, latest };
/// When, between issue and the wait that needs it, an asynchronous operation reads and writes.
enum class AsyncMoment : uint8_t { earliest, latest, random };

struct SimOptions {
  WarpOrder order = WarpOrder::in_order;
  AsyncMoment moment = AsyncMoment::earliest;
  /// Same program, arguments and options: the same run.
  uint64_t seed = 1;
  int multiprocessors = 2;
  bool count_bank_conflicts = false;
  /// Warp instructions after which the run stops with machine_budget.
  uint64_t max_steps = 400'000'000;
  int max_errors = 8;
};

/// Clocks that the shared accesses of one statement took: `wavefronts` in all, of which `least` were unavoidable.
struct BankConflicts {
  std::string buffer;
  Loc loc;
  int64_t accesses = 0, wavefronts = 0, least = 0;
};
/// The failed Check that ended the run.
struct SimCheckFailure {
  std::string code, message;
};

struct SimReport {
  /// device_race, device_deadlock, device_protocol, device_uninitialised, device_out_of_bounds, machine_budget.
  std::vector<Diag> errors;
  std::optional<SimCheckFailure> check_failure;
  std::vector<BankConflicts> bank_conflicts;
  int launches = 0;
  uint64_t steps = 0;

  auto clean() const -> bool { return errors.empty() && !check_failure; }
};

/// Errors of the Result: machine_argument (an argument does not fit the program), ir_malformed. What the run finds is in
/// the report; races let it go on, other errors end it.
auto simulate(const Program& program, const std::vector<SimArgument>& arguments, const SimOptions& options = {})
    -> Result<SimReport>;

}  // namespace drawloom
