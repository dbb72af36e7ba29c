/// The operators of ir/ops.def on LLVM values of any number of lanes. No instruction carries a flag that would let LLVM
/// change results: no nsw on data, no fast-math flags, no contraction.

#include <cmath>

#include "drawloom/codegen/llvm/arithmetic.h"
#include "drawloom/ir/build.h"
#include "drawloom/support/check.h"

namespace drawloom::codegen {
namespace {

namespace intrinsic = llvm::Intrinsic;

/// The constant in every lane, or null.
auto constant_lanes(Value* v) -> const llvm::APInt* {
  if (const auto* c = llvm::dyn_cast<llvm::ConstantInt>(v)) return &c->getValue();
  const auto* c = llvm::dyn_cast<llvm::Constant>(v);
  if (!c || !c->getType()->isVectorTy()) return nullptr;
  const auto* same = llvm::dyn_cast_or_null<llvm::ConstantInt>(c->getSplatValue());
  return same ? &same->getValue() : nullptr;
}

}  // namespace

auto Arithmetic::integer(Type t, int64_t v) -> llvm::Constant* {
  const llvm::APInt bits(m_.width(t), static_cast<uint64_t>(v), /*isSigned=*/true, /*implicitTrunc=*/true);
  return llvm::ConstantInt::get(m_.value_type(t), bits);
}

auto Arithmetic::real(Type t, double v) -> llvm::Constant* {
  llvm::APFloat f(v);  // rounded by whoever made the constant, so this is exact
  bool inexact;
  f.convert(m_.scalar_type(t)->getFltSemantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return llvm::ConstantFP::get(m_.value_type(t), f);
}

auto Arithmetic::emit_cast(Type to, Type from, Value* v) -> Value* {
  llvm::Type* type = m_.value_type(to);
  if (to.is_bool()) {
    llvm::Constant* zero = llvm::Constant::getNullValue(v->getType());
    return from.is_float() ? b_.CreateFCmpUNE(v, zero) : b_.CreateICmpNE(v, zero);
  }
  if (from.is_float()) return to.is_float() ? b_.CreateFPCast(v, type) : float_to_int(to, from, v);
  if (to.is_float()) return is_signed(from) ? b_.CreateSIToFP(v, type) : b_.CreateUIToFP(v, type);
  return b_.CreateIntCast(v, type, is_signed(from));
}

auto Arithmetic::emit_reinterpret(const Reinterpret& n) -> Value* {
  return b_.CreateBitCast(value(n.value), m_.value_type(n.type));
}

/// Truncates and saturates, in operations that vectors have. The value is first raised to the lowest integer; this
/// comparison also sends NaN there. Where the highest integer is a number of the float type, the value is lowered to
/// it; else a value too high is noticed, and what its conversion gave (LLVM: poison) is not chosen.
auto Arithmetic::float_to_int(Type to, Type from, Value* v) -> Value* {
  const bool exact = to.bits < (from.bits == 32 ? 32 : 64);
  const double above = std::ldexp(1.0, to.bits - is_signed(to));
  Value* low = real(from, is_signed(to) ? -std::ldexp(1.0, to.bits - 1) : 0);
  Value* raised = b_.CreateSelect(b_.CreateFCmpOGT(v, low), v, low);
  if (exact) {
    Value* high = real(from, above - 1);
    raised = b_.CreateSelect(b_.CreateFCmpOLT(raised, high), raised, high);
  }
  // Narrow integers through i32, for which there are instructions.
  llvm::Type* wide = m_.value_type((to.bits < 32 ? int_type(32) : to).with_lanes(to.lanes));
  Value* converted = is_signed(to) || to.bits < 32 ? b_.CreateFPToSI(raised, wide) : b_.CreateFPToUI(raised, wide);
  if (exact) return b_.CreateTrunc(converted, m_.value_type(to), "", /*IsNUW=*/!is_signed(to), /*IsNSW=*/is_signed(to));
  const int64_t highest = is_signed(to) ? static_cast<int64_t>(~uint64_t{0} >> (65 - to.bits)) : -1;
  return b_.CreateSelect(b_.CreateFCmpOGE(v, real(from, above)), integer(to, highest), converted);
}

auto Arithmetic::emit_unary(const Unary& n) -> Value* {
  Value* a = value(n.a);
  switch (n.op) {
    case UnaryOp::Neg: return n.type.is_float() ? b_.CreateFNeg(a) : b_.CreateNeg(a);
    case UnaryOp::Not:
    case UnaryOp::BitNot: return b_.CreateNot(a);
  }
  return nullptr;
}

auto Arithmetic::emit_binary(const Binary& n) -> Value* {
  if (is_compare(n.op)) return emit_compare(n);
  Value *a = value(n.a), *b = value(n.b);
  return n.type.is_float() ? float_binary(n.op, n.type, a, b) : integer_binary(n.op, n.type, a, b);
}

auto Arithmetic::integer_binary(BinaryOp op, Type t, Value* a, Value* b) -> Value* {
  switch (op) {
    case BinaryOp::Add: return b_.CreateAdd(a, b);
    case BinaryOp::Sub: return b_.CreateSub(a, b);
    case BinaryOp::Mul: return b_.CreateMul(a, b);
    case BinaryOp::Div: return floor_divide(t, a, b, false);
    case BinaryOp::Mod: return floor_divide(t, a, b, true);
    case BinaryOp::Min: return min_max(false, t, a, b);
    case BinaryOp::Max: return min_max(true, t, a, b);
    case BinaryOp::BitAnd:
    case BinaryOp::And: return b_.CreateAnd(a, b);
    case BinaryOp::BitOr:
    case BinaryOp::Or: return b_.CreateOr(a, b);
    case BinaryOp::BitXor: return b_.CreateXor(a, b);
    case BinaryOp::Shl: return shift(t, a, b, true);
    case BinaryOp::Shr: return shift(t, a, b, false);
    case BinaryOp::EQ:
    case BinaryOp::NE:
    case BinaryOp::LT:
    case BinaryOp::LE:
    case BinaryOp::GT:
    case BinaryOp::GE: return compare(op, t, a, b);
  }
  return nullptr;
}

auto Arithmetic::float_binary(BinaryOp op, Type t, Value* a, Value* b) -> Value* {
  switch (op) {
    case BinaryOp::Add: return b_.CreateFAdd(a, b);
    case BinaryOp::Sub: return b_.CreateFSub(a, b);
    case BinaryOp::Mul: return b_.CreateFMul(a, b);
    case BinaryOp::Div: return b_.CreateFDiv(a, b);
    case BinaryOp::Mod: {
      Value* floor = b_.CreateUnaryIntrinsic(intrinsic::floor, b_.CreateFDiv(a, b));
      return b_.CreateFSub(a, b_.CreateFMul(b, floor));
    }
    case BinaryOp::Min: return min_max(false, t, a, b);
    case BinaryOp::Max: return min_max(true, t, a, b);
    case BinaryOp::EQ:
    case BinaryOp::NE:
    case BinaryOp::LT:
    case BinaryOp::LE:
    case BinaryOp::GT:
    case BinaryOp::GE: return compare(op, t, a, b);
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
    case BinaryOp::Shl:
    case BinaryOp::Shr:
    case BinaryOp::And:
    case BinaryOp::Or: break;
  }
  DRAWLOOM_CHECK(false, "codegen: {} of {}", op_text(op), t);
  return nullptr;
}

auto Arithmetic::min_max(bool max, Type t, Value* a, Value* b) -> Value* {
  // Exactly minps and maxps: the second operand when one is NaN or both are zeros.
  if (t.is_float()) return b_.CreateSelect(max ? b_.CreateFCmpOGT(a, b) : b_.CreateFCmpOLT(a, b), a, b);
  if (is_signed(t)) return b_.CreateBinaryIntrinsic(max ? intrinsic::smax : intrinsic::smin, a, b);
  return b_.CreateBinaryIntrinsic(max ? intrinsic::umax : intrinsic::umin, a, b);
}

auto Arithmetic::compare(BinaryOp op, Type t, Value* a, Value* b) -> Value* {
  using P = llvm::CmpInst::Predicate;
  struct Row {
    BinaryOp op;
    P on_float, on_signed, on_unsigned;
  };
  static constexpr Row kRows[] = {
      {BinaryOp::EQ, P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ},   {BinaryOp::NE, P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE},
      {BinaryOp::LT, P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT}, {BinaryOp::LE, P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE},
      {BinaryOp::GT, P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT}, {BinaryOp::GE, P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE}};
  for (const Row& row : kRows) {
    if (row.op != op) continue;
    return b_.CreateCmp(t.is_float() ? row.on_float : is_signed(t) ? row.on_signed : row.on_unsigned, a, b);
  }
  DRAWLOOM_CHECK(false, "codegen: {} is no comparison", op_text(op));
  return nullptr;
}

/// The remainder is never negative, and x/0 = x%0 = 0. For signed types with s = the sign of a in all bits:
/// floor(a / |b|) = ((a ^ s) / |b|) ^ s, because ~x turns rounding down into rounding up. The division is of numbers
/// without sign and below 2^(bits-1), so it has no overflow case (INT_MIN/-1 wraps in the last negation) and, for a
/// constant b, is a multiplication and a shift.
/// Example, -7 / 2: s = -1, -7 ^ -1 = 6, 6 / 2 = 3, 3 ^ -1 = -4; the remainder is -7 + 4 * 2 = 1.
auto Arithmetic::floor_divide(Type t, Value* a, Value* b, bool remainder) -> Value* {
  const llvm::APInt* constant = constant_lanes(b);
  llvm::Constant* zero = llvm::Constant::getNullValue(b->getType());
  if (constant && constant->isZero()) return zero;
  // A lane of garbage may hold a value that LLVM calls undefined, and dividing by that is undefined behaviour.
  if (!constant) b = b_.CreateFreeze(b);
  Value* b_is_zero = constant ? nullptr : b_.CreateICmpEQ(b, zero);
  Value* magnitude = is_signed(t) ? b_.CreateBinaryIntrinsic(intrinsic::abs, b, b_.getFalse()) : b;
  if (b_is_zero) magnitude = b_.CreateSelect(b_is_zero, llvm::ConstantInt::get(b->getType(), 1), magnitude);
  Value* quotient;
  if (is_signed(t)) {
    Value* sign = b_.CreateAShr(a, llvm::ConstantInt::get(a->getType(), m_.width(t) - 1u));
    quotient = b_.CreateXor(divide_magnitudes(t, b_.CreateXor(a, sign), magnitude), sign);
  } else {
    quotient = divide_magnitudes(t, a, magnitude);
  }
  Value* result = quotient;
  if (remainder) {
    result = b_.CreateSub(a, b_.CreateMul(quotient, magnitude));
  } else if (is_signed(t)) {
    result = b_.CreateSelect(b_.CreateICmpSLT(b, zero), b_.CreateNeg(quotient), quotient);
  }
  return b_is_zero ? b_.CreateSelect(b_is_zero, zero, result) : result;
}

/// a / b for b > 0, both without sign (for signed types a is below 2^(bits-1) and b at most that).
/// No target divides vectors of integers. Up to 32 bits the float quotient does it exactly: with a and b of n bits and
/// a quotient of at least 2^e, b has at most n - e bits, so the quotient lies at least 2^(e-n) below the next integer,
/// which is more than the rounding error of a float of 2n bits or more.
auto Arithmetic::divide_magnitudes(Type t, Value* a, Value* b) -> Value* {
  if (t.lanes == 1 || m_.width(t) > 32 || llvm::isa<llvm::Constant>(b)) return b_.CreateUDiv(a, b);
  const Type f = float_type(m_.width(t) == 32 ? 64 : 32).with_lanes(t.lanes);
  llvm::Type *real_type = m_.value_type(f), *wide = m_.value_type(int_type(32).with_lanes(t.lanes));
  if (m_.width(t) < 32) a = b_.CreateZExt(a, wide), b = b_.CreateZExt(b, wide);
  // |INT_MIN| read as a negative number gives a quotient in (-1, 0], which truncates to 0 as well.
  const bool with_sign = m_.width(t) < 32 || is_signed(t);
  auto to_real = [&](Value* v) { return with_sign ? b_.CreateSIToFP(v, real_type) : b_.CreateUIToFP(v, real_type); };
  Value* quotient = b_.CreateFDiv(to_real(a), to_real(b));
  Value* whole = with_sign ? b_.CreateFPToSI(quotient, wide) : b_.CreateFPToUI(quotient, wide);
  return b_.CreateTrunc(whole, m_.value_type(t));
}

/// By an amount that is taken as unsigned: beyond the width gives 0, or the sign fill.
auto Arithmetic::shift_one_way(Type t, Value* a, Value* n, bool left) -> Value* {
  llvm::Type* type = a->getType();
  Value* inside = b_.CreateICmpULT(n, llvm::ConstantInt::get(type, m_.width(t), false));
  if (!left && is_signed(t)) {
    return b_.CreateAShr(a, b_.CreateSelect(inside, n, llvm::ConstantInt::get(type, m_.width(t) - 1u)));
  }
  Value* shifted = left ? b_.CreateShl(a, n) : b_.CreateLShr(a, n);
  return b_.CreateSelect(inside, shifted, llvm::Constant::getNullValue(type));
}

/// A signed amount below 0 shifts the other way. For a constant amount one of the two ways is all there is.
auto Arithmetic::shift(Type t, Value* a, Value* n, bool left) -> Value* {
  if (!is_signed(t)) return shift_one_way(t, a, n, left);
  const llvm::APInt* constant = constant_lanes(n);
  if (constant && !constant->isNegative()) return shift_one_way(t, a, n, left);
  Value* other_way = shift_one_way(t, a, b_.CreateNeg(n), !left);
  if (constant) return other_way;
  Value* negative = b_.CreateICmpSLT(n, llvm::Constant::getNullValue(n->getType()));
  return b_.CreateSelect(negative, other_way, shift_one_way(t, a, n, left));
}

auto Arithmetic::emit_call(const Call& n) -> Value* {
  std::vector<Value*> args;
  for (const Expr& e : n.args) args.push_back(value(e));
  const Type t = n.args[0].type();
  switch (n.function) {
    case Intrinsic::Abs:
      if (t.is_float()) return b_.CreateUnaryIntrinsic(intrinsic::fabs, args[0]);
      return is_signed(t) ? b_.CreateBinaryIntrinsic(intrinsic::abs, args[0], b_.getFalse()) : args[0];
    case Intrinsic::Absd:
      if (t.is_float()) return b_.CreateUnaryIntrinsic(intrinsic::fabs, b_.CreateFSub(args[0], args[1]));
      return b_.CreateSub(min_max(true, t, args[0], args[1]), min_max(false, t, args[0], args[1]));
    case Intrinsic::Fma: return b_.CreateIntrinsic(intrinsic::fma, {args[0]->getType()}, args);
    case Intrinsic::Floor: return b_.CreateUnaryIntrinsic(intrinsic::floor, args[0]);
    case Intrinsic::Ceil: return b_.CreateUnaryIntrinsic(intrinsic::ceil, args[0]);
    case Intrinsic::Round: return b_.CreateUnaryIntrinsic(intrinsic::roundeven, args[0]);
    case Intrinsic::Trunc: return b_.CreateUnaryIntrinsic(intrinsic::trunc, args[0]);
    case Intrinsic::Sqrt: return b_.CreateUnaryIntrinsic(intrinsic::sqrt, args[0]);
    case Intrinsic::Exp: return libm_call("exp", t, args);
    case Intrinsic::Log: return libm_call("log", t, args);
    case Intrinsic::Pow: return libm_call("pow", t, args);
    case Intrinsic::Sin: return libm_call("sin", t, args);
    case Intrinsic::Cos: return libm_call("cos", t, args);
    case Intrinsic::IsNan: return b_.CreateFCmpUNO(args[0], args[0]);
    case Intrinsic::WarpUniform: return args[0];
  }
  return nullptr;
}

/// Lane by lane. LLVM must not know what the function means: it would fold constants with another libm, make x*x of
/// pow(x, 2), or join sin and cos.
auto Arithmetic::libm_call(const char* name, Type t, const std::vector<Value*>& args) -> Value* {
  llvm::Type* scalar = m_.scalar_type(t);
  auto* type = llvm::FunctionType::get(scalar, std::vector<llvm::Type*>(args.size(), scalar), false);
  llvm::Function* fn = m_.external(std::string(name) + (t.bits == 32 ? "f" : ""), type);
  fn->setDoesNotAccessMemory();
  fn->setWillReturn();
  Value* result = llvm::PoisonValue::get(m_.value_type(t));
  for (int i = 0; i < t.lanes; i++) {
    std::vector<Value*> of_lane;
    for (Value* a : args) of_lane.push_back(t.lanes == 1 ? a : lane(a, i));
    llvm::CallInst* call = b_.CreateCall(fn, of_lane);
    call->addFnAttr(llvm::Attribute::NoBuiltin);
    if (t.lanes == 1) return call;
    result = b_.CreateInsertElement(result, call, static_cast<uint64_t>(i));
  }
  return result;
}

auto Arithmetic::emit_compare(const Binary& n) -> Value* {
  Value *a = value(n.a), *b = value(n.b);
  return compare(n.op, n.a.type(), a, b);
}

auto Arithmetic::lane(Value* v, int i) -> Value* { return b_.CreateExtractElement(v, static_cast<uint64_t>(i)); }

auto Arithmetic::splat(Value* v, int lanes) -> Value* {
  return lanes == 1 ? v : b_.CreateVectorSplat(static_cast<unsigned>(lanes), v);
}

auto count_up(llvm::Type* element, int lanes) -> llvm::Constant* {
  std::vector<llvm::Constant*> steps;
  for (int i = 0; i < lanes; i++) {
    const llvm::APInt step(element->getIntegerBitWidth(), static_cast<uint64_t>(i), false, /*implicitTrunc=*/true);
    steps.push_back(llvm::ConstantInt::get(element, step));
  }
  return llvm::ConstantVector::get(steps);
}

auto Arithmetic::emit_ramp(const Ramp& n) -> Value* {
  const Type element = n.type.element();
  Value *base = value(n.base), *stride = value(n.stride);
  if (n.type.lanes == 1) return base;
  if (!element.is_float()) {
    Value* offsets = b_.CreateMul(count_up(m_.scalar_type(element), n.type.lanes), splat(stride, n.type.lanes));
    return b_.CreateAdd(splat(base, n.type.lanes), offsets);
  }
  llvm::Constant* steps = count_up(m_.i32, n.type.lanes);
  Value* offsets = b_.CreateFMul(b_.CreateUIToFP(steps, m_.value_type(n.type)), splat(stride, n.type.lanes));
  return b_.CreateFAdd(splat(base, n.type.lanes), offsets);
}

}  // namespace drawloom::codegen
