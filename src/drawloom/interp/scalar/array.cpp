#include "drawloom/interp/scalar/array.h"

#include <cstring>

#include "drawloom/support/check.h"
#include "drawloom/support/hash.h"

namespace drawloom {
namespace {

template <typename T>
auto load_as(const std::byte* at) -> T {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}
template <typename T>
void store_as(std::byte* at, T v) {
  std::memcpy(at, &v, sizeof v);
}

}  // namespace

auto Array::contains(const int64_t* coords) const -> bool {
  for (size_t d = 0; d < dims.size(); ++d) {
    if (coords[d] < dims[d].min || coords[d] - dims[d].min >= dims[d].extent) return false;
  }
  return true;
}
auto Array::position(const int64_t* coords) const -> int64_t {
  int64_t p = first;
  for (size_t d = 0; d < dims.size(); ++d) p += (coords[d] - dims[d].min) * dims[d].stride;
  return p;
}
auto Array::elements() const -> int64_t {
  int64_t n = 1;
  for (const auto& d : dims) n *= d.extent > 0 ? d.extent : 0;
  return n;
}

auto Array::read(int64_t position) const -> Value {
  const std::byte* at = data.data() + position * element.bytes();
  if (element.is_float() && element.bits == 16) return value_of_bits(element, load_as<uint16_t>(at));
  if (element.is_float()) {
    return {.type = element, .f = element.bits == 32 ? load_as<float>(at) : load_as<double>(at)};
  }
  switch (element.bytes()) {
    case 1: return int_value(element, load_as<uint8_t>(at));
    case 2: return int_value(element, load_as<uint16_t>(at));
    case 4: return int_value(element, load_as<uint32_t>(at));
    default: return int_value(element, load_as<int64_t>(at));
  }
}
void Array::write(int64_t position, Value v) {
  DRAWLOOM_CHECK(v.type == element, "a {} into an array of {}", v.type, element);
  std::byte* at = data.data() + position * element.bytes();
  if (element.is_float() && element.bits == 16) return store_as(at, static_cast<uint16_t>(bits_of(v)));
  if (element.is_float()) return element.bits == 32 ? store_as(at, static_cast<float>(v.f)) : store_as(at, v.f);
  switch (element.bytes()) {
    case 1: return store_as(at, static_cast<uint8_t>(v.i));
    case 2: return store_as(at, static_cast<uint16_t>(v.i));
    case 4: return store_as(at, static_cast<uint32_t>(v.i));
    default: return store_as(at, v.i);
  }
}

auto Array::at(const std::vector<int64_t>& coords) const -> Value {
  DRAWLOOM_CHECK(coords.size() == dims.size() && contains(coords.data()), "outside the array");
  return read(position(coords.data()));
}
void Array::set(const std::vector<int64_t>& coords, Value value) {
  DRAWLOOM_CHECK(coords.size() == dims.size() && contains(coords.data()), "outside the array");
  write(position(coords.data()), value);
}

auto make_array(Type element, std::vector<ArrayDim> dims) -> Array {
  int64_t stride = 1;
  for (auto& d : dims) d.stride = stride, stride *= d.extent > 0 ? d.extent : 0;
  return make_strided_array(element, std::move(dims));
}

auto make_strided_array(Type element, std::vector<ArrayDim> dims) -> Array {
  Array a{.element = element, .dims = std::move(dims), .first = 0, .data = {}};
  if (is_empty_box(a.dims)) return a;
  int64_t span = 1;
  for (const auto& d : a.dims) {
    const int64_t reach = (d.extent - 1) * d.stride;
    span += reach < 0 ? -reach : reach;
    if (reach < 0) a.first -= reach;
  }
  a.data.resize(static_cast<size_t>(span * element.bytes()));
  return a;
}

auto next_point(const std::vector<ArrayDim>& dims, std::vector<int64_t>& coords) -> bool {
  for (size_t d = 0; d < dims.size(); ++d) {
    if (++coords[d] < dims[d].min + dims[d].extent) return true;
    coords[d] = dims[d].min;
  }
  return false;
}
auto first_point(const std::vector<ArrayDim>& dims) -> std::vector<int64_t> {
  std::vector<int64_t> p;
  for (const auto& d : dims) p.push_back(d.min);
  return p;
}
auto is_empty_box(const std::vector<ArrayDim>& dims) -> bool {
  for (const auto& d : dims) {
    if (d.extent <= 0) return true;
  }
  return false;
}

auto hashed_value(Type type, uint64_t seed, const std::vector<int64_t>& coords) -> Value {
  uint64_t h = mix_bits(seed);
  for (const int64_t c : coords) h = hash_combine(h, static_cast<uint64_t>(c));
  if (type.is_float()) return float_value(type, static_cast<double>(h % 2049) / 16.0 - 64.0);
  return int_value(type, static_cast<int64_t>(h));
}

void fill_hashed(Array& array, uint64_t seed) {
  if (is_empty_box(array.dims)) return;
  auto p = first_point(array.dims);
  do array.set(p, hashed_value(array.element, seed, p));
  while (next_point(array.dims, p));
}

}  // namespace drawloom
