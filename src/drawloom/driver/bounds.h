#pragma once
/// What a pipeline reads of its inputs, as numbers, before the call.

#include <unordered_map>
#include <vector>

#include "drawloom/nest/nest.h"

namespace drawloom {

/// Coordinates min .. min + extent - 1 of one dimension.
struct BoundsDim {
  int64_t min = 0, extent = 0;
  friend auto operator==(const BoundsDim&, const BoundsDim&) -> bool = default;
};
using BoundsBox = std::vector<BoundsDim>;

/// What is known before the call.
struct BoundsQuery {
  std::vector<BoundsBox> outputs;                     ///< one per output Func, in the order of PipelineDef::outputs
  std::unordered_map<const Symbol*, int64_t> params;  ///< values of integer parameters
  std::unordered_map<const BufferDecl*, BoundsBox> inputs;  ///< inputs whose shape is set already
};

/// Per input of the pipeline, in order: the smallest box that any call of this size may read. Extents are 0 where nothing
/// is read. An input that is not in `query.inputs` counts as unlimited where its own bounds clamp a subscript, so
/// repeat_edge asks for what it would read without an edge; a dimension with data-dependent subscripts needs the input's
/// shape. Errors: bounds_unknown.
auto infer_input_bounds(const Nest& nest, const BoundsQuery& query) -> Result<std::vector<BoundsBox>>;

}  // namespace drawloom
