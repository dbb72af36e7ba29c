#pragma once
/// What the device checks of layouts share: copies, and one line per verdict.
///
/// These programs hold no generated code of ours: plain CUDA does what a table says, and the tables come from layouts.
/// So a wrong formula in layout/ shows against the chip itself.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "drawloom/layout/convert.h"

namespace drawloom::device_check {

inline int passed = 0, failed = 0;

inline void verdict(const std::string& what, int64_t wrong, int64_t total) {
  (wrong == 0 ? passed : failed)++;
  std::printf("%-4s %s", wrong == 0 ? "ok" : "FAIL", what.c_str());
  std::printf(wrong == 0 ? "\n" : ": %lld of %lld wrong\n", static_cast<long long>(wrong),
              static_cast<long long>(total));
}

inline void must(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::printf("FAIL %s: %s\n", what, cudaGetErrorString(code));
  std::exit(1);
}

/// Leaked on purpose: each check is a short process.
template <typename T>
auto upload(const std::vector<T>& values) -> T* {
  T* out = nullptr;
  must(cudaMalloc(&out, values.size() * sizeof(T) + 16), "allocation");
  must(cudaMemcpy(out, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "copy to the device");
  return out;
}
template <typename T>
auto room_for(size_t count) -> T* {
  return upload(std::vector<T>(count));
}
template <typename T>
auto download(const T* from, size_t count) -> std::vector<T> {
  must(cudaGetLastError(), "launch");
  must(cudaDeviceSynchronize(), "kernel");
  std::vector<T> out(count);
  must(cudaMemcpy(out.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost), "copy from the device");
  return out;
}
template <typename Kernel>
void allow_shared(Kernel kernel, int bytes) {
  must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "shared memory size");
}

/// Values of a map to `byte`, for all points of its inputs in the order `names`, the first fastest.
inline auto byte_table(const Layout& layout, const std::vector<std::string>& names) -> std::vector<int> {
  const auto ordered = arrange(layout, names, {"byte"});
  std::vector<int> out;
  for (int64_t n = 0; n < point_count(ordered.from()); ++n) {
    out.push_back(static_cast<int>(ordered.value_at(nth_point(ordered.from(), n))));
  }
  return out;
}

/// Reads and writes of a transpose: a thread owns v x v elements of an n x n tile, in vectors of v along y.
inline auto transposed_reads(int64_t n, int64_t v) -> Layout {
  const int64_t along = std::min<int64_t>(n / v, 32), across = 32 / along;
  return LayoutBuilder()
      .to("y")
      .to("x")
      .map("register", v, {{"y", 1}})
      .map("register", v, {{"x", 1}})
      .map("lane", along, {{"x", v}})
      .map("lane", across, {{"y", v}})
      .map("register", n / v / along, {{"x", v * along}})
      .map("warp", n / v / across, {{"y", v * across}})
      .build();
}
inline auto coalesced_writes(int64_t n, int64_t v) -> Layout {
  const int64_t along = std::min<int64_t>(n / v, 32), across = 32 / along;
  return LayoutBuilder()
      .to("y")
      .to("x")
      .map("register", v, {{"y", 1}})
      .map("lane", along, {{"y", v}})
      .map("lane", across, {{"x", 1}})
      .map("register", n / v / along, {{"y", v * along}})
      .map("warp", n / across, {{"x", across}})
      .build();
}

/// Wavefronts per access as counted, against cycles per access as measured on a busy SM.
void check_bank_cycles(const std::string& what, const Layout& access, const Layout& shared, int64_t element_bytes,
                       int64_t width);
void check_banks();
void check_fragments();
void check_tensor_maps();
void check_conversions();

}  // namespace drawloom::device_check
