#pragma once
/// The third judge: machine code, on exact-size buffers between guard pages, with two poison patterns and every way to run
/// a parallel loop.

#include "arguments.h"
#include "drawloom/ir/program.h"

namespace drawloom::fuzz {

struct NativeProblem {
  std::string kind, details;  ///< kind empty: none
};

auto run_native(const Program& program, const PipelineDef& pipeline, const Arguments& arguments,
                const OracleOutputs& expected, const Sizes& sizes, Coverage* coverage) -> NativeProblem;

/// The first element in which the two differ, in words; empty when none does.
auto difference(const Array& expected, const Array& found, const std::string& name) -> std::string;

}  // namespace drawloom::fuzz
