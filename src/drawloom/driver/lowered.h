#pragma once
/// Lowering and code generation with a report: shared by JIT and ahead-of-time compilation.

#include "drawloom/codegen/code.h"
#include "drawloom/driver/compile.h"
#include "drawloom/ir/program.h"

namespace drawloom {

/// The nest as a program, with times and text of the passes added to `options.report`.
auto lower_reported(const Nest& nest, const CompileOptions& options) -> Program;
void report_codegen(const CodegenTimes& times, CompileReport& report);

}  // namespace drawloom
