#include "save.h"

#include <cctype>
#include <cstdio>
#include <filesystem>

namespace drawloom::fuzz {
namespace {

auto as_file_name(const std::string& kind) -> std::string {
  std::string out;
  for (const char c : kind.substr(0, 40)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  return out;
}

}  // namespace

auto save_case(const std::string& folder, const std::string& kind, uint64_t seed, const std::string& text)
    -> std::string {
  if (folder.empty()) return "(no folder)";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto path = folder + "/" + as_file_name(kind) + "-" + std::to_string(seed) + ".dl";
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) return "(cannot write " + path + ")";
  const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && whole ? path : "(cannot write " + path + ")";
}

}  // namespace drawloom::fuzz
