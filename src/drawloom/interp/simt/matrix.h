#pragma once
/// What tensor cores compute, on fragments that were gathered already.

#include <vector>

#include "drawloom/ir/type.h"

namespace drawloom::simt {

/// The value that a tensor core takes from the bits of an element: of a float of 16 bits, or of an f32, whose last 13 bits it
/// does not read (tf32).
auto core_value(Type type, uint32_t bits) -> double;
/// `v` as f32, rounded towards zero.
auto truncate_to_f32(double v) -> double;
/// acc(r, j) += sum over `depth` k of a(r, k) * b(k, j), for 16 rows and n columns. The products are exact and summed in
/// double precision; the sum with the accumulator is truncated to f32 once. (The hardware truncates the addends to the
/// exponent of the largest first; a comparison with the chip decides how many bits it keeps.)
void multiply_accumulate(int n, int depth, const double* a, const double* b, double* acc);

}  // namespace drawloom::simt
