#pragma once
/// Text tests: a file is a header that names commands, a body, and what the commands must make of it (docs/testing.md).
/// A layer adds a command with one row in runner_commands.def and one function.

#include <any>
#include <string>
#include <vector>

#include "drawloom/support/result.h"

namespace drawloom::text_tests {

/// `// error: kind "words" "more words"`: a diagnostic of this kind must be reported for this line, and its text (message,
/// notes, help) must hold all the words.
struct ExpectedError {
  uint32_t line = 0;
  std::string kind;
  std::vector<std::string> words;
};

/// One test file as read.
struct TestFile {
  std::string path;      ///< as given on the command line
  std::string name;      ///< without folders: what locations say
  std::string body;      ///< everything before `----`, header included, so that line numbers are those of the file
  std::string commands;  ///< what follows `// run:`
  bool has_expectation = false;
  std::string expectation;
  std::vector<ExpectedError> errors;
};

/// Errors: file_unreadable; parse_unexpected for a file without `// run:` or with a malformed `// error:`.
auto read_test_file(const std::string& path) -> Result<TestFile>;
/// Writes the file with `output` as its expectation. Errors: file_unwritable.
auto bless(const TestFile& file, const std::string& output) -> Status;

/// A test while its commands run. Each command takes `value` as the one before it left it.
struct TestCase {
  const TestFile& file;
  std::any value;                     ///< starts as std::string, the body
  std::vector<Diag> diags;            ///< reported so far; any error ends the run
  std::vector<std::string> failures;  ///< what no annotation can expect: broken round trips, misuse of commands

  /// The value as T; a failure is recorded and null returned when it is something else.
  template <typename T>
  auto get(std::string_view command) -> T* {
    auto* held = std::any_cast<T>(&value);
    if (!held) failures.push_back(str("`{}` cannot take what the command before it gives", command));
    return held;
  }
};

using CommandArgs = std::vector<std::string>;
using Command = void (*)(TestCase&, const CommandArgs&);

#define COMMAND(name, function, meaning) void function(TestCase& test, const CommandArgs& args);
#include "runner_commands.def"
#undef COMMAND

/// Why the file fails, empty if it does not; what its commands print.
struct Outcome {
  std::vector<std::string> failures;
  std::string output;
};
auto run_test(const TestFile& file) -> Outcome;

/// Lines that differ, with `-` (expected) and `+` (found), and three lines around them.
auto line_diff(const std::string& expected, const std::string& found) -> std::string;

/// Which diagnostic kinds no file under `folder` names, less those in `folder`/diag/coverage_exempt.txt; and exemptions
/// that are no longer true. One line each.
auto uncovered_diags(const std::string& folder) -> std::vector<std::string>;

}  // namespace drawloom::text_tests
