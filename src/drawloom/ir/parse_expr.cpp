// Expressions from text, by precedence climbing: one function for all infix operators instead of one for each level.
//
// Example, `a - b - c * d`, where `-` has strength 8 and `*` 9: the right operand of the first `-` is read from
// strength 9 on, which is b alone; so the second `-` takes a - b as its left operand, and c * d, whose `*` is strong
// enough, as its right one. Strengths are those of the printer, so what it prints without brackets is read alike.
//
// What looks like a call can be an operator (min), a field of a buffer (`extent(%in, 0)`), a form of its own (`ramp`),
// or a call of the text form's own; names mean what the hooks say.
#include "drawloom/ir/parse_expr.h"

#include <charconv>
#include <limits>

#include "drawloom/ir/build.h"
#include "drawloom/ir/print_expr.h"
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

template <typename Op, size_t N>
auto find_op(const Op (&ops)[N], std::string_view text) -> const Op* {
  for (const Op& op : ops) {
    if (op_text(op) == text) return &op;
  }
  return nullptr;
}

auto is_name(const Token& t) -> bool { return t.kind == TokenKind::Variable || t.kind == TokenKind::Word; }

class DepthGuard {
 public:
  explicit DepthGuard(int& depth) : depth_(depth) { ++depth_; }
  ~DepthGuard() { --depth_; }
  auto too_deep() const -> bool { return depth_ > kMaxParseDepth; }

 private:
  int& depth_;
};

}  // namespace

auto ExprParser::expr() -> Result<Expr> {
  DepthGuard guard(depth_);
  if (guard.too_deep()) return Diag(DiagKind::parse_too_deep, in_.loc(), kMaxParseDepth);
  return binary_from(1);
}

auto ExprParser::expr_list(std::string_view close) -> Result<ExprList> {
  ExprList out;
  while (!in_.at(close)) {
    if (!out.empty()) DRAWLOOM_REQUIRE(in_.expect(","));
    DRAWLOOM_TRY(auto e, expr());
    out.push_back(std::move(e));
  }
  return out;
}

auto ExprParser::binary_from(int strength) -> Result<Expr> {
  DRAWLOOM_TRY(Expr left, unary_expr());
  while (in_.at(TokenKind::Punct)) {
    const BinaryOp* op = find_op(kBinaryOps, in_.peek().text);
    if (!op || binding_strength(*op) < strength) break;
    const Loc loc = in_.next().loc;
    DepthGuard guard(depth_);
    if (guard.too_deep()) return Diag(DiagKind::parse_too_deep, loc, kMaxParseDepth);
    DRAWLOOM_TRY(Expr right, binary_from(binding_strength(*op) + 1));
    ExprList operands = {std::move(left), std::move(right)};
    DRAWLOOM_REQUIRE(unify(operands));
    DRAWLOOM_TRY(left, try_make<Binary>(Type(), *op, operands[0], operands[1], loc));
  }
  return left;
}

auto ExprParser::unary_expr() -> Result<Expr> {
  const Token start = in_.peek();
  if (start.is("&")) return address_expr();
  const UnaryOp* op = start.kind == TokenKind::Punct ? find_op(kUnaryOps, start.text) : nullptr;
  if (!op) return primary();
  in_.next();
  const Token& after = in_.peek();
  const bool literal = after.kind == TokenKind::Int || after.kind == TokenKind::Float || after.is("inf");
  if (*op == UnaryOp::Neg && literal && after.offset == start.end()) return number(true, start.loc);
  DepthGuard guard(depth_);
  if (guard.too_deep()) return Diag(DiagKind::parse_too_deep, start.loc, kMaxParseDepth);
  DRAWLOOM_TRY(auto operand, unary_expr());
  return try_make<Unary>(Type(), *op, std::move(operand), start.loc);
}

auto ExprParser::primary() -> Result<Expr> {
  const Token token = in_.peek();
  switch (token.kind) {
    case TokenKind::Int:
    case TokenKind::Float: return number(false, token.loc);
    case TokenKind::Variable: return named(token);
    case TokenKind::Word: return word();
    case TokenKind::Shared: {
      in_.next();
      const auto hit = shared_.find(token.text);
      if (hit == shared_.end()) return Diag(DiagKind::parse_unknown_name, token.loc, "shared expression", token.text);
      return hit->second;
    }
    case TokenKind::Punct:
      if (in_.accept("(")) {
        DRAWLOOM_TRY(auto inner, expr());
        DRAWLOOM_REQUIRE(in_.expect(")"));
        return inner;
      }
      break;
    case TokenKind::Function:
    case TokenKind::String:
    case TokenKind::End: break;
  }
  return in_.unexpected("an expression");
}

auto ExprParser::word() -> Result<Expr> {
  const Token token = in_.peek();
  if (token.text == "inf" || token.text == "nan") return number(false, token.loc);
  if (token.text == "true" || token.text == "false") {
    in_.next();
    Type type = kBool;
    DRAWLOOM_TRY(const bool typed, literal_type(token, type));
    if (typed && !type.is_bool()) return Diag(DiagKind::parse_number, token.loc, token.text, type);
    return try_make<IntImm>(type, token.text == "true", token.loc);
  }
  const bool converts = token.text == "cast" || token.text == "reinterpret";
  if (converts && in_.peek(1).is("<")) return in_.next(), cast_expr(token);
  if (!in_.peek(1).is("(")) return named(token);
  in_.next();
  if (token.text == "let") return let_expr(token.loc);
  return field_or_call(token);
}

auto ExprParser::named(const Token& name) -> Result<Expr> {
  if (in_.peek(1).is("[") && names_buffer(name)) return load_expr();
  in_.next();
  if (const auto hit = lets_.find(name.text); hit != lets_.end()) return var_ref(hit->second, name.loc);
  if (!hooks_.name) return Diag(DiagKind::parse_unknown_name, name.loc, "name", name.text);
  return hooks_.name(hooks_.context, name);
}

// --- numbers

/// Reads `:type` when it follows the number without a blank.
auto ExprParser::literal_type(const Token& digits, Type& type) -> Result<bool> {
  const Token& colon = in_.peek();
  if (!colon.is(":") || colon.offset != digits.end() || in_.peek(1).offset != colon.end()) return false;
  in_.next();
  DRAWLOOM_TRY(type, this->type());
  return true;
}

auto ExprParser::number(bool negative, const Loc& loc) -> Result<Expr> {
  const Token digits = in_.next();
  Type type = digits.kind == TokenKind::Int ? kIndex : hooks_.untyped_float;
  DRAWLOOM_TRY(const bool typed, literal_type(digits, type));
  if (!type.is_float() && digits.kind == TokenKind::Int) return integer(digits, negative, type, loc);
  if (!typed && type.bits == 0) return in_.unexpected(str("`:` and a type after `{}`", digits.text));
  if (!type.is_float()) return Diag(DiagKind::parse_number, loc, digits.text, type);

  double value = 0;
  if (digits.text == "inf" || digits.text == "nan") {
    using Limits = std::numeric_limits<double>;
    value = digits.text == "inf" ? Limits::infinity() : Limits::quiet_NaN();
  } else if (type.element() == float_type(32)) {
    // Straight to float: by way of double some digits would be rounded twice.
    float single = 0;
    std::from_chars(digits.text.data(), digits.text.data() + digits.text.size(), single);
    value = single;
  } else {
    std::from_chars(digits.text.data(), digits.text.data() + digits.text.size(), value);
  }
  return try_make<FloatImm>(type, round_float(type, negative ? -value : value), loc);
}

auto ExprParser::integer(const Token& digits, bool negative, Type type, const Loc& loc) -> Result<Expr> {
  uint64_t magnitude = 0;
  const bool read = parse_magnitude(digits.text, magnitude);
  const auto bits = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  // The bits must be those of the number: not cut to the width, and of the sign that was written.
  const bool sign_kept = magnitude == 0 || (type.is_uint() ? !negative : negative == (bits < 0));
  const bool fits = sign_kept && wrap_int(type, bits) == bits;
  if (!read || !fits) return Diag(DiagKind::parse_number, loc, str("{}{}", negative ? "-" : "", digits.text), type);
  return try_make<IntImm>(type, bits, loc);
}

auto ExprParser::type() -> Result<Type> {
  const Token token = in_.peek();
  Type type;
  if (token.kind != TokenKind::Word || !parse_type(token.text, type)) return in_.unexpected("a type");
  in_.next();
  return type;
}

// --- forms that look like calls

/// `cast<f32>(value)`, `reinterpret<f32>(value)`
auto ExprParser::cast_expr(const Token& word) -> Result<Expr> {
  const Loc& loc = word.loc;
  DRAWLOOM_REQUIRE(in_.expect("<"));
  DRAWLOOM_TRY(const Type to, type());
  DRAWLOOM_REQUIRE(in_.expect(">"));
  DRAWLOOM_REQUIRE(in_.expect("("));
  DRAWLOOM_TRY(auto value, expr());
  DRAWLOOM_REQUIRE(in_.expect(")"));
  if (value.type().lanes != to.lanes) {
    return Diag(DiagKind::ir_malformed, loc, str("`{}<{}>`", word.text, to), str("the value is {}", value.type()));
  }
  if (word.text == "reinterpret") return try_make<Reinterpret>(to, std::move(value), loc);
  return try_make<Cast>(to, std::move(value), loc);
}

/// `let(%t = value, #1 = .., body)`
auto ExprParser::let_expr(const Loc& loc) -> Result<Expr> {
  DRAWLOOM_REQUIRE(in_.expect("("));
  const Token name = in_.next();
  if (!is_name(name)) return Diag(DiagKind::parse_unexpected, name.loc, "a name", name.described());
  DRAWLOOM_REQUIRE(in_.expect("="));
  DRAWLOOM_TRY(auto value, expr());
  DRAWLOOM_REQUIRE(in_.expect(","));
  const auto hint = name.kind == TokenKind::Variable ? name.name() : name.text;
  const auto symbol = make_symbol(SymbolKind::Let, std::string(hint), value.type(), name.loc);
  if (!lets_.emplace(name.text, symbol).second) {
    return Diag(DiagKind::parse_redefined, name.loc, "variable", name.text);
  }
  while (in_.at(TokenKind::Shared) && in_.peek(1).is("=")) {
    DRAWLOOM_REQUIRE(shared_line());
    DRAWLOOM_REQUIRE(in_.expect(","));
  }
  DRAWLOOM_TRY(auto body, expr());
  lets_.erase(name.text);
  DRAWLOOM_REQUIRE(in_.expect(")"));
  return try_make<Let>(symbol, std::move(value), std::move(body), loc);
}

auto ExprParser::field_or_call(const Token& name) -> Result<Expr> {
  const bool field = name.text == "min" || name.text == "extent" || name.text == "stride";
  if (field && names_buffer(in_.peek(1)) && in_.peek(2).is(",")) return buffer_field(name);
  if (name.text == "ramp" || name.text == "broadcast") return lanes_expr(name);
  DRAWLOOM_REQUIRE(in_.expect("("));
  DRAWLOOM_TRY(auto args, expr_list(")"));
  DRAWLOOM_REQUIRE(in_.expect(")"));
  return operation(name, std::move(args));
}

auto ExprParser::operation(const Token& name, ExprList args) -> Result<Expr> {
  const auto takes = [&](size_t count) -> Status {
    if (args.size() == count) return Done();
    return Diag(DiagKind::parse_unexpected, name.loc, str("{} arguments of `{}`", count, name.text), args.size());
  };
  const BinaryOp* op = find_op(kBinaryOps, name.text);
  const Intrinsic* intrinsic = find_op(kIntrinsics, name.text);
  if (name.text == "select") {
    DRAWLOOM_REQUIRE(takes(3));
    ExprList values = {args[1], args[2]};
    DRAWLOOM_REQUIRE(unify(values));
    return try_make<Select>(args[0], values[0], values[1], name.loc);
  }
  if (op) {
    DRAWLOOM_REQUIRE(takes(2));
    DRAWLOOM_REQUIRE(unify(args));
    return try_make<Binary>(Type(), *op, args[0], args[1], name.loc);
  }
  if (intrinsic) {
    DRAWLOOM_REQUIRE(takes(static_cast<size_t>(arity(*intrinsic))));
    DRAWLOOM_REQUIRE(unify(args));
    return try_make<Call>(Type(), *intrinsic, std::move(args), name.loc);
  }
  if (!hooks_.call) return Diag(DiagKind::parse_unknown_name, name.loc, "function", name.text);
  int64_t component = 0;
  if (in_.accept("[")) {
    DRAWLOOM_TRY(component, in_.expect_integer("the number of a component"));
    DRAWLOOM_REQUIRE(in_.expect("]"));
  }
  return hooks_.call(hooks_.context, name, std::move(args), static_cast<int>(component));
}

/// `extent(%in, 0)`
auto ExprParser::buffer_field(const Token& field) -> Result<Expr> {
  in_.next();
  const Token name = in_.next();
  const BufferRef buffer = hooks_.buffer(hooks_.context, name);
  DRAWLOOM_REQUIRE(in_.expect(","));
  DRAWLOOM_TRY(const int64_t dimension, in_.expect_integer("a dimension"));
  DRAWLOOM_REQUIRE(in_.expect(")"));
  const auto& symbols = field.text == "min" ? buffer->min : field.text == "extent" ? buffer->extent : buffer->stride;
  if (dimension < 0 || dimension >= static_cast<int64_t>(symbols.size())) {
    const auto why = buffer->memory == MemoryKind::Argument ? str("the buffer has rank {}", buffer->rank)
                                                            : std::string("only arguments have fields");
    return Diag(DiagKind::ir_malformed, field.loc, str("`{}({}, {})`", field.text, name.text, dimension), why);
  }
  return var_ref(symbols[static_cast<size_t>(dimension)], field.loc);
}

/// `ramp(base, stride, lanes)` and `broadcast(value, lanes)`
auto ExprParser::lanes_expr(const Token& name) -> Result<Expr> {
  DRAWLOOM_REQUIRE(in_.expect("("));
  ExprList parts;
  for (int i = 0; i < (name.text == "ramp" ? 2 : 1); ++i) {
    DRAWLOOM_TRY(auto part, expr());
    DRAWLOOM_REQUIRE(in_.expect(","));
    parts.push_back(std::move(part));
  }
  DRAWLOOM_TRY(const int64_t lanes, in_.expect_integer("a number of lanes"));
  DRAWLOOM_REQUIRE(in_.expect(")"));
  if (lanes < 2 || lanes > std::numeric_limits<uint16_t>::max()) {
    return Diag(DiagKind::parse_number, name.loc, lanes, "number of lanes");
  }
  const int n = static_cast<int>(lanes);
  if (name.text == "broadcast") return try_make<Broadcast>(parts[0], n, name.loc);
  return try_make<Ramp>(parts[0], parts[1], n, name.loc);
}

auto ExprParser::element() -> Result<ElementText> {
  ElementText out;
  const Token name = in_.next();
  if (!is_name(name)) return Diag(DiagKind::parse_unexpected, name.loc, "the name of a buffer", name.described());
  if (hooks_.buffer) out.buffer = hooks_.buffer(hooks_.context, name);
  if (!out.buffer && hooks_.unknown_buffer) return hooks_.unknown_buffer(hooks_.context, name);
  if (!out.buffer) return Diag(DiagKind::parse_unknown_name, name.loc, "buffer", name.text);
  DRAWLOOM_REQUIRE(in_.expect("["));
  while (!in_.at("]") && !in_.at(";")) {
    if (!out.index.empty()) DRAWLOOM_REQUIRE(in_.expect(","));
    DRAWLOOM_TRY(auto e, expr());
    out.index.push_back(std::move(e));
  }
  if (in_.at(";") && in_.peek(1).is("mask")) {
    in_.next(), in_.next();
    DRAWLOOM_TRY(out.mask, expr());
  }
  if (in_.at(";") && in_.peek(1).is("origin")) {
    in_.next(), in_.next();
    DRAWLOOM_TRY(out.origin, expr_list("]"));
  }
  DRAWLOOM_REQUIRE(in_.expect("]"));
  return out;
}

auto ExprParser::load_expr() -> Result<Expr> {
  const Loc loc = in_.loc();
  DRAWLOOM_TRY(auto e, element());
  return try_make<Load>(e.buffer->element, e.buffer, std::move(e.index), std::move(e.mask), std::move(e.origin), loc);
}

/// `&%b[i, j]`
auto ExprParser::address_expr() -> Result<Expr> {
  const Loc loc = in_.next().loc;
  DRAWLOOM_TRY(auto e, element());
  if (e.mask || !e.origin.empty()) return Diag(DiagKind::ir_malformed, loc, "`&`", "a place has no mask and no origin");
  return try_make<Address>(Type(), e.buffer, std::move(e.index), loc);
}

// --- sharing, hooks

auto ExprParser::shared_lines(std::string_view end) -> Status {
  shared_.clear();
  while (in_.at(TokenKind::Shared) && in_.peek(1).is("=")) {
    DRAWLOOM_REQUIRE(shared_line());
    if (!end.empty()) DRAWLOOM_REQUIRE(in_.expect(end));
  }
  return Done();
}

auto ExprParser::shared_line() -> Status {
  const Token name = in_.next();
  DRAWLOOM_REQUIRE(in_.expect("="));
  DRAWLOOM_TRY(auto value, expr());
  if (!shared_.emplace(name.text, std::move(value)).second) {
    return Diag(DiagKind::parse_redefined, name.loc, "shared expression", name.text);
  }
  return Done();
}

auto ExprParser::unify(ExprList& operands) -> Status {
  return hooks_.unify ? hooks_.unify(hooks_.context, operands) : Status(Done());
}

auto ExprParser::names_buffer(const Token& token) const -> bool {
  return is_name(token) && hooks_.buffer && hooks_.buffer(hooks_.context, token);
}

}  // namespace drawloom
