#pragma once
/// Cases in a process of their own: a crash or an endless loop is a verdict, not the end of the run.

#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

#include "fuzz_case.h"

namespace drawloom::fuzz {

/// Of processor time. AddressSanitizer makes a case about six times as slow.
#ifdef __SANITIZE_ADDRESS__
inline constexpr int kCaseSeconds = 120;
#else
inline constexpr int kCaseSeconds = 20;
#endif

/// check_case in a child. Failure kinds `crash: <signal>` and `hang` are its own.
auto check_isolated(const Case& c, const CaseOptions& options) -> Verdict;

/// From now on the process ends with SIGPROF after kCaseSeconds of its processor time; `stop`: no more.
void limit_case_time(bool stop = false);

/// Runs `work` in a child process. start_child: its id.
template <typename Work>
auto start_child(Work&& work) -> pid_t {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child != 0) return child;
  work();
  std::fflush(stdout);
  _exit(0);
}
/// Waits for it; its status as of waitpid.
template <typename Work>
auto in_child(Work&& work) -> int {
  int status = -1;
  waitpid(start_child(work), &status, 0);
  return status;
}

/// Memory that stays shared with forked children, zeroed. Never freed.
auto shared_memory(size_t bytes) -> void*;

}  // namespace drawloom::fuzz
