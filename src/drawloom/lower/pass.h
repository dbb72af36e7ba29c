#pragma once
/// What every pass gets besides the statement.

#include "drawloom/ir/program.h"
#include "drawloom/support/target.h"

namespace drawloom {

/// No globals, no environment: options and the signature of the program come in here.
struct PassContext {
  Target target;
  const Program* program;  ///< arguments; its body is the one before this pass
};

}  // namespace drawloom
