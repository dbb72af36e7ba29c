#pragma once
/// Operations that every node has, written once over `each_field`. All memoise by node where sharing matters, so a DAG
/// with exponentially many paths costs its size.

#include <cstdint>

#include "drawloom/ir/nodes.h"

namespace drawloom {

/// Structural equality. Symbols and buffers bound inside the compared nodes are equal when their binders correspond
/// (alpha-equality); free ones are equal by identity. Locations do not count. NaN equals NaN, 0.0 differs from -0.0.
auto equal(const Expr& a, const Expr& b) -> bool;
auto equal(const Stmt& a, const Stmt& b) -> bool;
/// As `equal`, but free symbols, buffers and Funcs correspond when their names do: for comparing parsed text.
auto equal_by_name(const Expr& a, const Expr& b) -> bool;
auto equal_by_name(const Stmt& a, const Stmt& b) -> bool;
/// Agrees with `equal` for expressions without Let and ignores the names of bound symbols.
auto hash(const Expr& e) -> uint64_t;

/// Number of distinct nodes reachable (shared ones once).
auto node_count(const Stmt& s) -> size_t;
auto node_count(const Expr& e) -> size_t;

}  // namespace drawloom
