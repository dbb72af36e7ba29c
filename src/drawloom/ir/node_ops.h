#pragma once
/// Operations that every node has, written once over `each_field`. All memoise by node where sharing matters, so a DAG
/// with exponentially many paths costs its size.

#include <cstdint>

#include "drawloom/ir/program.h"

namespace drawloom {

/// Structural equality. Symbols and buffers bound inside the compared nodes are equal when their binders correspond
/// (alpha-equality); free ones are equal by identity. Locations do not count. NaN equals NaN, 0.0 differs from -0.0.
/// Two undefined handles are equal.
auto equal(const Expr& a, const Expr& b) -> bool;
auto equal(const Stmt& a, const Stmt& b) -> bool;
/// Name, arguments (roles, types, ranges; their names do not count) and body. Arguments bind their symbols.
auto equal(const Program& a, const Program& b) -> bool;
/// As `equal`, but free symbols, buffers and Funcs correspond when their names do: for comparing parsed text.
auto equal_by_name(const Expr& a, const Expr& b) -> bool;
auto equal_by_name(const Stmt& a, const Stmt& b) -> bool;
/// Agrees with `equal` and ignores the names of symbols bound by Let. The same in every process.
auto hash(const Expr& e) -> uint64_t;

/// Number of distinct nodes reachable (shared ones once).
auto node_count(const Stmt& s) -> size_t;
auto node_count(const Expr& e) -> size_t;

}  // namespace drawloom
