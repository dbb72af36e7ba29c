#include "simulate.h"

#include <cstdio>

#include "drawloom/driver/case_run.h"
#include "drawloom/driver/generator.h"
#include "drawloom/interp/simt/call.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/ir/verify.h"

namespace drawloom {
namespace {

auto run_text(const std::string& text, const std::vector<std::string>& words) -> Result<SimReport> {
  DRAWLOOM_TRY(const auto programs, parse_programs(text, words[0]));
  for (const auto& p : programs) {
    for (auto& d : verify(p, 0)) return d;
  }
  DRAWLOOM_TRY(auto call, sim_call(programs.at(0), {words.begin() + 1, words.end()}));
  call.options.count_bank_conflicts = true;
  return simulate(programs[0], call.arguments, call.options);
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
    std::printf("%s: %lld wavefronts for %lld that %s needs\n", b.loc.text().c_str(), static_cast<long long>(b.wavefronts),
                static_cast<long long>(b.least), b.buffer.c_str());
  }
  std::printf("%s: %d launches, %llu instructions\n", report->clean() ? "clean" : "WRONG", report->launches,
              static_cast<unsigned long long>(report->steps));
  return report->clean() ? 0 : 1;
}

}  // namespace drawloom
