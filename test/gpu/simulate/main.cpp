/// gpu_simulator [--seeds N] [--first SEED] [--sizes FILE] FILE.ir..: each kernel at each of its sizes under each policy and seed.

#include <cstdio>
#include <cstdlib>

#include "kernel_file.h"

namespace drawloom::gpu_tests {
namespace {

struct Count {
  int passed = 0, failed = 0;
};

void fail(Count& count, const std::string& text) {
  std::printf("FAILED %s\n", text.c_str());
  ++count.failed;
}

struct Options {
  int seeds = 5;
  uint64_t first = 1;
  std::string sizes;
  std::vector<std::string> files;
};

void run_kernel(const KernelFile& file, const Options& options, Count& count) {
  const auto* reference = find_reference(file.name);
  if (!reference || file.sizes.empty()) return fail(count, file.path + ": no reference or no size for " + file.name);
  for (const auto& size : file.sizes) {
    std::string problem;
    uint64_t steps = 0;
    for (const auto& o : seeded_policies(options.seeds, options.first)) {
      const auto outcome = run_size(file.program, *reference, size, o);
      steps += outcome.report.steps;
      if (outcome.problem.empty()) continue;
      problem = str("order {} moment {} seed {}: {}", static_cast<int>(o.order), static_cast<int>(o.moment), o.seed,
                    outcome.problem);
      break;
    }
    if (!problem.empty()) {
      fail(count, str("{} {}: {}", file.name, join(size, " "), problem));
      continue;
    }
    ++count.passed;
    std::printf("right %s %s (%llu warp instructions)\n", file.name.c_str(), join(size, " ").c_str(),
                static_cast<unsigned long long>(steps));
    std::fflush(stdout);
  }
}

auto main_of(int argc, char** argv) -> int {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--seeds" && i + 1 < argc) {
      options.seeds = std::atoi(argv[++i]);
    } else if (word == "--first" && i + 1 < argc) {
      options.first = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--sizes" && i + 1 < argc) {
      options.sizes = argv[++i];
    } else {
      options.files.push_back(word);
    }
  }
  Count count;
  for (const auto& path : options.files) {
    const auto files = read_kernel_files(path, options.sizes);
    if (!files.ok()) {
      fail(count, files.diag().text());
      continue;
    }
    for (const auto& f : *files) run_kernel(f, options, count);
  }
  std::printf("%d passed, %d failed\n", count.passed, count.failed);
  return count.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace drawloom::gpu_tests

int main(int argc, char** argv) { return drawloom::gpu_tests::main_of(argc, argv); }
