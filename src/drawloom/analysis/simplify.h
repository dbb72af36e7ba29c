#pragma once
/// Algebraic simplification by table rows (rules_*.cpp). Every rule holds for all values under the semantics of ops.def and is checked on random and
/// edge values by one test that loops over the tables; none has more operations on its right side than on its left, and where the count is equal the right side is more canonical.

#include "drawloom/ir/program.h"

namespace drawloom {

auto simplify(const Expr& e) -> Expr;
/// Also: removes loops of extent <= 0, makes loops of extent 1 lets, drops branches never taken, unused lets, empty blocks.
auto simplify(const Stmt& s) -> Stmt;
/// Constant folding of one node whose operands are constants; the node itself when they are not. The semantics of ops.def, once: the oracle and machine
/// have their own (they must not share our bugs).
auto fold_constants(const Expr& e) -> Expr;

}  // namespace drawloom
