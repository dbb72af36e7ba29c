// From launches to one PTX text: what the chip lacks is refused first, then LLVM is asked, then what came of registers.
//
// The order matters. LLVM cannot report an instruction that a chip lacks (inline PTX is text to it; ptxas would,
// without the line of the statement), so the demands of each statement are compared with the target before. Whether a
// Register buffer becomes values is known only after SROA: its alloca is gone, or it has its name.
#include "drawloom/codegen/ptx.h"

#include <set>

#include "drawloom/codegen/code.h"
#include "drawloom/codegen/llvm/machine.h"
#include "drawloom/codegen/llvm/nvptx/kernel.h"
#include "drawloom/ir/atoms.h"
#include "drawloom/ir/build.h"
#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/support/check.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"

namespace drawloom {
namespace {

auto needs_library(Intrinsic f) -> bool {
  return f == Intrinsic::Exp || f == Intrinsic::Log || f == Intrinsic::Pow || f == Intrinsic::Sin ||
         f == Intrinsic::Cos;
}

/// Masks, and vectors that are not dense, have no code yet.
auto not_dense(const Node& n, const BufferDecl& buffer, const ExprList& index, const Expr& mask)
    -> std::optional<Diag> {
  if (mask)
    return Diag(DiagKind::codegen_subscript, n.loc, buffer.name, "has a mask in device code")
        .with_help("put an `if` around it");
  const auto* ramp = index[0].as<Ramp>();
  if (index[0].type().lanes == 1 || (ramp && is_int(ramp->stride, 1))) return {};
  return Diag(DiagKind::codegen_subscript, n.loc, buffer.name,
              "has a vector subscript that is not dense in device code");
}

auto not_constant(const Address& a) -> std::optional<Diag> {
  int64_t first;
  if (a.buffer->memory != MemoryKind::Register || as_int(a.index[0], first)) return {};
  return Diag(DiagKind::codegen_register, a.loc, a.buffer->name,
              str("subscript `{}` of an operand is not constant", print(a.index[0])));
}

/// What a target of an older chip lacks, as a diagnostic; empty when there is nothing.
auto missing(const Launch& launch, const DeviceTarget& target) -> std::optional<Diag> {
  std::optional<Diag> out;
  const auto needs = [&](const Node& n, std::string_view what, int capability, bool accelerated) {
    const bool there = target.capability >= capability && (!accelerated || target.accelerated);
    if (there || out) return;
    out = Diag(DiagKind::kernel_target, n.loc, launch.name, what, str("sm_{}{}", capability, accelerated ? "a" : ""),
               target.text());
  };
  if (launch.cluster_x * launch.cluster_y * launch.cluster_z > 1) needs(launch, "a cluster", 90, false);
  each_node(launch, [&](const Node& n) {
    if (n.kind == Kind::Call && !out && needs_library(static_cast<const Call&>(n).function)) {
      out = Diag(DiagKind::codegen_node, n.loc, str("`{}`", op_text(static_cast<const Call&>(n).function)))
                .with_help("write it as a polynomial: device code has no math library");
    }
    if (n.kind == Kind::Load && !out) {
      const auto& load = static_cast<const Load&>(n);
      out = not_dense(n, *load.buffer, load.index, load.mask);
    }
    if (n.kind == Kind::Store && !out) {
      const auto& store = static_cast<const Store&>(n);
      out = not_dense(n, *store.buffer, store.index, store.mask);
    }
    if (n.kind == Kind::Address && !out) out = not_constant(static_cast<const Address&>(n));
    if (n.kind == Kind::SetRegisters) needs(n, "set_registers", 90, true);
    if (n.kind == Kind::Wait || n.kind == Kind::Expect) needs(n, "waiting at an mbarrier by parity", 90, false);
    if (n.kind != Kind::Issue) return true;
    const auto& issue = static_cast<const Issue&>(n);
    switch (find_atom(issue.atom)->family) {
      case AtomFamily::Wgmma:
      case AtomFamily::WgmmaRegisters: needs(n, issue.atom, 90, true); break;
      case AtomFamily::TmaLoad:
      case AtomFamily::TmaMulticast:
      case AtomFamily::TmaStore:
      case AtomFamily::TmaPrefetch:
      case AtomFamily::BulkLoad:
      case AtomFamily::BulkStore:
      case AtomFamily::Stmatrix:
      case AtomFamily::StmatrixTransposed: needs(n, issue.atom, 90, false); break;
      case AtomFamily::Mma:
      case AtomFamily::Ldmatrix:
      case AtomFamily::LdmatrixTransposed:
      case AtomFamily::CpAsync:
      case AtomFamily::CpAsyncArrive:
      case AtomFamily::VectorLoad:
      case AtomFamily::VectorStore:
      case AtomFamily::ShuffleXor:
      case AtomFamily::ShuffleFrom:
      case AtomFamily::ShuffleUp:
      case AtomFamily::ShuffleDown:
      case AtomFamily::Pack: break;
    }
    return true;
  });
  return out;
}

/// A Register buffer that did not become values.
auto register_in_memory(const llvm::Module& module) -> std::string {
  for (const llvm::Function& fn : module) {
    for (const llvm::BasicBlock& block : fn) {
      for (const llvm::Instruction& i : block) {
        if (llvm::isa<llvm::AllocaInst>(i)) return i.getName().split('.').second.split('.').first.str();
      }
    }
  }
  return {};
}

}  // namespace

auto DeviceTarget::text() const -> std::string { return str("sm_{}{}", capability, accelerated ? "a" : ""); }

auto parse_device_target(std::string_view text, Loc loc) -> Result<DeviceTarget> {
  for (const DeviceTarget known : {DeviceTarget{80, false}, DeviceTarget{90, false}, DeviceTarget{90, true}}) {
    if (known.text() == text) return known;
  }
  return Diag(DiagKind::target_unknown, std::move(loc), "device", text).with_help("sm_80, sm_90 or sm_90a");
}

auto generate_ptx(const std::vector<Program>& programs, const DeviceTarget& target) -> Result<std::string> {
  const auto all = launches(programs);
  std::set<std::string> names;
  for (const Launch* launch : all) {
    if (auto diag = missing(*launch, target)) return *std::move(diag);
    if (!names.insert(launch->name).second)
      return Diag(DiagKind::codegen_node, launch->loc, str("a second kernel `{}`", launch->name))
          .with_help("the host finds kernels by name: give each its own");
  }
  const auto machine = codegen::make_device_machine(target);
  codegen::Context context;
  llvm::Module module("drawloom", context.llvm());
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  const Target host;
  codegen::ModuleEmitter emitter(module, host, /*index_bits=*/32);
  for (const Launch* launch : all) codegen::KernelEmitter(emitter, target, *launch).emit();
  std::string problems;
  llvm::raw_string_ostream out(problems);
  const bool broken = llvm::verifyModule(module, &out);
  DRAWLOOM_CHECK(!broken, "codegen made malformed LLVM IR: {}", problems);
  codegen::optimise(module, *machine);
  if (const auto name = register_in_memory(module); !name.empty()) {
    return Diag(DiagKind::codegen_register, Loc(), name,
                "its subscripts do not become constants, so it stays in memory");
  }
  std::string text = codegen::emit_bytes(module, *machine, CodeKind::Assembly);
  context.check();
  return text;
}

}  // namespace drawloom
