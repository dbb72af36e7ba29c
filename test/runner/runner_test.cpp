/// The runner itself: it must fail where it should.

#include "runner.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace drawloom::text_tests {
namespace {

namespace fs = std::filesystem;

/// A file in a folder of its own, gone at the end.
struct Scratch {
  explicit Scratch(const std::string& text) {
    fs::create_directories(folder);
    std::ofstream(path) << text;
  }
  ~Scratch() { fs::remove_all(folder); }
  auto text() const -> std::string {
    std::ifstream in(path);
    return std::string((std::istreambuf_iterator<char>(in)), {});
  }
  fs::path folder = fs::temp_directory_path() / str("drawloom_runner_{}", reinterpret_cast<uintptr_t>(this));
  std::string path = (folder / "case.ir").string();
};

constexpr const char* kHead = "// run: parse | print\ndrawloom-ir 1\nfunc @f(%k: i32) {\n";

auto outcome(const std::string& text) -> Outcome {
  const Scratch scratch(text);
  return run_test(read_test_file(scratch.path).value());
}

TEST_CASE("output and expectation are read and compared as text", "[runner]") {
  const Scratch scratch(std::string(kHead) + "}\n----\nwrong\n");
  const auto file = read_test_file(scratch.path).value();
  CHECK(file.name == "case.ir");
  CHECK(file.commands == "parse | print");
  CHECK(file.expectation == "wrong\n");
  const auto run = run_test(file);
  CHECK(run.failures.empty());
  CHECK(run.output == "drawloom-ir 1\n\nfunc @f(%k: i32) {\n}\n");
  CHECK(line_diff(file.expectation, run.output).find("- wrong\n") != std::string::npos);
  REQUIRE(bless(file, run.output).ok());
  CHECK(scratch.text() == std::string(kHead) + "}\n----\n" + run.output);
}

TEST_CASE("an announced error must come, there and of that kind and words", "[runner]") {
  const auto failures = [](const std::string& line) { return outcome(kHead + line + "\n}\n").failures.size(); };
  CHECK(failures("let %t = %q  // error: parse_unknown_name \"`%q`\"") == 0);
  CHECK(failures("// error: parse_unknown_name \"variable\" \"`%q`\"\nlet %t = %q") == 0);
  CHECK(failures("let %t = %q") == 1);
  CHECK(failures("let %t = 1  // error: parse_unknown_name \"`%q`\"") == 1);
  CHECK(failures("let %t = %q  // error: parse_number \"`%q`\"") == 2);
  CHECK(failures("let %t = %q  // error: parse_unknown_name \"`%r`\"") == 2);
  CHECK(failures("let %t = %q\n\n// error: parse_unknown_name \"`%q`\"") == 2);
}

TEST_CASE("misuse of commands fails", "[runner]") {
  CHECK(outcome("// run: frobnicate\n").failures.size() == 1);
  CHECK(outcome("// run: print\n").failures.size() == 1);
  CHECK(outcome("// run: parse | parse\ndrawloom-ir 1\n").failures.size() == 1);
  CHECK(outcome("// run: parse | verify no_such_claim\ndrawloom-ir 1\n").failures.size() == 1);
}

TEST_CASE("files that are no tests are named", "[runner]") {
  CHECK(read_test_file("/nonexistent/x.ir").diag().kind() == DiagKind::file_unreadable);
  CHECK(bless(TestFile{.path = "/nonexistent/x.ir"}, "").diag().kind() == DiagKind::file_unwritable);
  const Scratch no_commands("drawloom-ir 1\n");
  CHECK(read_test_file(no_commands.path).diag().kind() == DiagKind::parse_unexpected);
  const Scratch no_words("// run: parse\n// error: parse_number\n");
  CHECK(read_test_file(no_words.path).diag().loc().line() == 2);
}

TEST_CASE("the diff shows what changed and where", "[runner]") {
  CHECK(line_diff("a\nb\nc", "a\nx\nc") == "  a\n- b\n+ x\n  c\n");
  CHECK(line_diff("a\nb", "a\nb").empty());
  CHECK(line_diff("1\n2\n3\n4\n5\n6\n7", "1\n2\n3\n4\n5\n6\n8") == "  ...\n  4\n  5\n  6\n- 7\n+ 8\n");
}

TEST_CASE("coverage misses what no test names and knows stale exemptions", "[runner]") {
  const Scratch scratch("// error: parse_number \"x\"\n");
  fs::create_directories(scratch.folder / "diag");
  std::ofstream(scratch.folder / "diag" / "coverage_exempt.txt")
      << "# comment\nparse_version: read by no test here\nparse_number: but it is\nno_such_kind: "
         "reason\nparse_too_deep:\n";
  const auto problems = join(uncovered_diags(scratch.folder.string()), "\n") + "\n";
  const auto has = [&](const char* words) { return problems.find(words) != std::string::npos; };
  CHECK(has("parse_redefined: no test provokes it"));
  CHECK_FALSE(has("parse_version:"));
  CHECK(has("parse_number: exempt, but a test names it"));
  CHECK(has("no_such_kind: exempt, but no such kind"));
  CHECK(has("parse_too_deep: exempt without a reason"));
}

}  // namespace
}  // namespace drawloom::text_tests
