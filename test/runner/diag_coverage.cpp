#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "runner.h"

namespace drawloom::text_tests {
namespace {

namespace fs = std::filesystem;

auto read_all(const fs::path& path) -> std::string {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

/// The words (letters, digits, underscores) of a text.
void collect_words(const std::string& text, std::set<std::string, std::less<>>& words) {
  std::string word;
  for (const char c : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::move(word));
      word.clear();
    }
  }
}

/// `kind: reason` lines.
auto read_exemptions(const fs::path& path) -> std::map<std::string, std::string, std::less<>> {
  std::map<std::string, std::string, std::less<>> out;
  for (const auto& line : split_text(read_all(path), '\n')) {
    const size_t colon = line.find(':');
    if (line.starts_with("#") || colon == std::string::npos) continue;
    out[line.substr(0, colon)] = trim(std::string_view(line).substr(colon + 1));
  }
  return out;
}

}  // namespace

auto uncovered_diags(const std::string& folder) -> std::vector<std::string> {
  const auto exempt_file = fs::path(folder) / "diag" / "coverage_exempt.txt";
  const std::set<std::string> kinds_of_tests = {".ir", ".dl", ".sched", ".cpp", ".c", ".py"};
  std::set<std::string, std::less<>> words;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    // The runner uses kinds itself; only its tests provoke them.
    const auto path = entry.path().string();
    const bool runner = path.find("/runner/") != std::string::npos && !path.ends_with("_test.cpp");
    const bool test = entry.is_regular_file() && kinds_of_tests.contains(entry.path().extension().string());
    if (test && !runner) collect_words(read_all(entry.path()), words);
  }

  auto exempt = read_exemptions(exempt_file);
  std::vector<std::string> out;
  for (const DiagKind kind : all_diag_kinds()) {
    const auto name = diag_name(kind);
    const auto exemption = exempt.find(name);
    const bool covered = words.contains(name);
    if (exemption == exempt.end()) {
      if (!covered) out.push_back(str("{}: no test provokes it, and {} does not say why", name, "coverage_exempt.txt"));
      continue;
    }
    if (covered) out.push_back(str("{}: exempt, but a test names it", name));
    if (exemption->second.empty()) out.push_back(str("{}: exempt without a reason", name));
    exempt.erase(exemption);
  }
  for (const auto& [name, reason] : exempt) out.push_back(str("{}: exempt, but no such kind", name));
  return out;
}

}  // namespace drawloom::text_tests
