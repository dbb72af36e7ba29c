/// Nontemporal stores need aligned addresses, which only the call knows. An innermost loop over whole vectors asks once,
/// before it starts: are all these stores aligned in all iterations? Then it runs without a test, else with plain stores.
///
///   for x: store nontemporal out[ramp(y * stride + 16 * x, 1, 16)] = ..
///
/// A subscript that is affine in the loop variable is aligned everywhere if it is so in two neighbouring iterations.
/// Stores under a condition are a few at the edges of a picture and become plain ones. What is left (other subscripts,
/// loops around loops) asks at each store: stores.cpp.

#include "drawloom/codegen/llvm/emitter.h"
#include "drawloom/codegen/llvm/x86/x86.h"
#include "drawloom/ir/rewrite.h"

namespace drawloom::codegen {
namespace {

/// How an expression depends on the variable of a loop: not, affinely, or in another way (a load may).
class DegreeIn {
 public:
  explicit DegreeIn(const Symbol* loop) { symbols_[loop] = 1; }

  void bind(const Symbol* s, const Expr& e) { symbols_[s] = of(e); }

  auto of(const Expr& e) -> int {
    if (auto hit = memo_.find(e.get()); hit != memo_.end()) return hit->second;
    const int degree = std::min(find(e), 2);
    memo_.emplace(e.get(), degree);
    return degree;
  }

 private:
  auto find(const Expr& e) -> int {
    if (const auto* n = e.as<VarRef>()) {
      const auto hit = symbols_.find(n->symbol.get());
      return hit == symbols_.end() ? 0 : hit->second;
    }
    if (const auto* n = e.as<Let>()) {
      bind(n->symbol.get(), n->value);
      return of(n->body);
    }
    if (e.kind() == Kind::Load) return 2;
    if (const auto* n = e.as<Binary>(); n && is_linear(*n)) {
      const int a = of(n->a), b = of(n->b);
      return n->op == BinaryOp::Mul ? a + b : std::max(a, b);
    }
    int most = 0;
    each_child(*e.get(), [&](const auto& child) {
      if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) most = std::max(most, of(child));
    });
    const bool keeps = e.kind() == Kind::Ramp || e.kind() == Kind::Broadcast;
    return keeps || most == 0 ? most : 2;
  }

  std::unordered_map<const Symbol*, int> symbols_;
  std::unordered_map<const ExprNode*, int> memo_;
};

auto has_loop(const Stmt& s) -> bool {
  bool found = false;
  each_node(*s.get(), [&](const Node& n) {
    found |= n.kind == Kind::For;
    return !found;
  });
  return found;
}

}  // namespace

/// The statements of a loop body that runs once per iteration, in order.
struct FunctionEmitter::StreamScan {
  DegreeIn degree;
  std::vector<const LetStmt*> lets;    ///< affine ones
  std::vector<const Store*> streamed;  ///< aligned in all iterations, if the subscripts are

  void scan(const Stmt& s, bool always, StoreKinds& kinds) {
    if (const auto* n = s.as<Block>()) {
      for (const Stmt& each : n->stmts) scan(each, always, kinds);
    } else if (const auto* n = s.as<LetStmt>()) {
      degree.bind(n->symbol.get(), n->value);
      if (n->value.type().is_index() && degree.of(n->value) <= 1) lets.push_back(n);
      scan(n->body, always, kinds);
    } else if (const auto* n = s.as<Allocate>()) {
      scan(n->body, always, kinds);
    } else if (const auto* n = s.as<Stage>()) {
      scan(n->body, always, kinds);
    } else if (const auto* n = s.as<If>()) {
      scan(n->then, false, kinds);
      if (n->otherwise) scan(n->otherwise, false, kinds);
    } else if (const auto* n = s.as<Store>(); n && n->nontemporal && !n->value.type().is_scalar()) {
      if (!always || n->mask)
        kinds[n] = StoreKind::Plain;
      else if (degree.of(n->index[0]) <= 1)
        streamed.push_back(n);
    }
  }
};

/// Where the stores of a loop go past the caches if the result is true; null if there is nothing to ask.
auto FunctionEmitter::streams(const For& n, Value* min, std::vector<const Store*>& stores) -> Value* {
  if (has_loop(n.body)) return nullptr;
  StreamScan found{DegreeIn(n.symbol.get()), {}, {}};
  found.scan(n.body, true, store_kinds_);
  if (found.streamed.empty()) return nullptr;
  Value* low_bits = nullptr;
  for (int64_t iteration : {0, 1}) {
    forget();
    Value* at = iteration == 0 ? min : b_.CreateAdd(min, b_.getInt64(1));
    symbols_[n.symbol.get()] = {at, std::nullopt, std::nullopt, depth_};
    for (const LetStmt* let : found.lets) bind(let->symbol, let->value);
    for (const Store* s : found.streamed) {
      const Place p = place_of(s->buffer.get(), s->index, s->value.type().lanes);
      const int align = x86_nontemporal_align(m_.target, p.bytes());
      if (align == 0 || !p.ramp || !p.ramp->has_stride(1)) continue;
      Value* bits = address_bits(p, p.ramp->base, align);
      low_bits = low_bits ? b_.CreateOr(low_bits, bits) : bits;
      if (iteration == 0) stores.push_back(s);
    }
  }
  forget();
  return low_bits ? b_.CreateIsNull(low_bits) : nullptr;
}

/// The address of an element modulo `align`.
auto FunctionEmitter::address_bits(const Place& p, const Linear& index, int align) -> Value* {
  Value* bits = b_.CreatePtrToInt(p.storage.base, m_.i64);
  bits = b_.CreateAdd(bits, sum(index.scaled(p.element_bytes())));
  return b_.CreateAnd(bits, b_.getInt64(static_cast<uint64_t>(align - 1)));
}

}  // namespace drawloom::codegen
