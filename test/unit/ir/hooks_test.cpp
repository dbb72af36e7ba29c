/// The expression grammar in another text form: plain names, Funcs, images, conversions. This is how `*.dl` uses it.

#include <catch2/catch.hpp>

#include "drawloom/ir/build.h"
#include "drawloom/ir/node_ops.h"
#include "drawloom/ir/parse_expr.h"
#include "drawloom/ir/print_expr.h"

namespace drawloom {
namespace {

/// A little language: the Var x, the Func f of two u16 components, the image `in` of u16. Index literals become u16.
struct Language {
  SymbolRef x = make_symbol(SymbolKind::Var, "x");
  Ref<const FuncDecl> f = make_ref<const FuncDecl>("f");
  BufferRef in = make_buffer("in", uint_type(16), 1, MemoryKind::Argument);

  auto parse(std::string_view text) -> Result<Expr> {
    ExprHooks hooks;
    hooks.context = this;
    hooks.name = [](void* self, const Token& name) -> Result<Expr> {
      if (name.text == "x") return var_ref(static_cast<Language*>(self)->x, name.loc);
      return Diag(DiagKind::parse_unknown_name, name.loc, "Var", name.text);
    };
    hooks.buffer = [](void* self, const Token& name) {
      return name.text == "in" ? static_cast<Language*>(self)->in : BufferRef();
    };
    hooks.call = [](void* self, const Token& name, ExprList args, int component) -> Result<Expr> {
      auto& language = *static_cast<Language*>(self);
      if (name.text == "in") return load(language.in, std::move(args), {}, {}, name.loc);
      if (name.text != "f") return Diag(DiagKind::parse_unknown_name, name.loc, "Func", name.text);
      return access(uint_type(16), language.f.get(), language.f, component, std::move(args), name.loc);
    };
    hooks.unify = [](void*, ExprList& operands) -> Status {
      bool data = false;
      for (const auto& e : operands) data |= !e.type().is_index();
      for (auto& e : operands) {
        if (data && e.as<IntImm>() && e.type().is_index()) e = int_imm(uint_type(16), e.to<IntImm>().value, e.loc());
      }
      return Done();
    };
    hooks.untyped_float = float_type(32);
    const auto tokens = lex(text, "p.dl", NameStyle::Plain).value();
    TokenCursor cursor(tokens);
    ExprParser parser(cursor, hooks);
    DRAWLOOM_REQUIRE(parser.shared_lines(";"));
    DRAWLOOM_TRY(auto e, parser.expr());
    if (!cursor.at_end()) return cursor.unexpected("the end");
    return e;
  }

  static auto print(const Expr& e) -> std::string {
    NameHooks hooks;
    hooks.symbol = [](void*, const Symbol& s) { return is_buffer_field(s) ? field_text(s, "") : s.name; };
    hooks.buffer = [](void*, const BufferDecl& b) { return b.name; };
    hooks.func = [](void*, const FuncDecl& f) { return f.name; };
    hooks.loads_as_calls = true;
    auto printed = print_exprs({e}, hooks);
    printed.shared.push_back(printed.texts[0]);
    return join(printed.shared, "; ");
  }
};

TEST_CASE("another form spells names its way and shares the grammar", "[ir][text][hooks]") {
  Language language;
  for (const char* text : {"f(x + 1) + f(x)[1]", "in(x % 2) / 3:u16", "extent(in, 0) - x", "select(x < 3, f(x), in(x))",
                           "let(t = f(x), t * t)", "#1 = f(x); #1 * #1", "min(x, 3)", "cast<f32>(in(x)) * 0.5:f32"}) {
    INFO(text);
    const auto parsed = language.parse(text);
    if (!parsed.ok()) FAIL(parsed.diag().text());
    CHECK(Language::print(*parsed) == text);
  }
}

TEST_CASE("hooks convert operands and type numbers", "[ir][text][hooks]") {
  Language language;
  const auto sum = language.parse("in(x) + 3");
  REQUIRE(sum.ok());
  CHECK(Language::print(*sum) == "in(x) + 3:u16");
  CHECK(language.parse("max(2, f(x))")->type() == uint_type(16));
  CHECK(language.parse("0.5")->type() == float_type(32));
  CHECK(language.parse("x%x")->as<Binary>()->op == BinaryOp::Mod);
}

TEST_CASE("hooks refuse names with their own words", "[ir][text][hooks]") {
  Language language;
  CHECK(language.parse("y").diag().text() == "p.dl:1:1: error: unknown Var `y` [parse_unknown_name]");
  CHECK(language.parse("x + g(x)").diag().text() == "p.dl:1:5: error: unknown Func `g` [parse_unknown_name]");
}

}  // namespace
}  // namespace drawloom
