#pragma once
/// Is a refused step really wrong? Steps that `apply` refuses for their legality are applied all the same, by a switch that skips
/// its checks, and judged.

#include "options.h"

namespace drawloom::fuzz {

/// Judges `options.refused` refused steps and prints a table by diagnostic. 0 when so many were found.
auto run_refused(const Options& options) -> int;

}  // namespace drawloom::fuzz
