#pragma once
/// Evaluates Funcs with the oracle and compares with plain C++.

#include <catch2/catch.hpp>

#include "drawloom/interp/oracle/oracle.h"
#include "drawloom/lang/boundary.h"
#include "drawloom/lang/pipeline.h"
#include "drawloom/lang/reduce.h"

namespace drawloom {

using Inputs = std::vector<std::pair<ImageParam, const Array*>>;
using Scalars = std::vector<std::pair<SymbolRef, Value>>;
using Point = std::vector<int64_t>;

inline auto box_of(std::vector<std::pair<int64_t, int64_t>> ranges) -> ArrayBox {
  ArrayBox out;
  for (const auto& [min, extent] : ranges) out.push_back({.min = min, .extent = extent});
  return out;
}

inline auto oracle_result(const std::vector<Func>& outputs, const std::vector<ArrayBox>& boxes,
                          const Inputs& inputs = {}, const Scalars& scalars = {}, bool has_fma = false)
    -> Result<OracleOutputs> {
  const Pipeline p(outputs);
  OracleInputs in;
  for (const auto& [image, array] : inputs) in.buffers[image.buffer().get()] = array;
  for (const auto& [symbol, value] : scalars) in.params[symbol.get()] = value;
  in.output_boxes = boxes;
  return evaluate(*p.definition(), in, has_fma);
}
inline auto outcome(const std::vector<Func>& outputs, const std::vector<ArrayBox>& boxes, const Inputs& inputs = {},
                    const Scalars& scalars = {}, bool has_fma = false) -> OracleOutputs {
  return oracle_result(outputs, boxes, inputs, scalars, has_fma).or_throw();
}
inline auto evaluated(const Func& f, const ArrayBox& box, const Inputs& inputs = {}, const Scalars& scalars = {},
                      bool has_fma = false) -> Array {
  return outcome({f}, {box}, inputs, scalars, has_fma).arrays.at(0);
}

inline auto hashed(Type type, const ArrayBox& box, uint64_t seed = 1) -> Array {
  Array a = make_array(type, box);
  fill_hashed(a, seed);
  return a;
}

inline auto number_of(const Value& v) -> double { return v.type.is_float() ? v.f : static_cast<double>(v.i); }

/// Every element equals `expected(point)`, as a T.
template <typename T, typename F>
void check_all(const Array& a, F&& expected) {
  REQUIRE(a.element == type_of<T>());
  REQUIRE_FALSE(is_empty_box(a.dims));
  Point p = first_point(a.dims);
  do {
    const T want = expected(p);
    INFO("at " << p[0] << (p.size() > 1 ? "," + std::to_string(p[1]) : ""));
    if (std::is_floating_point_v<T>) {
      CHECK(same_value(a.at(p), float_value(a.element, static_cast<double>(want))));
    } else {
      CHECK(a.at(p).i == static_cast<int64_t>(want));
    }
  } while (next_point(a.dims, p));
}

}  // namespace drawloom
