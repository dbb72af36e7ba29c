// Random pipelines under random legal schedules, judged by the oracle, the machine and machine code.
//
//   fuzz [--cases N] [--seed S] [--case SEED] [--native | --no-native] [--every-pass] [--time-limit SECONDS] [--shrink SECONDS]
//        [--save FOLDER] [--quiet]
//
// A case is a function of its seed: `--case SEED` replays one. Cases run in a child process; when one crashes or hangs, the
// next child goes on behind it. The last line is `N passed, N failed`.

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <sys/wait.h>
#include <unistd.h>

#include "drawloom/support/hash.h"
#include "options.h"
#include "sandbox.h"
#include "shrink.h"

namespace drawloom::fuzz {
namespace {

/// What parent and child share.
struct Progress {
  Coverage coverage;
  uint64_t next;      ///< index of the case that is running
  bool in_case, done;
};

auto seed_of(const Options& o, uint64_t index) -> uint64_t { return o.single ? o.seed : hash_combine(o.seed, index); }

void count(Coverage& c, Outcome o) {
  switch (o) {
    case Outcome::passed: ++c.passed; return;
    case Outcome::failed: ++c.failed; return;
    case Outcome::ambiguous: ++c.ambiguous; return;
    case Outcome::graph_refused: ++c.graph_refused; return;
    case Outcome::call_refused: ++c.call_refused; return;
    case Outcome::over_budget: ++c.over_budget; return;
  }
}

void report(const Options& o, uint64_t seed, const Verdict& v) {
  std::printf("FAIL %s\n  replay: %s --case %llu%s\n%s\n", v.kind.c_str(), o.program.c_str(), static_cast<unsigned long long>(seed),
              o.check.native ? " --native" : "", v.details.c_str());
  std::fflush(stdout);
}

void show_shrunk(const Options& o, uint64_t seed, const Verdict& v) {
  if (o.shrink_seconds == 0) return;
  const Case small = shrunk(make_case(seed, nullptr), v.kind, o.check, o.shrink_seconds);
  const auto again = check_isolated(small, o.check);
  std::printf("shrunk to\n%s%s\n", case_text(small).c_str(), again.details.c_str());
  std::fflush(stdout);
}

class Clock {
 public:
  explicit Clock(int64_t limit) : limit_(limit), start_(std::chrono::steady_clock::now()) {}
  auto seconds() const -> double { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  auto over() const -> bool { return limit_ > 0 && seconds() > static_cast<double>(limit_); }

 private:
  int64_t limit_;
  std::chrono::steady_clock::time_point start_;
};

/// Runs cases until all are done or one takes the process down.
void run_cases(const Options& o, const Clock& clock, Progress& p) {
  while (p.next < o.cases && !clock.over() && p.coverage.failed + p.coverage.crashed < o.max_failures) {
    const uint64_t seed = seed_of(o, p.next);
    p.in_case = true;
    limit_case_time();
    const Case c = make_case(seed, &p.coverage);
    if (o.print_case) std::printf("%s", case_text(c).c_str()), std::fflush(stdout);
    const Verdict v = check_case(c, o.check, &p.coverage);
    limit_case_time(true);
    p.in_case = false;
    ++p.coverage.cases;
    ++p.next;
    count(p.coverage, v.outcome);
    if (v.outcome != Outcome::failed) continue;
    report(o, seed, v);
    show_shrunk(o, seed, v);
  }
  p.done = true;
}

/// A case that took its process down.
void take_crash(const Options& o, Progress& p, int status) {
  const uint64_t seed = seed_of(o, p.next);
  Verdict v{Outcome::failed, "crash: exit", {}};
  if (WIFSIGNALED(status)) v.kind = WTERMSIG(status) == SIGPROF ? std::string("hang") : str("crash: {}", strsignal(WTERMSIG(status)));
  ++p.coverage.cases, ++p.coverage.crashed;
  ++p.next;
  p.in_case = false;
  report(o, seed, v);
}

auto run(const Options& o) -> int {
  auto& p = *static_cast<Progress*>(shared_memory(sizeof(Progress)));
  const Clock clock(o.time_limit);
  while (!p.done) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      run_cases(o, clock, p);
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!p.done) take_crash(o, p, status);
  }
  if (o.coverage) std::printf("%s", p.coverage.text().c_str());
  const uint64_t failed = p.coverage.failed + p.coverage.crashed;
  std::printf("%llu cases in %.0f s, seed %llu\n", static_cast<unsigned long long>(p.coverage.cases), clock.seconds(),
              static_cast<unsigned long long>(o.seed));
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(p.coverage.cases - failed), static_cast<unsigned long long>(failed));
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace drawloom::fuzz

auto main(int argc, char** argv) -> int {
  drawloom::fuzz::Options options;
  if (!drawloom::fuzz::read_options(argc, argv, options)) return 2;
  return drawloom::fuzz::run(options);
}
