// Conflicts as counted, against time: 16 warps load through the same addresses over and over, so that shared memory is
// all they wait for, and a load takes as many cycles as it has wavefronts.
#include <algorithm>

#include "device.h"

namespace drawloom::device_check {
namespace {

constexpr int kThreads = 512, kRounds = 64, kLoads = 16;

template <int Width>
__device__ auto load(uint32_t at) -> unsigned {
  unsigned x = 0, y = 0, z = 0, w = 0;
  if constexpr (Width == 2) {
    unsigned short half;
    asm volatile("ld.volatile.shared.u16 %0, [%1];" : "=h"(half) : "r"(at));
    x = half;
  }
  if constexpr (Width == 4) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(at));
  if constexpr (Width == 8) asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(at));
  if constexpr (Width == 16) {
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(at));
  }
  return x + y + z + w;
}

/// `table`: byte addresses, 32 lanes of one access after the other.
template <int Width>
__global__ void time_loads(const int* table, int accesses, long long* cycles, unsigned* sink) {
  extern __shared__ __align__(1024) unsigned char bytes[];
  const auto base = static_cast<uint32_t>(__cvta_generic_to_shared(bytes));
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint32_t at[4];
  for (int k = 0; k < 4; ++k) at[k] = base + table[(k + 4 * warp) % accesses * 32 + lane];
  unsigned sum = load<Width>(at[0]);
  __syncthreads();
  const long long start = clock64();
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int k = 0; k < kLoads; ++k) sum += load<Width>(at[k & 3]);
  }
  __syncthreads();
  if (threadIdx.x == 0) *cycles = clock64() - start;
  sink[threadIdx.x] = sum;
}

auto cycles_per_access(const Layout& starts, int64_t width) -> double {
  const auto table = byte_table(starts, {"lane"});
  int last = 0;
  for (const int at : table) last = std::max(last, at);
  const auto* addresses = upload(table);
  auto* cycles = room_for<long long>(1);
  auto* sink = room_for<unsigned>(kThreads);
  const auto run = [&](auto kernel) {
    allow_shared(kernel, 200 * 1024);
    for (int k = 0; k < 3; ++k) {  // the last one is warm
      kernel<<<1, kThreads, last + 16>>>(addresses, static_cast<int>(table.size() / 32), cycles, sink);
    }
  };
  if (width == 2) run(time_loads<2>);
  if (width == 4) run(time_loads<4>);
  if (width == 8) run(time_loads<8>);
  if (width == 16) run(time_loads<16>);
  return static_cast<double>(download(cycles, 1)[0]) / (double{kRounds} * kLoads * kThreads / 32);
}

}  // namespace

void check_bank_cycles(const std::string& what, const Layout& access, const Layout& shared, int64_t element_bytes,
                       int64_t width) {
  const auto vectors = vector_access(compose(access, shared).value(), element_bytes, width).value();
  const auto report = bank_conflicts(vectors.bytes, vectors.width).value();
  const double counted = static_cast<double>(report.wavefronts) / static_cast<double>(report.instructions);
  const double measured = cycles_per_access(vectors.bytes, vectors.width);
  char times[80];
  std::snprintf(times, sizeof times, "%.2f wavefronts, %.2f cycles", counted, measured);
  // Loop and address arithmetic may cost a little, never less than the wavefronts.
  const bool agree = measured > 0.98 * counted && measured < 1.05 * counted + 0.1;
  verdict(what + ": " + report.text() + ", " + times, agree ? 0 : 1, 1);
}

void check_banks() {
  struct Case {
    int64_t n, element_bytes, v;
  };
  for (const auto& [n, eb, v] : std::vector<Case>{
           {64, 4, 4}, {32, 4, 1}, {64, 4, 2}, {64, 2, 8}, {64, 2, 4}, {64, 2, 1}, {32, 8, 2}, {32, 8, 1}}) {
    const SharedTile tile = {{{"y", n}, {"x", n}}, eb};
    const auto reads = transposed_reads(n, v), writes = coalesced_writes(n, v);
    const auto found = synthesize(tile, {{"write", writes, v * eb}, {"read", reads, v * eb}}, {}).value();
    const auto name = str("transpose {} x {}, {} B, {} x {} a thread, ", n, n, eb, v, v);
    check_bank_cycles(name + "plain read", reads, packed(tile.extents, "byte", eb), eb, v * eb);
    check_bank_cycles(name + "synthesised read", reads, found.layout, eb, v * eb);
    check_bank_cycles(name + "synthesised write", writes, found.layout, eb, v * eb);
  }
  const auto down = LayoutBuilder().map("lane", 32, {{"y", 1}}).map("register", 32, {{"x", 1}}).build();
  for (const int64_t words : {32, 33, 34, 36, 40, 48}) {
    const auto pitch = LayoutBuilder().map("x", 32, {{"byte", 4}}).map("y", 32, {{"byte", 4 * words}}).build();
    check_bank_cycles(str("down 32 rows of {} words", words), down, pitch, 4, 4);
  }
}

}  // namespace drawloom::device_check
