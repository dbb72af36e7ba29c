/// Values as bits in memory, and back.

#include <bit>
#include <cmath>
#include <limits>

#include "drawloom/interp/scalar/value.h"

namespace drawloom {
namespace {

/// A binary format with an implicit leading bit: its exponent bias and the bits of its fraction.
struct Format {
  int exponent_bits, fraction_bits;
  auto bias() const -> int { return (1 << (exponent_bits - 1)) - 1; }
  auto largest_exponent() const -> uint64_t { return (uint64_t{1} << exponent_bits) - 1; }
};
constexpr Format kHalf = {5, 10}, kBFloat = {8, 7};

auto small_format(Type t) -> Format { return t.code == TypeCode::BFloat ? kBFloat : kHalf; }

/// Bits of `v`, which the format holds exactly or which is infinite or NaN.
auto encode(Format f, double v) -> uint64_t {
  const uint64_t sign = uint64_t{std::signbit(v)} << (f.exponent_bits + f.fraction_bits);
  if (std::isnan(v)) return sign | f.largest_exponent() << f.fraction_bits | uint64_t{1} << (f.fraction_bits - 1);
  if (std::isinf(v)) return sign | f.largest_exponent() << f.fraction_bits;
  if (v == 0) return sign;
  int exponent;
  std::frexp(std::fabs(v), &exponent);  // v = m * 2^exponent with 0.5 <= m < 1
  const int biased = exponent - 1 + f.bias();
  const int unit = (biased < 1 ? 1 : biased) - f.bias() - f.fraction_bits;  // log2 of the last bit
  const auto significand = static_cast<uint64_t>(std::ldexp(std::fabs(v), -unit));
  // A normal number's leading bit adds one to the exponent field, a subnormal one has none to add.
  const uint64_t field = biased < 1 ? 0 : static_cast<uint64_t>(biased - 1);
  return sign | ((field << f.fraction_bits) + significand);
}

auto decode(Format f, uint64_t bits) -> double {
  const uint64_t fraction = bits & ((uint64_t{1} << f.fraction_bits) - 1);
  const uint64_t exponent = bits >> f.fraction_bits & f.largest_exponent();
  const double sign = (bits >> (f.exponent_bits + f.fraction_bits) & 1) != 0 ? -1.0 : 1.0;
  if (exponent == f.largest_exponent()) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  const uint64_t leading = exponent == 0 ? 0 : uint64_t{1} << f.fraction_bits;
  const int power = static_cast<int>(exponent == 0 ? 1 : exponent) - f.bias() - f.fraction_bits;
  return sign * std::ldexp(static_cast<double>(leading | fraction), power);
}

}  // namespace

auto bits_of(const Value& v) -> uint64_t {
  const Type t = v.type;
  if (!t.is_float())
    return t.bits == 64 ? static_cast<uint64_t>(v.i) : static_cast<uint64_t>(v.i) & ((uint64_t{1} << t.bits) - 1);
  if (t.bits == 64) return std::bit_cast<uint64_t>(v.f);
  if (t.bits == 32) return std::bit_cast<uint32_t>(static_cast<float>(v.f));
  return encode(small_format(t), v.f);
}

auto value_of_bits(Type type, uint64_t bits) -> Value {
  if (!type.is_float()) return int_value(type, static_cast<int64_t>(bits));
  if (type.bits == 64) return {.type = type, .f = std::bit_cast<double>(bits)};
  if (type.bits == 32) return {.type = type, .f = std::bit_cast<float>(static_cast<uint32_t>(bits))};
  return {.type = type, .f = decode(small_format(type), bits)};
}

}  // namespace drawloom
