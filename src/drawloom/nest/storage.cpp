#include "drawloom/nest/storage.h"

#include <algorithm>

#include "drawloom/ir/stack_limit.h"
#include "drawloom/support/fault.h"

// Stack storage is taken when a function is entered, so all that lies in one function adds up, side by side or not. A
// function ends at a parallel loop, whose body is another one. Unrolled loops copy what stands in them:
//
//   parallel y { unrolled u < 4 { store a stack, 1000 bytes } store b stack, 500 bytes }    4500 bytes in a task of y
//
// Emission may write a loop body twice (a steady state and the rest): what it does with the second copy is its own
// business, so that here each storage counts once for each copy that the schedule asks for.

namespace drawloom {

auto fold_depth(const StoreNode& store, const RealisationFacts& facts, size_t d) -> int64_t {
  for (const auto& fold : store.folds)
    if (fold.dim == static_cast<int>(d)) return fold.depth;
  const auto stored = facts.stored.dims[d].cover.as_constant();
  if (!facts.slide_of(static_cast<int>(d)) || !facts.window[d] || (stored && *stored <= *facts.window[d])) return 0;
  return std::max<int64_t>(1, *facts.window[d] - (DRAWLOOM_FAULT(fold_depth_minus_one) ? 1 : 0));
}

auto stack_product(int64_t a, int64_t b) -> int64_t {
  constexpr int64_t kBeyond = kMaxStackBytes + 1;
  return std::min(std::min(a, kBeyond) * std::min(b, kBeyond), kBeyond);
}

auto body_copies(const LoopNode& loop) -> int64_t {
  if (loop.how != ForKind::Unrolled && loop.how != ForKind::Vectorized) return 1;
  return std::max<int64_t>(loop.extent.as_constant().value_or(1), 0);
}

namespace {

auto stack_bytes(const Nest& nest, const StoreNode& store, QueryCache& cache) -> int64_t {
  const auto& facts = realisation_facts(nest, store.what, cache);
  int64_t bytes = 0;
  for (const auto& t : nest.func(store.what).def->types) bytes += t.bytes();
  for (size_t d = 0; d < facts.stored.dims.size(); ++d) {
    const int64_t fold = fold_depth(store, facts, d);
    const int64_t extent = fold > 0 ? fold : facts.stored.dims[d].cover.as_constant().value_or(kMaxStackBytes + 1);
    bytes = stack_product(bytes, std::max<int64_t>(extent, 0));
  }
  return bytes;
}

void add_decided(const Nest& nest, const TreeNode& node, int64_t copies, QueryCache& cache,
                 std::vector<DecidedStack>& out) {
  for (const auto& child : node.children) {
    const auto* loop = child->as<LoopNode>();
    if (loop && loop->how == ForKind::Parallel) continue;
    const auto* store = child->as<StoreNode>();
    if (store && store->memory_decided && store->memory != MemoryKind::Heap)
      out.push_back({store, stack_product(copies, stack_bytes(nest, *store, cache))});
    add_decided(nest, *child, loop ? stack_product(copies, body_copies(*loop)) : copies, cache, out);
  }
}

}  // namespace

auto decided_stack(const Nest& nest, const TreeNode& root, QueryCache& cache) -> std::vector<DecidedStack> {
  std::vector<DecidedStack> out;
  add_decided(nest, root, 1, cache, out);
  return out;
}

}  // namespace drawloom
