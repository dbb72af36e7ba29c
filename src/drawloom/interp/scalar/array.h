#pragma once
/// A plain array with the shape of a buffer argument: what goes into and comes out of the interpreters.

#include <cstddef>
#include <vector>

#include "drawloom/interp/scalar/value.h"

namespace drawloom {

/// Coordinates min .. min + extent - 1 of one dimension; stride in elements, of any sign, may be 0.
struct ArrayDim {
  int64_t min = 0, extent = 0, stride = 0;
  friend auto operator==(const ArrayDim&, const ArrayDim&) -> bool = default;
};

/// `first` is the position in `data`, in elements, of the element whose coordinates are all `min`: a caller of native
/// code passes `data.data() + first * element.bytes()` as the buffer's host address.
struct Array {
  Type element;
  std::vector<ArrayDim> dims;
  int64_t first = 0;
  std::vector<std::byte> data;

  auto rank() const -> int { return static_cast<int>(dims.size()); }
  /// Inside every dimension.
  auto contains(const int64_t* coords) const -> bool;
  /// Position in elements; the coordinates must be contained.
  auto position(const int64_t* coords) const -> int64_t;
  auto elements() const -> int64_t;  ///< of the box
  auto at(const std::vector<int64_t>& coords) const -> Value;
  void set(const std::vector<int64_t>& coords, Value value);
  auto read(int64_t position) const -> Value;
  void write(int64_t position, Value value);
};

/// Strides are set to those of a dense array, dimension 0 innermost; elements are zero.
auto make_array(Type element, std::vector<ArrayDim> dims) -> Array;
/// With the strides as given (`dims[d].stride`) and exactly the memory that the box spans.
auto make_strided_array(Type element, std::vector<ArrayDim> dims) -> Array;

/// Steps `coords` to the next point of the box, dimension 0 fastest; false after the last.
/// Start with all coords at min, when no extent is 0 or below.
auto next_point(const std::vector<ArrayDim>& dims, std::vector<int64_t>& coords) -> bool;
auto first_point(const std::vector<ArrayDim>& dims) -> std::vector<int64_t>;
auto is_empty_box(const std::vector<ArrayDim>& dims) -> bool;

/// The test value of an element: a hash of its coordinates, so that no two neighbours agree by chance. Integers take
/// their whole range; floats are multiples of 1/16 between -64 and 64.
auto hashed_value(Type type, uint64_t seed, const std::vector<int64_t>& coords) -> Value;
void fill_hashed(Array& array, uint64_t seed);

}  // namespace drawloom
