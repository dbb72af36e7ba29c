#pragma once
/// Random well-typed programs: every node kind, every operator, shared nodes, hints that clash. A pure function of the
/// seed.

#include "drawloom/ir/program.h"
#include "drawloom/support/hash.h"

namespace drawloom {

struct RandomIrLimits {
  int expr_depth = 4;
  int stmt_depth = 4;
};

auto random_program(uint64_t seed, RandomIrLimits limits = {}) -> Program;

}  // namespace drawloom
