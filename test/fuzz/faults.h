#pragma once
/// Proof that the fuzzer finds faults: each row of support/faults.def is planted in turn.

#include "options.h"

namespace drawloom::fuzz {

/// Runs up to `options.cases` cases under each fault. 0 when every fault was found, and named by its pass where it sits in one.
auto run_faults(const Options& options) -> int;

}  // namespace drawloom::fuzz
