#include "drawloom/interp/machine/storage.h"

namespace drawloom::machine {
namespace {

/// Boxes beyond this (an extent of 2^33 over stride 0) are not walked to find the gaps between rows.
constexpr int64_t kMaxWalk = int64_t{1} << 26;

auto interval_text(int64_t lo, int64_t extent) -> std::string {
  return extent <= 0 ? "nothing" : str("[{}, {}]", lo, lo + extent - 1);
}

}  // namespace

/// Allocations inside loops come often, so nothing is cleared: a new generation makes all old elements fresh.
void Storage::grow() {
  if (elements_.size() < static_cast<size_t>(count_)) elements_.resize(static_cast<size_t>(count_));
  const size_t words = static_cast<size_t>(count_ * decl_->origin_rank);
  if (origins_.size() < words) origins_.resize(words);
  ++generation_;
}

void Storage::allocate(std::vector<int64_t> extents) {
  dims_.clear();
  int64_t stride = 1;
  for (const int64_t e : extents) {
    const int64_t extent = e > 0 ? e : 0;
    dims_.push_back({.min = 0, .extent = extent, .stride = stride});
    stride *= extent;
  }
  first_ = 0, count_ = stride;
  grow();
}

void Storage::attach(const Array& array, bool filled) {
  dims_ = array.dims;
  first_ = array.first;
  count_ = static_cast<int64_t>(array.data.size()) / array.element.bytes();
  grow();
  const int64_t box = array.elements();
  const bool gaps = box != count_ && box <= kMaxWalk;
  if (gaps) inside_.assign(static_cast<size_t>(count_), false);
  if (gaps && box > 0) {
    auto p = first_point(dims_);
    do inside_[static_cast<size_t>(array.position(p.data()))] = true;
    while (next_point(dims_, p));
  }
  for (int64_t i = 0; filled && i < count_; ++i) {
    auto& e = element(i);
    e.value = array.read(i);
    e.written = true;
  }
}

auto Storage::detach(Array& array) const -> int64_t {
  int64_t unwritten = 0;
  for (int64_t i = 0; i < count_; ++i) {
    const auto& e = elements_[static_cast<size_t>(i)];
    if (e.generation == generation_ && e.written) {
      array.write(i, e.value);
    } else if (inside_.empty() || inside_[static_cast<size_t>(i)]) {
      ++unwritten;
    }
  }
  return unwritten;
}

auto Storage::position(const int64_t* coords, size_t count, bool flat) const -> int64_t {
  int64_t p = first_;
  // A flat subscript may land in the gap between two rows of an argument, which a bounds check alone would not see.
  if (flat) {
    p += coords[0];
    const bool inside = p >= 0 && p < count_ && (inside_.empty() || inside_[static_cast<size_t>(p)]);
    return inside ? p : -1;
  }
  for (size_t d = 0; d < count; ++d) {
    const int64_t x = coords[d] - dims_[d].min;
    if (coords[d] < dims_[d].min || x >= dims_[d].extent) return -1;
    p += x * dims_[d].stride;
  }
  return p;
}

auto Storage::element(int64_t position) -> Element& {
  auto& e = elements_[static_cast<size_t>(position)];
  if (e.generation != generation_) e = {.generation = generation_};
  return e;
}

auto Storage::bounds_text(size_t subscripts, bool flat) const -> std::string {
  if (flat) return interval_text(-first_, count_);
  if (subscripts == 0) return "one element";
  std::vector<std::string> parts;
  for (const auto& d : dims_) parts.push_back(interval_text(d.min, d.extent));
  return join(parts, " x ");
}

}  // namespace drawloom::machine
