#pragma once
/// Constructors of nodes. They check types (DRAWLOOM_CHECK) and never fold: an oracle must see what was written.

#include "drawloom/ir/nodes.h"

namespace drawloom {

auto int_imm(Type type, int64_t value, Loc loc = {}) -> Expr;  ///< wraps `value` to the width
auto index_imm(int64_t value, Loc loc = {}) -> Expr;
auto bool_imm(bool value, int lanes = 1, Loc loc = {}) -> Expr;
auto float_imm(Type type, double value, Loc loc = {}) -> Expr;  ///< rounds `value` to the type
/// `value` as a constant of any type.
auto constant(Type type, int64_t value, Loc loc = {}) -> Expr;
auto var_ref(SymbolRef symbol, Loc loc = {}) -> Expr;
auto cast(Type type, Expr value, Loc loc = {}) -> Expr;         ///< the value itself when it has the type
auto reinterpret(Type type, Expr value, Loc loc = {}) -> Expr;  ///< the value itself when it has the type
auto unary(UnaryOp op, Expr a, Loc loc = {}) -> Expr;
auto binary(BinaryOp op, Expr a, Expr b, Loc loc = {}) -> Expr;
auto select(Expr condition, Expr yes, Expr no, Loc loc = {}) -> Expr;
/// Result type: that of the arguments, but unsigned for abs/absd of signed integers and bool for is_nan.
auto call(Intrinsic function, ExprList args, Loc loc = {}) -> Expr;
/// `owner` keeps `func` alive, or is null when `func` is the Func being defined.
auto access(Type type, const FuncDecl* func, Ref<const FuncDecl> owner, int component, ExprList args, Loc loc = {})
    -> Expr;
auto load(BufferRef buffer, ExprList index, Expr mask = {}, ExprList origin = {}, Loc loc = {}) -> Expr;
auto ramp(Expr base, Expr stride, int lanes, Loc loc = {}) -> Expr;  ///< the base itself when lanes is 1
auto broadcast(Expr value, int lanes, Loc loc = {}) -> Expr;         ///< the value itself when lanes is 1
auto let(SymbolRef symbol, Expr value, Expr body, Loc loc = {}) -> Expr;

auto make_block(StmtList stmts, Loc loc = {}) -> Stmt;  ///< flattens; one statement is itself
auto make_for(SymbolRef symbol, Expr min, Expr extent, ForKind how, Stmt body, Loc loc = {}) -> Stmt;
auto make_if(Expr condition, Stmt then, Stmt otherwise = {}, Loc loc = {}) -> Stmt;
auto let_stmt(SymbolRef symbol, Expr value, Stmt body, Loc loc = {}) -> Stmt;
auto allocate(BufferRef buffer, ExprList extents, Stmt body, Loc loc = {}) -> Stmt;
auto store(BufferRef buffer, ExprList index, Expr value, Expr mask = {}, ExprList origin = {}, bool nontemporal = false,
           Loc loc = {}) -> Stmt;
auto stage(std::string name, Stmt body, Loc loc = {}) -> Stmt;
auto check(Expr condition, std::string code, std::string message, ExprList args = {}, Loc loc = {}) -> Stmt;
auto store_fence(Loc loc = {}) -> Stmt;

/// The bits of `value` below the width of the type, as IntImm keeps them.
auto wrap_int(Type type, int64_t value) -> int64_t;
/// The nearest value of a floating type, ties to even.
auto round_float(Type type, double value) -> double;

auto op_text(UnaryOp op) -> std::string_view;
auto op_text(BinaryOp op) -> std::string_view;
auto op_text(Intrinsic function) -> std::string_view;
auto arity(Intrinsic function) -> int;
auto is_compare(BinaryOp op) -> bool;
auto is_logic(BinaryOp op) -> bool;

/// The constant behind an IntImm (any integer type) or a Broadcast of one.
auto as_int(const Expr& e, int64_t& out) -> bool;
auto is_int(const Expr& e, int64_t value) -> bool;

}  // namespace drawloom
