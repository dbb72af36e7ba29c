#pragma once
/// Linear algebra over the field of two elements. A vector is a 64-bit mask, a matrix the list of its columns.

#include <cstdint>
#include <optional>
#include <vector>

namespace drawloom {

using BitVector = uint64_t;

/// The span of vectors put in one by one; remembers how each basis vector came about.
class BitSpan {
 public:
  BitSpan() = default;
  explicit BitSpan(const std::vector<BitVector>& columns) {
    for (const auto c : columns) add(c);
  }
  /// Puts one more vector in. False when it was in the span already.
  auto add(BitVector v) -> bool;
  auto rank() const -> int { return static_cast<int>(rows_.size()); }
  auto contains(BitVector v) const -> bool { return reduce(v).first == 0; }
  /// Which of the vectors put in (bit k: the k-th, at most 64) have `v` as their sum; nothing when none have.
  auto combination(BitVector v) const -> std::optional<BitVector>;

  /// A reduced basis vector: no other row of the basis has the bit `pivot`.
  struct Row {
    BitVector vector, made_of;
    int pivot;
  };
  auto rows() const -> const std::vector<Row>& { return rows_; }

 private:
  auto reduce(BitVector v) const -> std::pair<BitVector, BitVector>;
  std::vector<Row> rows_;
  int added_ = 0;
};

auto rank(const std::vector<BitVector>& columns) -> int;
/// Combinations of the columns that sum to nothing: a basis.
auto kernel(const std::vector<BitVector>& columns) -> std::vector<BitVector>;
/// Matrix times vector.
auto times(const std::vector<BitVector>& columns, BitVector v) -> BitVector;

}  // namespace drawloom
