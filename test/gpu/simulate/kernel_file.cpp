#include "kernel_file.h"

#include <fstream>
#include <iterator>

#include "drawloom/ir/text_form.h"
#include "drawloom/ir/verify.h"

namespace drawloom::gpu_tests {

namespace {

auto words_of(std::string_view text) -> std::vector<std::string> {
  auto words = split_text(trim(text), ' ');
  std::erase(words, "");
  return words;
}
auto read_file(const std::string& path) -> Result<std::string> {
  std::ifstream in(path);
  if (!in) return Diag(DiagKind::file_unreadable, {}, path, "no such file");
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}
/// What stands behind `prefix` in the lines that begin with it.
auto sizes_in(const std::string& text, const std::string& prefix) -> std::vector<std::vector<std::string>> {
  std::vector<std::vector<std::string>> out;
  for (const auto& line : split_text(text, '\n')) {
    if (line.starts_with(prefix)) out.push_back(words_of(std::string_view(line).substr(prefix.size())));
  }
  return out;
}

}  // namespace

auto read_kernel_files(const std::string& path, const std::string& sizes) -> Result<std::vector<KernelFile>> {
  DRAWLOOM_TRY(const std::string text, read_file(path));
  std::string table;
  if (!sizes.empty()) {
    DRAWLOOM_TRY(table, read_file(sizes));
  }
  DRAWLOOM_TRY(auto programs, parse_programs(text, path.substr(path.find_last_of('/') + 1)));
  std::vector<KernelFile> out;
  for (auto& p : programs) {
    for (auto& d : verify(p, 0)) return d;
    KernelFile k{.path = path, .name = p.name, .sizes = sizes_in(text, "// size:"), .program = {}};
    for (auto& s : sizes_in(table, p.name + ":")) k.sizes.push_back(std::move(s));
    k.program = std::move(p);
    out.push_back(std::move(k));
  }
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
