#include "drawloom/interp/oracle/point_map.h"

#include <algorithm>

#include "drawloom/support/hash.h"

namespace drawloom::oracle {

/// Where the point is, or the free place where it belongs.
auto PointMap::slot(const int64_t* point) const -> size_t {
  uint64_t h = 0;
  for (size_t d = 0; d < rank_; ++d) h = hash_combine(h, static_cast<uint64_t>(point[d]));
  const size_t mask = table_.size() - 1;
  for (size_t i = h & mask;; i = (i + 1) & mask) {
    if (table_[i] == 0) return i;
    const int64_t* held = coords_.data() + (table_[i] - 1) * rank_;
    if (std::equal(point, point + rank_, held)) return i;
  }
}

void PointMap::grow() {
  table_.assign(std::max<size_t>(8, table_.size() * 2), 0);
  for (uint32_t n = 0; n < size_; ++n) table_[slot(coords_.data() + n * rank_)] = n + 1;
}

auto PointMap::find(const int64_t* point) const -> int64_t {
  return table_.empty() ? -1 : static_cast<int64_t>(table_[slot(point)]) - 1;
}

auto PointMap::number(const int64_t* point) -> uint32_t {
  if (size_ * 2 >= table_.size()) grow();
  const size_t at = slot(point);
  if (table_[at] == 0) {
    coords_.insert(coords_.end(), point, point + rank_);
    table_[at] = ++size_;
  }
  return table_[at] - 1;
}

}  // namespace drawloom::oracle
