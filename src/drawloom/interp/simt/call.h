#pragma once
/// A call of a program from words, as a command line or a test file has them.

#include <deque>

#include "drawloom/interp/simt/simt.h"

namespace drawloom {

struct SimCall {
  std::deque<Array> arrays;  ///< in the order of the program's buffers; inputs are hashes of their coordinates
  std::vector<SimArgument> arguments;
  SimOptions options;
};

/// Words: `A=63x32` the extents of buffer A (dense, from 0), `A=63/64x32` the same in rows of 64 elements, `n=5` a scalar,
/// `seed=7`, `order=random`, `moment=latest` (the names of WarpOrder and AsyncMoment). Error: machine_argument.
auto sim_call(const Program& program, const std::vector<std::string>& words) -> Result<SimCall>;

/// Five ways to run it: the first two do not depend on the seed.
auto sim_policies() -> std::vector<SimOptions>;

}  // namespace drawloom
