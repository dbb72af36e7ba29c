#pragma once
/// What a StoreNode comes to in memory: folded dimensions, constant sizes, bytes of stack.

#include "drawloom/nest/region.h"
#include "drawloom/support/result.h"

namespace drawloom {

/// Slots of dimension d that are addressed modulo their number, or 0. What slides folds to its window without being
/// told, unless all of it is no larger.
auto fold_depth(const StoreNode& store, const RealisationFacts& facts, size_t d) -> int64_t;

/// a * b, or a number beyond kMaxStackBytes: larger ones need no exact value. Neither is below 0.
auto stack_product(int64_t a, int64_t b) -> int64_t;

/// Copies of its body that a loop leaves in the code: iterations or lanes of an unrolled or vectorised one, else 1.
auto body_copies(const LoopNode& loop) -> int64_t;

/// Storage that a step put on the stack or in registers, and the bytes of all its copies.
struct DecidedStack {
  const StoreNode* store;
  int64_t bytes;
};
/// What lies on the stack of the function that begins at `root`, the root of the tree or a parallel loop (whose
/// iterations are tasks with a stack of their own).
auto decided_stack(const Nest& nest, const TreeNode& root, QueryCache& cache) -> std::vector<DecidedStack>;

/// All that touches storage in registers names its slots by constants, once unrolled and vectorised loops are written
/// out. `nest` is closed. Errors: store_register.
auto check_registers(const Nest& nest, const Located& store, QueryCache& cache, const Loc& loc) -> Status;

}  // namespace drawloom
