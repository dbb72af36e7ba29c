/// Expressions: constants, symbols, ramps, comparisons of ramps; what is arithmetic proper is in arithmetic.cpp, sums
/// of type index are in index.cpp.

#include "drawloom/codegen/llvm/emitter.h"
#include "drawloom/ir/build.h"
#include "drawloom/support/check.h"

namespace drawloom::codegen {

auto FunctionEmitter::value(const Expr& e) -> Value* {
  if (auto hit = memo_.find(e.get()); hit != memo_.end()) return hit->second;
  Value* v = compute(e);
  memo_.emplace(e.get(), v);
  return v;
}

auto FunctionEmitter::compute(const Expr& e) -> Value* {
  const Type t = e.type();
  switch (e.kind()) {
    case Kind::IntImm: return integer(t, e.to<IntImm>().value);
    case Kind::FloatImm: return real(t, e.to<FloatImm>().value);
    case Kind::VarRef: return symbol(e.to<VarRef>().symbol.get()).value;
    case Kind::Cast: return emit_cast(t, e.to<Cast>().value.type(), value(e.to<Cast>().value));
    case Kind::Reinterpret: return emit_reinterpret(e.to<Reinterpret>());
    case Kind::Address: return device_address(e.to<Address>());
    case Kind::Unary: return emit_unary(e.to<Unary>());
    case Kind::Binary:
      if (t.is_scalar() && is_linear(e.to<Binary>())) return sum(linear(e));
      return emit_binary(e.to<Binary>());
    case Kind::Select: {
      const auto& n = e.to<Select>();
      Value *condition = value(n.condition), *yes = value(n.yes), *no = value(n.no);
      return b_.CreateSelect(condition, yes, no);
    }
    case Kind::Call: return emit_call(e.to<Call>());
    case Kind::Load: return emit_load(e.to<Load>());
    case Kind::Ramp: return emit_ramp(e.to<Ramp>());
    case Kind::Broadcast: return splat(value(e.to<Broadcast>().value), t.lanes);
    case Kind::Let: {
      const auto& n = e.to<Let>();
      bind(n.symbol, n.value);
      return value(n.body);
    }
    case Kind::Access:
#include "drawloom/ir/statement_cases.def"
      break;
  }
  DRAWLOOM_CHECK(false, "codegen: {} is no expression of lowered code", kind_name(e.kind()));
  return nullptr;
}

/// Lane k: k < count. One comparison in lanes about as wide as a register has room for.
auto FunctionEmitter::lanes_below(Value* count, int lanes) -> Value* {
  Value* low = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, b_.getInt64(0));
  Value* clamped = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, low, b_.getInt64(static_cast<uint64_t>(lanes)));
  unsigned bits = lanes > 127 ? 16 : 8;  // the count itself must fit, signed
  while (bits < 64 && static_cast<int>(bits) * 2 * lanes <= 256) bits *= 2;
  llvm::Type* type = b_.getIntNTy(bits);
  return b_.CreateICmpSLT(count_up(type, lanes), splat(b_.CreateTrunc(clamped, type), lanes));
}

/// Compares two ramps of index, whose difference d + k * s cannot overflow, without making vectors of 64 bits.
/// Example, the mask of a tail, ramp(x, 1, 8) < broadcast(n, 8): lane k is on for k < n - x, one small comparison
/// against 0, 1, .. 7.
auto FunctionEmitter::ramp_compare(const Binary& n) -> Value* {
  const std::optional<RampValue> a = as_ramp(n.a);
  const std::optional<RampValue> b = a ? as_ramp(n.b) : std::nullopt;
  if (!b) return nullptr;
  const int lanes = n.a.type().lanes;
  const RampValue difference{a->base.plus(b->base, -1),
                             b->has_stride(0) ? a->stride : b_.CreateSub(a->stride, b->stride)};
  if (difference.has_stride(0)) return splat(compare(n.op, kIndex, sum(difference.base), b_.getInt64(0)), lanes);
  const bool up = difference.has_stride(1);
  if (!up && !difference.has_stride(-1)) return nullptr;
  const bool less = n.op == BinaryOp::LT || n.op == BinaryOp::LE;
  if (!less && n.op != BinaryOp::GT && n.op != BinaryOp::GE) return nullptr;
  // up: d + k < 0 means k < -d. Down: d - k > 0 means k < d. Equality takes one lane more or less.
  const bool below = less == up;
  const bool with_equal = n.op == BinaryOp::LE || n.op == BinaryOp::GE;
  Value* lanes_mask = lanes_below(sum(difference.base.scaled(up ? -1 : 1).plus(with_equal == below ? 1 : 0)), lanes);
  return below ? lanes_mask : b_.CreateNot(lanes_mask);
}

auto FunctionEmitter::emit_compare(const Binary& n) -> Value* {
  if (Value* mask = ramp_compare(n)) return mask;
  return Arithmetic::emit_compare(n);
}

}  // namespace drawloom::codegen
