#include "drawloom/ir/build.h"

#include <cmath>

#include "drawloom/ir/type_rules.h"
#include "drawloom/support/check.h"

namespace drawloom {
namespace {

struct IntrinsicRow {
  std::string_view text;
  int arity;
};
enum class OpClass : uint8_t { arith, compare, logic };
struct BinaryRow {
  std::string_view text;
  OpClass op_class;
};

constexpr std::string_view kUnary[] = {
#define UNARY_OP(name, text) text,
#include "drawloom/ir/ops.def"
};
constexpr BinaryRow kBinary[] = {
#define BINARY_OP(name, text, kind) {text, OpClass::kind},
#include "drawloom/ir/ops.def"
};
constexpr IntrinsicRow kIntrinsic[] = {
#define INTRINSIC(name, text, arity) {text, arity},
#include "drawloom/ir/ops.def"
};

auto row(BinaryOp op) -> const BinaryRow& { return kBinary[static_cast<size_t>(op)]; }

template <typename T, typename... Args>
auto build(Args&&... args) {
  auto made = try_make<T>(std::forward<Args>(args)...);
  DRAWLOOM_CHECK(made.ok(), "{}", made.diag().text());
  return std::move(made).value();
}

/// Rounds to a binary format with `digits` significant bits, least normal exponent `min_exponent` and largest finite
/// value `largest` (ties to even). For the formats that the host has no type for.
auto round_to_format(double v, int digits, int min_exponent, double largest) -> double {
  if (v == 0 || !std::isfinite(v)) return v;
  int exponent;
  std::frexp(v, &exponent);
  const int scale = digits - std::max(exponent, min_exponent);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(v, scale)), -scale);
  return std::abs(rounded) > largest ? std::copysign(INFINITY, v) : rounded;
}

}  // namespace

auto wrap_int(Type type, int64_t value) -> int64_t {
  if (type.bits >= 64) return value;
  const int shift = 64 - type.bits;
  const uint64_t raised = static_cast<uint64_t>(value) << shift;
  return type.is_uint() ? static_cast<int64_t>(raised >> shift) : static_cast<int64_t>(raised) >> shift;
}

auto round_float(Type type, double value) -> double {
  if (type.code == TypeCode::BFloat) return round_to_format(value, 8, -125, 0x1.fep127);
  if (type.bits == 16) return round_to_format(value, 11, -13, 65504);
  return type.bits == 32 ? static_cast<double>(static_cast<float>(value)) : value;
}

auto int_imm(Type type, int64_t value, Loc loc) -> Expr {
  return build<IntImm>(type, wrap_int(type, value), std::move(loc));
}
auto Expr::of_literal(int value) -> Expr { return int_imm(int_type(32), value); }
auto Expr::of_literal(float value) -> Expr { return float_imm(float_type(32), value); }
auto Expr::of_literal(double value) -> Expr { return float_imm(float_type(64), value); }
auto index_imm(int64_t value, Loc loc) -> Expr { return int_imm(kIndex, value, std::move(loc)); }
auto bool_imm(bool value, int lanes, Loc loc) -> Expr {
  return int_imm(kBool.with_lanes(lanes), value, std::move(loc));
}
auto float_imm(Type type, double value, Loc loc) -> Expr {
  return build<FloatImm>(type, round_float(type, value), std::move(loc));
}
auto constant(Type type, int64_t value, Loc loc) -> Expr {
  return type.is_float() ? float_imm(type, static_cast<double>(value), std::move(loc))
                         : int_imm(type, value, std::move(loc));
}
auto var_ref(SymbolRef symbol, Loc loc) -> Expr { return build<VarRef>(std::move(symbol), std::move(loc)); }
auto cast(Type type, Expr value, Loc loc) -> Expr {
  if (value.type() == type) return value;
  DRAWLOOM_CHECK(type.lanes == value.type().lanes, "cast from {} to {} changes lanes", value.type(), type);
  return build<Cast>(type, std::move(value), std::move(loc));
}
auto reinterpret(Type type, Expr value, Loc loc) -> Expr {
  if (value.type() == type) return value;
  return build<Reinterpret>(type, std::move(value), std::move(loc));
}
auto unary(UnaryOp op, Expr a, Loc loc) -> Expr { return build<Unary>(Type(), op, std::move(a), std::move(loc)); }
auto binary(BinaryOp op, Expr a, Expr b, Loc loc) -> Expr {
  return build<Binary>(Type(), op, std::move(a), std::move(b), std::move(loc));
}
auto select(Expr condition, Expr yes, Expr no, Loc loc) -> Expr {
  return build<Select>(std::move(condition), std::move(yes), std::move(no), std::move(loc));
}
auto call(Intrinsic function, ExprList args, Loc loc) -> Expr {
  DRAWLOOM_CHECK(static_cast<int>(args.size()) == arity(function), "{} takes {} arguments", op_text(function),
                 arity(function));
  return build<Call>(Type(), function, std::move(args), std::move(loc));
}
auto access(Type type, const FuncDecl* func, Ref<const FuncDecl> owner, int component, ExprList args, Loc loc) -> Expr {
  return build<Access>(type, func, std::move(owner), component, std::move(args), std::move(loc));
}
auto load(BufferRef buffer, ExprList index, Expr mask, ExprList origin, Loc loc) -> Expr {
  return build<Load>(buffer->element, buffer, std::move(index), std::move(mask), std::move(origin), std::move(loc));
}
auto ramp(Expr base, Expr stride, int lanes, Loc loc) -> Expr {
  if (lanes == 1) return base;
  return build<Ramp>(std::move(base), std::move(stride), lanes, std::move(loc));
}
auto broadcast(Expr value, int lanes, Loc loc) -> Expr {
  if (lanes == 1) return value;
  return build<Broadcast>(std::move(value), lanes, std::move(loc));
}
auto let(SymbolRef symbol, Expr value, Expr body, Loc loc) -> Expr {
  return build<Let>(std::move(symbol), std::move(value), std::move(body), std::move(loc));
}

auto make_block(StmtList stmts, Loc loc) -> Stmt {
  StmtList flat;
  for (auto& s : stmts) {
    if (!s) continue;
    if (const auto* inner = s.as<Block>()) {
      flat.insert(flat.end(), inner->stmts.begin(), inner->stmts.end());
    } else {
      flat.push_back(std::move(s));
    }
  }
  if (flat.size() == 1) return flat[0];
  return build<Block>(std::move(flat), std::move(loc));
}
auto make_for(SymbolRef symbol, Expr min, Expr extent, ForKind how, Stmt body, Loc loc) -> Stmt {
  return build<For>(std::move(symbol), std::move(min), std::move(extent), how, std::move(body), std::move(loc));
}
auto make_if(Expr condition, Stmt then, Stmt otherwise, Loc loc) -> Stmt {
  return build<If>(std::move(condition), std::move(then), std::move(otherwise), std::move(loc));
}
auto let_stmt(SymbolRef symbol, Expr value, Stmt body, Loc loc) -> Stmt {
  return build<LetStmt>(std::move(symbol), std::move(value), std::move(body), std::move(loc));
}
auto allocate(BufferRef buffer, ExprList extents, Stmt body, Loc loc) -> Stmt {
  return build<Allocate>(std::move(buffer), std::move(extents), std::move(body), std::move(loc));
}
auto store(BufferRef buffer, ExprList index, Expr value, Expr mask, ExprList origin, bool nontemporal, Loc loc)
    -> Stmt {
  return build<Store>(std::move(buffer), std::move(index), std::move(value), std::move(mask), std::move(origin),
                      nontemporal, std::move(loc));
}
auto stage(std::string name, Stmt body, Loc loc) -> Stmt {
  return build<Stage>(std::move(name), std::move(body), std::move(loc));
}
auto check(Expr condition, std::string code, std::string message, ExprList args, Loc loc) -> Stmt {
  return build<Check>(std::move(condition), std::move(code), std::move(message), std::move(args), std::move(loc));
}
auto store_fence(Loc loc) -> Stmt { return build<StoreFence>(std::move(loc)); }

auto op_text(UnaryOp op) -> std::string_view { return kUnary[static_cast<size_t>(op)]; }
auto op_text(BinaryOp op) -> std::string_view { return row(op).text; }
auto op_text(Intrinsic function) -> std::string_view { return kIntrinsic[static_cast<size_t>(function)].text; }
auto arity(Intrinsic function) -> int { return kIntrinsic[static_cast<size_t>(function)].arity; }
auto is_compare(BinaryOp op) -> bool { return row(op).op_class == OpClass::compare; }
auto is_logic(BinaryOp op) -> bool { return row(op).op_class == OpClass::logic; }

auto as_int(const Expr& e, int64_t& out) -> bool {
  if (const auto* b = e.as<Broadcast>()) return as_int(b->value, out);
  const auto* imm = e.as<IntImm>();
  if (imm) out = imm->value;
  return imm != nullptr;
}
auto is_int(const Expr& e, int64_t value) -> bool {
  int64_t v;
  return as_int(e, v) && v == value;
}

}  // namespace drawloom
