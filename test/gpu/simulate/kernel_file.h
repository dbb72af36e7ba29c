#pragma once
/// A kernel in device IR text, the sizes at which it is tested, and what it must compute.

#include <functional>

#include "drawloom/interp/simt/call.h"

namespace drawloom::gpu_tests {

/// A file says its sizes in lines `// size: A=64x32 n=5` (words of sim_call); the first is the smallest that uses all
/// stages of its rings.
struct KernelFile {
  std::string path, name;  ///< name: of its program
  std::vector<std::vector<std::string>> sizes;
  Program program;
};
/// The programs of a file, with the sizes that its header or the file `sizes` (lines `name: words`) has for them.
auto read_kernel_files(const std::string& path, const std::string& sizes) -> Result<std::vector<KernelFile>>;

/// The plain computation that a kernel of this name stands for.
struct Reference {
  std::string_view name;
  /// Inputs as the comparison needs them.
  void (*fill)(SimCall& call);
  /// Empty, or the first output that is wrong.
  std::string (*wrong)(const SimCall& call);
};
/// Null for names without one.
auto find_reference(std::string_view name) -> const Reference*;

/// Runs a program with the arguments of a size. Empty `problem`: clean and right.
struct Outcome {
  SimReport report;
  std::string problem;  ///< the first error, or what is wrong in the outputs
};
auto run_size(const Program& program, const Reference& reference, const std::vector<std::string>& size,
              const SimOptions& options) -> Outcome;

/// The options of each policy for each seed; policies that know no chance come once.
auto seeded_policies(int seeds, uint64_t first) -> std::vector<SimOptions>;

}  // namespace drawloom::gpu_tests
