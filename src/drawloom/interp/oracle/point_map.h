#pragma once
/// Numbers points of one rank 0, 1, 2, ... in the order in which they are first seen.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace drawloom::oracle {

class PointMap {
 public:
  explicit PointMap(size_t rank) : rank_(rank) {}

  /// The number of a point; a new one is `size()` before the call.
  auto number(const int64_t* point) -> uint32_t;
  /// As `number`, but -1 for a point not seen.
  auto find(const int64_t* point) const -> int64_t;
  auto size() const -> uint32_t { return size_; }

 private:
  auto slot(const int64_t* point) const -> size_t;
  void grow();

  size_t rank_;
  uint32_t size_ = 0;
  std::vector<int64_t> coords_;
  std::vector<uint32_t> table_;  ///< number + 1, or 0; the size is a power of two, at most half full
};

}  // namespace drawloom::oracle
