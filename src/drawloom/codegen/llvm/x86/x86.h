#pragma once
/// What code generation must know about x86-64. Internal to codegen/llvm.

#include <string>

#include "drawloom/codegen/llvm/llvm_headers.h"
#include "drawloom/support/target.h"

namespace drawloom::codegen {

/// LLVM's name of the processor and its feature text, complete: what the target lacks is switched off.
auto x86_cpu(const Target& target) -> std::string;
auto x86_features(const Target& target) -> std::string;

/// Masked vector loads and stores of elements of so many bytes. The element sizes that AVX leaves out would become a
/// branch per lane.
auto x86_has_masked_access(const Target& target, int element_bytes) -> bool;
/// A masked store costs about as much as a plain one; AVX2's is slow on several processors.
auto x86_masked_store_is_cheap(const Target& target, int element_bytes) -> bool;
/// A gather instruction that beats a load per lane. AVX2's does so on few processors, none by much.
auto x86_has_gather(const Target& target, int element_bytes) -> bool;
/// The alignment that a nontemporal vector store of so many bytes needs; 0: there is none of that size.
auto x86_nontemporal_align(const Target& target, int bytes) -> int;

void x86_store_fence(llvm::IRBuilder<>& b);

}  // namespace drawloom::codegen
