// Gauss elimination over F2, one vector at a time.
//
// Every basis vector owns a pivot: a bit that no other basis vector has. Example: put in 011, then 110.
//   after the first    011, pivot bit 0, made of vector 0
//   the second has bit 0 off and stays; its pivot is bit 1, which the first has too and so loses: 011 ^ 110
//   after the second   101, pivot bit 0, made of vectors 0 and 1; 110, pivot bit 1, made of vector 1
// Keeping the basis reduced like this costs one pass over it for each new vector, and makes it the inverse of a matrix
// as well: `invert` in layout.cpp reads for each pivot bit what it was made of. At most 64 vectors of 64 bits: a word
// each.
#include "drawloom/layout/f2.h"

#include <bit>

namespace drawloom {

auto BitSpan::reduce(BitVector v) const -> std::pair<BitVector, BitVector> {
  BitVector made_of = 0;
  for (const auto& row : rows_) {
    if (v >> row.pivot & 1) v ^= row.vector, made_of ^= row.made_of;
  }
  return {v, made_of};
}

auto BitSpan::add(BitVector v) -> bool {
  auto [rest, made_of] = reduce(v);
  // Later ones have no number; the rank stays right.
  if (added_ < 64) made_of ^= BitVector{1} << added_;
  ++added_;
  if (rest == 0) return false;
  const Row row = {rest, made_of, std::countr_zero(rest)};
  for (auto& other : rows_) {
    if (other.vector >> row.pivot & 1) other.vector ^= row.vector, other.made_of ^= row.made_of;
  }
  rows_.push_back(row);
  return true;
}

auto BitSpan::combination(BitVector v) const -> std::optional<BitVector> {
  const auto [rest, made_of] = reduce(v);
  if (rest != 0) return std::nullopt;
  return made_of;
}

auto rank(const std::vector<BitVector>& columns) -> int { return BitSpan(columns).rank(); }

auto kernel(const std::vector<BitVector>& columns) -> std::vector<BitVector> {
  std::vector<BitVector> out;
  BitSpan span;
  for (size_t k = 0; k < columns.size(); ++k) {
    const auto before = span.combination(columns[k]);
    if (before) out.push_back(*before ^ BitVector{1} << k);
    span.add(columns[k]);
  }
  return out;
}

auto times(const std::vector<BitVector>& columns, BitVector v) -> BitVector {
  BitVector out = 0;
  for (; v != 0; v &= v - 1) out ^= columns[static_cast<size_t>(std::countr_zero(v))];
  return out;
}

}  // namespace drawloom
