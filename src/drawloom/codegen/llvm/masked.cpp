/// Functions of the module for masked vector accesses where the target has no instruction: a call for each access keeps
/// the code around it short (the end of a row is a few such accesses per row of the tile, and rarely runs).

#include "drawloom/codegen/llvm/emitter.h"

namespace drawloom::codegen {
namespace {

/// An internal function that only touches what its arguments point to. Never inlined.
auto make_internal(ModuleEmitter& m, const std::string& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> args)
    -> llvm::Function* {
  auto* type = llvm::FunctionType::get(result, args, false);
  auto* fn = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, m.module);
  fn->setDoesNotThrow();
  fn->setOnlyAccessesArgMemory();
  fn->addFnAttr(llvm::Attribute::NoInline);
  return fn;
}

auto bytes_of(Type element) -> llvm::Align { return llvm::Align(static_cast<uint64_t>(element.bytes())); }

/// All of `lanes` (at most 64) bits.
auto all_lanes(int lanes) -> uint64_t { return ~uint64_t{0} >> (64 - lanes); }

}  // namespace

/// Most masks are one run of lanes (the end of a row), which is a memcpy; the others go bit by bit.
auto ModuleEmitter::lane_copy(Type element) -> llvm::Function* {
  const std::string name = str("drawloom.copy_lanes.{}", element.bytes());
  if (llvm::Function* known = module.getFunction(name)) return known;
  llvm::Function* fn = make_internal(*this, name, llvm::Type::getVoidTy(context), {ptr, ptr, i64});
  Value *to = fn->getArg(0), *from = fn->getArg(1), *mask = fn->getArg(2);
  auto block = [&](const char* n) { return BasicBlock::Create(context, n, fn); };
  BasicBlock *entry = block("entry"), *some = block("some"), *run = block("run"), *each = block("each"),
             *done = block("done");
  llvm::IRBuilder<> b(entry);
  llvm::Type* type = b.getIntNTy(static_cast<unsigned>(element.bytes()) * 8);
  const llvm::Align align = bytes_of(element);
  auto at = [&](Value* base, Value* lane) { return b.CreateGEP(type, base, lane); };
  auto first_lane = [&](Value* m) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, m, b.getTrue()); };
  auto with_one_less = [&](Value* m) { return b.CreateAnd(m, b.CreateSub(m, b.getInt64(1))); };
  b.CreateCondBr(b.CreateIsNull(mask), done, some);

  b.SetInsertPoint(some);
  Value* first = first_lane(mask);
  Value* shifted = b.CreateLShr(mask, first);
  // One run, moved down to bit 0, is 0..01..1: adding 1 clears all its bits.
  b.CreateCondBr(b.CreateIsNull(b.CreateAnd(shifted, b.CreateAdd(shifted, b.getInt64(1)))), run, each);

  b.SetInsertPoint(run);
  Value* count = b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, mask);
  Value* bytes = b.CreateMul(count, b.getInt64(static_cast<uint64_t>(element.bytes())));
  b.CreateMemCpy(at(to, first), align, at(from, first), align, bytes);
  b.CreateBr(done);

  b.SetInsertPoint(each);
  llvm::PHINode* rest = b.CreatePHI(i64, 2);
  rest->addIncoming(mask, some);
  Value* lane = first_lane(rest);
  b.CreateAlignedStore(b.CreateAlignedLoad(type, at(from, lane), align), at(to, lane), align);
  Value* next = with_one_less(rest);
  rest->addIncoming(next, each);
  b.CreateCondBr(b.CreateIsNull(next), done, each);

  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return fn;
}

/// If all lanes are on, or one is and the vector does not cross a page, the whole vector can be read: a page is
/// readable or not as a whole. Else, rarely, lane by lane.
auto ModuleEmitter::masked_load(Type element, int lanes) -> llvm::Function* {
  constexpr uint64_t kPage = 4096;
  const std::string name = str("drawloom.load_lanes.{}x{}", element.bytes(), lanes);
  if (llvm::Function* known = module.getFunction(name)) return known;
  llvm::Type* type = lanes_type(element, lanes);
  llvm::Function* fn = make_internal(*this, name, type, {ptr, i64});
  fn->setOnlyReadsMemory();
  Value *at = fn->getArg(0), *mask = fn->getArg(1);
  auto block = [&](const char* n) { return BasicBlock::Create(context, n, fn); };
  BasicBlock *entry = block("entry"), *whole = block("whole"), *some = block("some");
  llvm::IRBuilder<> b(entry);
  Value* copy = b.CreateAlloca(type, nullptr, "lanes");
  Value* in_page = b.CreateAnd(b.CreatePtrToInt(at, i64), b.getInt64(kPage - 1));
  Value* one_page = b.CreateICmpULE(in_page, b.getInt64(kPage - static_cast<uint64_t>(element.bytes() * lanes)));
  Value* all = b.CreateICmpEQ(mask, b.getInt64(all_lanes(lanes)));
  Value* readable = b.CreateOr(all, b.CreateAnd(b.CreateIsNotNull(mask), one_page));
  b.CreateCondBr(readable, whole, some, llvm::MDBuilder(context).createLikelyBranchWeights());

  b.SetInsertPoint(whole);
  b.CreateRet(b.CreateAlignedLoad(type, at, bytes_of(element)));

  b.SetInsertPoint(some);
  b.CreateStore(llvm::Constant::getNullValue(type), copy);
  b.CreateCall(lane_copy(element), {copy, at, mask});
  b.CreateRet(b.CreateLoad(type, copy));
  return fn;
}

auto ModuleEmitter::masked_store(Type element, int lanes) -> llvm::Function* {
  const std::string name = str("drawloom.store_lanes.{}x{}", element.bytes(), lanes);
  if (llvm::Function* known = module.getFunction(name)) return known;
  llvm::Type* type = lanes_type(element, lanes);
  llvm::Function* fn = make_internal(*this, name, llvm::Type::getVoidTy(context), {ptr, type, i64});
  Value *to = fn->getArg(0), *value = fn->getArg(1), *mask = fn->getArg(2);
  auto block = [&](const char* n) { return BasicBlock::Create(context, n, fn); };
  BasicBlock *entry = block("entry"), *whole = block("whole"), *some = block("some");
  llvm::IRBuilder<> b(entry);
  Value* copy = b.CreateAlloca(type, nullptr, "lanes");
  b.CreateCondBr(b.CreateICmpEQ(mask, b.getInt64(all_lanes(lanes))), whole, some);

  b.SetInsertPoint(whole);
  b.CreateAlignedStore(value, to, bytes_of(element));
  b.CreateRetVoid();

  b.SetInsertPoint(some);
  b.CreateStore(value, copy);
  b.CreateCall(lane_copy(element), {to, copy, mask});
  b.CreateRetVoid();
  return fn;
}

/// A vector of integers of the element's size.
auto ModuleEmitter::lanes_type(Type element, int lanes) -> llvm::Type* {
  llvm::Type* integer = llvm::IntegerType::get(context, static_cast<unsigned>(element.bytes()) * 8);
  return llvm::FixedVectorType::get(integer, static_cast<unsigned>(lanes));
}

}  // namespace drawloom::codegen
