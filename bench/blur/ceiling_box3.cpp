// The best plain C++ we can write for the 3x3 box blur of 16-bit pictures: what a schedule is measured against.
//
// Bytes decide: every pixel is read once and written once, and a plain store first reads the line it writes. So the
// variants differ in two things: where the row sums of one output row wait for the next (registers: R output rows per
// vector of x from R + 2 row sums; or line buffers), and whether stores go past the caches.
// The file is compiled once per vector width.
#include "ceiling_box3.h"

#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <vector>

namespace {

#if defined(__AVX512BW__)
#define CEILING ceiling_box3_avx512
using V = __m512i;
auto load(const uint16_t* p) -> V { return _mm512_loadu_si512(p); }
void store(uint16_t* p, V v) { _mm512_storeu_si512(p, v); }
void stream(uint16_t* p, V v) { _mm512_stream_si512(reinterpret_cast<V*>(p), v); }
auto add(V a, V b) -> V { return _mm512_add_epi16(a, b); }
auto third(V v) -> V { return _mm512_srli_epi16(_mm512_mulhi_epu16(v, _mm512_set1_epi16(short(0xAAAB))), 1); }
#else
#define CEILING ceiling_box3_avx2
using V = __m256i;
auto load(const uint16_t* p) -> V { return _mm256_loadu_si256(reinterpret_cast<const V*>(p)); }
void store(uint16_t* p, V v) { _mm256_storeu_si256(reinterpret_cast<V*>(p), v); }
void stream(uint16_t* p, V v) { _mm256_stream_si256(reinterpret_cast<V*>(p), v); }
auto add(V a, V b) -> V { return _mm256_add_epi16(a, b); }
auto third(V v) -> V { return _mm256_srli_epi16(_mm256_mulhi_epu16(v, _mm256_set1_epi16(short(0xAAAB))), 1); }
#endif

constexpr int kLanes = sizeof(V) / 2;
auto row_sum(const uint16_t* p) -> V { return third(add(add(load(p), load(p + 1)), load(p + 2))); }

template <bool NT>
void put(uint16_t* p, V v) {
  if constexpr (NT)
    stream(p, v);
  else
    store(p, v);
}

/// R output rows at once from R + 2 row sums in registers, U vectors of x next to each other, strips of STRIP rows.
template <bool NT, int R, int U, int STRIP>
void in_registers(const Picture& in, const Picture& out) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int strip = 0; strip < out.height / STRIP; ++strip) {
    for (int y = strip * STRIP; y < (strip + 1) * STRIP; y += R)
      for (int x = 0; x < out.width; x += U * kLanes) {
        V h[R + 2][U];
        for (int r = 0; r < R + 2; ++r)
          for (int u = 0; u < U; ++u) h[r][u] = row_sum(in.at(x + u * kLanes, y + r));
        for (int r = 0; r < R; ++r)
          for (int u = 0; u < U; ++u)
            put<NT>(out.at(x + u * kLanes, y + r), third(add(add(h[r][u], h[r + 1][u]), h[r + 2][u])));
      }
    _mm_sfence();
  }
}

/// One row at a time over a ring of 4 line buffers, XT columns wide.
template <bool NT, int XT, int STRIP>
void in_lines(const Picture& in, const Picture& out) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int strip = 0; strip < out.height / STRIP; ++strip) {
    alignas(64) uint16_t line[4][XT];
    const int y0 = strip * STRIP;
    for (int x0 = 0; x0 < out.width; x0 += XT) {
      const int n = std::min(XT, out.width - x0);
      for (int y = y0; y < y0 + STRIP; ++y) {
        for (int r = y == y0 ? y : y + 2; r <= y + 2; ++r)
          for (int x = 0; x < n; x += kLanes) store(&line[r % 4][x], row_sum(in.at(x0 + x, r)));
        for (int x = 0; x < n; x += kLanes)
          put<NT>(out.at(x0 + x, y),
                  third(add(add(load(&line[y % 4][x]), load(&line[(y + 1) % 4][x])), load(&line[(y + 2) % 4][x]))));
      }
    }
    _mm_sfence();
  }
}

template <bool NT>
void copy(const Picture& in, const Picture& out) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int strip = 0; strip < out.height / 48; ++strip) {
    for (int y = strip * 48; y < (strip + 1) * 48; ++y)
      for (int x = 0; x < out.width; x += kLanes) put<NT>(out.at(x, y), load(in.at(x, y)));
    _mm_sfence();
  }
}

}  // namespace

auto CEILING() -> std::vector<Ceiling> {
  return {{"copy, plain stores", copy<false>, true},
          {"copy, nontemporal", copy<true>, true},
          {"lines of 1600, plain", in_lines<false, 1600, 48>},
          {"lines of 1600, nontemporal", in_lines<true, 1600, 48>},
          {"registers, 4 rows, plain", in_registers<false, 4, 1, 48>},
          {"registers, 2 rows, nontemporal", in_registers<true, 2, 1, 48>},
          {"registers, 4 rows, nontemporal", in_registers<true, 4, 1, 48>},
          {"registers, 4 rows x 2, nontemporal", in_registers<true, 4, 2, 48>},
          {"registers, 8 rows, nontemporal", in_registers<true, 8, 1, 48>}};
}

#if !defined(__AVX512BW__)
void ceiling_set_threads(int n) { omp_set_num_threads(n); }
#endif
