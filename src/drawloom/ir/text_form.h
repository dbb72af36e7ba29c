#pragma once
/// The text form of the IR, version 1 (docs/ir.md). parse(print(x)) equals x, and print(parse(print(x))) is print(x).

#include <string>
#include <string_view>
#include <vector>

#include "drawloom/ir/program.h"
#include "drawloom/support/result.h"

namespace drawloom {

inline constexpr std::string_view kIrHeader = "drawloom-ir 1";

/// Names are made unique where two symbols have one hint. A node with two parents in a statement is written once, in a
/// line `#1 = ...` before the statement (in `print(Expr)`: before `; `).
auto print(const Expr& e) -> std::string;
/// One line for each statement, each ended by a newline.
auto print(const Stmt& s) -> std::string;
auto print(const Program& p) -> std::string;
/// With the header line; programs are separated by a blank line.
auto print(const std::vector<Program>& programs) -> std::string;

/// A node for a message: its text in backticks, of a statement the first line.
auto described(const Node& node) -> std::string;

/// All programs of a text; `file` names it in locations.
/// Errors: parse_version, parse_unexpected, parse_unknown_name, parse_redefined, parse_number, parse_too_deep,
/// ir_type_mismatch, ir_malformed.
auto parse_programs(std::string_view text, std::string_view file) -> Result<std::vector<Program>>;

/// One expression over named symbols and buffers, as `print(Expr)` writes it. Errors: as parse_programs.
auto parse_expr(std::string_view text, std::string_view file, const std::vector<Argument>& names) -> Result<Expr>;

}  // namespace drawloom
