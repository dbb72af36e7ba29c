/// Masked loads and stores whose mask became a constant, as the plain ones they are.
///
/// Example, mask 1 1 1 0 0 1 0 0 over 8 floats: a store of 3 and a store of 1. A load goes the other way: its parts are
/// put in place of the lanes of what the masked load gives for lanes that are off.

#include "drawloom/codegen/llvm/machine.h"
#include "llvm/IR/IntrinsicInst.h"

namespace drawloom::codegen {
namespace {

struct Run {
  int first, count;
};

/// The active lanes as runs of neighbours; nothing where some lane is not known.
auto active_runs(const llvm::Value* mask) -> std::optional<std::vector<Run>> {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  if (!constant) return {};
  const auto lanes = static_cast<int>(llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements());
  std::vector<Run> runs;
  bool open = false;
  for (int i = 0; i < lanes; ++i) {
    const auto* lane =
        llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(static_cast<unsigned>(i)));
    if (!lane) return {};
    if (lane->isOne() && !open) runs.push_back({i, 0});
    open = lane->isOne();
    if (open) ++runs.back().count;
  }
  return runs;
}

auto lanes_of(const Run& run) -> std::vector<int> {
  std::vector<int> out;
  for (int i = 0; i < run.count; ++i) out.push_back(run.first + i);
  return out;
}

auto address_of(llvm::IRBuilder<>& b, llvm::Value* at, llvm::Type* element, const Run& run) -> llvm::Value* {
  return run.first == 0 ? at : b.CreateConstInBoundsGEP1_64(element, at, static_cast<uint64_t>(run.first));
}

void store_runs(llvm::CallInst& store, const std::vector<Run>& runs) {
  llvm::IRBuilder<> b(&store);
  llvm::Value* value = store.getArgOperand(0);
  auto* type = llvm::cast<llvm::FixedVectorType>(value->getType());
  const llvm::Align align(type->getScalarSizeInBits() / 8);
  for (const Run& run : runs) {
    llvm::Value* part = run.count == 1 ? b.CreateExtractElement(value, static_cast<uint64_t>(run.first))
                                       : b.CreateShuffleVector(value, lanes_of(run));
    auto* plain = b.CreateAlignedStore(part, address_of(b, store.getArgOperand(1), type->getElementType(), run), align);
    plain->setAAMetadata(store.getAAMetadata());
  }
  store.eraseFromParent();
}

void load_runs(llvm::CallInst& load, llvm::Value* rest, const std::vector<Run>& runs) {
  llvm::IRBuilder<> b(&load);
  auto* type = llvm::cast<llvm::FixedVectorType>(load.getType());
  const llvm::Align align(type->getScalarSizeInBits() / 8);
  llvm::Value* out = rest;
  for (const Run& run : runs) {
    auto* part_type = llvm::FixedVectorType::get(type->getElementType(), static_cast<unsigned>(run.count));
    auto* plain =
        b.CreateAlignedLoad(part_type, address_of(b, load.getArgOperand(0), type->getElementType(), run), align);
    plain->setAAMetadata(load.getAAMetadata());
    // Widened, then its lanes in place of those of `out`.
    std::vector<int> widen, mix;
    for (int i = 0; i < static_cast<int>(type->getNumElements()); ++i) {
      const int from = i - run.first;
      const bool ours = from >= 0 && from < run.count;
      widen.push_back(ours ? from : llvm::PoisonMaskElem);
      mix.push_back(ours ? static_cast<int>(type->getNumElements()) + i : i);
    }
    out = b.CreateShuffleVector(out, b.CreateShuffleVector(plain, widen), mix);
  }
  load.replaceAllUsesWith(out);
  load.eraseFromParent();
}

}  // namespace

void expand_constant_masks(llvm::Module& module) {
  std::vector<llvm::IntrinsicInst*> masked;
  for (llvm::Function& fn : module)
    for (llvm::BasicBlock& block : fn)
      for (llvm::Instruction& i : block) {
        auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
        if (!call) continue;
        if (call->getIntrinsicID() == llvm::Intrinsic::masked_store ||
            call->getIntrinsicID() == llvm::Intrinsic::masked_load)
          masked.push_back(call);
      }
  for (auto* call : masked) {
    const bool stores = call->getIntrinsicID() == llvm::Intrinsic::masked_store;
    const unsigned at = stores ? 2 : 1;
    const auto runs = active_runs(call->getArgOperand(at));
    if (!runs) continue;
    stores ? store_runs(*call, *runs) : load_runs(*call, call->getArgOperand(at + 1), *runs);
  }
}

}  // namespace drawloom::codegen
