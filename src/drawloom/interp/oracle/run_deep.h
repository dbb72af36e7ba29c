#pragma once
/// Recurrences recurse as deep as they are long: their evaluation gets a stack of its own.

#include <cstddef>

namespace drawloom::oracle {

/// Calls `f(context)` on a stack of `bytes` and waits; false when the system has no such stack. `f` must not throw.
auto run_deep(size_t bytes, void (*f)(void*), void* context) -> bool;

}  // namespace drawloom::oracle
