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
  const auto asked = store_kinds_.find(&n);
  const StoreKind kind = !n.nontemporal                ? StoreKind::Plain
                         : asked == store_kinds_.end() ? StoreKind::Ask
                                                       : asked->second;
  if (!mask.uniform) return store_lanes(p, v, mask.lanes, kind);
  BasicBlock *write = block("write"), *after = block("after_write");
  branch(mask.uniform, write, after);
  b_.SetInsertPoint(write);
  store_lanes(p, v, nullptr, kind);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void FunctionEmitter::store_lanes(const Place& p, Value* value, Value* lanes, StoreKind kind) {
  if (p.lanes == 1) {
    store_plain(p, value, address(p, p.ramp->base));
    return;
  }
  const bool up = p.ramp && p.ramp->has_stride(1), down = p.ramp && p.ramp->has_stride(-1);
  if (!up && !down) return store_scatter(p, value, lanes);
  Linear lowest = p.ramp->base;
  if (down) {
    lowest = lowest.plus(1 - p.lanes);
    value = reversed(value);
    lanes = lanes ? reversed(lanes) : nullptr;
  }
  if (!lanes) return store_dense(p, value, lowest, kind);
  store_dense_masked(p, value, address(p, lowest), lanes);
}

/// A nontemporal store needs an aligned address. Where the loop has not asked (streaming.cpp), both kinds are emitted and
/// the address decides.
void FunctionEmitter::store_dense(const Place& p, Value* value, const Linear& index, StoreKind kind) {
  Value* at = address(p, index);
  const int align = kind == StoreKind::Plain ? 0 : x86_nontemporal_align(m_.target, p.bytes());
  if (align == 0) {
    store_plain(p, value, at);
    return;
  }
  if (kind == StoreKind::Streamed) return store_streamed(p, value, at, align);
  BasicBlock *stream = block("stream"), *plain = block("plain"), *after = block("after_write");
  branch_likely(b_.CreateIsNull(address_bits(p, index, align)), stream, plain);
  b_.SetInsertPoint(stream);
  store_streamed(p, value, at, align);
  b_.CreateBr(after);
  b_.SetInsertPoint(plain);
  store_plain(p, value, at);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void FunctionEmitter::store_streamed(const Place& p, Value* value, Value* at, int align) {
  llvm::StoreInst* s = store_plain(p, value, at);
  s->setAlignment(llvm::Align(static_cast<uint64_t>(align)));
  s->setMetadata(llvm::LLVMContext::MD_nontemporal,
                 llvm::MDNode::get(m_.context, llvm::ConstantAsMetadata::get(b_.getInt32(1))));
}

void FunctionEmitter::store_dense_masked(const Place& p, Value* value, Value* at, Value* lanes) {
  if (in_registers(p)) {
    // Nobody else sees registers, and a branch would keep them in memory.
    Value* old = load_plain(p, value->getType(), at);
    store_plain(p, b_.CreateSelect(lanes, value, old), at);
    return;
  }
  if (!x86_has_masked_access(m_.target, p.element_bytes())) return store_parts(p, value, at, lanes);
  const llvm::Align align(static_cast<uint64_t>(p.element_bytes()));
  auto some_lanes = [&] { tagged(p, b_.CreateMaskedStore(value, at, align, lanes)); };
  if (x86_masked_store_is_cheap(m_.target, p.element_bytes())) return some_lanes();
  BasicBlock *whole = block("write_whole"), *some = block("write_some"), *after = block("after_write");
  branch(is_all(lanes), whole, some);
  b_.SetInsertPoint(whole);
  store_plain(p, value, at);
  b_.CreateBr(after);
  b_.SetInsertPoint(some);
  some_lanes();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void FunctionEmitter::store_parts(const Place& p, Value* value, Value* at, Value* lanes) {
  for (int first = 0; first < p.lanes; first += kMaskLanes) {
    const int count = std::min(kMaskLanes, p.lanes - first);
    const bool part = count < p.lanes;
    Value* v = b_.CreateBitCast(part ? slice(value, first, count) : value, m_.lanes_type(p.element, count));
    Value* to = b_.CreateConstGEP1_64(m_.memory_type(p.element), at, static_cast<uint64_t>(first));
    Value* bits = mask_bits(part ? slice(lanes, first, count) : lanes);
    tagged(p, b_.CreateCall(m_.masked_store(p.element, count), {to, v, bits}));
  }
}

/// In lane order, so that the highest active lane wins.
void FunctionEmitter::store_scatter(const Place& p, Value* value, Value* lanes) {
  std::vector<Value*> at = lane_addresses(p);
  const bool registers = in_registers(p);
  for (int i = 0; i < p.lanes; i++) {
    Value *one = lane(value, i), *to = at[i];
    // A choice of addresses would keep registers in memory; a choice of values does not.
    if (lanes && registers) one = b_.CreateSelect(lane(lanes, i), one, load_plain(p, one->getType(), to));
    if (lanes && !registers) to = b_.CreateSelect(lane(lanes, i), to, scratch());
    store_plain(p, one, to);
  }
}

}  // namespace drawloom::codegen
