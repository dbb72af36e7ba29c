/// text_tests [--bless] [--filter=WORD] FOLDER|FILE...   runs text tests
/// text_tests --diag-coverage TEST_FOLDER                 every diagnostic kind is named by a test
/// text_tests --commands                                  what `// run:` lines may say

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "runner.h"

namespace drawloom::text_tests {
namespace {

namespace fs = std::filesystem;

struct Options {
  bool bless = false;
  std::string filter;
  std::vector<std::string> paths;
};

struct Totals {
  int passed = 0, failed = 0;
};

void say(const std::string& line) { std::fprintf(stdout, "%s\n", line.c_str()); }

/// The test files below the given paths, in a fixed order.
auto test_files(const Options& options) -> std::vector<std::string> {
  std::vector<std::string> out;
  const auto add = [&](const fs::path& path) {
    const auto extension = path.extension();
    const bool test = extension == ".ir" || extension == ".dl" || extension == ".sched";
    if (test && path.string().find(options.filter) != std::string::npos) out.push_back(path.string());
  };
  for (const auto& path : options.paths) {
    if (!fs::is_directory(path)) {
      add(path);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) add(entry.path());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Runs one file; the failures, with the command that would accept the new output where that is the question.
auto failures_of(const TestFile& file, bool may_bless) -> std::vector<std::string> {
  auto outcome = run_test(file);
  const bool same = file.has_expectation ? file.expectation == outcome.output : !file.errors.empty();
  if (!outcome.failures.empty() || same) return outcome.failures;
  if (may_bless) {
    const auto blessed = bless(file, outcome.output);
    return blessed.ok() ? std::vector<std::string>() : std::vector<std::string>{blessed.diag().text()};
  }
  const auto what = file.has_expectation ? "output differs:\n" : "there is no expectation after `----`; output:\n";
  return {what + line_diff(file.expectation, outcome.output) + "accept it with: text_tests --bless " + file.path};
}

auto run_all(const Options& options) -> int {
  Totals totals;
  for (const auto& path : test_files(options)) {
    const auto file = read_test_file(path);
    const auto failures = file.ok() ? failures_of(*file, options.bless) : std::vector<std::string>{file.diag().text()};
    failures.empty() ? ++totals.passed : ++totals.failed;
    if (!failures.empty()) say("FAILED " + path);
    for (const auto& failure : failures) say(failure);
  }
  say(str("{} passed, {} failed", totals.passed, totals.failed));
  return totals.failed == 0 ? 0 : 1;
}

auto run_coverage(const std::string& folder) -> int {
  const auto problems = uncovered_diags(folder);
  for (const auto& problem : problems) say(problem);
  say(str("{} passed, {} failed", all_diag_kinds().size() - std::min(all_diag_kinds().size(), problems.size()),
          problems.size()));
  return problems.empty() ? 0 : 1;
}

void list_commands() {
#define COMMAND(name, function, meaning) say(str("{}: {}", name, meaning));
#include "runner_commands.def"
#undef COMMAND
}

auto main_with(const std::vector<std::string>& args) -> int {
  Options options;
  for (size_t i = 0; i < args.size(); ++i) {
    const auto& arg = args[i];
    if (arg == "--commands") return list_commands(), 0;
    if (arg == "--diag-coverage" && i + 1 < args.size()) return run_coverage(args[i + 1]);
    if (arg == "--bless") {
      options.bless = true;
    } else if (arg.starts_with("--filter=")) {
      options.filter = arg.substr(9);
    } else if (arg.starts_with("-")) {
      say("usage: text_tests [--bless] [--filter=WORD] FOLDER|FILE... | --diag-coverage FOLDER | --commands");
      return 2;
    } else {
      options.paths.push_back(arg);
    }
  }
  return run_all(options);
}

}  // namespace
}  // namespace drawloom::text_tests

int main(int argc, char** argv) { return drawloom::text_tests::main_with({argv + 1, argv + argc}); }
