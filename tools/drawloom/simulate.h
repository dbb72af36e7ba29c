#pragma once
/// `drawloom simulate`.

#include <string>
#include <vector>

namespace drawloom {

/// The file, then words of sim_call. Returns the exit status.
auto simulate_command(const std::vector<std::string>& words) -> int;

}  // namespace drawloom
