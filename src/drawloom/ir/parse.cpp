/// Statements and programs from text. Expressions are parse_expr.cpp's. The grammar is in docs/ir.md.
///
/// A let without braces holds to the end of its block, so blocks are made from behind. Example: `let %a = 1  S  let %b
/// = 2  T` is read as the statements S, T and two open binders, with first statements 0 and 1; at the brace %b takes T,
/// then %a takes S and let %b. A loop and not recursion: lowered programs have hundreds of lets in a row.

#include <iterator>
#include <unordered_map>

#include "drawloom/ir/build.h"
#include "drawloom/ir/parse_device.h"
#include "drawloom/ir/parse_expr.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/ir/type_rules.h"

namespace drawloom {
namespace {

/// A name in scope: of a symbol or of a buffer.
struct Named {
  SymbolRef symbol;
  BufferRef buffer;
};

/// The names in scope. None hides another: a name is defined once on every path.
class Scope {
 public:
  auto find(std::string_view text) const -> const Named* {
    const auto hit = names_.find(text);
    return hit == names_.end() ? nullptr : &hit->second;
  }
  auto add(const Token& name, SymbolRef symbol, BufferRef buffer) -> Status {
    const auto what = symbol ? "variable" : "buffer";
    if (!names_.try_emplace(name.text, Named{std::move(symbol), std::move(buffer)}).second) {
      return Diag(DiagKind::parse_redefined, name.loc, what, name.text);
    }
    order_.push_back(name.text);
    return Done();
  }
  auto size() const -> size_t { return order_.size(); }
  /// Forgets the names added last, down to `size` of them.
  void shrink(size_t size) {
    for (; order_.size() > size; order_.pop_back()) names_.erase(order_.back());
  }

  auto unknown(const Token& name, std::string_view what) const -> Diag {
    Diag diag(DiagKind::parse_unknown_name, name.loc, what, name.text);
    std::vector<std::string> candidates;
    for (const auto text : order_) candidates.emplace_back(text);
    const auto near = nearest(name.text, candidates);
    // A name of one letter is near any other.
    const bool alike = !near.empty() && name.text.size() > 2;
    return alike ? diag.with_help(str("did you mean `{}`?", near)) : diag;
  }

 private:
  std::unordered_map<std::string_view, Named> names_;
  std::vector<std::string_view> order_;
};

class IrParser {
 public:
  explicit IrParser(const std::vector<Token>& tokens) : in_(tokens), exprs_(in_, hooks_) {
    hooks_.context = &scope_;
    hooks_.name = [](void* scope, const Token& name) { return value_of(*static_cast<Scope*>(scope), name); };
    hooks_.buffer = [](void* scope, const Token& name) {
      const Named* named = static_cast<Scope*>(scope)->find(name.text);
      return named ? named->buffer : BufferRef();
    };
    hooks_.unknown_buffer = [](void* scope, const Token& name) {
      return static_cast<Scope*>(scope)->unknown(name, "buffer");
    };
  }

  auto programs() -> Result<std::vector<Program>> {
    DRAWLOOM_REQUIRE(in_.expect_version("ir", 1));
    std::vector<Program> out;
    while (!in_.at_end()) {
      const Loc loc = in_.loc();
      DRAWLOOM_TRY(auto p, program());
      for (const auto& other : out) {
        if (other.name == p.name) return Diag(DiagKind::parse_redefined, loc, "function", "@" + p.name);
      }
      out.push_back(std::move(p));
    }
    return out;
  }

  auto only_expr(const std::vector<Argument>& arguments, std::vector<std::string>& names) -> Result<Expr> {
    names.reserve(arguments.size());  // the scope keeps views into it
    for (const auto& a : arguments) {
      const auto* buffer = std::get_if<BufferArgument>(&a);
      const auto* scalar = std::get_if<ScalarArgument>(&a);
      names.push_back("%" + (buffer ? buffer->buffer->name : scalar->symbol->name));
      Token name;
      name.text = names.back();
      DRAWLOOM_REQUIRE(scope_.add(name, scalar ? scalar->symbol : SymbolRef(), buffer ? buffer->buffer : BufferRef()));
    }
    DRAWLOOM_REQUIRE(exprs_.shared_lines(";"));
    DRAWLOOM_TRY(auto e, exprs_.expr());
    if (!in_.at_end()) return in_.unexpected("the end of the text");
    return e;
  }

 private:
  static auto value_of(const Scope& scope, const Token& name) -> Result<Expr> {
    if (name.kind != TokenKind::Variable) {
      return Diag(DiagKind::parse_unexpected, name.loc, "an expression", name.described());
    }
    const Named* named = scope.find(name.text);
    if (!named || !named->symbol) return scope.unknown(name, "variable");
    return var_ref(named->symbol, name.loc);
  }

  // --- functions

  auto program() -> Result<Program> {
    Program out;
    DRAWLOOM_REQUIRE(in_.expect("func"));
    DRAWLOOM_TRY(const auto name, in_.expect(TokenKind::Function, "the name of a function, as in `@blur`"));
    out.name = name.name();
    DRAWLOOM_REQUIRE(in_.expect("("));
    while (!in_.at(")")) {
      if (!out.arguments.empty()) DRAWLOOM_REQUIRE(in_.expect(","));
      DRAWLOOM_TRY(auto a, argument());
      out.arguments.push_back(std::move(a));
    }
    DRAWLOOM_REQUIRE(in_.expect(")"));
    out.flat_storage = in_.accept("flat_storage");
    DRAWLOOM_TRY(out.body, braces());
    scope_.shrink(0);
    return out;
  }

  auto argument() -> Result<Argument> {
    const bool output = in_.accept("out");
    DRAWLOOM_TRY(const auto name, in_.expect(TokenKind::Variable, "the name of an argument, as in `%in`"));
    DRAWLOOM_REQUIRE(in_.expect(":"));
    if (output || in_.at("buffer")) return buffer_argument(name, output ? ArgumentRole::Output : ArgumentRole::Input);
    DRAWLOOM_TRY(const Type type, exprs_.type());
    auto symbol = make_ref<Symbol>(SymbolKind::Param, std::string(name.name()), type, name.loc);
    if (in_.accept("in")) DRAWLOOM_REQUIRE(range(*symbol));
    DRAWLOOM_REQUIRE(scope_.add(name, symbol, {}));
    return Argument(ScalarArgument{symbol});
  }

  auto buffer_argument(const Token& name, ArgumentRole role) -> Result<Argument> {
    DRAWLOOM_REQUIRE(in_.expect("buffer"));
    DRAWLOOM_REQUIRE(in_.expect("<"));
    DRAWLOOM_TRY(const Type element, exprs_.type());
    DRAWLOOM_REQUIRE(in_.expect(","));
    DRAWLOOM_TRY(const int rank, this->rank());
    DRAWLOOM_REQUIRE(in_.expect(">"));
    const auto buffer = make_buffer(std::string(name.name()), element, rank, MemoryKind::Argument, name.loc);
    DRAWLOOM_REQUIRE(scope_.add(name, {}, buffer));
    return Argument(BufferArgument{buffer, role});
  }

  auto rank() -> Result<int> {
    const Token token = in_.peek();
    DRAWLOOM_TRY(const int64_t rank, in_.expect_integer("a rank"));
    if (rank < 0 || rank > 64) return Diag(DiagKind::parse_number, token.loc, rank, "rank");
    return static_cast<int>(rank);
  }

  /// `[0, 7]`, open ends as `-inf` and `inf`
  auto range(Symbol& symbol) -> Status {
    DRAWLOOM_REQUIRE(in_.expect("["));
    DRAWLOOM_REQUIRE(range_end(symbol.min));
    DRAWLOOM_REQUIRE(in_.expect(","));
    DRAWLOOM_REQUIRE(range_end(symbol.max));
    return in_.expect("]");
  }
  auto range_end(std::optional<int64_t>& out) -> Status {
    const bool open = in_.at("inf") || (in_.at("-") && in_.peek(1).is("inf"));
    if (open) {
      in_.accept("-");
      in_.next();
      return Done();
    }
    DRAWLOOM_TRY(out, in_.expect_integer("an integer or `inf`"));
    return Done();
  }

  // --- blocks

  auto braces() -> Result<Stmt> {
    DRAWLOOM_REQUIRE(in_.expect("{"));
    if (++depth_ > kMaxParseDepth) return Diag(DiagKind::parse_too_deep, in_.loc(), kMaxParseDepth);
    const size_t outer = scope_.size();
    auto out = rest_of_block();
    scope_.shrink(outer);
    --depth_;
    return out;
  }

  /// A let, an allocate or a tensor map without braces: what follows it in its block is its body.
  struct Open {
    size_t first_inside;  ///< position in the list of statements
    SymbolRef symbol;
    BufferRef buffer;
    ExprList values;
    Loc loc;
    std::optional<TensorMap::Shape> map = {};
  };

  /// The statements up to `}`. Open lets are closed at the end, from the inside out, without recursion.
  auto rest_of_block() -> Result<Stmt> {
    const Loc start = in_.loc();
    StmtList stmts;
    std::vector<Open> open;
    while (!in_.accept("}")) {
      DRAWLOOM_REQUIRE(exprs_.shared_lines());
      if (in_.at("let") || in_.at("allocate") || in_.at("tensor_map")) {
        DRAWLOOM_TRY(auto binder, in_.at("let")        ? let_line()
                                  : in_.at("allocate") ? allocate_line()
                                                       : tensor_map_line());
        if (in_.at("{")) {
          const size_t outer = scope_.size() - 1;
          DRAWLOOM_TRY(auto body, braces());
          scope_.shrink(outer);
          DRAWLOOM_TRY(auto closed, close(binder, std::move(body)));
          stmts.push_back(std::move(closed));
        } else {
          binder.first_inside = stmts.size();
          open.push_back(std::move(binder));
        }
        continue;
      }
      DRAWLOOM_TRY(auto s, statement());
      stmts.push_back(std::move(s));
    }
    for (; !open.empty(); open.pop_back()) {
      const auto first = stmts.begin() + static_cast<long>(open.back().first_inside);
      StmtList inside(std::make_move_iterator(first), std::make_move_iterator(stmts.end()));
      stmts.erase(first, stmts.end());
      DRAWLOOM_TRY(auto closed, close(open.back(), make_block(std::move(inside), open.back().loc)));
      stmts.push_back(std::move(closed));
    }
    return make_block(std::move(stmts), start);
  }

  static auto close(Open& binder, Stmt body) -> Result<Stmt> {
    if (binder.map) {
      return try_make<TensorMap>(binder.symbol, binder.buffer, *std::move(binder.map), std::move(body), binder.loc);
    }
    if (binder.symbol) return try_make<LetStmt>(binder.symbol, binder.values[0], std::move(body), binder.loc);
    return try_make<Allocate>(binder.buffer, std::move(binder.values), std::move(body), binder.loc);
  }

  auto let_line() -> Result<Open> {
    const Loc loc = in_.next().loc;
    DRAWLOOM_TRY(const auto name, in_.expect(TokenKind::Variable, "a variable, as in `%t`"));
    DRAWLOOM_REQUIRE(in_.expect("="));
    DRAWLOOM_TRY(auto value, exprs_.expr());
    auto symbol = make_symbol(SymbolKind::Let, std::string(name.name()), value.type(), name.loc);
    DRAWLOOM_REQUIRE(scope_.add(name, symbol, {}));
    return Open{0, std::move(symbol), {}, {std::move(value)}, loc};
  }

  /// `allocate %b: f32[ext, ext] rank 2 heap`
  auto allocate_line() -> Result<Open> {
    const Loc loc = in_.next().loc;
    DRAWLOOM_TRY(const auto name, in_.expect(TokenKind::Variable, "a buffer, as in `%b`"));
    DRAWLOOM_REQUIRE(in_.expect(":"));
    DRAWLOOM_TRY(const Type element, exprs_.type());
    DRAWLOOM_REQUIRE(in_.expect("["));
    DRAWLOOM_TRY(auto extents, exprs_.expr_list("]"));
    DRAWLOOM_REQUIRE(in_.expect("]"));
    int rank = static_cast<int>(extents.size());
    if (in_.accept("rank")) {
      DRAWLOOM_TRY(rank, this->rank());
    }
    DRAWLOOM_TRY(const auto memory, this->memory());
    auto buffer = make_buffer(std::string(name.name()), element, rank, memory, name.loc);
    if (memory == MemoryKind::Shared) {
      DRAWLOOM_REQUIRE(in_.expect("at"));
      DRAWLOOM_TRY(const int64_t at, in_.expect_integer("a byte of shared memory"));
      buffer = make_shared_buffer(std::string(name.name()), element, rank, at, name.loc);
    }
    DRAWLOOM_REQUIRE(scope_.add(name, {}, buffer));
    return Open{0, {}, std::move(buffer), std::move(extents), loc};
  }

  auto memory() -> Result<MemoryKind> {
    for (const auto kind : {MemoryKind::Heap, MemoryKind::Stack, MemoryKind::Register, MemoryKind::Shared}) {
      if (in_.accept(memory_name(kind))) return kind;
    }
    return in_.unexpected("`heap`, `stack`, `register` or `shared`");
  }

  /// `tensor_map %m = %b[0, 0] dims (w, h) strides (s) box (64, 64) swizzle 128`
  auto tensor_map_line() -> Result<Open> {
    const Loc loc = in_.next().loc;
    DRAWLOOM_TRY(const auto name, in_.expect(TokenKind::Variable, "a variable, as in `%t`"));
    DRAWLOOM_REQUIRE(in_.expect("="));
    DRAWLOOM_TRY(auto head, tensor_map_head(in_, exprs_));
    auto symbol = make_symbol(SymbolKind::TensorMap, std::string(name.name()), uint_type(64), name.loc);
    DRAWLOOM_REQUIRE(scope_.add(name, symbol, {}));
    return Open{0, std::move(symbol), head.buffer, {}, loc, std::move(head.shape)};
  }

  // --- statements

  auto statement() -> Result<Stmt> {
    const Token first = in_.next();
    if (first.is("for")) return for_stmt(ForKind::Serial, first.loc);
    if (first.is("parallel")) return marked_for(ForKind::Parallel, first.loc);
    if (first.is("vectorized")) return marked_for(ForKind::Vectorized, first.loc);
    if (first.is("unrolled")) return marked_for(ForKind::Unrolled, first.loc);
    if (first.is("block")) return marked_for(ForKind::Block, first.loc);
    if (first.is("thread")) return marked_for(ForKind::Thread, first.loc);
    if (first.is("if")) return if_stmt(first.loc);
    if (first.is("store")) return store_stmt(first.loc);
    if (first.is("stage")) return stage_stmt(first.loc);
    if (first.is("check")) return check_stmt(first.loc);
    if (first.is("store_fence")) return store_fence(first.loc);
    if (first.is("launch")) return launch_stmt(first.loc);
    if (first.is("roles")) return roles_stmt(first.loc);
    if (first.is("elect")) return elect_stmt(first.loc);
    DRAWLOOM_TRY(auto device, device_statement(first, in_, exprs_));
    if (device) return device;
    return Diag(DiagKind::parse_unexpected, first.loc, "a statement or `}`", first.described());
  }

  auto marked_for(ForKind how, const Loc& loc) -> Result<Stmt> {
    DRAWLOOM_REQUIRE(in_.expect("for"));
    return for_stmt(how, loc);
  }
  auto for_stmt(ForKind how, const Loc& loc) -> Result<Stmt> {
    DRAWLOOM_TRY(const auto name, in_.expect(TokenKind::Variable, "a loop variable, as in `%x`"));
    DRAWLOOM_REQUIRE(in_.expect("="));
    DRAWLOOM_TRY(auto min, exprs_.expr());
    DRAWLOOM_REQUIRE(in_.expect(":"));
    DRAWLOOM_TRY(auto extent, exprs_.expr());
    const auto symbol = make_symbol(SymbolKind::Loop, std::string(name.name()), kIndex, name.loc);
    const size_t outer = scope_.size();
    DRAWLOOM_REQUIRE(scope_.add(name, symbol, {}));
    DRAWLOOM_TRY(auto body, braces());
    scope_.shrink(outer);
    return try_make<For>(symbol, std::move(min), std::move(extent), how, std::move(body), loc);
  }

  auto if_stmt(const Loc& loc) -> Result<Stmt> {
    if (++depth_ > kMaxParseDepth) return Diag(DiagKind::parse_too_deep, loc, kMaxParseDepth);
    DRAWLOOM_TRY(auto condition, exprs_.expr());
    DRAWLOOM_TRY(auto then, braces());
    Stmt otherwise;
    if (in_.accept("else")) {
      const Loc at = in_.loc();
      DRAWLOOM_TRY(otherwise, in_.accept("if") ? if_stmt(at) : braces());
    }
    --depth_;
    return try_make<If>(std::move(condition), std::move(then), std::move(otherwise), loc);
  }

  auto store_stmt(const Loc& loc) -> Result<Stmt> {
    const bool nontemporal = in_.accept("nontemporal");
    DRAWLOOM_TRY(auto to, exprs_.element());
    DRAWLOOM_REQUIRE(in_.expect("="));
    DRAWLOOM_TRY(auto value, exprs_.expr());
    return try_make<Store>(to.buffer, std::move(to.index), std::move(value), std::move(to.mask), std::move(to.origin),
                           nontemporal, loc);
  }

  auto stage_stmt(const Loc& loc) -> Result<Stmt> {
    DRAWLOOM_TRY(const auto name, in_.expect(TokenKind::String, "the name of a stage in quotes"));
    DRAWLOOM_TRY(auto body, braces());
    return try_make<Stage>(string_value(name), std::move(body), loc);
  }

  auto check_stmt(const Loc& loc) -> Result<Stmt> {
    DRAWLOOM_TRY(auto condition, exprs_.expr());
    DRAWLOOM_TRY(const auto code, in_.expect(TokenKind::String, "an error code in quotes"));
    DRAWLOOM_TRY(const auto message, in_.expect(TokenKind::String, "a message in quotes"));
    ExprList args;
    if (in_.accept("(")) {
      DRAWLOOM_TRY(args, exprs_.expr_list(")"));
      DRAWLOOM_REQUIRE(in_.expect(")"));
    }
    return try_make<Check>(std::move(condition), string_value(code), string_value(message), std::move(args), loc);
  }

  auto launch_stmt(const Loc& loc) -> Result<Stmt> {
    DRAWLOOM_TRY(auto head, launch_head(in_));
    DRAWLOOM_TRY(auto body, braces());
    return try_make<Launch>(std::move(head.name), head.attributes, std::move(body), loc);
  }
  auto elect_stmt(const Loc& loc) -> Result<Stmt> {
    DRAWLOOM_TRY(auto body, braces());
    return try_make<Elect>(std::move(body), loc);
  }
  auto roles_stmt(const Loc& loc) -> Result<Stmt> {
    DRAWLOOM_REQUIRE(in_.expect("{"));
    StmtList roles;
    while (!in_.accept("}")) {
      DRAWLOOM_TRY(auto role, role_stmt());
      roles.push_back(std::move(role));
    }
    return try_make<RoleSwitch>(std::move(roles), loc);
  }
  /// `role "math" warps 8 as %t { .. }`
  auto role_stmt() -> Result<Stmt> {
    const Loc loc = in_.loc();
    DRAWLOOM_REQUIRE(in_.expect("role"));
    DRAWLOOM_TRY(const auto name, in_.expect(TokenKind::String, "the name of a role in quotes"));
    DRAWLOOM_REQUIRE(in_.expect("warps"));
    DRAWLOOM_TRY(const int64_t warps, in_.expect_integer("a number of warps"));
    DRAWLOOM_REQUIRE(in_.expect("as"));
    DRAWLOOM_TRY(const auto thread, in_.expect(TokenKind::Variable, "a variable, as in `%t`"));
    const auto symbol = make_symbol(SymbolKind::Loop, std::string(thread.name()), kIndex, thread.loc);
    const size_t outer = scope_.size();
    DRAWLOOM_REQUIRE(scope_.add(thread, symbol, {}));
    DRAWLOOM_TRY(auto body, braces());
    scope_.shrink(outer);
    return try_make<Role>(string_value(name), static_cast<int>(warps), symbol, std::move(body), loc);
  }

  TokenCursor in_;
  Scope scope_;
  ExprHooks hooks_;
  ExprParser exprs_;
  int depth_ = 0;
};

}  // namespace

auto parse_programs(std::string_view text, std::string_view file) -> Result<std::vector<Program>> {
  DRAWLOOM_TRY(const auto tokens, lex(text, file));
  return IrParser(tokens).programs();
}

auto parse_expr(std::string_view text, std::string_view file, const std::vector<Argument>& names) -> Result<Expr> {
  DRAWLOOM_TRY(const auto tokens, lex(text, file));
  std::vector<std::string> storage;
  return IrParser(tokens).only_expr(names, storage);
}

}  // namespace drawloom
