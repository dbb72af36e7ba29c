// Example, with in of u8, a Var x and a Param n of i32:
//     in(x) + 1      the literal becomes u8
//     x + n          an index: n is cast, since it is known before any point is computed
//     in(x) + x      x becomes i32, and u8 meets it in i32
// A value that is read from a Func or an image does not become an index by itself: only `subscript` widens it, where it
// stands as one.
#include "drawloom/lang/typing.h"

#include <algorithm>

#include "drawloom/ir/build.h"

namespace drawloom {
namespace {

/// The value of an integer literal: a signed or wide constant that C++ numbers become. (Narrow constants come from
/// casts in text and have said their type.)
auto is_literal(const Expr& e) -> bool {
  const auto* imm = e.as<IntImm>();
  return imm && (imm->type.is_int() || imm->type.is_uint()) && imm->type.bits >= 32;
}

/// The literal as a constant of `type`; undefined when it is no value of it.
auto literal_as(Type type, const IntImm& imm) -> Expr {
  const bool huge = imm.type == uint_type(64) && imm.value < 0;
  if (type.is_float()) {
    const double value = huge ? static_cast<double>(static_cast<uint64_t>(imm.value)) : static_cast<double>(imm.value);
    const bool exact = !huge && round_float(type, value) == value && static_cast<int64_t>(value) == imm.value;
    return exact ? float_imm(type, value, imm.loc) : Expr();
  }
  if (huge && type != uint_type(64)) return {};
  if (type == uint_type(64) && imm.value < 0 && !huge) return {};
  return wrap_int(type, imm.value) == imm.value ? int_imm(type, imm.value, imm.loc) : Expr();
}
auto literal_text(const IntImm& imm) -> std::string {
  return imm.type == uint_type(64) ? std::to_string(static_cast<uint64_t>(imm.value)) : std::to_string(imm.value);
}

/// The type in which two data types meet.
auto meet(Type a, Type b) -> std::optional<Type> {
  if (a == b) return a;
  if (a.is_bool() || b.is_bool()) return {};
  if (a.is_float() && b.is_float()) return a.bits >= b.bits ? a : b;
  if (a.is_float()) return a;
  if (b.is_float()) return b;
  const int bits = std::max(a.bits, b.bits);
  return a.is_uint() && b.is_uint() ? uint_type(bits) : int_type(bits);
}

auto check_defined(std::string_view what, const ExprList& operands, const Loc& loc) -> Status {
  for (const auto& e : operands) {
    if (!e.defined()) return Diag(DiagKind::expr_undefined, loc, what);
  }
  return Done{};
}

/// All operands as index, if that is what they meet in.
auto meet_in_index(ExprList& operands) -> bool {
  ExprList out;
  for (const auto& e : operands) {
    out.push_back(as_index(e));
    if (!out.back().defined()) return false;
  }
  operands = std::move(out);
  return true;
}

auto convert(std::string_view, ExprList& operands, Type target, const Loc& loc) -> Status {
  for (auto& e : operands) {
    if (e.type() == target) continue;
    if (!is_literal(e)) {
      e = cast(target, e, e.loc());
      continue;
    }
    const auto& imm = e.to<IntImm>();
    e = literal_as(target, imm);
    if (!e.defined()) return Diag(DiagKind::literal_range, loc, literal_text(imm), target);
  }
  return Done{};
}

auto clash(std::string_view what, Type a, Type b, const Loc& loc) -> Diag {
  const Diag diag(DiagKind::type_clash, loc, what, a, b);
  if (a.is_bool() || b.is_bool())
    return diag.with_help("a bool becomes a number by cast<int32_t>(..) or select(.., 1, 0)");
  return diag.with_help("cast one of them");
}

/// Numbers that float functions take: other than floats become f32.
auto as_float(const Expr& e, std::string_view what, const Loc& loc) -> Result<Expr> {
  if (e.type().is_float()) return e;
  if (e.type().is_bool()) return Diag(DiagKind::type_unsupported, loc, what, e.type());
  if (is_literal(e)) {
    if (auto exact = literal_as(float_type(32), e.to<IntImm>()); exact.defined()) return exact;
  }
  return cast(float_type(32), as_data(e), e.loc());
}

auto negated(BinaryOp shift) -> BinaryOp { return shift == BinaryOp::Shl ? BinaryOp::Shr : BinaryOp::Shl; }

/// The amount gets the type of the value: amounts beyond the width in either direction mean what the width means.
auto typed_shift(BinaryOp op, const Expr& value, const Expr& amount, const Loc& loc) -> Result<Expr> {
  const auto takes = [](Type t) { return (t.is_data_int() || t.is_index()) && !t.is_bool(); };
  if (!takes(value.type()) || !takes(amount.type())) return clash(op_text(op), value.type(), amount.type(), loc);
  if (value.type().is_index() || amount.type().is_index()) {
    ExprList both = {value, amount};
    if (meet_in_index(both)) return binary(op, both[0], both[1], loc);
    if (value.type().is_index() || !amount.type().is_index())
      return typed_shift(op, as_data(value), as_data(amount), loc);
    return typed_shift(op, value, as_data(amount), loc);
  }
  const Type type = value.type();
  if (int64_t n; as_int(amount, n)) {
    const int64_t bounded = std::clamp<int64_t>(n, -type.bits, type.bits);
    if (bounded < 0 && type.is_uint()) return binary(negated(op), value, int_imm(type, -bounded, amount.loc()), loc);
    return binary(op, value, int_imm(type, bounded, amount.loc()), loc);
  }
  if (amount.type() == type) return binary(op, value, amount, loc);
  const auto bounded = [&](const Expr& n) {
    const auto limit = [&](int64_t bits) { return constant(n.type(), bits, loc); };
    const Expr below = binary(BinaryOp::Min, n, limit(type.bits), loc);
    return cast(type, n.type().is_int() ? binary(BinaryOp::Max, below, limit(-type.bits), loc) : below, loc);
  };
  if (type.is_int() || amount.type().is_uint()) return binary(op, value, bounded(amount), loc);
  // An unsigned value has no negative amounts of its own type.
  const Expr zero = constant(amount.type(), 0, loc);
  const Expr forth = binary(op, value, bounded(binary(BinaryOp::Max, amount, zero, loc)), loc);
  const Expr back =
      binary(negated(op), value, bounded(unary(UnaryOp::Neg, binary(BinaryOp::Min, amount, zero, loc), loc)), loc);
  return select(binary(BinaryOp::LT, amount, zero, loc), back, forth, loc);
}

auto takes_bool(BinaryOp op) -> bool {
  switch (op) {
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
    case BinaryOp::EQ:
    case BinaryOp::NE:
    case BinaryOp::LT:
    case BinaryOp::LE:
    case BinaryOp::GT:
    case BinaryOp::GE:
    case BinaryOp::And:
    case BinaryOp::Or: return true;
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul:
    case BinaryOp::Div:
    case BinaryOp::Mod:
    case BinaryOp::Min:
    case BinaryOp::Max:
    case BinaryOp::Shl:
    case BinaryOp::Shr: return false;
  }
  return false;
}
auto is_bitwise(BinaryOp op) -> bool {
  return op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor;
}

}  // namespace

auto match_types(std::string_view what, ExprList& operands, const Loc& loc) -> Status {
  DRAWLOOM_REQUIRE(check_defined(what, operands, loc));
  const auto is_index = [](const Expr& e) { return e.type().is_index(); };
  if (std::any_of(operands.begin(), operands.end(), is_index)) {
    if (meet_in_index(operands)) return Done{};
    for (auto& e : operands) e = as_data(e);
  }
  std::optional<Type> target;
  const auto join_in = [&](const Expr& e) -> Status {
    const auto met = target ? meet(*target, e.type()) : e.type();
    if (!met) return clash(what, *target, e.type(), loc);
    target = met;
    return Done{};
  };
  for (const auto& e : operands) {
    if (!is_literal(e)) DRAWLOOM_REQUIRE(join_in(e));
  }
  if (!target) {
    for (const auto& e : operands) DRAWLOOM_REQUIRE(join_in(e));
  }
  return convert(what, operands, *target, loc);
}

auto typed_unary(UnaryOp op, const Expr& a, const Loc& loc) -> Result<Expr> {
  DRAWLOOM_REQUIRE(check_defined(op_text(op), {a}, loc));
  const Type t = a.type();
  const bool takes = op == UnaryOp::Neg ? !t.is_bool() : op == UnaryOp::Not ? t.is_bool() : !t.is_float();
  if (!takes) return Diag(DiagKind::type_unsupported, loc, op_text(op), t);
  // `-1` is a literal as `1` is.
  if (op == UnaryOp::Neg && is_literal(a) && t.is_int()) return int_imm(t, -a.to<IntImm>().value, loc);
  return unary(op, a, loc);
}

auto typed_binary(BinaryOp op, const Expr& a, const Expr& b, const Loc& loc) -> Result<Expr> {
  const auto text = op_text(op);
  ExprList operands = {a, b};
  DRAWLOOM_REQUIRE(check_defined(text, operands, loc));
  if (is_logic(op)) {
    if (!a.type().is_bool() || !b.type().is_bool()) {
      return Diag(DiagKind::type_clash, loc, text, a.type(), b.type())
          .with_help("compare numbers first, as in `a != 0`");
    }
    return binary(op, a, b, loc);
  }
  if (op == BinaryOp::Shl || op == BinaryOp::Shr) return typed_shift(op, a, b, loc);
  const bool has_bool = a.type().is_bool() || b.type().is_bool();
  if (has_bool && !takes_bool(op)) return clash(text, a.type(), b.type(), loc);
  DRAWLOOM_REQUIRE(match_types(text, operands, loc));
  if (is_bitwise(op) && operands[0].type().is_float()) return clash(text, a.type(), b.type(), loc);
  return binary(op, operands[0], operands[1], loc);
}

auto typed_select(const Expr& condition, const Expr& yes, const Expr& no, const Loc& loc) -> Result<Expr> {
  ExprList operands = {yes, no};
  DRAWLOOM_REQUIRE(check_defined("select", {condition, yes, no}, loc));
  if (!condition.type().is_bool()) {
    return Diag(DiagKind::type_unsupported, loc, "the condition of select", condition.type())
        .with_help("compare it with something, as in `a != 0`");
  }
  DRAWLOOM_REQUIRE(match_types("select", operands, loc));
  return select(condition, operands[0], operands[1], loc);
}

auto typed_call(Intrinsic function, ExprList args, const Loc& loc) -> Result<Expr> {
  const auto text = op_text(function);
  DRAWLOOM_REQUIRE(match_types(text, args, loc));
  if (function == Intrinsic::Abs || function == Intrinsic::Absd) {
    if (args[0].type().is_bool()) return Diag(DiagKind::type_unsupported, loc, text, args[0].type());
  } else {
    for (auto& e : args) {
      DRAWLOOM_TRY(e, as_float(e, text, loc));
    }
  }
  return call(function, std::move(args), loc);
}

auto typed_cast(Type type, const Expr& a, const Loc& loc) -> Result<Expr> {
  DRAWLOOM_REQUIRE(check_defined("cast", {a}, loc));
  return cast(type, a, loc);
}

auto as_index(const Expr& e) -> Expr {
  if (!e.defined() || e.type().is_index()) return e;
  if (!e.type().is_data_int() || e.type().is_bool()) return {};
  if (const auto* imm = e.as<IntImm>()) return literal_as(kIndex, *imm);
  if (const auto* v = e.as<VarRef>()) return v->symbol->kind == SymbolKind::Param ? cast(kIndex, e, e.loc()) : Expr();
  if (const auto* c = e.as<Cast>()) {
    const Type from = c->value.type(), to = c->type;
    const bool widens = from.is_data_int() && from.bits < to.bits && (to.is_int() || from.is_uint());
    return widens ? as_index(c->value) : Expr();
  }
  const auto* n = e.as<Binary>();
  if (!n || is_compare(n->op) || n->op == BinaryOp::Shl || n->op == BinaryOp::Shr || is_bitwise(n->op)) return {};
  const Expr a = as_index(n->a), b = as_index(n->b);
  return a.defined() && b.defined() ? binary(n->op, a, b, e.loc()) : Expr();
}

auto subscript(const Expr& e, std::string_view of) -> Result<Expr> {
  if (!e.defined()) return Diag(DiagKind::expr_undefined, {}, of);
  if (auto index = as_index(e); index.defined()) return index;
  if (!e.type().is_data_int() || e.type().is_bool()) {
    return Diag(DiagKind::subscript_type, e.loc(), of, e.type()).with_help("cast<int32_t>(..) makes an integer of it");
  }
  return cast(kIndex, e, e.loc());
}

auto as_data(const Expr& e) -> Expr { return e.defined() && e.type().is_index() ? cast(int_type(32), e, e.loc()) : e; }

auto lossless(Type type, const Expr& e) -> Expr {
  const Expr data = as_data(e);
  const Type from = data.type();
  if (from == type) return data;
  if (is_literal(data)) return literal_as(type, data.to<IntImm>());
  const bool same_kind = from.code == type.code && from.bits < type.bits && !from.is_bool();
  const bool into_signed = from.is_uint() && type.is_int() && from.bits < type.bits && !from.is_bool();
  return same_kind || into_signed ? cast(type, data, data.loc()) : Expr();
}

}  // namespace drawloom
