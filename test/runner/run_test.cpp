#include <algorithm>

#include "runner.h"

namespace drawloom::text_tests {
namespace {

struct CommandRow {
  std::string_view name;
  Command run;
};
constexpr CommandRow kCommands[] = {
#define COMMAND(name, function, meaning) {name, function},
#include "runner_commands.def"
#undef COMMAND
};

auto words_of(std::string_view text) -> std::vector<std::string> {
  auto words = split_text(trim(text), ' ');
  std::erase(words, "");
  return words;
}

void run_commands(TestCase& test) {
  for (const auto& step : split_text(test.file.commands, '|')) {
    auto words = words_of(step);
    const auto name = words.empty() ? std::string() : words[0];
    const auto* row =
        std::find_if(std::begin(kCommands), std::end(kCommands), [&](const auto& c) { return c.name == name; });
    if (row == std::end(kCommands)) {
      test.failures.push_back(str("unknown command `{}`; see runner_commands.def", name));
      return;
    }
    row->run(test, {words.begin() + 1, words.end()});
    const bool error = std::any_of(test.diags.begin(), test.diags.end(),
                                   [](const Diag& d) { return d.severity() != Severity::warning; });
    if (error || !test.failures.empty()) return;
  }
}

auto matches(const ExpectedError& expected, const Diag& diag, const std::string& file) -> bool {
  const auto text = diag.text();
  return diag.name() == expected.kind && diag.loc().file() == file && diag.loc().line() == expected.line &&
         std::all_of(expected.words.begin(), expected.words.end(),
                     [&](const auto& words) { return text.find(words) != std::string::npos; });
}

/// Pairs what was reported with what was announced.
void compare_errors(const TestFile& file, std::vector<Diag> diags, std::vector<std::string>& failures) {
  for (const auto& expected : file.errors) {
    const auto hit =
        std::find_if(diags.begin(), diags.end(), [&](const Diag& d) { return matches(expected, d, file.name); });
    if (hit != diags.end()) {
      diags.erase(hit);
    } else {
      failures.push_back(
          str("line {}: expected {} with \"{}\"", expected.line, expected.kind, join(expected.words, "\" \"")));
    }
  }
  for (const auto& diag : diags) failures.push_back("unexpected: " + diag.text());
}

}  // namespace

auto run_test(const TestFile& file) -> Outcome {
  TestCase test{file, file.body, {}, {}};
  try {
    run_commands(test);
  } catch (const std::exception& e) {
    test.failures.push_back(str("exception: {}", e.what()));
  }
  Outcome out;
  out.failures = std::move(test.failures);
  compare_errors(file, test.diags, out.failures);
  if (const auto* text = std::any_cast<std::string>(&test.value); text && file.errors.empty()) out.output = *text;
  return out;
}

auto line_diff(const std::string& expected, const std::string& found) -> std::string {
  const auto a = split_text(expected, '\n'), b = split_text(found, '\n');
  // Longest common subsequence; test texts are short.
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::vector<std::string> lines;
  std::vector<size_t> changed;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      lines.push_back("  " + a[i]), ++i, ++j;
    } else {
      const bool drop = j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1]);
      changed.push_back(lines.size());
      lines.push_back(drop ? "- " + a[i++] : "+ " + b[j++]);
    }
  }
  std::string out;
  size_t shown = 0;
  for (const size_t at : changed) {
    const size_t first = std::max(shown, at < 3 ? 0 : at - 3);
    if (first > shown) out += "  ...\n";
    for (shown = first; shown < std::min(at + 4, lines.size()); ++shown) out += lines[shown] + "\n";
  }
  return out;
}

}  // namespace drawloom::text_tests
