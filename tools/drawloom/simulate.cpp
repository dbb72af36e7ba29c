#include "simulate.h"

#include <cstdio>

#include "drawloom/driver/case_run.h"
#include "drawloom/driver/generator.h"
#include "drawloom/interp/simt/call.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/ir/verify.h"

namespace drawloom {
namespace {

/// Writes the elements of an array, as they lie in memory.
auto save(const Array& a, const std::string& path) -> bool {
  std::FILE* f = std::fopen(path.c_str(), "wb");
  if (!f) return false;
  const bool written = std::fwrite(a.data.data(), 1, a.data.size(), f) == a.data.size();
  return std::fclose(f) == 0 && written;
}

auto run_text(const std::string& text, std::vector<std::string> words) -> Result<SimReport> {
  DRAWLOOM_TRY(const auto programs, parse_programs(text, words[0]));
  for (const auto& p : programs) {
    for (auto& d : verify(p, 0)) return d;
  }
  words.erase(words.begin());
  std::string folder;
  std::erase_if(words, [&](const std::string& w) {
    if (w.starts_with("save=")) folder = w.substr(5);
    return w.starts_with("save=");
  });
  DRAWLOOM_TRY(auto call, sim_call(programs.at(0), words));
  call.options.count_bank_conflicts = true;
  DRAWLOOM_TRY(auto report, simulate(programs[0], call.arguments, call.options));
  if (folder.empty()) return report;
  auto array = call.arrays.begin();
  for (const auto& argument : programs[0].arguments) {
    const auto* b = std::get_if<BufferArgument>(&argument);
    if (b && !save(*array++, folder + "/" + b->buffer->name + ".bin"))
      return Diag(DiagKind::file_unwritable, {}, folder, "cannot be written");
  }
  return report;
}

}  // namespace

auto simulate_command(const std::vector<std::string>& words) -> int {
  const auto text = read_text_file(words.at(0));
  if (!text.ok()) return std::fprintf(stderr, "%s\n", text.diag().text().c_str()), 2;
  const auto report = run_text(*text, words);
  if (!report.ok()) return std::fprintf(stderr, "%s\n", report.diag().text().c_str()), 2;
  for (const auto& e : report->errors) std::printf("%s\n", e.text().c_str());
  if (report->check_failure) std::printf("check failed: %s\n", report->check_failure->message.c_str());
  for (const auto& b : report->bank_conflicts) {
    if (b.wavefronts == b.least) continue;
    std::printf("%s: %lld wavefronts for %lld that %s needs\n", b.loc.text().c_str(),
                static_cast<long long>(b.wavefronts), static_cast<long long>(b.least), b.buffer.c_str());
  }
  std::printf("%s: %d launches, %llu instructions\n", report->clean() ? "clean" : "WRONG", report->launches,
              static_cast<unsigned long long>(report->steps));
  return report->clean() ? 0 : 1;
}

}  // namespace drawloom
