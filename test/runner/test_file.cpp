#include <filesystem>
#include <fstream>
#include <iterator>

#include "runner.h"

namespace drawloom::text_tests {
namespace {

constexpr std::string_view kRun = "// run:", kError = "// error:", kEndOfBody = "----";

/// Reads `kind "words" "words"`; false when it is not that.
auto read_error(std::string_view text, ExpectedError& out) -> bool {
  text = trim(text);
  const size_t end = text.find_first_of(" \t");
  out.kind = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : trim(text.substr(end));
  while (!text.empty()) {
    const size_t close = text.find('"', 1);
    if (text[0] != '"' || close == std::string_view::npos) return false;
    out.words.emplace_back(text.substr(1, close - 1));
    text = trim(text.substr(close + 1));
  }
  return !out.words.empty();
}

}  // namespace

auto read_test_file(const std::string& path) -> Result<TestFile> {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Diag(DiagKind::file_unreadable, Loc(), path, "no such file");
  const std::string text((std::istreambuf_iterator<char>(in)), {});

  TestFile file;
  file.path = path;
  file.name = std::filesystem::path(path).filename().string();
  const auto name = make_ref<FileName>(file.name);
  auto lines = split_text(text, '\n');
  if (lines.back().empty()) lines.pop_back();  // what follows the last newline is no line
  uint32_t number = 0;
  for (const auto& line : lines) {
    ++number;
    if (file.has_expectation) {
      file.expectation += line + "\n";
    } else if (line == kEndOfBody) {
      file.has_expectation = true;
    } else {
      file.body += line + "\n";
      if (line.starts_with(kRun)) file.commands = trim(std::string_view(line).substr(kRun.size()));
      const size_t at = line.find(kError);
      if (at == std::string::npos) continue;
      ExpectedError error;
      if (!read_error(std::string_view(line).substr(at + kError.size()), error)) {
        return Diag(DiagKind::parse_unexpected, Loc(name, number, static_cast<uint32_t>(at + 1)),
                    "`// error: kind \"words\"`", "`" + line + "`");
      }
      // Alone on its line, the comment is about the next one.
      const bool alone = trim(std::string_view(line).substr(0, at)).empty();
      error.line = number + (alone ? 1 : 0);
      file.errors.push_back(std::move(error));
    }
  }
  if (file.commands.empty()) {
    return Diag(DiagKind::parse_unexpected, Loc(name, 1, 1), "a line `// run: commands`", "none");
  }
  return file;
}

auto bless(const TestFile& file, const std::string& output) -> Status {
  std::ofstream out(file.path, std::ios::binary);
  out << file.body << kEndOfBody << '\n' << output;
  out.close();
  if (!out) return Diag(DiagKind::file_unwritable, Loc(), file.path, "writing failed");
  return Done();
}

}  // namespace drawloom::text_tests
