#pragma once
/// How rows of rule tables are written: `x + (y - x)` with the wildcards as variables. Only rules_*.cpp include it.

#include "drawloom/analysis/rules.h"

namespace drawloom::rows {

/// An expression of a row; integers become literals of its type.
struct Row {
  Expr e;
};

/// The wildcards of one table: `const auto& [x, y, z, p, q, c0, c1, c2] = wildcards(int_type(32));`
struct Wildcards {
  Row x, y, z, p, q, c0, c1, c2;
};
auto wildcards(Type t) -> Wildcards;

inline auto number(int v) -> Row { return {int_imm(int_type(32), v)}; }
inline auto real(float v) -> Row { return {float_imm(float_type(32), v)}; }
inline auto truth(bool v) -> Row { return {bool_imm(v)}; }

inline auto make(BinaryOp op, const Row& a, const Row& b) -> Row { return {binary(op, a.e, b.e)}; }
inline auto operator+(const Row& a, const Row& b) -> Row { return make(BinaryOp::Add, a, b); }
inline auto operator-(const Row& a, const Row& b) -> Row { return make(BinaryOp::Sub, a, b); }
inline auto operator*(const Row& a, const Row& b) -> Row { return make(BinaryOp::Mul, a, b); }
inline auto operator/(const Row& a, const Row& b) -> Row { return make(BinaryOp::Div, a, b); }
inline auto operator%(const Row& a, const Row& b) -> Row { return make(BinaryOp::Mod, a, b); }
inline auto operator&(const Row& a, const Row& b) -> Row { return make(BinaryOp::BitAnd, a, b); }
inline auto operator|(const Row& a, const Row& b) -> Row { return make(BinaryOp::BitOr, a, b); }
inline auto operator^(const Row& a, const Row& b) -> Row { return make(BinaryOp::BitXor, a, b); }
inline auto operator<<(const Row& a, const Row& b) -> Row { return make(BinaryOp::Shl, a, b); }
inline auto operator>>(const Row& a, const Row& b) -> Row { return make(BinaryOp::Shr, a, b); }
inline auto operator==(const Row& a, const Row& b) -> Row { return make(BinaryOp::EQ, a, b); }
inline auto operator!=(const Row& a, const Row& b) -> Row { return make(BinaryOp::NE, a, b); }
inline auto operator<(const Row& a, const Row& b) -> Row { return make(BinaryOp::LT, a, b); }
inline auto operator<=(const Row& a, const Row& b) -> Row { return make(BinaryOp::LE, a, b); }
inline auto operator>(const Row& a, const Row& b) -> Row { return make(BinaryOp::GT, a, b); }
inline auto operator>=(const Row& a, const Row& b) -> Row { return make(BinaryOp::GE, a, b); }
inline auto operator&&(const Row& a, const Row& b) -> Row { return make(BinaryOp::And, a, b); }
inline auto operator||(const Row& a, const Row& b) -> Row { return make(BinaryOp::Or, a, b); }
inline auto min(const Row& a, const Row& b) -> Row { return make(BinaryOp::Min, a, b); }
inline auto max(const Row& a, const Row& b) -> Row { return make(BinaryOp::Max, a, b); }
inline auto operator-(const Row& a) -> Row { return {unary(UnaryOp::Neg, a.e)}; }
inline auto operator!(const Row& a) -> Row { return {unary(UnaryOp::Not, a.e)}; }
inline auto operator~(const Row& a) -> Row { return {unary(UnaryOp::BitNot, a.e)}; }
inline auto select(const Row& c, const Row& a, const Row& b) -> Row { return {drawloom::select(c.e, a.e, b.e)}; }
inline auto ramp(const Row& a, const Row& b) -> Row { return {drawloom::ramp(a.e, b.e, kRowLanes)}; }
inline auto spread(const Row& a) -> Row { return {broadcast(a.e, kRowLanes)}; }
inline auto fn(Intrinsic f, const Row& a) -> Row { return {call(f, {a.e})}; }
inline auto fn(Intrinsic f, const Row& a, const Row& b, const Row& c) -> Row { return {call(f, {a.e, b.e, c.e})}; }

}  // namespace drawloom::rows
