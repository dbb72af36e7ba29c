#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace drawloom::fuzz {
namespace {

constexpr const char* kUsage =
    "usage: fuzz [--cases N] [--seed S] [--case SEED] [--jobs N] [--native | --no-native] [--every-pass] "
    "[--exact-need]\n"
    "            [--time-limit SECONDS] [--shrink SECONDS] [--save FOLDER] [--max-failures N] [--coverage] [--deep] "
    "[--print] [--draw-only]\n"
    "       fuzz_faults [--cases N] [--seed S] [--jobs N] [--fault NAME | --refused N]\n";

/// Beside the programs: bin/../fuzz-failures.
auto default_folder(const std::string& program) -> std::string {
  const auto slash = program.rfind('/');
  return (slash == std::string::npos ? std::string(".") : program.substr(0, slash)) + "/../fuzz-failures";
}

auto takes_number(const std::string& option) -> bool {
  static const char* const kOptions[] = {"--cases",  "--seed",         "--case", "--time-limit",
                                         "--shrink", "--max-failures", "--jobs", "--refused"};
  for (const auto* o : kOptions)
    if (option == o) return true;
  return false;
}

auto number(const char* text, uint64_t& out) -> bool {
  char* end = nullptr;
  out = std::strtoull(text, &end, 10);
  return end != text && *end == 0;
}

}  // namespace

auto read_options(int argc, char** argv, Options& o) -> bool {
  o.program = argv[0];
  o.save = default_folder(o.program);
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    uint64_t n = 0;
    if (takes_number(arg) && (i + 1 >= argc || !number(argv[++i], n))) {
      std::fprintf(stderr, "%s needs a number\n%s", arg.c_str(), kUsage);
      return false;
    }
    if (arg == "--cases")
      o.cases = n;
    else if (arg == "--seed")
      o.seed = n;
    else if (arg == "--case")
      o.seed = n, o.single = o.print_case = true, o.cases = 1;
    else if (arg == "--time-limit")
      o.time_limit = static_cast<int64_t>(n);
    else if (arg == "--shrink")
      o.shrink_seconds = static_cast<int>(n);
    else if (arg == "--max-failures")
      o.max_failures = n;
    else if (arg == "--jobs")
      o.jobs = n < 1 ? 1 : n;
    else if (arg == "--refused")
      o.refused = n;
    else if (arg == "--save" && i + 1 < argc)
      o.save = argv[++i];
    else if (arg == "--draw-only")
      o.check.draw_only = o.coverage = true;
    else if (arg == "--native")
      o.check.native = true;
    else if (arg == "--no-native")
      o.check.native = false;
    else if (arg == "--exact-need")
      o.check.exact_need = true;
    else if (arg == "--every-pass")
      o.check.every_pass = true;
    else if (arg == "--deep")
      o.deep = true;
    else if (arg == "--coverage")
      o.coverage = true;
    else if (arg == "--fault" && i + 1 < argc)
      o.only = argv[++i];
    else if (arg == "--print")
      o.print_case = true;
    else {
      std::fprintf(stderr, "unknown option %s\n%s", arg.c_str(), kUsage);
      return false;
    }
  }
  return true;
}

}  // namespace drawloom::fuzz
