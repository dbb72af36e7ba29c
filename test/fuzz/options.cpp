#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace drawloom::fuzz {
namespace {

constexpr const char* kUsage =
    "usage: fuzz [--cases N] [--seed S] [--case SEED] [--native | --no-native] [--every-pass] [--time-limit SECONDS]\n"
    "            [--shrink SECONDS] [--max-failures N] [--coverage] [--print]\n";

auto number(const char* text, uint64_t& out) -> bool {
  char* end = nullptr;
  out = std::strtoull(text, &end, 10);
  return end != text && *end == 0;
}

}  // namespace

auto read_options(int argc, char** argv, Options& o) -> bool {
  o.program = argv[0];
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    uint64_t n = 0;
    const bool takes_number = arg == "--cases" || arg == "--seed" || arg == "--case" || arg == "--time-limit" || arg == "--shrink" || arg == "--max-failures";
    if (takes_number && (i + 1 >= argc || !number(argv[++i], n))) {
      std::fprintf(stderr, "%s needs a number\n%s", arg.c_str(), kUsage);
      return false;
    }
    if (arg == "--cases") o.cases = n;
    else if (arg == "--seed") o.seed = n;
    else if (arg == "--case") o.seed = n, o.single = o.print_case = true, o.cases = 1;
    else if (arg == "--time-limit") o.time_limit = static_cast<int64_t>(n);
    else if (arg == "--shrink") o.shrink_seconds = static_cast<int>(n);
    else if (arg == "--max-failures") o.max_failures = n;
    else if (arg == "--native") o.check.native = true;
    else if (arg == "--no-native") o.check.native = false;
    else if (arg == "--every-pass") o.check.every_pass = true;
    else if (arg == "--coverage") o.coverage = true;
    else if (arg == "--fault" && i + 1 < argc) o.only = argv[++i];
    else if (arg == "--print") o.print_case = true;
    else {
      std::fprintf(stderr, "unknown option %s\n%s", arg.c_str(), kUsage);
      return false;
    }
  }
  return true;
}

}  // namespace drawloom::fuzz
