#pragma once
#include <string>

#include "fuzz_case.h"

namespace drawloom::fuzz {

struct Options {
  std::string program;
  std::string save;  ///< folder for failing cases, shrunk, as .dl files
  uint64_t cases = 1000, seed = 1;
  uint64_t jobs = 1;     ///< processes
  uint64_t refused = 0;  ///< schedules refused for legality to judge
  bool deep = false;     ///< cases with few Funcs and many steps
  bool single = false;   ///< `seed` is that of the one case
  bool print_case = false;
  bool coverage = false;
  uint64_t max_failures = 20;
  int64_t time_limit = 0;  ///< seconds; 0: none
  int shrink_seconds = 20;
  std::string only;  ///< name of one planted fault; empty: all
  CaseOptions check;
};

/// False, with words on stderr, when the command line is wrong.
auto read_options(int argc, char** argv, Options& out) -> bool;

}  // namespace drawloom::fuzz
