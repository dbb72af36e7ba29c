#pragma once
/// Makes a failing case small while it fails in the same way.

#include "fuzz_case.h"

namespace drawloom::fuzz {

/// Tries fewer steps, fewer Funcs and updates, simpler expressions, smaller sizes, plain strides; each try in a process
/// of its own; stops after about `seconds`.
auto shrunk(const Case& c, const std::string& kind, const CaseOptions& options, int seconds) -> Case;

}  // namespace drawloom::fuzz
