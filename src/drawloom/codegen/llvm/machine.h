#pragma once
/// LLVM's passes and its code generator for one target. Internal to codegen/llvm.

#include <memory>
#include <string>

#include "drawloom/codegen/code.h"
#include "drawloom/codegen/llvm/llvm_headers.h"
#include "drawloom/codegen/ptx.h"

namespace llvm {
class TargetMachine;
}

namespace drawloom::codegen {

/// Registers LLVM's x86 back end, once; whoever uses LLVM for it calls this first.
void start_llvm();

/// A context that keeps LLVM's errors: LLVM's own handler would end the process.
class Context {
 public:
  Context();
  auto llvm() -> llvm::LLVMContext& { return context_; }
  /// What LLVM refuses is our bug, as a malformed module is.
  void check() const;

 private:
  std::string errors_;
  llvm::LLVMContext context_;
};

auto make_target_machine(const Target& target) -> std::unique_ptr<llvm::TargetMachine>;
/// For NVIDIA devices. PTX is its assembly.
auto make_device_machine(const DeviceTarget& target) -> std::unique_ptr<llvm::TargetMachine>;

/// The fixed list of passes. None vectorises, unrolls or reorders floating point: loops are as the schedule made them.
void optimise(llvm::Module& module, llvm::TargetMachine& machine);

/// Replaces accesses under constant masks by plain ones of the lanes that are on: they are faster, and LLVM 22 writes a
/// truncated store of one such lane with the width of the value before (AVX-512), over what lies behind it.
void expand_constant_masks(llvm::Module& module);

/// `kind`: Object or Assembly.
auto emit_bytes(llvm::Module& module, llvm::TargetMachine& machine, CodeKind kind) -> std::string;

}  // namespace drawloom::codegen
