#pragma once
/// Side-effecting instructions counted twice: in device IR and in the PTX that came of it. What LLVM deleted, doubled or
/// merged shows as a difference, which neither the simulator nor a test of results would see for sure.

#include <map>
#include <string>
#include <string_view>

#include "drawloom/ir/program.h"

namespace drawloom {

/// How often each instruction stands in the text of a kernel, by the front of its name: `mbarrier.try_wait`.
using Census = std::map<std::string, int>;

/// What the statements of a launch ask for: barriers, mbarriers, fences, atoms, groups, registers, elections.
auto expected_census(const Launch& launch) -> Census;
/// What the entry `kernel` of a PTX module has of the instructions in `of`.
auto ptx_census(std::string_view ptx, std::string_view kernel, const Census& of) -> Census;

}  // namespace drawloom
