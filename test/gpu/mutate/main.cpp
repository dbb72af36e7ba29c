/// gpu_mutants [--seeds N] [--jobs N] [--verbose] [--sizes FILE] --equivalent FILE KERNEL.ir..: is every mistake in a kernel's
/// synchronisation found? A mutant that the simulator does not report must be listed as equivalent, with the reason:
///
///   kernel: text of the mutant: reason

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "../simulate/kernel_file.h"
#include "drawloom/ir/verify.h"
#include "mutants.h"

namespace drawloom::gpu_tests {
namespace {

struct Options {
  int seeds = 5, jobs = 2;
  bool verbose = false;
  std::map<std::string, std::string> equivalent;  ///< reason by kernel and mutant
  std::string sizes;
  std::vector<std::string> files;
};

auto read_equivalents(const std::string& path, Options& out) -> bool {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with("#")) continue;
    const size_t end = line.rfind(": ");
    if (end == std::string::npos) return false;
    out.equivalent[line.substr(0, end)] = line.substr(end + 2);
  }
  return !in.bad();
}

auto read_options(int argc, char** argv, Options& out) -> bool {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_next = i + 1 < argc;
    if (word == "--seeds" && has_next) {
      out.seeds = std::atoi(argv[++i]);
    } else if (word == "--jobs" && has_next) {
      out.jobs = std::atoi(argv[++i]);
    } else if (word == "--equivalent" && has_next) {
      if (!read_equivalents(argv[++i], out)) return false;
    } else if (word == "--sizes" && has_next) {
      out.sizes = argv[++i];
    } else if (word == "--verbose") {
      out.verbose = true;
    } else {
      out.files.push_back(word);
    }
  }
  return !out.files.empty();
}

/// What becomes of a mutant. Refused: the verifier does not let it pass.
struct Fate {
  enum class Kind : uint8_t { survives, wrong, reported, refused };
  Kind kind = Kind::survives;
  std::string text;
};

auto fate_of(const Mutant& m, const KernelFile& file, const Reference& reference, int seeds) -> Fate {
  for (const auto& d : verify(m.program, 0)) return {.kind = Fate::Kind::refused, .text = d.text()};
  Fate out;
  // All sizes under one order, then the next: a kernel's second path is reached soon.
  for (const auto& o : seeded_policies(seeds, 1)) {
    for (const auto& size : file.sizes) {
      const auto r = run_size(m.program, reference, size, o);
      if (r.problem.empty()) continue;
      if (!r.report.errors.empty()) return {.kind = Fate::Kind::reported, .text = r.problem};
      out = {.kind = Fate::Kind::wrong, .text = r.problem};
    }
  }
  return out;
}

/// Prints what survives; returns how many of them nobody excuses.
auto test_kernel(const KernelFile& file, const Options& options) -> int {
  const auto* reference = find_reference(file.name);
  if (!reference || file.sizes.empty()) return std::printf("%s: no reference or no size\n", file.name.c_str()), 1;
  const auto mutants = mutants_of(file.program);
  std::vector<Fate> fates(mutants.size());
  std::atomic<size_t> next{0};
  std::vector<std::thread> workers;
  for (int j = 0; j < options.jobs; ++j) {
    workers.emplace_back([&] {
      for (size_t i; (i = next++) < mutants.size();) fates[i] = fate_of(mutants[i], file, *reference, options.seeds);
    });
  }
  for (auto& w : workers) w.join();
  int unexcused = 0, excused = 0, refused = 0;
  for (size_t i = 0; i < mutants.size(); ++i) {
    const auto& m = mutants[i];
    const std::string name = file.name + ": " + m.text();
    refused += fates[i].kind == Fate::Kind::refused;
    const bool found = fates[i].kind == Fate::Kind::reported || fates[i].kind == Fate::Kind::refused;
    const bool listed = options.equivalent.contains(name);
    if (options.verbose && found)
      std::printf("%s (line %u)\n    %s\n", name.c_str(), m.loc.line(), fates[i].text.c_str());
    if (found && listed) std::printf("listed as equivalent, but found: %s\n", name.c_str());
    if (found) {
      unexcused += listed;
      continue;
    }
    if (listed && fates[i].kind == Fate::Kind::survives) {
      ++excused;
      continue;
    }
    ++unexcused;
    std::printf("%s: %s (line %u) %s\n", fates[i].kind == Fate::Kind::survives ? "SURVIVES" : "WRONG but not reported",
                name.c_str(), m.loc.line(), fates[i].text.c_str());
  }
  std::printf("%s: %zu mutants, %zu reported, %d of them by the verifier, %d equivalent, %d not excused\n",
              file.name.c_str(), mutants.size(), mutants.size() - static_cast<size_t>(excused + unexcused), refused,
              excused, unexcused);
  return unexcused;
}

auto main_of(int argc, char** argv) -> int {
  Options options;
  if (!read_options(argc, argv, options)) return std::printf("no kernel, or a malformed list\n"), 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  int passed = 0, failed = 0;
  for (const auto& path : options.files) {
    const auto files = read_kernel_files(path, options.sizes);
    if (!files.ok()) {
      std::printf("%s\n", files.diag().text().c_str());
      ++failed;
      continue;
    }
    for (const auto& f : *files) (test_kernel(f, options) == 0 ? passed : failed) += 1;
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace drawloom::gpu_tests

int main(int argc, char** argv) { return drawloom::gpu_tests::main_of(argc, argv); }
