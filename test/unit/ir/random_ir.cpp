#include "random_ir.h"

#include <cmath>

#include "drawloom/ir/build.h"
#include "drawloom/ir/type_rules.h"

namespace drawloom {
namespace {

constexpr BinaryOp kBinaryOps[] = {
#define BINARY_OP(name, text, kind) BinaryOp::name,
#include "drawloom/ir/ops.def"
};
constexpr UnaryOp kUnaryOps[] = {
#define UNARY_OP(name, text) UnaryOp::name,
#include "drawloom/ir/ops.def"
};
constexpr Intrinsic kIntrinsics[] = {
#define INTRINSIC(name, text, arity) Intrinsic::name,
#include "drawloom/ir/ops.def"
};
constexpr Type kTypes[] = {int_type(8),   int_type(16),  int_type(32),   int_type(64),   uint_type(8), uint_type(16),
                           uint_type(32), uint_type(64), float_type(32), float_type(64), kBool,        kIndex};
/// Hints that clash with each other, with made-up names, and with the characters of a name.
constexpr const char* kHints[] = {"x", "x", "x_1", "y", "f.x", "a b", "", "0", "min", ".dot."};

class Generator {
 public:
  Generator(uint64_t seed, RandomIrLimits limits) : random_(seed), limits_(limits) {}

  auto program() -> Program {
    Program p;
    p.name = "f";
    p.flat_storage = flat_ = random_.chance(20);
    for (int64_t n = random_.uniform(1, 3); n > 0; --n) {
      const auto buffer = make_buffer(hint(), pick(kTypes), rank(), MemoryKind::Argument);
      p.arguments.push_back(BufferArgument{buffer, random_.chance(50) ? ArgumentRole::Output : ArgumentRole::Input});
      buffers_.push_back(buffer);
      for (const auto& list : {buffer->min, buffer->extent, buffer->stride}) {
        symbols_.insert(symbols_.end(), list.begin(), list.end());
      }
    }
    for (int64_t n = random_.uniform(0, 3); n > 0; --n) {
      auto symbol = make_ref<Symbol>(SymbolKind::Param, hint(), pick(kTypes));
      if (random_.chance(30)) symbol->min = random_.uniform(-5, 5);
      if (random_.chance(30)) symbol->max = random_.uniform(6, 9);
      p.arguments.push_back(ScalarArgument{symbol});
      symbols_.push_back(symbol);
    }
    p.body = block(limits_.stmt_depth);
    return p;
  }

 private:
  template <typename T, size_t N>
  auto pick(const T (&list)[N]) -> T {
    return list[random_.uniform(0, static_cast<int64_t>(N) - 1)];
  }
  template <typename T>
  auto pick(const std::vector<T>& list) -> const T& {
    return list[static_cast<size_t>(random_.uniform(0, static_cast<int64_t>(list.size()) - 1))];
  }
  auto hint() -> std::string { return pick(kHints); }
  auto rank() -> int { return static_cast<int>(random_.uniform(0, 3)); }
  auto lanes() -> int { return random_.chance(70) ? 1 : static_cast<int>(random_.uniform(2, 9)); }

  // --- expressions

  auto expr(Type type, int depth) -> Expr {
    // Now and then a node made before, so that DAGs arise.
    if (random_.chance(15)) {
      for (int tries = 0; tries < 4 && !made_.empty(); ++tries) {
        const Expr& old = pick(made_);
        if (old.type() == type) return old;
      }
    }
    auto e = depth <= 0 ? leaf(type) : inner(type, depth - 1);
    made_.push_back(e);
    return e;
  }

  auto leaf(Type type) -> Expr {
    if (!type.is_scalar() && random_.chance(50)) return broadcast(leaf(type.element()), type.lanes);
    if (random_.chance(50)) {
      for (int tries = 0; tries < 6 && !symbols_.empty(); ++tries) {
        const auto& s = pick(symbols_);
        if (s->type == type) return var_ref(s);
      }
    }
    return literal(type);
  }

  auto literal(Type type) -> Expr {
    if (!type.is_float()) {
      const int64_t small = random_.uniform(-3, 3), wide = static_cast<int64_t>(random_.next());
      return int_imm(type, random_.chance(60) ? small : random_.chance(50) ? wide : INT64_MIN >> random_.uniform(0, 1));
    }
    constexpr double kEdges[] = {0.0, -0.0, 1.0, 0.1, -2.5, 1e30, 1e-40, 16777217.0, INFINITY, -INFINITY, NAN, 3e-320};
    if (random_.chance(70)) return float_imm(type, pick(kEdges));
    return float_imm(type, static_cast<double>(random_.uniform(-1000000, 1000000)) / 997.0);
  }

  auto inner(Type type, int depth) -> Expr {
    for (int tries = 0; tries < 20; ++tries) {
      if (auto e = attempt(type, depth)) return e;
    }
    return leaf(type);
  }

  /// One node of `type`, or nothing when the kind drawn cannot have it.
  auto attempt(Type type, int depth) -> Expr {
    const auto made = [](auto result) { return result.ok() ? result.value() : Expr(); };
    switch (random_.uniform(0, 9)) {
      case 0: return cast(type, expr(pick(kTypes).with_lanes(type.lanes), depth));
      case 1: return made(try_make<Unary>(Type(), pick(kUnaryOps), expr(type, depth), Loc()));
      case 2:
      case 3: {
        const auto op = pick(kBinaryOps);
        if (is_compare(op) && !type.is_bool()) return {};
        const Type operand = is_compare(op) ? pick(kTypes).with_lanes(type.lanes) : type;
        return made(try_make<Binary>(Type(), op, expr(operand, depth), expr(operand, depth), Loc()));
      }
      case 4: return select(expr(kBool.with_lanes(type.lanes), depth), expr(type, depth), expr(type, depth));
      case 5: {
        const auto f = pick(kIntrinsics);
        ExprList args;
        for (int i = 0; i < arity(f); ++i) args.push_back(expr(type, depth));
        auto e = made(try_make<Call>(Type(), f, args, Loc()));
        return e && e.type() == type ? e : Expr();
      }
      case 6: return element_load(type, depth);
      case 7: {
        if (type.is_scalar() || type.is_bool()) return {};
        return ramp(expr(type.element(), depth), expr(type.element(), depth), type.lanes);
      }
      case 8: return type.is_scalar() ? Expr() : broadcast(expr(type.element(), depth), type.lanes);
      case 9: return let_expr(type, depth);
    }
    return {};
  }

  auto let_expr(Type type, int depth) -> Expr {
    auto value = expr(pick(kTypes).with_lanes(lanes()), depth);
    const auto symbol = make_symbol(SymbolKind::Let, hint(), value.type());
    // What is made inside may mention the symbol and cannot be reused outside.
    const size_t before = made_.size();
    symbols_.push_back(symbol);
    auto body = expr(type, depth);
    symbols_.pop_back();
    made_.resize(before);
    return let(symbol, value, body);
  }

  struct Element {
    ExprList index;
    Expr mask;
    ExprList origin;
  };
  auto element(const BufferRef& buffer, int lanes, int depth) -> Element {
    Element e;
    for (int d = 0; d < (flat_ ? 1 : buffer->rank); ++d) e.index.push_back(expr(kIndex.with_lanes(lanes), depth));
    if (random_.chance(30)) e.mask = expr(kBool.with_lanes(lanes), depth);
    if (!e.index.empty() && random_.chance(30)) e.origin = {expr(kIndex.with_lanes(lanes), depth), e.index[0]};
    return e;
  }
  auto element_load(Type type, int depth) -> Expr {
    const BufferRef buffer = pick(buffers_);
    if (buffer->element != type.element() || (buffer->rank == 0 && !type.is_scalar())) return {};
    auto e = element(buffer, type.lanes, depth);
    return load(buffer, e.index, e.mask, e.origin);
  }

  // --- statements

  auto block(int depth) -> Stmt {
    StmtList list;
    for (int64_t n = random_.uniform(0, 3); n > 0; --n) list.push_back(stmt(depth - 1));
    return make_block(list);
  }

  auto stmt(int depth) -> Stmt {
    const int e = limits_.expr_depth;
    switch (depth <= 0 ? random_.uniform(0, 2) : random_.uniform(0, 8)) {
      case 0: return random_store();
      case 1: return random_check();
      case 2: return store_fence();
      case 3: return random_for(depth);
      case 4: {
        auto condition = expr(kBool, e);
        auto then = block(depth);
        return make_if(condition, then,
                       random_.chance(50)   ? block(depth)
                       : random_.chance(50) ? stmt(depth - 1)
                                            : Stmt());
      }
      case 5: {
        auto value = expr(pick(kTypes).with_lanes(lanes()), e);
        const auto symbol = make_symbol(SymbolKind::Let, hint(), value.type());
        return let_stmt(symbol, value, inside(symbol, {}, depth));
      }
      case 6: return random_allocate(depth);
      case 7: return stage(random_.chance(50) ? "f.update(0)" : "quote \" and \\ and \n", block(depth));
      default: return random_store();
    }
  }

  auto random_store() -> Stmt {
    const BufferRef buffer = pick(buffers_);
    const int n = buffer->rank == 0 ? 1 : lanes();
    auto e = element(buffer, n, limits_.expr_depth);
    auto value = expr(buffer->element.with_lanes(n), limits_.expr_depth);
    return store(buffer, e.index, value, e.mask, e.origin, random_.chance(20));
  }
  auto random_check() -> Stmt {
    ExprList args;
    std::string message = "message";
    for (int64_t n = random_.uniform(0, 2); n > 0; --n) {
      args.push_back(expr(pick(kTypes), 2));
      message += " {}";
    }
    return check(expr(kBool, 3), "code", message, args);
  }
  auto random_for(int depth) -> Stmt {
    const auto symbol = make_symbol(SymbolKind::Loop, hint());
    auto min = expr(kIndex, 3), extent = expr(kIndex, 3);
    const auto how = static_cast<ForKind>(random_.uniform(0, 3));
    return make_for(symbol, min, extent, how, inside(symbol, {}, depth));
  }
  auto random_allocate(int depth) -> Stmt {
    const auto memory = static_cast<MemoryKind>(random_.uniform(1, 3));
    const auto buffer = make_buffer(hint(), pick(kTypes), rank(), memory);
    ExprList extents;
    for (int d = 0; d < (flat_ ? 1 : buffer->rank); ++d) {
      extents.push_back(memory == MemoryKind::Heap ? expr(kIndex, 3) : index_imm(random_.uniform(0, 99)));
    }
    return allocate(buffer, extents, inside({}, buffer, depth));
  }

  /// A block in which one more symbol or buffer is in scope.
  auto inside(const SymbolRef& symbol, const BufferRef& buffer, int depth) -> Stmt {
    const size_t before = made_.size();
    if (symbol) symbols_.push_back(symbol);
    if (buffer) buffers_.push_back(buffer);
    auto body = block(depth);
    if (symbol) symbols_.pop_back();
    if (buffer) buffers_.pop_back();
    made_.resize(before);
    return body;
  }

  CounterRandom random_;
  RandomIrLimits limits_;
  bool flat_ = false;  ///< one subscript an element
  std::vector<SymbolRef> symbols_;
  std::vector<BufferRef> buffers_;
  ExprList made_;
};

}  // namespace

auto random_program(uint64_t seed, RandomIrLimits limits) -> Program { return Generator(seed, limits).program(); }

}  // namespace drawloom
