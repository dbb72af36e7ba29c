#pragma once
/// The types of the language, once: what operands become when they meet. Works on plain expressions and returns Results;
/// operators.h is the throwing door.
///
/// index (Var, RVar, buffer fields) meets
///   an integer literal, or an integer expression over literals and Params alone: the whole is index;
///   data: it becomes i32 and goes on as data.
/// A literal takes the type of what it meets and must be a value of it. Integers meet floats: the float type. Floats, or
/// unsigned integers, of two widths: the wider. A signed integer meets another integer: signed, of the wider width.
/// bool meets only bool, and only in comparisons, `& | ^`, logic and select.

#include <optional>

#include "drawloom/ir/nodes.h"
#include "drawloom/support/result.h"

namespace drawloom {

auto typed_unary(UnaryOp op, const Expr& a, const Loc& loc) -> Result<Expr>;
auto typed_binary(BinaryOp op, const Expr& a, const Expr& b, const Loc& loc) -> Result<Expr>;
auto typed_select(const Expr& condition, const Expr& yes, const Expr& no, const Loc& loc) -> Result<Expr>;
auto typed_call(Intrinsic function, ExprList args, const Loc& loc) -> Result<Expr>;
auto typed_cast(Type type, const Expr& a, const Loc& loc) -> Result<Expr>;

/// Brings operands of `what` to the one type in which they meet.
auto match_types(std::string_view what, ExprList& operands, const Loc& loc) -> Status;

/// `e` as index when it is an index, an integer literal, or an integer expression over literals, Params and indices;
/// else undefined.
auto as_index(const Expr& e) -> Expr;
/// `e` as a subscript of `of`: as_index, or data integers widened. Errors: subscript_type, expr_undefined.
auto subscript(const Expr& e, std::string_view of) -> Result<Expr>;
/// `e` as it is stored or meets data: an index becomes i32.
auto as_data(const Expr& e) -> Expr;
/// `e` as a value of `type` where that loses nothing: a literal that fits, a wider type of the same kind, a smaller
/// unsigned in a signed one; else undefined.
auto lossless(Type type, const Expr& e) -> Expr;

}  // namespace drawloom
