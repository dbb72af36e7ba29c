#include "drawloom/codegen/llvm/machine.h"

#include <mutex>

#include "drawloom/codegen/llvm/x86/x86.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

namespace drawloom::codegen {

void start_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

auto make_target_machine(const Target& target) -> Result<std::unique_ptr<llvm::TargetMachine>> {
  start_llvm();
  const llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target* back_end = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!back_end) return Diag(DiagKind::codegen_llvm, Loc(), error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      back_end->createTargetMachine(triple, x86_cpu(target), x86_features(target), options, llvm::Reloc::PIC_,
                                    llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (!machine) return Diag(DiagKind::codegen_llvm, Loc(), "no code generator for x86-64");
  return machine;
}

auto make_device_machine(const DeviceTarget& target) -> Result<std::unique_ptr<llvm::TargetMachine>> {
  start_llvm();
  const llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target* back_end = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!back_end) return Diag(DiagKind::codegen_llvm, Loc(), error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(back_end->createTargetMachine(
      triple, target.text(), "+ptx80", options, std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Default));
  if (!machine) return Diag(DiagKind::codegen_llvm, Loc(), "no code generator for NVIDIA devices");
  return machine;
}

/// LLVM's passes for code generation without the search for induction variables: subscripts are in the form that the
/// machine's addresses have (linear.h), and the search is half of the time.
class Passes : public llvm::legacy::PassManager {
 public:
  void add(llvm::Pass* pass) override {
    if (pass->getPassName() != "Loop Strength Reduction") return llvm::legacy::PassManager::add(pass);
    delete pass;
  }
};

auto emit_bytes(llvm::Module& module, llvm::TargetMachine& machine, CodeKind kind) -> Result<std::string> {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  Passes passes;
  // Without this LLVM would know what `pow` means and change it.
  llvm::TargetLibraryInfoImpl library(module.getTargetTriple());
  library.disableAllFunctions();
  passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
  const auto file = kind == CodeKind::Object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  if (machine.addPassesToEmitFile(passes, out, nullptr, file, /*DisableVerify=*/true)) {
    return Diag(DiagKind::codegen_llvm, Loc(), "this kind of file cannot be emitted");
  }
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace drawloom::codegen
