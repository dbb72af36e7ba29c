// Fragments and wgmma operands, by what the instructions compute: operands are placed as the layouts say, products of
// small integers are exact, and every result must be where the accumulator's layout says.
#include <cuda_fp16.h>

#include "device.h"
#include "drawloom/support/hash.h"

namespace drawloom::device_check {
namespace {

auto small_integers(size_t count, uint64_t seed) -> std::vector<__half> {
  CounterRandom random(seed);
  std::vector<__half> out;
  for (size_t k = 0; k < count; ++k) out.push_back(__float2half(static_cast<float>(random.uniform(-4, 4))));
  return out;
}

__device__ auto pair(__half low, __half high) -> uint32_t {
  return static_cast<uint32_t>(__half_as_ushort(low)) | static_cast<uint32_t>(__half_as_ushort(high)) << 16;
}

// ---- ldmatrix

__global__ void load_matrices(const int* starts, bool transposed, unsigned* out) {
  __shared__ __align__(16) unsigned short tile[256];
  for (int k = threadIdx.x; k < 256; k += 32) tile[k] = static_cast<unsigned short>(k);
  __syncwarp();
  const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(tile)) + starts[threadIdx.x];
  unsigned* r = out + 4 * threadIdx.x;
  if (transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
  }
}

void check_ldmatrix(bool transposed) {
  const auto tile = packed({{"col", 8}, {"row", 8}, {"matrix", 4}}, "byte", 2);
  const auto rows = byte_table(at_zero(compose(matrix_rows(4), tile).value(), "register"), {"lane"});
  auto* out = room_for<unsigned>(128);
  load_matrices<<<1, 32>>>(upload(rows), transposed, out);
  const auto got = download(out, 128);
  const auto fragment = compose(matrix_fragment(4, transposed), tile).value();
  int64_t wrong = 0;
  for (int64_t lane = 0; lane < 32; ++lane) {
    for (int64_t e = 0; e < 8; ++e) {
      const unsigned element = got[static_cast<size_t>(4 * lane + e / 2)] >> (16 * (e % 2)) & 0xffff;
      wrong += element != static_cast<unsigned>(fragment.value_at({e, lane}) / 2);
    }
  }
  verdict(transposed ? "ldmatrix.x4.trans" : "ldmatrix.x4", wrong, 256);
}

// ---- mma.sync

/// `a_at`, `b_at`: register * 32 + lane -> element of A (16 x 16) and B (16 x 8).
__global__ void multiply_warp(const __half* a, const __half* b, const int* a_at, const int* b_at, float* out) {
  const int lane = threadIdx.x;
  uint32_t ra[4], rb[2];
  float d[4] = {0, 0, 0, 0};
  for (int k = 0; k < 4; ++k) ra[k] = pair(a[a_at[64 * k + lane]], a[a_at[64 * k + 32 + lane]]);
  for (int k = 0; k < 2; ++k) rb[k] = pair(b[b_at[64 * k + lane]], b[b_at[64 * k + 32 + lane]]);
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  for (int k = 0; k < 4; ++k) out[4 * lane + k] = d[k];
}

/// Elements in row-major order, `width` a row, for all points with `inputs` in order, the last one slowest.
auto element_table(const Layout& layout, const std::vector<std::string>& inputs, int64_t width) -> std::vector<int> {
  const auto ordered = arrange(layout, inputs, {});
  std::vector<int> out;
  for (int64_t n = 0; n < point_count(ordered.from()); ++n) {
    const auto place = ordered.apply(nth_point(ordered.from(), n)).value();
    out.push_back(static_cast<int>(place[0] * width + place[1]));
  }
  return out;
}

void check_mma() {
  const auto a = small_integers(256, 1), b = small_integers(128, 2);
  auto* out = room_for<float>(128);
  multiply_warp<<<1, 32>>>(upload(a), upload(b), upload(element_table(mma_a(), {"lane", "register"}, 16)),
                           upload(element_table(mma_b(), {"lane", "register"}, 8)), out);
  const auto got = download(out, 128);
  int64_t wrong = 0;
  for (int64_t lane = 0; lane < 32; ++lane) {
    for (int64_t r = 0; r < 4; ++r) {
      const auto place = mma_accumulator().apply({r, lane}).value();
      float sum = 0;
      for (int64_t k = 0; k < 16; ++k) {
        sum += __half2float(a[static_cast<size_t>(place[0] * 16 + k)]) *
               __half2float(b[static_cast<size_t>(k * 8 + place[1])]);
      }
      wrong += sum != got[static_cast<size_t>(4 * lane + r)];
    }
  }
  verdict("mma.sync m16n8k16: A, B and accumulator", wrong, 128);
}

// ---- wgmma

#define D4(i) "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define D16(i) D4(i), D4((i) + 4), D4((i) + 8), D4((i) + 12)
#define NAMES_32                                                                                              \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, " \
  "%23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NAMES_88                                                                                      \
  NAMES_32                                                                                            \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, " \
  "%51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, "   \
  "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87"
#define WGMMA(n) "wgmma.mma_async.sync.aligned.m64n" n "k16.f32.f16.f16 "

template <int N, int TransposedB>
__device__ void multiply_from_shared(float* d, uint64_t a, uint64_t b) {
  if constexpr (N == 64) {
    asm volatile(WGMMA("64") "{" NAMES_32 "}, %32, %33, 1, 1, 1, 0, %34;"
                 : D16(0), D16(16)
                 : "l"(a), "l"(b), "n"(TransposedB));
  } else {
    asm volatile(WGMMA("176") "{" NAMES_88 "}, %88, %89, 1, 1, 1, 0, %90;"
                 : D16(0), D16(16), D16(32), D16(48), D16(64), D4(80), D4(84)
                 : "l"(a), "l"(b), "n"(TransposedB));
  }
}
template <int N, int TransposedB>
__device__ void multiply_from_registers(float* d, const uint32_t* a, uint64_t b) {
  if constexpr (N == 64) {
    asm volatile(WGMMA("64") "{" NAMES_32 "}, {%32, %33, %34, %35}, %36, 1, 1, 1, %37;"
                 : D16(0), D16(16)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(TransposedB));
  } else {
    asm volatile(WGMMA("176") "{" NAMES_88 "}, {%88, %89, %90, %91}, %92, 1, 1, 1, %93;"
                 : D16(0), D16(16), D16(32), D16(48), D16(64), D4(80), D4(84)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(TransposedB));
  }
}

/// An operand of 64 k in shared memory: where its elements (row-major) go, the constant part of its descriptor, and the
/// byte at which each of four steps of 16 k starts.
struct Operand {
  const __half* elements;
  const int* bytes;
  uint64_t descriptor;
  int4 steps;
};

__device__ auto step_of(const Operand& operand, uint32_t base, int s) -> uint64_t {
  const int starts[4] = {operand.steps.x, operand.steps.y, operand.steps.z, operand.steps.w};
  return operand.descriptor | (base + starts[s]) >> 4;
}

/// C (64 x N) = A (64 x 64) B (64 x N). `a_at`: register * 128 + thread -> element of A in the first 16 k.
template <int N, bool FromRegisters, int TransposedB>
__global__ void multiply_group(Operand a, Operand b, const int* a_at, float* out) {
  extern __shared__ __align__(1024) unsigned char tile[];
  constexpr int kABytes = 64 * 64 * 2;
  const int thread = threadIdx.x;
  for (int k = thread; k < 64 * 64; k += 128) *reinterpret_cast<__half*>(tile + a.bytes[k]) = a.elements[k];
  for (int k = thread; k < N * 64; k += 128) *reinterpret_cast<__half*>(tile + kABytes + b.bytes[k]) = b.elements[k];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const auto base = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
  uint32_t registers[4][4];
  for (int s = 0; s < 4; ++s) {
    for (int k = 0; k < 4; ++k) {
      const int low = a_at[2 * k * 128 + thread], high = a_at[(2 * k + 1) * 128 + thread];
      registers[s][k] = pair(a.elements[low + 16 * s], a.elements[high + 16 * s]);
    }
  }
  float d[N / 2];
#pragma unroll
  for (int k = 0; k < N / 2; ++k) d[k] = 0;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    const uint64_t b_step = step_of(b, base + kABytes, s);
    if constexpr (FromRegisters) {
      multiply_from_registers<N, TransposedB>(d, registers[s], b_step);
    } else {
      multiply_from_shared<N, TransposedB>(d, step_of(a, base, s), b_step);
    }
  }
  asm volatile("wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int k = 0; k < N / 2; ++k) out[thread * (N / 2) + k] = d[k];
}

auto operand_of(const WgmmaOperand& operand, Swizzle swizzle, const std::vector<__half>& elements) -> Operand {
  const uint64_t mode = swizzle == Swizzle::none ? 0 : 4 - static_cast<uint64_t>(swizzle);  // 128B 1, 64B 2, 32B 3
  const auto place = arrange(operand.layout, {"row", "k"}, {});
  const auto at = [&](int64_t k) { return static_cast<int>(place.value_at({0, k})); };
  return {upload(elements),
          upload(byte_table(operand.layout, {"k", "row"})),
          mode << 62 | static_cast<uint64_t>(operand.stride_bytes >> 4) << 32 |
              static_cast<uint64_t>(operand.leading_bytes >> 4) << 16,
          {at(0), at(16), at(32), at(48)}};
}

template <int N, bool FromRegisters, int TransposedB>
void check_wgmma(Swizzle swizzle) {
  const auto a = small_integers(64 * 64, 3), b = small_integers(N * 64, 4);  // row-major: row * 64 + k
  const auto a_operand = wgmma_operand_k_major(64, 64, 2, swizzle).value();
  const auto b_operand =
      TransposedB ? wgmma_operand_mn_major(N, 64).value() : wgmma_operand_k_major(N, 64, 2, swizzle).value();
  const auto a_at = element_table(wgmma_a_registers(2).value(), {"lane", "warp", "register"}, 64);
  auto* out = room_for<float>(128 * N / 2);
  const auto kernel = multiply_group<N, FromRegisters, TransposedB>;
  allow_shared(kernel, 100 * 1024);
  kernel<<<1, 128, (64 + N) * 128>>>(operand_of(a_operand, swizzle, a),
                                     operand_of(b_operand, TransposedB ? Swizzle::b128 : swizzle, b), upload(a_at),
                                     out);
  const auto got = download(out, 128 * N / 2);
  const auto accumulator = wgmma_accumulator(N).value();
  int64_t wrong = 0;
  for (int64_t thread = 0; thread < 128; ++thread) {
    for (int64_t r = 0; r < N / 2; ++r) {
      const auto place = accumulator.apply({r, thread % 32, thread / 32}).value();
      float sum = 0;
      for (int64_t k = 0; k < 64; ++k) {
        sum += __half2float(a[static_cast<size_t>(place[0] * 64 + k)]) *
               __half2float(b[static_cast<size_t>(place[1] * 64 + k)]);
      }
      wrong += sum != got[static_cast<size_t>(thread * (N / 2) + r)];
    }
  }
  verdict(str("wgmma m64n{}, A from {}, B {}-major, swizzle {}", N, FromRegisters ? "registers" : "shared",
              TransposedB ? "MN" : "K", swizzle_name(swizzle)),
          wrong, 128 * N / 2);
}

}  // namespace

void check_fragments() {
  check_ldmatrix(false);
  check_ldmatrix(true);
  check_mma();
  for (const auto swizzle : {Swizzle::b128, Swizzle::b64, Swizzle::b32, Swizzle::none}) {
    check_wgmma<64, false, 0>(swizzle);
    check_wgmma<64, true, 0>(swizzle);
    check_wgmma<176, false, 0>(swizzle);
    check_wgmma<176, true, 0>(swizzle);
  }
  check_wgmma<64, false, 1>(Swizzle::b128);
  check_wgmma<64, true, 1>(Swizzle::b128);
}

}  // namespace drawloom::device_check
