#include "faults.h"

#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

#include "drawloom/support/fault.h"
#include "drawloom/support/hash.h"
#include "sandbox.h"

#ifndef DRAWLOOM_PLANT_FAULTS
#error "this program needs layers with planted faults"
#endif

namespace drawloom {

Fault planted_fault = Fault::none;

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
  uint64_t cases;
  bool found, done;
  char kind[100], pass[60];
};

auto is_pass(const Row& r) -> bool { return std::string_view(r.place).find('_') != std::string_view::npos; }

void hunt(const Options& o, const Row& row, Finding& f) {
  planted_fault = row.fault;
  while (f.cases < o.cases) {
    const uint64_t seed = hash_combine(o.seed, f.cases++);
    limit_case_time();
    const Case c = make_case(seed, nullptr);
    const Verdict v = check_case(c, o.check);
    if (v.outcome != Outcome::failed) continue;
    f.found = true;
    std::snprintf(f.kind, sizeof f.kind, "%s", v.kind.c_str());
    CaseOptions every = o.check;
    every.every_pass = true;
    std::snprintf(f.pass, sizeof f.pass, "%s", check_case(c, every).pass.c_str());
    break;
  }
  f.done = true;
}

auto find(const Options& o, const Row& row) -> bool {
  auto& f = *static_cast<Finding*>(shared_memory(sizeof(Finding)));
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    hunt(o, row, f);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!f.done && !f.found) f.found = true, std::snprintf(f.kind, sizeof f.kind, "crash or hang");
  const bool named = !is_pass(row) || std::string_view(f.pass) == row.place;
  std::printf("%-30s %-16s %s", row.name, row.place, f.found ? "found" : "NOT FOUND");
  if (f.found) std::printf(" in case %llu: %s", static_cast<unsigned long long>(f.cases), f.kind);
  if (f.found && is_pass(row)) std::printf(" (%s)", f.pass);
  std::printf("%s\n", f.found && !named ? "  WRONG PASS NAMED" : "");
  return f.found && named;
}

}  // namespace

auto run_faults(const Options& o) -> int {
  uint64_t found = 0, missed = 0;
  for (const auto& row : kRows) {
    if (!o.only.empty() && o.only != row.name) continue;
    ++(find(o, row) ? found : missed);
  }
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(found), static_cast<unsigned long long>(missed));
  return missed == 0 ? 0 : 1;
}

}  // namespace fuzz
}  // namespace drawloom

auto main(int argc, char** argv) -> int {
  drawloom::fuzz::Options options;
  options.cases = 2000;
  if (!drawloom::fuzz::read_options(argc, argv, options)) return 2;
  return drawloom::fuzz::run_faults(options);
}
