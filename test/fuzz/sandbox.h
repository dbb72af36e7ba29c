#pragma once
/// Cases in a process of their own: a crash or an endless loop is a verdict, not the end of the run.

#include "fuzz_case.h"

namespace drawloom::fuzz {

inline constexpr int kCaseSeconds = 20;  ///< of processor time

/// check_case in a child. Failure kinds `crash: <signal>` and `hang` are its own.
auto check_isolated(const Case& c, const CaseOptions& options) -> Verdict;

/// From now on the process ends with SIGPROF after kCaseSeconds of its processor time; `stop`: no more.
void limit_case_time(bool stop = false);

/// Memory that stays shared with forked children, zeroed. Never freed.
auto shared_memory(size_t bytes) -> void*;

}  // namespace drawloom::fuzz
