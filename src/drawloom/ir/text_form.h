#pragma once
/// The text form of the IR, version 1 (docs/ir.md). parse(print(x)) equals x by name; print(parse(t)) is t.

#include <string>
#include <string_view>
#include <vector>

#include "drawloom/ir/program.h"
#include "drawloom/support/result.h"

namespace drawloom {

inline constexpr std::string_view kIrHeader = "drawloom-ir 1";

auto print(const Expr& e) -> std::string;
auto print(const Stmt& s) -> std::string;
auto print(const Program& p) -> std::string;
/// With the header line; programs are separated by a blank line.
auto print(const std::vector<Program>& programs) -> std::string;

/// All programs of a text; `file` names it in locations.
/// Errors: parse_unexpected, parse_unknown_name, parse_redefined, parse_version, parse_number, ir_type_mismatch.
auto parse_programs(std::string_view text, std::string_view file) -> Result<std::vector<Program>>;

}  // namespace drawloom
