#include <algorithm>

#include "drawloom/driver/lowered.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/lower/lower.h"

namespace drawloom {

auto CompileReport::total_seconds() const -> double {
  double sum = 0;
  for (const auto& p : passes) sum += p.seconds;
  return sum;
}

namespace {

auto padded(std::string text, size_t width) -> std::string {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

/// Milliseconds with two decimals.
auto milliseconds(double seconds) -> std::string {
  const auto hundredths = static_cast<int64_t>(seconds * 1e5 + 0.5);
  const auto rest = std::to_string(hundredths % 100);
  return str("{}.{}{}", hundredths / 100, rest.size() < 2 ? "0" : "", rest);
}

auto report_line(const std::string& name, double seconds, size_t nodes) -> std::string {
  const auto count = nodes > 0 ? padded(std::to_string(nodes), 8) + " nodes" : std::string();
  return str("{} ms{}  {}\n", padded(milliseconds(seconds), 9), count.empty() ? std::string(14, ' ') : count, name);
}

auto is_printed(const CompileOptions& options, std::string_view pass) -> bool {
  return std::any_of(options.print_after.begin(), options.print_after.end(),
                     [&](const std::string& name) { return name == "all" || name == pass; });
}

}  // namespace

auto CompileReport::text() const -> std::string {
  std::string out;
  for (const auto& p : passes) out += report_line(p.name, p.seconds, p.nodes);
  return out + report_line("total", total_seconds(), 0);
}

auto lower_reported(const Nest& nest, const CompileOptions& options) -> Program {
  LowerOptions lowering;
  lowering.verify = options.verify;
  std::vector<PassTime> times;
  if (auto* report = options.report) {
    lowering.times = &times;
    lowering.after_pass = [&, report](std::string_view pass, const Program& program) {
      if (is_printed(options, pass)) report->printed.push_back({std::string(pass), print(program)});
    };
  }
  Program program = lower(nest, lowering);
  for (const auto& t : times) options.report->passes.push_back({std::string(t.pass), t.seconds, t.nodes});
  return program;
}

void report_codegen(const CodegenTimes& times, CompileReport& report) {
  report.passes.push_back({"llvm_build", static_cast<double>(times.build_ns) * 1e-9, 0});
  report.passes.push_back({"llvm_optimise", static_cast<double>(times.optimise_ns) * 1e-9, 0});
  report.passes.push_back({"llvm_emit", static_cast<double>(times.emit_ns) * 1e-9, 0});
}

}  // namespace drawloom
