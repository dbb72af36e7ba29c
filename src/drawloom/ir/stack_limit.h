#pragma once
/// How much storage the code of one function may keep on its stack.

#include <cstdint>

namespace drawloom {

/// Stack and Register buffers of one function or task, in bytes. Threads have 2 MiB or more.
inline constexpr int64_t kMaxStackBytes = 1 << 20;

}  // namespace drawloom
