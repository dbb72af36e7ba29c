// Random pipelines under random legal schedules, judged by the oracle, the machine and machine code.
//
//   fuzz [--cases N] [--seed S] [--case SEED] [--jobs N] [--native | --no-native] [--every-pass] [--time-limit SECONDS]
//        [--shrink SECONDS] [--save FOLDER] [--max-failures N] [--coverage] [--deep] [--print] [--draw-only]
//
// A case is a function of its seed: `--case SEED` replays one. Each job is a process that takes every N-th case; when a case
// crashes or hangs, a new process goes on behind it. Failing cases are shrunk and saved as .dl files. The last line is
// `N passed, N failed`.

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

#include "drawloom/support/hash.h"
#include "options.h"
#include "sandbox.h"
#include "save.h"
#include "shrink.h"

namespace drawloom::fuzz {
namespace {

/// The case that took most processor time for one part of the work: how far from kCaseSeconds it all is.
struct Slowest {
  double seconds;
  uint64_t seed;
  void add(double took, uint64_t by) {
    if (took > seconds) seconds = took, seed = by;
  }
};

/// What parent and one job share.
struct Progress {
  Coverage coverage;
  Slowest drawn, judged;
  uint64_t next;  ///< index of the case that is running
  bool done;
};

auto processor_seconds() -> double {
  timespec t = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

auto seed_of(const Options& o, uint64_t index) -> uint64_t { return o.single ? o.seed : hash_combine(o.seed, index); }

void count(Coverage& c, Outcome o) {
  switch (o) {
    case Outcome::passed: ++c.passed; return;
    case Outcome::failed: ++c.failed; return;
    case Outcome::ambiguous: ++c.ambiguous; return;
    case Outcome::graph_refused: ++c.graph_refused; return;
    case Outcome::call_refused: ++c.call_refused; return;
    case Outcome::too_large: ++c.too_large; return;
    case Outcome::over_budget: ++c.over_budget; return;
  }
}

class Clock {
 public:
  explicit Clock(int64_t limit) : limit_(limit), start_(std::chrono::steady_clock::now()) {}
  auto seconds() const -> double {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  auto over() const -> bool { return limit_ > 0 && seconds() > static_cast<double>(limit_); }

 private:
  int64_t limit_;
  std::chrono::steady_clock::time_point start_;
};

/// Says what failed, shrinks it in a process of its own (drawing the case may be what hangs), saves it.
void take_failure(const Options& o, uint64_t seed, const Verdict& v) {
  std::printf("FAIL %s\n  replay: %s --case %llu%s%s\n%s\n", v.kind.c_str(), o.program.c_str(),
              static_cast<unsigned long long>(seed), o.check.native ? " --native" : "", o.deep ? " --deep" : "",
              v.details.c_str());
  std::fflush(stdout);
  if (o.shrink_seconds == 0 && o.save.empty()) return;
  in_child([&] {
    limit_case_time();
    const Case whole = make_case(seed, {nullptr, nullptr, o.deep});
    limit_case_time(true);
    const bool worth = o.shrink_seconds > 0 && v.kind != "hang";  // each try at a hang takes its full time
    const Case small = worth ? shrunk(whole, v.kind, o.check, o.shrink_seconds) : whole;
    const auto text = case_text(small);
    if (worth) std::printf("shrunk to\n%s%s\n", text.c_str(), check_isolated(small, o.check).details.c_str());
    std::printf("  saved: %s\n", save_case(o.save, v.kind, seed, text).c_str());
    std::fflush(stdout);
  });
}

/// Runs the cases of one job until all are done or one takes the process down.
void run_cases(const Options& o, const Clock& clock, Progress& p) {
  while (p.next < o.cases && !clock.over() && p.coverage.failed + p.coverage.crashed < o.max_failures) {
    const uint64_t seed = seed_of(o, p.next);
    limit_case_time();
    const double start = processor_seconds();
    const Case c = make_case(seed, {&p.coverage, nullptr, o.deep});
    if (o.print_case) std::printf("%s", case_text(c).c_str()), std::fflush(stdout);
    const double drawn = processor_seconds();
    const Verdict v = check_case(c, o.check, &p.coverage);
    limit_case_time(true);
    p.drawn.add(drawn - start, seed), p.judged.add(processor_seconds() - drawn, seed);
    ++p.coverage.cases;
    p.next += o.jobs;
    count(p.coverage, v.outcome);
    if (v.outcome == Outcome::failed) take_failure(o, seed, v);
  }
  p.done = true;
}

/// A case that took its process down.
void take_crash(const Options& o, Progress& p, int status) {
  const uint64_t seed = seed_of(o, p.next);
  Verdict v{Outcome::failed, "crash: exit", {}, {}};
  if (WIFSIGNALED(status))
    v.kind = WTERMSIG(status) == SIGPROF ? std::string("hang") : str("crash: {}", strsignal(WTERMSIG(status)));
  ++p.coverage.cases, ++p.coverage.crashed;
  p.next += o.jobs;
  take_failure(o, seed, v);
}

/// One job, in its own process: a supervisor and the process that runs the cases.
void supervise(const Options& o, const Clock& clock, Progress& p) {
  while (!p.done) {
    const int status = in_child([&] { run_cases(o, clock, p); });
    if (!p.done) take_crash(o, p, status);
  }
}

auto run(const Options& o) -> int {
  auto* jobs = static_cast<Progress*>(shared_memory(sizeof(Progress) * o.jobs));
  const Clock clock(o.time_limit);
  std::vector<pid_t> running;
  for (uint64_t j = 0; j < o.jobs; ++j) {
    jobs[j].next = j;
    running.push_back(start_child([&] { supervise(o, clock, jobs[j]); }));
  }
  Coverage all = {};
  Slowest drawn = {}, judged = {};
  for (uint64_t j = 0; j < o.jobs; ++j) {
    int status = 0;
    waitpid(running[j], &status, 0);
    all.add(jobs[j].coverage);
    drawn.add(jobs[j].drawn.seconds, jobs[j].drawn.seed), judged.add(jobs[j].judged.seconds, jobs[j].judged.seed);
    if (!jobs[j].done) ++all.crashed;
  }
  if (o.coverage) std::printf("%s", all.text().c_str());
  for (const auto& [part, slowest] : {std::pair("draw", drawn), std::pair("judge", judged)})
    std::printf("slowest to %s: %.1f s, --case %llu\n", part, slowest.seconds,
                static_cast<unsigned long long>(slowest.seed));
  const uint64_t failed = all.failed + all.crashed;
  std::printf("%llu cases in %.0f s, seed %llu\n", static_cast<unsigned long long>(all.cases), clock.seconds(),
              static_cast<unsigned long long>(o.seed));
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(all.cases - failed),
              static_cast<unsigned long long>(failed));
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace drawloom::fuzz

#ifdef __SANITIZE_ADDRESS__
/// A process judges hundreds of cases: with whole call stacks for each allocation it grows by gigabytes and slows down.
extern "C" auto __asan_default_options() -> const char* { return "malloc_context_size=2:quarantine_size_mb=64"; }
#endif

auto main(int argc, char** argv) -> int {
  drawloom::fuzz::Options options;
  if (!drawloom::fuzz::read_options(argc, argv, options)) return 2;
  return drawloom::fuzz::run(options);
}
