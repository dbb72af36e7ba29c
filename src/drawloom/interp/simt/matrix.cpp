#include "drawloom/interp/simt/matrix.h"

#include <bit>
#include <cmath>

#include "drawloom/interp/scalar/value.h"

namespace drawloom::simt {
namespace {

auto make_table(Type t) -> std::vector<double> {
  std::vector<double> out(65536);
  for (uint32_t i = 0; i < 65536; ++i) out[i] = value_of_bits(t, i).f;
  return out;
}

}  // namespace

auto core_value(Type type, uint32_t bits) -> double {
  if (type.bits == 32) return value_of_bits(type, bits & ~uint32_t{0x1FFF}).f;
  static const std::vector<double> half = make_table(float_type(16)), brain = make_table({TypeCode::BFloat, 16, 1});
  return (type.code == TypeCode::BFloat ? brain : half)[bits & 0xFFFF];
}

auto truncate_to_f32(double v) -> double {
  const double size = std::fabs(v);
  // The fraction of an f32 is 29 bits shorter.
  if (size >= 0x1p-126 && size < 0x1p128)
    return std::bit_cast<double>(std::bit_cast<uint64_t>(v) & ~uint64_t{0x1FFFFFFF});
  if (!(size < 0x1p128)) return v;
  return std::trunc(v * 0x1p149) * 0x1p-149;
}

void multiply_accumulate(int n, int depth, const double* a, const double* b, double* acc) {
  for (int r = 0; r < 16; ++r) {
    double* row = acc + r * n;
    for (int k = 0; k < depth; ++k) {
      const double left = a[r * depth + k];
      const double* right = b + k * n;
      for (int j = 0; j < n; ++j) row[j] += left * right[j];
    }
    for (int j = 0; j < n; ++j) row[j] = truncate_to_f32(row[j]);
  }
}

}  // namespace drawloom::simt
