#include "faults.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "drawloom/support/fault.h"
#include "drawloom/support/hash.h"
#include "refused.h"
#include "sandbox.h"

#ifndef DRAWLOOM_PLANT_FAULTS
#error "this program needs layers with planted faults"
#endif

namespace drawloom {

Fault planted_fault = Fault::none;
bool legality_skipped = false;

namespace fuzz {
namespace {

struct Row {
  Fault fault;
  const char* name;
  const char* place;
  const char* words;
};
constexpr Row kRows[] = {
#define FAULT(name, place, words) {Fault::name, #name, #place, words},
#include "drawloom/support/faults.def"
#undef FAULT
};

/// How one fault fared; in shared memory.
struct Finding {
  uint64_t cases;  ///< tried
  bool found, done;
  char kind[100], pass[60];
};

auto is_pass(const Row& r) -> bool { return std::string_view(r.place).find('_') != std::string_view::npos; }

/// Does the case fail without the fault? Then it proves nothing about it.
auto fails_anyway(const Case& c, const Options& o) -> bool {
  const Fault planted = planted_fault;
  planted_fault = Fault::none;
  Case sound = c;
  sound.nest.reset();
  const bool fails = check_case(sound, o.check).outcome == Outcome::failed;
  planted_fault = planted;
  return fails;
}

void note(Finding& f, const Case& c, const Options& o, const std::string& kind) {
  std::snprintf(f.kind, sizeof f.kind, "%s", kind.c_str());
  CaseOptions every = o.check;
  every.every_pass = true;
  std::snprintf(f.pass, sizeof f.pass, "%s", check_case(c, every).pass.c_str());
  f.found = true;
}

/// Tries cases until one fails or all are through. A case may also take the process down.
void hunt(const Options& o, const Row& row, Finding& f) {
  planted_fault = row.fault;
  while (f.cases < o.cases && !f.found) {
    const uint64_t seed = hash_combine(o.seed, f.cases++);
    limit_case_time();
    const Case c = make_case(seed);
    const Verdict v = check_case(c, o.check);
    if (v.outcome == Outcome::failed && !fails_anyway(c, o)) note(f, c, o, v.kind);
  }
  f.done = true;
}

/// The case that took the process down is a finding, unless it does so without the fault.
void take_crash(const Options& o, Finding& f) {
  const uint64_t seed = hash_combine(o.seed, f.cases - 1);
  const int status = in_child([&] {
    limit_case_time();
    if (check_case(make_case(seed), o.check).outcome == Outcome::failed) std::abort();
  });
  if (status != 0) return;
  f.found = true;
  std::snprintf(f.kind, sizeof f.kind, "crash or hang");
}

auto find(const Options& o, const Row& row) -> bool {
  auto& f = *static_cast<Finding*>(shared_memory(sizeof(Finding)));
  while (!f.done && !f.found) {
    in_child([&] { hunt(o, row, f); });
    if (!f.done && !f.found) take_crash(o, f);
  }
  const bool named = !is_pass(row) || std::string_view(f.pass) == row.place;
  auto line = str("{}{}", row.name, std::string(30 - std::min<size_t>(29, std::strlen(row.name)), ' '));
  line += str("{}{}{}", row.place, std::string(18 - std::min<size_t>(17, std::strlen(row.place)), ' '),
              f.found ? "found" : "NOT FOUND");
  if (f.found) line += str(" in case {}: {}", f.cases, f.kind);
  if (f.found && is_pass(row)) line += str(" (bisect: {})", f.pass);
  std::printf("%s%s\n", line.c_str(), f.found && !named ? "  WRONG PASS NAMED" : "");
  return f.found && named;
}

}  // namespace

auto run_faults(const Options& o) -> int {
  struct Count {
    uint64_t found, missed;
  };
  auto* counts = static_cast<Count*>(shared_memory(sizeof(Count) * o.jobs));
  std::vector<pid_t> jobs;
  for (uint64_t j = 0; j < o.jobs; ++j)
    jobs.push_back(start_child([&, j] {
      for (size_t i = j; i < std::size(kRows); i += o.jobs) {
        if (!o.only.empty() && o.only != kRows[i].name) continue;
        ++(find(o, kRows[i]) ? counts[j].found : counts[j].missed);
        std::fflush(stdout);
      }
    }));
  uint64_t found = 0, missed = 0;
  for (uint64_t j = 0; j < o.jobs; ++j) {
    int status = 0;
    waitpid(jobs[j], &status, 0);
    found += counts[j].found, missed += counts[j].missed + (status == 0 ? 0 : 1);
  }
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(found),
              static_cast<unsigned long long>(missed));
  return missed == 0 ? 0 : 1;
}

}  // namespace fuzz
}  // namespace drawloom

auto main(int argc, char** argv) -> int {
  drawloom::fuzz::Options options;
  options.cases = 2000;
  options.check.exact_need = true;  // a case that fails without the fault too does not count
  if (!drawloom::fuzz::read_options(argc, argv, options)) return 2;
  return options.refused > 0 ? drawloom::fuzz::run_refused(options) : drawloom::fuzz::run_faults(options);
}
