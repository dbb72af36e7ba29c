#pragma once
/// Boxes, strides and data of the arguments of a `.dl` case.

#include "drawloom/interp/machine/machine.h"
#include "drawloom/interp/oracle/oracle.h"
#include "drawloom/lang/dl_text.h"
#include "drawloom/nest/nest.h"

namespace drawloom {

struct CaseArguments {
  std::vector<Array> inputs;  ///< filled with data
  std::vector<Value> params;
  std::vector<Array> outputs;          ///< zero, one per output buffer
  std::vector<ArrayBox> output_boxes;  ///< one per output Func

  auto for_machine() -> MachineArguments;
};

/// Errors: bounds_unknown, call_unset (a parameter without a value).
auto case_arguments(const Nest& nest, const DlCase& c) -> Result<CaseArguments>;

/// Strides of `box` in memory. `how`: dense; padded (rows longer than the width); spread (x stride 3); turned (the last
/// dimension is the dense one); upside_down (the last dimension runs backwards).
auto with_strides(const std::vector<DlCase::Range>& box, std::string_view how) -> std::vector<ArrayDim>;

}  // namespace drawloom
