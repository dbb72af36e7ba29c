/// Expressions of type index: scalars as sums ordered by depth (linear.h), vectors as ramps where they are ramps.
///
/// Example, (y + 1) * stride + x in loops over y (depth 1) and x (depth 2), stride known outside (depth 0):
///     y + 1            y, constant 1
///     times stride     part by part: stride (depth 0) + y * stride (depth 1); (y + 2) * stride shares the product
///     plus x           stride + y * stride + x, in this order: LICM takes all but the last sum out of the x loop
/// A vector ramp(x, 1, 8) + broadcast(b, 8) is the ramp with base x + b and stride 1, so accesses see that it is dense.
///
/// Sums of shared sums, and products of sums, could grow without bound: beyond kMostTerms and kMostProducts they are
/// taken as one value.

#include "drawloom/codegen/llvm/emitter.h"
#include "drawloom/ir/build.h"
#include "drawloom/ir/rewrite.h"

namespace drawloom::codegen {

/// Longer sums become one value: sums of shared sums must not grow without bound.
static constexpr size_t kMostTerms = 16;

auto is_linear(const Binary& n) -> bool {
  return n.type.is_index() && (n.op == BinaryOp::Add || n.op == BinaryOp::Sub || n.op == BinaryOp::Mul);
}

auto RampValue::constant_stride(int64_t& out) const -> bool {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(stride);
  if (constant) out = constant->getSExtValue();
  return constant != nullptr;
}

auto RampValue::has_stride(int64_t n) const -> bool {
  int64_t s = 0;
  return constant_stride(s) && s == n;
}

auto FunctionEmitter::linear(const Expr& e) -> Linear {
  if (auto hit = linears_.find(e.get()); hit != linears_.end()) return hit->second;
  Linear sum_of_e = find_linear(e);
  if (sum_of_e.terms().size() > kMostTerms) sum_of_e = Linear(Term{sum(sum_of_e), 1, sum_of_e.depth()});
  return linears_.emplace(e.get(), std::move(sum_of_e)).first->second;
}

auto FunctionEmitter::find_linear(const Expr& e) -> Linear {
  if (const auto* n = e.as<IntImm>()) return Linear(n->value);
  if (const auto* n = e.as<VarRef>()) {
    const Binding bound = symbol(n->symbol.get());
    return bound.sum ? *bound.sum : Linear(Term{bound.value, 1, bound.depth});
  }
  if (const auto* n = e.as<Binary>(); n && is_linear(*n)) {
    const Linear a = linear(n->a), b = linear(n->b);
    return n->op == BinaryOp::Mul ? product(a, b) : a.plus(b, n->op == BinaryOp::Add ? 1 : -1);
  }
  if (const auto* n = e.as<Let>()) {
    bind(n->symbol, n->value);
    return linear(n->body);
  }
  Value* v = value(e);
  if (const auto* c = llvm::dyn_cast<llvm::ConstantInt>(v)) return Linear(c->getSExtValue());
  return Linear(Term{v, 1, depth_of(e)});
}

/// A product of sums becomes a sum of products of one depth each, unless these are many.
auto FunctionEmitter::product(const Linear& a, const Linear& b) -> Linear {
  if (a.is_constant()) return b.scaled(a.constant());
  if (b.is_constant()) return a.scaled(b.constant());
  constexpr size_t kMostProducts = 4;
  std::vector<Linear> left = a.by_depth(), right = b.by_depth();
  if (left.size() * right.size() > kMostProducts) left = {a}, right = {b};
  Linear out;
  for (const Linear& l : left) {
    for (const Linear& r : right) out = out.plus(product_of_parts(l, r));
  }
  return out;
}

auto FunctionEmitter::product_of_parts(const Linear& a, const Linear& b) -> Linear {
  if (a.is_constant()) return b.scaled(a.constant());
  if (b.is_constant()) return a.scaled(b.constant());
  // A factor of a single term stays outside, so that 4 * (y * stride) and 8 * (y * stride) share their product.
  auto outer = [](const Linear& l) { return l.terms().size() == 1 && l.constant() == 0 ? l.terms()[0].times : 1; };
  auto inner = [&](const Linear& l) { return outer(l) == 1 ? sum(l) : l.terms()[0].value; };
  Value* both = b_.CreateMul(inner(a), inner(b));
  return Linear(Term{both, 1, std::max(a.depth(), b.depth())}).scaled(outer(a)).scaled(outer(b));
}

/// Of what `e` depends on, the depth of the innermost; `e` has been evaluated.
auto FunctionEmitter::depth_of(const Expr& e) -> int {
  if (const auto* n = e.as<VarRef>()) return symbol(n->symbol.get()).depth;
  if (e.kind() == Kind::Load || e.kind() == Kind::Let) return depth_;
  if (auto hit = depths_.find(e.get()); hit != depths_.end()) return hit->second;
  int deepest = 0;
  each_child(*e.get(), [&](const auto& child) {
    if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) deepest = std::max(deepest, depth_of(child));
  });
  depths_.emplace(e.get(), deepest);
  return deepest;
}

/// By rising depth, the constant last.
auto FunctionEmitter::sum(const Linear& l) -> Value* {
  Value* out = nullptr;
  for (const Term& t : l.terms()) {
    Value* v = t.times == 1 ? t.value : b_.CreateMul(t.value, b_.getInt64(static_cast<uint64_t>(t.times)));
    out = out ? b_.CreateAdd(out, v) : v;
  }
  Value* constant = b_.getInt64(static_cast<uint64_t>(l.constant()));
  if (!out) return constant;
  return l.constant() == 0 ? out : b_.CreateAdd(out, constant);
}

void FunctionEmitter::bind(const SymbolRef& s, const Expr& e) {
  Binding bound;
  bound.ramp = as_ramp(e);
  bound.value = value(e);
  if (e.type().is_index() && e.type().is_scalar()) {
    bound.sum = linear(e);
    bound.depth = bound.sum->depth();
  } else {
    bound.depth = depth_of(e);
  }
  symbols_[s.get()] = std::move(bound);
}

auto FunctionEmitter::as_ramp(const Expr& e) -> std::optional<RampValue> {
  if (!e.type().is_index() || e.type().is_scalar()) return std::nullopt;
  if (auto hit = ramps_.find(e.get()); hit != ramps_.end()) return hit->second;
  std::optional<RampValue> ramp = find_ramp(e);
  ramps_.emplace(e.get(), ramp);
  return ramp;
}

auto FunctionEmitter::find_ramp(const Expr& e) -> std::optional<RampValue> {
  if (const auto* n = e.as<Ramp>()) return RampValue{linear(n->base), value(n->stride)};
  if (const auto* n = e.as<Broadcast>()) return RampValue{linear(n->value), b_.getInt64(0)};
  if (const auto* n = e.as<IntImm>()) return RampValue{Linear(n->value), b_.getInt64(0)};
  if (const auto* n = e.as<VarRef>()) return symbol(n->symbol.get()).ramp;
  if (const auto* n = e.as<Binary>()) return ramp_of_binary(*n);
  return std::nullopt;
}

/// Products and sums in which 0 and 1 vanish: a stride that is constant must be seen as one at once.
auto FunctionEmitter::index_product(Value* a, Value* b) -> Value* {
  const auto *x = llvm::dyn_cast<llvm::ConstantInt>(a), *y = llvm::dyn_cast<llvm::ConstantInt>(b);
  if ((x && x->isZero()) || (y && y->isOne())) return a;
  if ((y && y->isZero()) || (x && x->isOne())) return b;
  return b_.CreateMul(a, b);
}
auto FunctionEmitter::index_sum(Value* a, Value* b) -> Value* {
  const auto *x = llvm::dyn_cast<llvm::ConstantInt>(a), *y = llvm::dyn_cast<llvm::ConstantInt>(b);
  if (y && y->isZero()) return a;
  return x && x->isZero() ? b : b_.CreateAdd(a, b);
}

auto FunctionEmitter::ramp_of_binary(const Binary& n) -> std::optional<RampValue> {
  if (!is_linear(n)) return std::nullopt;
  const std::optional<RampValue> a = as_ramp(n.a);
  const std::optional<RampValue> b = a ? as_ramp(n.b) : std::nullopt;
  if (!b) return std::nullopt;
  if (n.op == BinaryOp::Add) return RampValue{a->base.plus(b->base), index_sum(a->stride, b->stride)};
  if (n.op == BinaryOp::Sub) {
    Value* stride = b->has_stride(0) ? a->stride : b_.CreateSub(a->stride, b->stride);
    return RampValue{a->base.plus(b->base, -1), stride};
  }
  if (a->has_stride(0)) return RampValue{product(a->base, b->base), index_product(sum(a->base), b->stride)};
  if (b->has_stride(0)) return RampValue{product(a->base, b->base), index_product(sum(b->base), a->stride)};
  return std::nullopt;
}

}  // namespace drawloom::codegen
