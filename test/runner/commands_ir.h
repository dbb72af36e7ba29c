#pragma once
/// For commands of other layers that make programs.

#include "drawloom/ir/program.h"
#include "runner.h"

namespace drawloom::text_tests {

/// Makes `programs` the value of the test, after checking that their text reads back to them.
void set_programs(TestCase& test, std::vector<Program> programs);

}  // namespace drawloom::text_tests
