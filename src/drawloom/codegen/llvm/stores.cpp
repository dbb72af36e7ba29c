/// Stores, by the shape of their subscript and mask; the counterpart of loads.cpp. A masked store never writes a byte
/// of a lane that is off, not even its old value: another thread may be writing there.

#include "drawloom/codegen/llvm/emitter.h"
#include "drawloom/codegen/llvm/x86/x86.h"

namespace drawloom::codegen {

void FunctionEmitter::emit_store(const Store& n) {
  forget();
  const Place p = place_of(n.buffer.get(), n.index, n.value.type().lanes);
  Value* v = to_memory(value(n.value), n.value.type());
  const Mask mask = mask_of(n.mask);
  if (!mask.uniform) return store_lanes(p, v, mask.lanes, n.nontemporal);
  BasicBlock *write = block("write"), *after = block("after_write");
  branch(mask.uniform, write, after);
  b_.SetInsertPoint(write);
  store_lanes(p, v, nullptr, n.nontemporal);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void FunctionEmitter::store_lanes(const Place& p, Value* value, Value* lanes, bool nontemporal) {
  if (p.lanes == 1) {
    store_plain(p, value, address(p, p.index));
    return;
  }
  const bool up = p.ramp && p.ramp->has_stride(1), down = p.ramp && p.ramp->has_stride(-1);
  if (!up && !down) return store_scatter(p, value, lanes);
  Value* lowest = p.ramp->base;
  if (down) {
    lowest = b_.CreateAdd(lowest, b_.getInt64(static_cast<uint64_t>(1 - p.lanes)));
    value = reversed(value);
    lanes = lanes ? reversed(lanes) : nullptr;
  }
  if (!lanes) return store_dense(p, value, lowest, nontemporal);
  store_dense_masked(p, value, address(p, lowest), lanes);
}

/// A nontemporal store needs an aligned address, which only the call knows: both kinds are emitted and the address
/// decides. The test is of the low address bits alone, so in a loop over whole vectors it is invariant.
void FunctionEmitter::store_dense(const Place& p, Value* value, Value* index, bool nontemporal) {
  Value* at = address(p, index);
  const int align = nontemporal ? x86_nontemporal_align(m_.target, p.bytes()) : 0;
  if (align == 0) {
    store_plain(p, value, at);
    return;
  }
  Value* offset = b_.CreateMul(index, b_.getInt64(static_cast<uint64_t>(p.element_bytes())));
  Value* address_bits = b_.CreateAdd(b_.CreatePtrToInt(p.storage.base, m_.i64), offset);
  Value* low_bits = b_.CreateAnd(address_bits, b_.getInt64(static_cast<uint64_t>(align - 1)));
  BasicBlock *stream = block("stream"), *plain = block("plain"), *after = block("after_write");
  branch_likely(b_.CreateIsNull(low_bits), stream, plain);
  b_.SetInsertPoint(stream);
  llvm::StoreInst* s = store_plain(p, value, at);
  s->setAlignment(llvm::Align(static_cast<uint64_t>(align)));
  s->setMetadata(llvm::LLVMContext::MD_nontemporal,
                 llvm::MDNode::get(m_.context, llvm::ConstantAsMetadata::get(b_.getInt32(1))));
  b_.CreateBr(after);
  b_.SetInsertPoint(plain);
  store_plain(p, value, at);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void FunctionEmitter::store_dense_masked(const Place& p, Value* value, Value* at, Value* lanes) {
  if (p.storage.memory == MemoryKind::Register) {
    // Nobody else sees registers, and a branch would keep them in memory.
    Value* old = load_plain(p, value->getType(), at);
    store_plain(p, b_.CreateSelect(lanes, value, old), at);
    return;
  }
  if (x86_masked_store_is_cheap(m_.target, p.element_bytes())) return store_some(p, value, at, lanes);
  BasicBlock *whole = block("write_whole"), *some = block("write_some"), *after = block("after_write");
  branch(is_all(lanes), whole, some);
  b_.SetInsertPoint(whole);
  store_plain(p, value, at);
  b_.CreateBr(after);
  b_.SetInsertPoint(some);
  store_some(p, value, at, lanes);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void FunctionEmitter::store_some(const Place& p, Value* value, Value* at, Value* lanes) {
  if (x86_has_masked_access(m_.target, p.element_bytes())) {
    tagged(p, b_.CreateMaskedStore(value, at, llvm::Align(static_cast<uint64_t>(p.element_bytes())), lanes));
    return;
  }
  constexpr int kMaskLanes = 64;
  for (int first = 0; first < p.lanes; first += kMaskLanes) {
    const int count = std::min(kMaskLanes, p.lanes - first);
    const bool part = count < p.lanes;
    Value* v = part ? slice(value, first, count) : value;
    Value* copy = entry_alloca(v->getType(), 1, kStorageAlign, "lanes");
    b_.CreateStore(v, copy);
    Value* to = b_.CreateConstGEP1_64(m_.memory_type(p.element), at, static_cast<uint64_t>(first));
    Value* bits = mask_bits(part ? slice(lanes, first, count) : lanes);
    tagged(p, b_.CreateCall(m_.lane_copy(p.element_bytes()), {to, copy, bits}));
  }
}

/// In lane order, so that the highest active lane wins.
void FunctionEmitter::store_scatter(const Place& p, Value* value, Value* lanes) {
  std::vector<Value*> at = lane_addresses(p);
  for (int i = 0; i < p.lanes; i++) {
    Value* to = lanes ? b_.CreateSelect(lane(lanes, i), at[i], scratch()) : at[i];
    store_plain(p, lane(value, i), to);
  }
}

}  // namespace drawloom::codegen
