/// gpu_simulator [--seeds N] [--first SEED] FILE.ir..: each kernel at each of its sizes under each policy and seed.

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

void run_file(const std::string& path, int seeds, uint64_t first, Count& count) {
  const auto file = read_kernel_file(path);
  if (!file.ok()) return fail(count, file.diag().text());
  const auto* reference = find_reference(file->name);
  if (!reference) return fail(count, path + ": no reference is called " + file->name);
  for (const auto& size : file->sizes) {
    std::string problem;
    uint64_t steps = 0;
    for (const auto& o : seeded_policies(seeds, first)) {
      const auto outcome = run_size(file->program, *reference, size, o);
      steps += outcome.report.steps;
      if (outcome.problem.empty()) continue;
      problem = str("order {} moment {} seed {}: {}", static_cast<int>(o.order), static_cast<int>(o.moment), o.seed,
                    outcome.problem);
      break;
    }
    if (!problem.empty()) {
      fail(count, str("{} {}: {}", file->name, join(size, " "), problem));
      continue;
    }
    ++count.passed;
    std::printf("right %s %s (%llu warp instructions)\n", file->name.c_str(), join(size, " ").c_str(),
                static_cast<unsigned long long>(steps));
  }
}

auto main_of(int argc, char** argv) -> int {
  int seeds = 5;
  uint64_t first = 1;
  Count count;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--seeds" && i + 1 < argc) {
      seeds = std::atoi(argv[++i]);
    } else if (word == "--first" && i + 1 < argc) {
      first = std::strtoull(argv[++i], nullptr, 10);
    } else {
      run_file(word, seeds, first, count);
    }
  }
  std::printf("%d passed, %d failed\n", count.passed, count.failed);
  return count.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace drawloom::gpu_tests

int main(int argc, char** argv) { return drawloom::gpu_tests::main_of(argc, argv); }
