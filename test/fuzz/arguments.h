#pragma once
/// The arrays of a case: boxes, strides and data of every argument.

#include "drawloom/interp/machine/machine.h"
#include "drawloom/interp/oracle/oracle.h"
#include "drawloom/lang/dl_text.h"
#include "drawloom/nest/region.h"
#include "fuzz_case.h"

namespace drawloom::fuzz {

struct Arguments {
  std::vector<Array> inputs;  ///< filled with data
  std::vector<Value> params;
  std::vector<std::vector<ArrayDim>> outputs;  ///< dims with strides, one per output buffer
  /// The schedule's demands on output sizes hold; otherwise the call has to be refused.
  bool demands_met = true;
  /// False where subscripts are clamped to an input at one end only (shrinking dropped the other clamp) and reach beyond the other: such an
  /// input has no box that fits.
  bool inputs_fit = true;
};

/// Boxes follow the nest: inputs hold exactly what it says is read, outputs that are read inside hold what is read.
auto make_arguments(const Nest& nest, const Sizes& sizes) -> Arguments;

/// The case with the sizes it really ran at.
auto dl_case_of(const Case& c, const Arguments& arguments, const Schedule& schedule) -> DlCase;

auto oracle_inputs(const PipelineDef& pipeline, const Arguments& arguments) -> OracleInputs;

}  // namespace drawloom::fuzz
