#pragma once
/// What a pipeline means: evaluates the definitions as written, point by point, on demand. Knows no schedules, bounds
/// or simplifier, so an error there cannot hide in it.
///
/// The value of a Func at a point is that after its last update. An update's iterations run in the order of its
/// reduction domain; iteration k is done at all pure coordinates at once, so what it reads of its own Func, at any
/// point, is the state before k. A pure definition that reads its own Func (a recurrence) reads the pure stage.
/// select, && and || evaluate only what decides; everything else evaluates all operands.

#include <unordered_map>
#include <vector>

#include "drawloom/interp/scalar/array.h"
#include "drawloom/lang/function.h"
#include "drawloom/support/result.h"

namespace drawloom {

/// Strides do not count.
using ArrayBox = std::vector<ArrayDim>;

struct OracleInputs {
  std::unordered_map<const BufferDecl*, const Array*> buffers;  ///< every input image; not owned
  std::unordered_map<const Symbol*, Value> params;
  std::vector<ArrayBox> output_boxes;    ///< one per output Func, in the order of PipelineDef::outputs
  uint64_t max_steps = 4'000'000'000;    ///< operations after which oracle_budget is reported
  size_t stack_bytes = size_t{1} << 29;  ///< for recurrences; reserved, used only as far as needed
};

/// The smallest box around all elements of an input that were read; extents 0 when none was.
struct InputRead {
  const BufferDecl* buffer = nullptr;
  ArrayBox box;
};

struct OracleOutputs {
  std::vector<Array> arrays;     ///< dense; one per component of each output Func, in order
  std::vector<InputRead> reads;  ///< per input of the pipeline, in order
  /// Some value is one of several that the definition allows (scalar/value.h): compare nothing.
  bool ambiguous = false;
  uint64_t steps = 0;
};

/// has_fma: the definitions with explicit fma nodes are the ones that count.
/// Errors: oracle_argument, oracle_out_of_input (names the access), oracle_cycle, oracle_too_deep, oracle_budget.
auto evaluate(const PipelineDef& pipeline, const OracleInputs& inputs, bool has_fma) -> Result<OracleOutputs>;

}  // namespace drawloom
