#include "drawloom/codegen/llvm/machine.h"

#include <mutex>

#include "drawloom/codegen/llvm/x86/x86.h"
#include "drawloom/support/check.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
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

namespace {

struct ErrorKeeper : llvm::DiagnosticHandler {
  explicit ErrorKeeper(std::string& text) : text_(text) {}
  auto handleDiagnostics(const llvm::DiagnosticInfo& info) -> bool override {
    if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream out(text_);
      llvm::DiagnosticPrinterRawOStream printer(out);
      info.print(printer);
    }
    return true;
  }

 private:
  std::string& text_;
};

/// This LLVM was built with both back ends, or we would not have linked.
auto back_end(const llvm::Triple& triple) -> const llvm::Target& {
  start_llvm();
  std::string error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, error);
  DRAWLOOM_CHECK(found, "LLVM has no back end: {}", error);
  return *found;
}

auto checked(llvm::TargetMachine* machine, const llvm::Triple& triple) -> std::unique_ptr<llvm::TargetMachine> {
  DRAWLOOM_CHECK(machine, "LLVM has no code generator for {}", triple.str());
  return std::unique_ptr<llvm::TargetMachine>(machine);
}

auto strict_options() -> llvm::TargetOptions {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return options;
}

}  // namespace

Context::Context() { context_.setDiagnosticHandler(std::make_unique<ErrorKeeper>(errors_)); }
void Context::check() const { DRAWLOOM_CHECK(errors_.empty(), "LLVM refused a module: {}", errors_); }

auto make_target_machine(const Target& target) -> std::unique_ptr<llvm::TargetMachine> {
  const llvm::Triple triple("x86_64-unknown-linux-gnu");
  return checked(
      back_end(triple).createTargetMachine(triple, x86_cpu(target), x86_features(target), strict_options(),
                                           llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default),
      triple);
}

auto make_device_machine(const DeviceTarget& target) -> std::unique_ptr<llvm::TargetMachine> {
  const llvm::Triple triple("nvptx64-nvidia-cuda");
  return checked(back_end(triple).createTargetMachine(triple, target.text(), "+ptx80", strict_options(), std::nullopt,
                                                      std::nullopt, llvm::CodeGenOptLevel::Default),
                 triple);
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

auto emit_bytes(llvm::Module& module, llvm::TargetMachine& machine, CodeKind kind) -> std::string {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  Passes passes;
  // Without this LLVM would know what `pow` means and change it.
  llvm::TargetLibraryInfoImpl library(module.getTargetTriple());
  library.disableAllFunctions();
  passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
  const auto file = kind == CodeKind::Object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  const bool refused = machine.addPassesToEmitFile(passes, out, nullptr, file, /*DisableVerify=*/true);
  DRAWLOOM_CHECK(!refused, "LLVM cannot emit this kind of file");
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace drawloom::codegen
