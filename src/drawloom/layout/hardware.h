#pragma once
/// Layouts that the hardware fixes: shared memory swizzles, tensor-map boxes, matrix fragments.
///
/// Names of Dims are the same everywhere in layout/: `register` counts elements a lane holds (16-bit elements: two
/// share a 32-bit register, the lower one first), `lane` 0 .. 31, `warp` 0 .. 3 within a warpgroup, `row`, `col`, `k`
/// are tile coordinates, `byte` is an offset from the start of a buffer aligned to 1024 bytes.
///
/// Sources: PTX ISA 8.0, sections on mma.sync, ldmatrix, stmatrix, wgmma and tensor copies; CUTLASS
/// mma_sm90_desc.hpp; all formulas are checked once more, from the prose, in test/unit/layout.

#include "drawloom/layout/layout.h"

namespace drawloom {

/// Shared memory swizzle of TMA and wgmma: byte address bits 4 .. 4+b-1 are XORed with bits 7 .. 7+b-1; b = 1, 2, 3.
enum class Swizzle : uint8_t { none, b32, b64, b128 };

/// Width of a row that the swizzle permutes, in bytes; 16 for `none`.
auto swizzle_span(Swizzle swizzle) -> int64_t;
auto swizzle_name(Swizzle swizzle) -> std::string_view;
/// Bytes after which the pattern repeats: 8 rows of the span (128 for `none`).
auto swizzle_period(Swizzle swizzle) -> int64_t;
/// (byte) -> (byte). Refused: `bytes` is no multiple of the period (round the tile up to 8 rows).
auto swizzle_map(Swizzle swizzle, int64_t bytes) -> Maybe<Layout>;

/// What one tensor-map copy puts into shared memory: Dims of `box` (innermost first) -> `byte`.
/// Refused: rank not 1 .. 5; an extent not 1 .. 256; inner bytes no multiple of 16; with a swizzle, inner bytes other
/// than its span, or a box that is no whole number of periods.
auto tma_box(const std::vector<std::pair<std::string, int64_t>>& box, int64_t element_bytes, Swizzle swizzle)
    -> Maybe<Layout>;

/// A wgmma operand in shared memory: `rows`, `k` elements -> `byte`, and the two offsets of its 64-bit descriptor.
struct WgmmaOperand {
  Layout layout;
  int64_t leading_bytes, stride_bytes;
};
/// K contiguous: rows of one span, slabs of `rows` x span when k is wider; `none`: core matrices of 8 rows x 16 bytes,
/// 8-row groups 128 bytes apart. `row`: M or N. Refused: rows not a multiple of 8, k bytes not one of the span.
auto wgmma_operand_k_major(int64_t rows, int64_t k, int64_t element_bytes, Swizzle swizzle) -> Maybe<WgmmaOperand>;
/// M or N contiguous, 128-byte swizzle, 16-bit elements: atoms of 64 rows x 8 k. Refused: rows not a multiple of 64, k
/// not one of 8.
auto wgmma_operand_mn_major(int64_t rows, int64_t k) -> Maybe<WgmmaOperand>;

/// (register 4, lane) -> (row 16, col 8): f32 accumulator of mma.sync m16n8.
auto mma_accumulator() -> Layout;
/// (register 8, lane) -> (row 16, k 16) and (register 4, lane) -> (k 16, col 8): 16-bit operands of m16n8k16.
auto mma_a() -> Layout;
auto mma_b() -> Layout;

/// (register n/2, lane, warp) -> (row 64, col n): accumulator of wgmma m64nN, in elements (f16 accumulators pack two).
/// Refused: n not a multiple of 8 in 8 .. 256.
auto wgmma_accumulator(int64_t n) -> Maybe<Layout>;
/// (register, lane, warp) -> (row 64, k): A from registers, one instruction's worth; k = 8, 16, 32 for elements of 4, 2
/// and 1 bytes. Refused: other sizes.
auto wgmma_a_registers(int64_t element_bytes) -> Maybe<Layout>;

/// ldmatrix and stmatrix .x1 .x2 .x4: (register 2*count, lane) -> (matrix, row 8, col 8), element `register` & 1 of
/// matrix `register` >> 1. `transposed`: the .trans form.
auto matrix_fragment(int64_t count, bool transposed) -> Layout;
/// Which row each lane gives the address of: (register 8, lane) -> (matrix, row, col), with `register` the 8 elements
/// (16 bytes) of the row. Lanes that .x1 and .x2 ignore are replicas.
auto matrix_rows(int64_t count) -> Layout;

}  // namespace drawloom
