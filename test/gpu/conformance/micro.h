#pragma once
/// One small kernel for each row of atoms.def and each layout it may meet. Its data are numbers that tell every element from
/// the others, its result is a plain array: the simulator, a formula and a device must agree on every bit.

#include <functional>
#include <string>
#include <vector>

namespace drawloom::gpu_tests {

struct MicroKernel {
  std::string name, atom, text;
  std::vector<std::string> words;  ///< the call (sim_call)
  /// Element i of the last buffer.
  std::function<double(int64_t)> expected;
};

auto register_kernels() -> std::vector<MicroKernel>;  ///< shuffles, packs, vectors
auto matrix_kernels() -> std::vector<MicroKernel>;    ///< ldmatrix, stmatrix, mma, wgmma
auto copy_kernels() -> std::vector<MicroKernel>;      ///< TMA, bulk copies, cp.async

/// A program with one launch: `arguments` as in a func line, `body` in the threads of `blocks` blocks.
struct MicroLaunch {
  std::string name, arguments, maps, cluster, body;
  int blocks = 1, threads = 32, shared = 0;
  auto text() const -> std::string;
};

/// What hashed inputs hold (fill_hashed with seed 1).
auto hashed_f32(const std::vector<int64_t>& coords) -> double;

}  // namespace drawloom::gpu_tests
