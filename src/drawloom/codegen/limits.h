#pragma once
/// What code generation takes. Asked before anything is emitted, so that emission itself cannot fail and LLVM never
/// meets what it cannot select.

#include <vector>

#include "drawloom/ir/program.h"
#include "drawloom/ir/stack_limit.h"
#include "drawloom/support/diag.h"
#include "drawloom/support/target.h"

namespace drawloom {

/// The number that `name` has in the runtime's error_codes.def, 0 if none.
auto error_code(std::string_view name) -> int;

/// All that stands between `programs` and code for `target`. Needs programs without violations (verify), flat storage,
/// no vectorised or unrolled loops.
/// Errors: codegen_type, codegen_loop, codegen_subscript, codegen_node, codegen_fma, codegen_lanes, codegen_name,
/// codegen_error_code, codegen_stack, codegen_register.
auto find_unsupported(const std::vector<Program>& programs, const Target& target) -> std::vector<Diag>;

}  // namespace drawloom
