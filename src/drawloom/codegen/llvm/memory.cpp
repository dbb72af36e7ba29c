/// What loads and stores share: places, masks, addresses, lanes.

#include "drawloom/codegen/llvm/emitter.h"
#include "drawloom/ir/build.h"

namespace drawloom::codegen {

/// Evaluated here, so that code in a conditional block finds it in the memo and defines nothing there.
auto FunctionEmitter::place_of(const BufferDecl* buffer, const ExprList& index, int lanes) -> Place {
  Place p{storage(buffer), buffer->element, lanes, std::nullopt};
  if (index.empty() || index[0].type().is_scalar()) {
    p.ramp = RampValue{index.empty() ? Linear() : linear(index[0]), b_.getInt64(0)};
    return p;
  }
  p.ramp = as_ramp(index[0]);
  if (!p.ramp) split_index(index[0], p);
  return p;
}

/// What is the same in all lanes comes off, then a cast to index.
/// Example, a look-up table[x + cast<index>(v)] with v of u8: x is one address for all lanes, v stays a vector of bytes
/// and becomes offsets of 32 bits at the gather.
void FunctionEmitter::split_index(const Expr& e, Place& p) {
  Expr rest = e;
  auto take = [&](const Expr& side, const Expr& other, int64_t times) {
    const std::optional<RampValue> same = as_ramp(side);
    if (!same || !same->has_stride(0)) return false;
    p.shared = p.shared.plus(same->base, times);
    rest = other;
    return true;
  };
  for (bool more = true; more;) {
    const auto* n = rest.as<Binary>();
    more = n && ((n->op == BinaryOp::Add && (take(n->b, n->a, 1) || take(n->a, n->b, 1))) ||
                 (n->op == BinaryOp::Sub && take(n->b, n->a, -1)));
  }
  const auto* c = rest.as<Cast>();
  const bool narrow = c && !c->value.type().is_float() && c->value.type().bits <= 32;
  p.index = value(narrow ? c->value : rest);
  p.index_signed = !narrow || is_signed(c->value.type());
}

auto FunctionEmitter::mask_of(const Expr& mask) -> Mask {
  int64_t constant = 0;
  if (!mask || (as_int(mask, constant) && constant != 0)) return {};
  if (const auto* n = mask.as<Broadcast>()) return {value(n->value), nullptr};
  Value* v = value(mask);
  if (mask.type().is_scalar()) return {v, nullptr};
  if (const auto* c = llvm::dyn_cast<llvm::Constant>(v); c && c->isAllOnesValue()) return {};
  return {nullptr, v};
}

/// Part by part, so that what does not change in a loop leaves it; the constant last, where it becomes a displacement.
auto FunctionEmitter::address(const Place& p, const Linear& index) -> Value* {
  llvm::Type* element = m_.memory_type(p.element);
  Value* at = p.storage.base;
  for (const Linear& part : index.plus(-index.constant()).by_depth()) at = b_.CreateGEP(element, at, sum(part));
  if (index.constant() == 0) return at;
  return b_.CreateGEP(element, at, b_.getInt64(static_cast<uint64_t>(index.constant())));
}

auto FunctionEmitter::lane_addresses(const Place& p) -> std::vector<Value*> {
  std::vector<Value*> at;
  if (!p.ramp) {
    Value* origin = address(p, p.shared);
    for (int i = 0; i < p.lanes; i++) {
      Value* offset = b_.CreateIntCast(lane(p.index, i), m_.i64, p.index_signed);
      at.push_back(b_.CreateGEP(m_.memory_type(p.element), origin, offset));
    }
    return at;
  }
  Value* first = address(p, p.ramp->base);
  for (int i = 0; i < p.lanes; i++) {
    Value* offset = b_.CreateMul(p.ramp->stride, b_.getInt64(static_cast<uint64_t>(i)));
    at.push_back(b_.CreateGEP(m_.memory_type(p.element), first, offset));
  }
  return at;
}

/// As one vector.
auto FunctionEmitter::ramp_addresses(const Place& p) -> Value* {
  Value* pointers = llvm::PoisonValue::get(llvm::FixedVectorType::get(m_.ptr, static_cast<unsigned>(p.lanes)));
  const std::vector<Value*> at = lane_addresses(p);
  for (int i = 0; i < p.lanes; i++) pointers = b_.CreateInsertElement(pointers, at[i], static_cast<uint64_t>(i));
  return pointers;
}

/// As one vector, of 32-bit offsets where these will do: half the registers.
auto FunctionEmitter::gather_addresses(const Place& p) -> Value* {
  const unsigned bits = p.index->getType()->getScalarSizeInBits();
  llvm::Type* wide = bits < 32 || (bits == 32 && p.index_signed) ? m_.i32 : m_.i64;
  Value* offsets = b_.CreateIntCast(p.index, p.index->getType()->getWithNewType(wide), p.index_signed);
  return b_.CreateGEP(m_.memory_type(p.element), address(p, p.shared), offsets);
}

auto FunctionEmitter::to_memory(Value* v, Type t) -> Value* {
  return t.is_bool() ? b_.CreateZExt(v, v->getType()->getWithNewType(m_.i8)) : v;
}

auto FunctionEmitter::from_memory(Value* v, Type t) -> Value* {
  return t.is_bool() ? b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType())) : v;
}

auto FunctionEmitter::tagged(const Place& p, llvm::Instruction* i) -> llvm::Instruction* {
  i->setMetadata(llvm::LLVMContext::MD_tbaa, p.storage.tag);
  return i;
}

auto FunctionEmitter::load_plain(const Place& p, llvm::Type* type, Value* at) -> Value* {
  return tagged(p, b_.CreateAlignedLoad(type, at, llvm::Align(static_cast<uint64_t>(p.element_bytes()))));
}

auto FunctionEmitter::store_plain(const Place& p, Value* value, Value* at) -> llvm::StoreInst* {
  llvm::StoreInst* s = b_.CreateAlignedStore(value, at, llvm::Align(static_cast<uint64_t>(p.element_bytes())));
  tagged(p, s);
  return s;
}

auto FunctionEmitter::vector_memory_type(const Place& p, int lanes) -> llvm::Type* {
  return llvm::FixedVectorType::get(m_.memory_type(p.element), static_cast<unsigned>(lanes));
}

static auto lane_count(Value* v) -> unsigned {
  return llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements();
}

/// Bit k: lane k. For at most 64 lanes.
auto FunctionEmitter::mask_bits(Value* lanes) -> Value* {
  return b_.CreateZExt(b_.CreateBitCast(lanes, b_.getIntNTy(lane_count(lanes))), m_.i64);
}

auto FunctionEmitter::is_any(Value* lanes) -> Value* {
  return b_.CreateIsNotNull(b_.CreateBitCast(lanes, b_.getIntNTy(lane_count(lanes))));
}

auto FunctionEmitter::is_all(Value* lanes) -> Value* {
  llvm::Type* bits = b_.getIntNTy(lane_count(lanes));
  return b_.CreateICmpEQ(b_.CreateBitCast(lanes, bits), llvm::Constant::getAllOnesValue(bits));
}

/// One element that masked-off lanes may read and write. It starts as zeros: LLVM may assume anything of a load from
/// memory that nobody wrote.
auto FunctionEmitter::scratch() -> Value* {
  if (!scratch_) {
    scratch_ = entry_alloca(m_.i64, 1, 8, "scratch");
    Builder(start_).CreateStore(b_.getInt64(0), scratch_);
  }
  return scratch_;
}

auto FunctionEmitter::concat(Value* a, Value* b) -> Value* {
  const int n = static_cast<int>(lane_count(a)), total = n + static_cast<int>(lane_count(b));
  std::vector<int> all, widen;
  for (int i = 0; i < total; i++) all.push_back(i);
  // A shuffle takes operands of one length: the shorter one is widened by lanes that nobody reads.
  for (int i = 0; i < n; i++) widen.push_back(i < total - n ? i : -1);
  return b_.CreateShuffleVector(a, total - n == n ? b : b_.CreateShuffleVector(b, widen), all);
}

auto FunctionEmitter::reversed(Value* v) -> Value* {
  std::vector<int> lanes;
  for (int i = static_cast<int>(lane_count(v)); i-- > 0;) lanes.push_back(i);
  return b_.CreateShuffleVector(v, lanes);
}

auto FunctionEmitter::slice(Value* v, int first, int count) -> Value* {
  std::vector<int> lanes;
  for (int i = 0; i < count; i++) lanes.push_back(first + i);
  return b_.CreateShuffleVector(v, lanes);
}

}  // namespace drawloom::codegen
