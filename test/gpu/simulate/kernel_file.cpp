#include "kernel_file.h"

#include <fstream>
#include <iterator>

#include "drawloom/ir/text_form.h"
#include "drawloom/ir/verify.h"

namespace drawloom::gpu_tests {

auto read_kernel_file(const std::string& path) -> Result<KernelFile> {
  std::ifstream in(path);
  if (!in) return Diag(DiagKind::file_unreadable, {}, path, "no such file");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  KernelFile out{.path = path};
  constexpr std::string_view kSize = "// size:";
  for (const auto& line : split_text(text, '\n')) {
    if (!line.starts_with(kSize)) continue;
    auto words = split_text(trim(std::string_view(line).substr(kSize.size())), ' ');
    std::erase(words, "");
    out.sizes.push_back(std::move(words));
  }
  DRAWLOOM_TRY(auto programs, parse_programs(text, path.substr(path.find_last_of('/') + 1)));
  out.program = std::move(programs.at(0));
  out.name = out.program.name;
  for (auto& d : verify(out.program, 0)) return d;
  return out;
}

auto run_size(const Program& program, const Reference& reference, const std::vector<std::string>& size,
              const SimOptions& options) -> Outcome {
  auto call = sim_call(program, size);
  if (!call.ok()) return {.report = {}, .problem = call.diag().text()};
  reference.fill(*call);
  auto report = simulate(program, call->arguments, options);
  if (!report.ok()) return {.report = {}, .problem = report.diag().text()};
  Outcome out{.report = std::move(report).value(), .problem = {}};
  if (!out.report.errors.empty()) {
    out.problem = out.report.errors[0].text();
  } else if (out.report.check_failure) {
    out.problem = "check failed: " + out.report.check_failure->message;
  } else {
    out.problem = reference.wrong(*call);
  }
  return out;
}

auto seeded_policies(int seeds, uint64_t first) -> std::vector<SimOptions> {
  std::vector<SimOptions> out;
  for (int s = 0; s < seeds; ++s) {
    for (auto o : sim_policies()) {
      const bool chance = o.order == WarpOrder::random || o.moment == AsyncMoment::random;
      if (s > 0 && !chance) continue;
      o.seed = first + static_cast<uint64_t>(s);
      out.push_back(o);
    }
  }
  return out;
}

}  // namespace drawloom::gpu_tests
