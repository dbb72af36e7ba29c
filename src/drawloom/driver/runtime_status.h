#pragma once
/// Generated code calls back with codes and messages; here they become Diags.

#include "drawloom/runtime.h"
#include "drawloom/support/result.h"

namespace drawloom {

/// Calls `function`. `context` null: a context of this call alone with the runtime's default table, which prints nothing.
/// Errors: call_failed with the message and the name of the code.
auto call_generated(drawloom_argv_function_t function, void** args, drawloom_context_t* context) -> Status;

}  // namespace drawloom
