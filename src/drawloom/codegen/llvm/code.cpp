// From programs to bytes: refuse, emit, verify, optimise (once more where registers need it), emit bytes.
//
// That a Register buffer became values shows only after SROA. An alloca that has its name then is touched in ways that
// SROA does not take apart, or by a subscript whose constant neither pass saw; the second try is for the first kind. What
// is left works as a slot on the stack. It is not refused: `apply` has asked for constant subscripts already, and a
// schedule that it took must compile.
#include "drawloom/codegen/code.h"

#include <chrono>

#include "drawloom/codegen/kernel.h"
#include "drawloom/codegen/limits.h"
#include "drawloom/codegen/llvm/emitter.h"
#include "drawloom/codegen/llvm/machine.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Target/TargetMachine.h"

namespace drawloom {
namespace {

using Clock = std::chrono::steady_clock;

auto unsupported(const std::vector<Diag>& found) -> Diag {
  Diag first = found.front();
  for (size_t i = 1; i < found.size(); i++) first = first.with_note(found[i].loc(), found[i].message());
  return first;
}

auto is_register(const llvm::Instruction& i) -> bool {
  return llvm::isa<llvm::AllocaInst>(i) &&
         i.getName().starts_with(llvm::StringRef(codegen::kRegisterPrefix.data(), codegen::kRegisterPrefix.size()));
}

/// Vector accesses of such buffers lane by lane. LLVM makes values of slots that are touched by scalars, or by vectors
/// of one shape; where both overlap (filled one by one, read as vectors) it needs them apart and joins the lanes again.
auto split_register_accesses(llvm::Module& module) -> bool {
  std::vector<llvm::Instruction*> vectors;
  const auto collect = [&](const auto& self, llvm::Instruction* at) -> void {
    for (llvm::User* user : at->users()) {
      auto* i = llvm::cast<llvm::Instruction>(user);
      if (llvm::isa<llvm::GetElementPtrInst>(i)) self(self, i);
      const auto* s = llvm::dyn_cast<llvm::StoreInst>(i);
      const llvm::Type* type = s ? s->getValueOperand()->getType() : i->getType();
      if ((s || llvm::isa<llvm::LoadInst>(i)) && llvm::isa<llvm::FixedVectorType>(type)) vectors.push_back(i);
    }
  };
  for (llvm::Function& fn : module) {
    if (fn.isDeclaration()) continue;
    for (llvm::Instruction& i : fn.getEntryBlock())
      if (is_register(i)) collect(collect, &i);
  }
  for (llvm::Instruction* i : vectors) {
    llvm::IRBuilder<> b(i);
    auto* s = llvm::dyn_cast<llvm::StoreInst>(i);
    llvm::Value* pointer = llvm::getLoadStorePointerOperand(i);
    auto* type = llvm::cast<llvm::FixedVectorType>(llvm::getLoadStoreType(i));
    llvm::Value* whole = s ? s->getValueOperand() : llvm::PoisonValue::get(type);
    for (uint64_t k = 0; k < type->getNumElements(); ++k) {
      llvm::Value* at = b.CreateConstGEP1_64(type->getElementType(), pointer, k);
      if (s)
        b.CreateStore(b.CreateExtractElement(whole, k), at);
      else
        whole = b.CreateInsertElement(whole, b.CreateLoad(type->getElementType(), at), k);
    }
    if (!s) i->replaceAllUsesWith(whole);
    i->eraseFromParent();
  }
  return !vectors.empty();
}

auto ns_since(Clock::time_point start) -> int64_t {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

auto text_of(const llvm::Module& module) -> std::string {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, nullptr);
  return text;
}

/// Our bug if there is one: LLVM's code generator would crash on it.
void verify_module(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  const bool broken = llvm::verifyModule(module, &out);
  DRAWLOOM_CHECK(!broken, "codegen made malformed LLVM IR: {}", text);
}

}  // namespace

auto generate_code(const std::vector<Program>& programs, const Target& target, CodeKind kind, CodegenTimes* times,
                   const DeviceCode* device) -> Result<std::string> {
  const std::vector<Diag> found = find_unsupported(programs, target);
  const auto all_launches = launches(programs);
  if (!all_launches.empty() && !device)
    return Diag(DiagKind::codegen_node, all_launches[0]->loc, "a launch without device code");
  if (!found.empty()) return unsupported(found);
  const auto machine = codegen::make_target_machine(target);
  CodegenTimes ignored;
  CodegenTimes& spent = times ? *times : ignored;

  auto start = Clock::now();
  codegen::Context context;
  llvm::Module module("drawloom", context.llvm());
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  codegen::ModuleEmitter emitter(module, target, 64, device);
  for (const Program& p : programs) emitter.emit(p);
  verify_module(module);
  spent.build_ns = ns_since(start);
  if (kind == CodeKind::RawLlvmIr) return text_of(module);

  start = Clock::now();
  codegen::optimise(module, *machine);
  if (split_register_accesses(module)) codegen::optimise(module, *machine);
  spent.optimise_ns = ns_since(start);
  if (kind == CodeKind::LlvmIr) return text_of(module);

  start = Clock::now();
  std::string bytes = codegen::emit_bytes(module, *machine, kind);
  spent.emit_ns = ns_since(start);
  context.check();
  return bytes;
}

auto make_archive(const std::vector<ArchiveMember>& members) -> std::string {
  std::vector<llvm::NewArchiveMember> entries;
  for (const ArchiveMember& m : members) entries.emplace_back(llvm::MemoryBufferRef(m.bytes, m.name));
  auto buffer = llvm::writeArchiveToBuffer(entries, llvm::SymtabWritingMode::NormalSymtab, llvm::object::Archive::K_GNU,
                                           /*Deterministic=*/true, /*Thin=*/false);
  DRAWLOOM_CHECK(bool(buffer), "LLVM cannot write an archive: {}", llvm::toString(buffer.takeError()));
  return std::string((*buffer)->getBuffer());
}

}  // namespace drawloom
