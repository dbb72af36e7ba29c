#pragma once
/// The stack of one function, as emit_nest fills it.

#include <set>

#include "drawloom/nest/storage.h"

namespace drawloom {

/// Storage goes to the stack where a step says so, and else where its size is a small constant, while there is room. What
/// steps put there has its place beforehand (`apply` has refused too much), so only further copies of it take room.
class StackFrame {
 public:
  /// Of the function that begins at `root`: the root of the tree, or a parallel loop, whose iterations are tasks.
  StackFrame(const Nest& nest, const TreeNode& root, QueryCache& cache);

  /// Whether storage of so many bytes (absent: no constant) lies on this stack; room is taken for it.
  auto takes(const StoreNode& store, std::optional<int64_t> bytes) -> bool;

  int64_t copies = 1;   ///< of the statements being emitted: iterations of unrolled loops, lanes of vector loops
  bool counted = true;  ///< they are those for which steps' storage was counted, no second version of them

 private:
  int64_t room_;
  std::set<RealisationId> placed_;
};

}  // namespace drawloom
