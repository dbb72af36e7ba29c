/// Loads, by the shape of their subscript:
///   dense (stride 1)             one vector load
///   stride -4..4                 dense loads that touch no element beyond the first and the last lane's, and shuffles
///   anything else                lane by lane, or the gather instruction where it is worth it
/// and masked ones:
///   one bool for all lanes       a branch
///   dense                        the masked load of the target, else a call of `masked_load`
///   anything else                lanes that are off read a scratch element

#include "drawloom/codegen/llvm/emitter.h"
#include "drawloom/codegen/llvm/x86/x86.h"

namespace drawloom::codegen {

auto FunctionEmitter::emit_load(const Load& n) -> Value* {
  const Place p = place_of(n.buffer.get(), n.index, n.type.lanes);
  const Mask mask = mask_of(n.mask);
  if (in_registers(p)) return from_memory(load_registers(p, mask.lanes != nullptr), n.type);
  if (mask.uniform) return from_memory(load_uniform(p, mask.uniform), n.type);
  return from_memory(load_lanes(p, mask.lanes), n.type);
}

auto FunctionEmitter::in_registers(const Place& p) -> bool {
  if (p.storage.memory != MemoryKind::Register) return false;
  return p.ramp ? p.ramp->base.is_constant() : p.shared.is_constant() && llvm::isa<llvm::Constant>(p.index);
}

/// Lanes that are off are read too: dense ones out of the room around the storage. LLVM makes nothing of a load that
/// leaves its slot, so lanes further apart are read one by one.
auto FunctionEmitter::load_registers(const Place& p, bool masked) -> Value* {
  int64_t stride = 0;
  const bool near = p.ramp && p.ramp->constant_stride(stride) && stride >= -1 && stride <= 1;
  return masked && !near ? load_gather(p, nullptr) : load_lanes(p, nullptr);
}

auto FunctionEmitter::load_uniform(const Place& p, Value* condition) -> Value* {
  BasicBlock *before = b_.GetInsertBlock(), *read = block("read"), *after = block("after_read");
  branch(condition, read, after);
  b_.SetInsertPoint(read);
  Value* v = load_lanes(p, nullptr);
  BasicBlock* read_end = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  llvm::PHINode* phi = b_.CreatePHI(v->getType(), 2);
  phi->addIncoming(v, read_end);
  phi->addIncoming(llvm::Constant::getNullValue(v->getType()), before);
  return phi;
}

auto FunctionEmitter::load_lanes(const Place& p, Value* lanes) -> Value* {
  if (p.lanes == 1) return load_plain(p, m_.memory_type(p.element), address(p, p.ramp->base));
  int64_t stride = 0;
  if (!p.ramp || !p.ramp->constant_stride(stride)) return load_gather(p, lanes);
  if (stride == 0) return load_one(p, lanes);
  if (stride == 1) return load_dense(p, address(p, p.ramp->base), lanes);
  if (stride == -1) {
    return reversed(load_dense(p, address(p, p.ramp->base.plus(1 - p.lanes)), lanes ? reversed(lanes) : nullptr));
  }
  if (!lanes && stride >= -4 && stride <= 4) return load_strided(p, p.ramp->base, stride);
  return load_gather(p, lanes);
}

auto FunctionEmitter::load_one(const Place& p, Value* lanes) -> Value* {
  // All lanes read one element, so one lane that is on is reason enough to read it.
  Value* at = address(p, p.ramp->base);
  if (lanes) at = b_.CreateSelect(is_any(lanes), at, scratch());
  return splat(load_plain(p, m_.memory_type(p.element), at), p.lanes);
}

/// `at`: of lane 0. `lanes`: null, or as many as are loaded.
auto FunctionEmitter::load_dense(const Place& p, Value* at, Value* lanes) -> Value* {
  llvm::Type* type = vector_memory_type(p, p.lanes);
  if (!lanes) return load_plain(p, type, at);
  if (x86_has_masked_access(m_.target, p.element_bytes())) {
    const llvm::Align align(static_cast<uint64_t>(p.element_bytes()));
    return tagged(p, b_.CreateMaskedLoad(type, at, align, lanes, llvm::Constant::getNullValue(type)));
  }
  if (p.lanes <= kMaskLanes && p.bytes() <= kStackMargin) {
    llvm::Function* load = m_.masked_load(p.element, p.lanes);
    return b_.CreateBitCast(tagged(p, b_.CreateCall(load, {at, mask_bits(lanes)})), type);
  }
  Place low = p, high = p;
  low.lanes = p.lanes / 2;
  high.lanes = p.lanes - low.lanes;
  // The larger half first, as `concat` wants it.
  std::swap(low.lanes, high.lanes);
  Value* a = load_dense(low, at, slice(lanes, 0, low.lanes));
  Value* middle = b_.CreateConstGEP1_64(m_.memory_type(p.element), at, static_cast<uint64_t>(low.lanes));
  return concat(a, load_dense(high, middle, slice(lanes, low.lanes, high.lanes)));
}

/// Dense loads of as many elements as there are lanes, from the lowest lane on, until the highest is covered; the last
/// one is moved down so that it ends with the highest lane. Then each lane is picked from the load that has it.
/// Example, stride 2 and 4 lanes: elements 0, 2, 4, 6. The first load has elements 0 to 3, the second would have 4 to 7
/// and is moved to 3 to 6; lanes 0 and 1 come from places 0 and 2 of the first, lanes 2 and 3 from places 1 and 3 of
/// the second.
auto FunctionEmitter::load_strided(const Place& p, Linear base, int64_t stride) -> Value* {
  const int64_t n = p.lanes, step = stride < 0 ? -stride : stride, last = (n - 1) * step;
  if (stride < 0) base = base.plus(-last);
  Value* lowest = address(p, base);
  Value* picked = nullptr;
  for (int64_t first = 0; first <= last; first += n) {
    const int64_t start = std::min(first, last + 1 - n);
    Value* at = b_.CreateConstGEP1_64(m_.memory_type(p.element), lowest, static_cast<uint64_t>(start));
    Value* chunk = load_plain(p, vector_memory_type(p, p.lanes), at);
    std::vector<int> pick;
    for (int64_t k = 0; k < n; k++) {
      const int64_t element = (stride < 0 ? n - 1 - k : k) * step;
      const bool here = element >= first && element < first + n;
      // Operand 0 is what was picked before, lane for lane; operand 1 is the chunk.
      pick.push_back(static_cast<int>(here ? n + element - start : k));
    }
    picked = b_.CreateShuffleVector(picked ? picked : llvm::PoisonValue::get(chunk->getType()), chunk, pick);
  }
  return picked;
}

auto FunctionEmitter::load_gather(const Place& p, Value* lanes) -> Value* {
  llvm::Type* type = vector_memory_type(p, p.lanes);
  // A gather takes addresses, which registers do not have.
  if (!in_registers(p) && x86_has_gather(m_.target, p.element_bytes())) {
    Value* pointers = p.ramp ? ramp_addresses(p) : gather_addresses(p);
    const llvm::Align align(static_cast<uint64_t>(p.element_bytes()));
    return tagged(p, b_.CreateMaskedGather(type, pointers, align, lanes, llvm::Constant::getNullValue(type)));
  }
  std::vector<Value*> at = lane_addresses(p);
  Value* result = llvm::PoisonValue::get(type);
  for (int i = 0; i < p.lanes; i++) {
    Value* from = lanes ? b_.CreateSelect(lane(lanes, i), at[i], scratch()) : at[i];
    result = b_.CreateInsertElement(result, load_plain(p, m_.memory_type(p.element), from), static_cast<uint64_t>(i));
  }
  return result;
}

}  // namespace drawloom::codegen
