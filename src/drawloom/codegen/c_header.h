#pragma once
/// The C header of ahead-of-time programs.

#include <string>
#include <vector>

#include "drawloom/ir/program.h"

namespace drawloom {

/// Declares the entry points of `programs`, for C11 and C++; it includes drawloom/runtime.h and nothing else.
/// `guard`: a word for the include guard, in any spelling.
auto c_header(const std::vector<Program>& programs, std::string_view guard) -> std::string;

}  // namespace drawloom
