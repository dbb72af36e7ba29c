// The map itself: applying, judging and inverting it.
//
// Applying is decomposition into digits, XOR of the digits' values into the output digits, and a sum. Example, with (a:
// y0^y1 y1) -> (y: 2^2): a = 3 has both bits; bit 0 moves y0 and y1, bit 1 moves y1, which cancels; y = 1.
//
// Bits and wide digits never mix, so everything about a map falls into two parts: the bits are a matrix over F2, whose
// rank decides; a wide digit goes to one digit of its own or to none, and is inverted by turning the arrow round. The
// inverse of the example is (y: a0^a1 a1) -> (a: 2^2).
#include "drawloom/layout/layout.h"

#include <bit>

#include "drawloom/layout/draft.h"
#include "drawloom/layout/f2.h"

namespace drawloom {
namespace {

auto index_of(const std::vector<Dim>& dims, std::string_view name) -> int {
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d].name == name) return static_cast<int>(d);
  }
  return -1;
}

auto extent_of(const std::vector<Dim>& dims, std::string_view name) -> int64_t {
  const int d = index_of(dims, name);
  return d < 0 ? 1 : dims[static_cast<size_t>(d)].extent();
}

auto digits_of(const std::vector<Dim>& dims) -> std::vector<Digit> {
  std::vector<Digit> out;
  for (const auto& dim : dims) out.insert(out.end(), dim.digits.begin(), dim.digits.end());
  return out;
}

/// Appends the digits of `value`; false when it is no value of `dim`.
auto decompose(const Dim& dim, int64_t value, std::vector<int64_t>& out) -> bool {
  const size_t first = out.size();
  out.resize(first + dim.digits.size());
  for (size_t k = dim.digits.size(); k-- > 0;) {
    const auto& digit = dim.digits[k];
    out[first + k] = value / digit.stride;
    if (out[first + k] < 0 || out[first + k] >= digit.extent) return false;
    value %= digit.stride;
  }
  return value == 0;
}

auto total(const std::vector<Dim>& dims, const std::vector<int64_t>& values) -> Point {
  Point out;
  size_t k = 0;
  for (const auto& dim : dims) {
    int64_t sum = 0;
    for (const auto& digit : dim.digits) sum += values[k++] * digit.stride;
    out.push_back(sum);
  }
  return out;
}

/// The core: the matrix over F2 that is left when wide digits are struck out on both sides.
struct BitPart {
  std::vector<int> from, to;       ///< numbers of the bits among all digits of a side
  std::vector<BitVector> columns;  ///< per bit of `from`, over the bits of `to`
};

auto bit_part(const Layout& layout) -> BitPart {
  BitPart out;
  const auto inputs = digits_of(layout.from());
  const auto outputs = digits_of(layout.to());
  for (size_t t = 0; t < outputs.size(); ++t) {
    if (outputs[t].extent == 2) out.to.push_back(static_cast<int>(t));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].extent != 2) continue;
    out.from.push_back(static_cast<int>(i));
    BitVector column = 0;
    for (size_t t = 0; t < out.to.size(); ++t) column |= (layout.columns()[i] >> out.to[t] & 1) << t;
    out.columns.push_back(column);
  }
  return out;
}

}  // namespace

auto Dim::extent() const -> int64_t {
  int64_t out = 1;
  for (const auto& digit : digits) out += (digit.extent - 1) * digit.stride;
  return out;
}

auto Dim::count() const -> int64_t {
  int64_t out = 1;
  for (const auto& digit : digits) out *= digit.extent;
  return out;
}

auto point_count(const std::vector<Dim>& dims) -> int64_t {
  int64_t out = 1;
  for (const auto& dim : dims) out *= dim.count();
  return out;
}

auto nth_point(const std::vector<Dim>& dims, int64_t n) -> Point {
  std::vector<int64_t> values;
  for (const auto& digit : digits_of(dims)) {
    values.push_back(n % digit.extent);
    n /= digit.extent;
  }
  return total(dims, values);
}

auto Layout::from_index(std::string_view name) const -> int { return index_of(from_, name); }
auto Layout::to_index(std::string_view name) const -> int { return index_of(to_, name); }
auto Layout::from_extent(std::string_view name) const -> int64_t { return extent_of(from_, name); }
auto Layout::to_extent(std::string_view name) const -> int64_t { return extent_of(to_, name); }

auto Layout::apply(const Point& point) const -> std::optional<Point> {
  DRAWLOOM_CHECK(point.size() == from_.size(), "{} coordinates for {} inputs", point.size(), from_.size());
  std::vector<int64_t> inputs;
  for (size_t d = 0; d < from_.size(); ++d) {
    if (!decompose(from_[d], point[d], inputs)) return std::nullopt;
  }
  const auto digits = digits_of(to_);
  std::vector<int64_t> outputs(digits.size(), 0);
  for (size_t i = 0; i < inputs.size(); ++i) {
    // A bit or the only feeder of a wide digit: XOR is right for both.
    for (uint64_t rest = columns_[i]; rest != 0; rest &= rest - 1) {
      outputs[static_cast<size_t>(std::countr_zero(rest))] ^= inputs[i];
    }
  }
  return total(to_, outputs);
}

auto Layout::value_at(const Point& point) const -> int64_t {
  const auto out = apply(point);
  DRAWLOOM_CHECK(out && out->size() == 1, "not a point of a map to one coordinate");
  return (*out)[0];
}

auto Layout::is_linear() const -> bool {
  const auto all_bits = [](const std::vector<Dim>& dims) {
    for (const auto& digit : digits_of(dims)) {
      if (digit.extent != 2 || !std::has_single_bit(static_cast<uint64_t>(digit.stride))) return false;
    }
    return true;
  };
  return all_bits(from_) && all_bits(to_);
}

auto Layout::is_injective() const -> bool {
  const auto bits = bit_part(*this);
  if (rank(bits.columns) != static_cast<int>(bits.columns.size())) return false;
  for (const uint64_t column : columns_) {
    if (column == 0) return false;
  }
  return true;
}

auto Layout::is_onto() const -> bool {
  const auto bits = bit_part(*this);
  if (rank(bits.columns) != static_cast<int>(bits.to.size())) return false;
  uint64_t moved = 0;
  for (const uint64_t column : columns_) moved |= column;
  const auto outputs = digits_of(to_);
  for (size_t t = 0; t < outputs.size(); ++t) {
    if (outputs[t].extent != 2 && (moved >> t & 1) == 0) return false;
  }
  return true;
}

auto invert(const Layout& layout) -> Layout {
  const Draft f(layout);
  Draft g;
  g.from_dims = f.to_dims, g.to_dims = f.from_dims;
  g.from = f.to, g.to = f.from;
  g.feeds.resize(g.from.size());
  for (size_t i = 0; i < f.from.size(); ++i) {
    if (f.from[i].extent == 2) continue;
    for (const int t : f.feeds[i]) g.feeds[static_cast<size_t>(t)].push_back(static_cast<int>(i));
  }
  // Each reduced basis vector of the column space has a bit of its own; that bit brings back what the vector is made
  // of.
  const auto bits = bit_part(layout);
  const BitSpan span(bits.columns);
  for (const auto& row : span.rows()) {
    auto& moves = g.feeds[static_cast<size_t>(bits.to[static_cast<size_t>(row.pivot)])];
    for (size_t i = 0; i < bits.from.size(); ++i) {
      if (row.made_of >> i & 1) moves.push_back(bits.from[i]);
    }
  }
  return g.finish().value();
}

}  // namespace drawloom
