#pragma once
/// What tensor cores compute, on fragments that were gathered already.

#include <vector>

#include "drawloom/ir/type.h"

namespace drawloom::simt {

/// The value of a 16-bit float by its bits.
auto half_value(Type type, uint32_t bits) -> double;
/// `v` as f32, rounded towards zero.
auto truncate_to_f32(double v) -> double;
/// acc(r, j) += sum over k of a(r, k) * b(k, j), for 16 rows, k of 16, n columns. The products are exact and summed in
/// double precision; the sum with the accumulator is truncated to f32 once. (The hardware truncates the addends to the
/// exponent of the largest first; a comparison with the chip decides how many bits it keeps.)
void multiply_accumulate(int n, const double* a, const double* b, double* acc);

}  // namespace drawloom::simt
