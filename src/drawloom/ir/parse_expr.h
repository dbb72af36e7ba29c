#pragma once
/// Parsing of expressions for every text form; print_expr.h is the other direction. The grammar is one; what names mean
/// is asked of the text form's hooks.

#include <string>
#include <unordered_map>

#include "drawloom/ir/nodes.h"
#include "drawloom/support/lexer.h"

namespace drawloom {

/// What a text form adds: plain functions over a context of the caller's. Null means that the form has no such thing.
struct ExprHooks {
  void* context = nullptr;
  /// The value of a name: `%x`, or in plain style a word without `(`. Errors: parse_unknown_name.
  Result<Expr> (*name)(void* context, const Token& name) = nullptr;
  /// The buffer of a name, or null when the name is none: for `%b[...]` and for `extent(%b, 0)`.
  BufferRef (*buffer)(void* context, const Token& name) = nullptr;
  /// The diagnostic for a name that should have been a buffer's; parse_unknown_name without help if null.
  Diag (*unknown_buffer)(void* context, const Token& name) = nullptr;
  /// `f(x, y)`, or `f(x, y)[1]` for component 1, where `f` is no operation of the IR. Errors: parse_unknown_name, ...
  Result<Expr> (*call)(void* context, const Token& name, ExprList args, int component) = nullptr;
  /// Gives the operands of one operation one type, by the form's own conversions. Without it, types have to agree as
  /// written.
  Status (*unify)(void* context, ExprList& operands) = nullptr;
  /// The type of a floating number without one; of zero bits: the number has to say it, `1.5:f32`.
  Type untyped_float = {TypeCode::Float, 0, 1};
};

/// Levels of brackets and operands that the parser follows. Bounds its use of the stack.
inline constexpr int kMaxParseDepth = 500;

/// One element of a buffer as written: `%b[i, j; mask m; origin x, y]`.
struct ElementText {
  BufferRef buffer;
  ExprList index;
  Expr mask;
  ExprList origin;
};

/// Reads expressions from a cursor that it shares with the parser of the form. All functions report parse_unexpected,
/// parse_unknown_name, parse_redefined, parse_number, parse_too_deep, ir_type_mismatch and ir_malformed.
class ExprParser {
 public:
  ExprParser(TokenCursor& cursor, const ExprHooks& hooks) : in_(cursor), hooks_(hooks) {}

  auto expr() -> Result<Expr>;
  /// Expressions with commas between, up to (and without) `close`; may be none.
  auto expr_list(std::string_view close) -> Result<ExprList>;
  /// A buffer's element, from its name on.
  auto element() -> Result<ElementText>;
  auto type() -> Result<Type>;
  /// The lines `#1 = ...` before a statement, if any, each followed by `end` unless that is empty. Those of the statement
  /// before are forgotten.
  auto shared_lines(std::string_view end = {}) -> Status;

 private:
  auto binary_from(int strength) -> Result<Expr>;
  auto unary_expr() -> Result<Expr>;
  auto primary() -> Result<Expr>;
  auto word() -> Result<Expr>;
  auto number(bool negative, const Loc& loc) -> Result<Expr>;
  auto integer(const Token& digits, bool negative, Type type, const Loc& loc) -> Result<Expr>;
  auto literal_type(const Token& digits, Type& type) -> Result<bool>;
  auto named(const Token& name) -> Result<Expr>;
  auto cast_expr(const Token& word) -> Result<Expr>;
  auto address_expr() -> Result<Expr>;
  auto let_expr(const Loc& loc) -> Result<Expr>;
  auto field_or_call(const Token& name) -> Result<Expr>;
  auto buffer_field(const Token& name) -> Result<Expr>;
  auto lanes_expr(const Token& name) -> Result<Expr>;
  auto operation(const Token& name, ExprList args) -> Result<Expr>;
  auto load_expr() -> Result<Expr>;
  auto shared_line() -> Status;
  auto unify(ExprList& operands) -> Status;
  auto names_buffer(const Token& token) const -> bool;

  TokenCursor& in_;
  const ExprHooks& hooks_;
  std::unordered_map<std::string_view, Expr> shared_;
  std::unordered_map<std::string_view, SymbolRef> lets_;
  int depth_ = 0;
};

}  // namespace drawloom
