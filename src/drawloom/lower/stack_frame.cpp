#include "drawloom/lower/stack_frame.h"

#include <algorithm>

#include "drawloom/ir/stack_limit.h"

namespace drawloom {
namespace {

// Where no step says where it lies: of one Func, and of all in one function. Beyond a few hundred kilobytes the stack
// is no faster than the heap, since neither stays in a near cache.
constexpr int64_t kStackBytes = 64 * 1024;
constexpr int64_t kStackBytesInAll = kMaxStackBytes / 4;

}  // namespace

StackFrame::StackFrame(const Nest& nest, const TreeNode& root, QueryCache& cache) {
  int64_t left = kMaxStackBytes;
  for (const auto& d : decided_stack(nest, root, cache)) left -= d.bytes;
  room_ = std::clamp<int64_t>(left, 0, kStackBytesInAll);
}

auto StackFrame::takes(const StoreNode& store, std::optional<int64_t> bytes) -> bool {
  const bool small = bytes && *bytes <= kStackBytes;
  if (store.memory_decided ? store.memory == MemoryKind::Heap : !small) return false;
  if (store.memory_decided && counted && placed_.insert(store.what).second) return true;
  const int64_t all = bytes ? stack_product(*bytes, copies) : room_ + 1;
  if (all > room_) return false;
  room_ -= all;
  return true;
}

}  // namespace drawloom
