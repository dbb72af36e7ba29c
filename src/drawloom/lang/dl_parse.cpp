// Reads *.dl. Names and types mean what they mean in C++: definitions go through define(), so text and the fluent API
// cannot differ in what they accept.
//
// A file is a list of sections, each begun by its word (`sections`). Two sets of names are known in an expression:
// those of the pipeline (`names_`) and the variables of the definition at hand (`scope_`), which come first. The one
// thing that is used before it is said is the domain of an update:
//
//     update s
//       #1 = in(x + r)
//       over r = 0 : 3
//       s(x) = s(x) + #1 * #1
//
// so the names behind `over` are looked up ahead, and its bounds are read when the parser comes there.

#include <algorithm>
#include <unordered_map>

#include "drawloom/ir/build.h"
#include "drawloom/ir/parse_expr.h"
#include "drawloom/lang/close.h"
#include "drawloom/lang/define.h"
#include "drawloom/lang/dl_text.h"
#include "drawloom/lang/typing.h"
#include "drawloom/lang/var.h"
#include "drawloom/steps/field_text.h"

namespace drawloom {
namespace {

/// A name of the pipeline: exactly one of these.
struct Named {
  Ref<FunctionDef> func;
  BufferRef input;
  SymbolRef param;
};

class Parser {
 public:
  explicit Parser(const std::vector<Token>& tokens) : in_(tokens) {
    hooks_.context = this;
    hooks_.name = [](void* self, const Token& t) { return static_cast<Parser*>(self)->name(t); };
    hooks_.buffer = [](void* self, const Token& t) { return static_cast<Parser*>(self)->input(t); };
    hooks_.call = [](void* self, const Token& t, ExprList args, int component) {
      return static_cast<Parser*>(self)->call(t, args, component);
    };
    hooks_.unify = [](void* self, ExprList& operands) { return static_cast<Parser*>(self)->unify(operands); };
    hooks_.untyped_float = float_type(32);
  }

  auto run() -> Result<DlCase> {
    DRAWLOOM_REQUIRE(header());
    const Loc start = in_.loc();
    while (!in_.at_end()) DRAWLOOM_REQUIRE(section());
    DRAWLOOM_REQUIRE(close(start));
    out_.schedule.pipeline = out_.pipeline->name;
    return std::move(out_);
  }

 private:
  struct Section {
    std::string word;
    Status (Parser::*read)();
  };
  static auto sections() -> const std::vector<Section>& {
    static const std::vector<Section> list = {
        {"allow", &Parser::allow},          {"input", &Parser::input_line},    {"param", &Parser::param_line},
        {"func", &Parser::func_lines},      {"update", &Parser::update_lines}, {"output", &Parser::output_line},
        {"schedule", &Parser::schedule},    {"size", &Parser::size_line},      {"set", &Parser::set_line},
        {"strides", &Parser::strides_line}, {"seed", &Parser::seed_line},
    };
    return list;
  }

  auto header() -> Status {
    if (!in_.at("drawloom") || !in_.peek(2).is("pipeline"))
      return in_.unexpected(str("`drawloom-pipeline {}`", kPipelineVersion));
    in_.next(), in_.next(), in_.next();
    const Loc loc = in_.loc();
    DRAWLOOM_TRY(const int64_t version, in_.expect_integer("a version"));
    if (version != kPipelineVersion) return Diag(DiagKind::parse_version, loc, version, kPipelineVersion);
    DRAWLOOM_TRY(const Token name, word("the name of the pipeline"));
    name_ = std::string(name.text);
    return Done();
  }

  auto section() -> Status {
    const Token token = in_.peek();
    std::vector<std::string> words;
    for (const auto& s : sections()) {
      if (in_.accept(s.word)) return (this->*s.read)();
      words.push_back(s.word);
    }
    if (token.kind != TokenKind::Word) return in_.unexpected("a line of a pipeline");
    return unknown_word("line", std::string(token.text), words, token.loc);
  }

  // --- the algorithm

  auto allow() -> Status {
    if (in_.accept("reassociates")) return allowed_ = Effect::reassociates, Done();
    if (in_.accept("approximates")) return allowed_ = Effect::approximates, Done();
    if (in_.accept("exact")) return Done();
    return in_.unexpected("exact, reassociates or approximates");
  }

  auto input_line() -> Status {
    DRAWLOOM_TRY(const Token name, new_name("input"));
    for (const auto* t : {":", "buffer", "<"}) DRAWLOOM_REQUIRE(in_.expect(t));
    DRAWLOOM_TRY(const Type type, ExprParser(in_, hooks_).type());
    DRAWLOOM_REQUIRE(in_.expect(","));
    const Loc rank_loc = in_.loc();
    DRAWLOOM_TRY(const int64_t rank, in_.expect_integer("a rank"));
    if (rank < 0 || rank > 64) return Diag(DiagKind::parse_number, rank_loc, rank, "rank");
    DRAWLOOM_REQUIRE(in_.expect(">"));
    inputs_.push_back(
        make_buffer(std::string(name.text), type, static_cast<int>(rank), MemoryKind::Argument, name.loc));
    names_[inputs_.back()->name].input = inputs_.back();
    return Done();
  }

  auto param_line() -> Status {
    DRAWLOOM_TRY(const Token name, new_name("param"));
    DRAWLOOM_REQUIRE(in_.expect(":"));
    DRAWLOOM_TRY(const Type type, ExprParser(in_, hooks_).type());
    auto symbol = make_ref<Symbol>(SymbolKind::Param, std::string(name.text), type, name.loc);
    if (in_.accept("in")) {
      DRAWLOOM_REQUIRE(in_.expect("["));
      DRAWLOOM_TRY(symbol->min, limit());
      DRAWLOOM_REQUIRE(in_.expect(","));
      DRAWLOOM_TRY(symbol->max, limit());
      DRAWLOOM_REQUIRE(in_.expect("]"));
    }
    params_.emplace_back(symbol);
    names_[symbol->name].param = params_.back();
    return Done();
  }
  auto limit() -> Result<std::optional<int64_t>> {
    if (in_.accept("inf")) return std::optional<int64_t>();
    if (in_.at("-") && in_.peek(1).is("inf")) return in_.next(), in_.next(), std::optional<int64_t>();
    DRAWLOOM_TRY(const int64_t value, in_.expect_integer("a bound"));
    return std::optional<int64_t>(value);
  }

  auto func_lines() -> Status {
    DRAWLOOM_TRY(const Token name, new_name("func"));
    auto f = make_ref<FunctionDef>(std::string(name.text));
    f->loc = name.loc;
    DRAWLOOM_REQUIRE(in_.expect("("));
    ExprList lhs;
    while (!in_.at(")")) {
      if (!lhs.empty()) DRAWLOOM_REQUIRE(in_.expect(","));
      DRAWLOOM_TRY(const Token arg, word("the name of an argument"));
      lhs.push_back(var_ref(make_symbol(SymbolKind::Var, std::string(arg.text), kIndex, arg.loc), arg.loc));
    }
    in_.next();
    DRAWLOOM_REQUIRE(in_.expect(":"));
    DRAWLOOM_TRY(f->types, types());
    f->declared_rank = static_cast<int>(lhs.size());
    names_[f->name].func = f;
    funcs_.push_back(f);
    scope_.clear();
    for (const auto& e : lhs) scope_.push_back(e.to<VarRef>().symbol);

    ExprParser exprs(in_, hooks_);
    DRAWLOOM_REQUIRE(exprs.shared_lines());
    DRAWLOOM_REQUIRE(in_.expect("="));
    DRAWLOOM_TRY(const auto values, list(exprs));
    return define(*f, lhs, values, name.loc);
  }
  auto types() -> Result<std::vector<Type>> {
    ExprParser exprs(in_, hooks_);
    std::vector<Type> out;
    const bool several = in_.accept("(");
    do {
      DRAWLOOM_TRY(const Type t, exprs.type());
      out.push_back(t);
    } while (several && in_.accept(","));
    if (several) DRAWLOOM_REQUIRE(in_.expect(")"));
    return out;
  }
  /// The values of a definition, with commas between.
  auto list(ExprParser& exprs) -> Result<ExprList> {
    ExprList out;
    do {
      DRAWLOOM_TRY(const auto e, exprs.expr());
      out.push_back(from_literal(e));
    } while (in_.accept(","));
    return out;
  }

  auto update_lines() -> Status {
    DRAWLOOM_TRY(const auto f, known_func());
    scope_ = f->args;
    ExprParser exprs(in_, hooks_);
    DRAWLOOM_REQUIRE(rvars_of_over());
    DRAWLOOM_REQUIRE(exprs.shared_lines());
    if (in_.accept("over")) DRAWLOOM_REQUIRE(over(exprs));
    const Loc loc = in_.loc();
    DRAWLOOM_REQUIRE(in_.expect(f->name));
    DRAWLOOM_REQUIRE(in_.expect("("));
    DRAWLOOM_TRY(const auto lhs, exprs.expr_list(")"));
    in_.next();
    DRAWLOOM_REQUIRE(in_.expect("="));
    DRAWLOOM_TRY(const auto values, list(exprs));
    DRAWLOOM_REQUIRE(define(*f, lhs, values, loc));
    repeat_over_unused_domain(*f);
    return Done();
  }
  /// A definition takes its domain from the variables it uses; `over` says it even where none is used.
  void repeat_over_unused_domain(FunctionDef& f) const {
    auto& def = f.updates.back();
    if (def.rdom || box_->dims.empty()) return;
    auto domain = make_ref<ReductionDomain>();
    domain->loc = box_->loc;
    for (const auto& dim : box_->dims)
      domain->dims.push_back({make_symbol(SymbolKind::RVar, dim.name, kIndex, box_->loc), dim.min, dim.extent});
    def.rdom = domain;
  }
  /// Lines `#1 = ..` may use the variables of the domain that is said after them: looks ahead for their names.
  auto rvars_of_over() -> Status {
    box_ = make_ref<DomainBox>();
    box_->loc = in_.loc();
    TokenCursor ahead = in_;
    while (!ahead.at_end() && !ahead.at("over") && !begins_section(ahead)) ahead.next();
    if (!ahead.accept("over")) return Done();
    int depth = 0;
    for (bool expected = true; !ahead.at_end() && !begins_section(ahead); ahead.next()) {
      const Token& t = ahead.peek();
      if (expected && t.kind == TokenKind::Word && ahead.peek(1).is("=")) {
        if (find(t.text)) return Diag(DiagKind::parse_redefined, t.loc, "variable", t.text);
        auto symbol = make_ref<Symbol>(SymbolKind::RVar, std::string(t.text), kIndex, t.loc);
        symbol->attached = Ref<const Attachment>(box_);
        scope_.emplace_back(symbol);
        box_->dims.push_back({symbol->name, {}, {}});
      }
      if (t.is("(") || t.is("[")) ++depth;
      if (t.is(")") || t.is("]")) --depth;
      expected = depth == 0 && t.is(",");
    }
    return Done();
  }
  auto begins_section(const TokenCursor& cursor) const -> bool {
    const auto& list = sections();
    return cursor.peek().starts_line && std::any_of(list.begin(), list.end(), [&](const Section& s) {
             return cursor.at(s.word) && !cursor.peek(1).is("(");
           });
  }
  auto over(ExprParser& exprs) -> Status {
    for (auto& dim : box_->dims) {
      if (&dim != box_->dims.data()) DRAWLOOM_REQUIRE(in_.expect(","));
      DRAWLOOM_REQUIRE(in_.expect(dim.name));
      DRAWLOOM_REQUIRE(in_.expect("="));
      DRAWLOOM_TRY(dim.min, bound(exprs, "the min", dim.name));
      DRAWLOOM_REQUIRE(in_.expect(":"));
      DRAWLOOM_TRY(dim.extent, bound(exprs, "the extent", dim.name));
    }
    if (box_->dims.empty()) return in_.unexpected("`x = min : extent`");
    return Done();
  }
  auto bound(ExprParser& exprs, std::string_view which, const std::string& name) -> Result<Expr> {
    const Loc loc = in_.loc();
    DRAWLOOM_TRY(const auto e, exprs.expr());
    return domain_bound(e, which, name, loc);
  }

  auto output_line() -> Status {
    do {
      DRAWLOOM_TRY(const auto f, known_func());
      outputs_.emplace_back(f);
    } while (in_.accept(","));
    return Done();
  }

  // --- one run of it

  auto schedule() -> Status {
    if (in_.accept("target")) {
      while (!in_.at("{") && !in_.at_end()) out_.schedule.target += in_.next().text;
    }
    DRAWLOOM_REQUIRE(in_.expect("{"));
    while (!in_.at("}")) {
      const Loc loc = in_.loc();
      StepCursor line(in_);
      DRAWLOOM_TRY(auto step, read_step(line));
      out_.schedule.steps.push_back({std::move(step), loc});
    }
    in_.next();
    return Done();
  }
  auto size_line() -> Status {
    DRAWLOOM_TRY(const Token name, known_name());
    DlCase::Size size{std::string(name.text), {}};
    for (bool more = in_.accept("="); more; more = in_.accept(",")) {
      DlCase::Range range;
      DRAWLOOM_TRY(range.min, in_.expect_integer("a min"));
      DRAWLOOM_REQUIRE(in_.expect(":"));
      DRAWLOOM_TRY(range.extent, in_.expect_integer("an extent"));
      size.dims.push_back(range);
    }
    const auto& named = names_.at(size.name);
    const int rank = named.func ? named.func->rank() : named.input ? named.input->rank : 0;
    if (static_cast<int>(size.dims.size()) != rank) {
      return Diag(DiagKind::buffer_shape, name.loc, size.name, counted(rank, "dimension"), size.dims.size());
    }
    out_.sizes.push_back(std::move(size));
    return Done();
  }
  auto set_line() -> Status {
    DRAWLOOM_TRY(const Token name, known_name());
    const auto param = names_.at(std::string(name.text)).param;
    if (!param) return Diag(DiagKind::parse_unknown_name, name.loc, "param", name.text);
    DRAWLOOM_REQUIRE(in_.expect("="));
    const Loc loc = in_.loc();
    scope_.clear();
    DRAWLOOM_TRY(const auto number, ExprParser(in_, hooks_).expr());
    const auto value = lossless(param->type, from_literal(number));
    if (!value.defined() || (!value.as<IntImm>() && !value.as<FloatImm>())) {
      return Diag(DiagKind::parse_unexpected, loc, str("a value of {}", param->type), "another expression");
    }
    out_.settings.push_back({param->name, value});
    return Done();
  }
  auto strides_line() -> Status {
    DRAWLOOM_TRY(const Token name, known_name());
    std::string buffer(name.text);  // of a tuple, each component has its own: `f.1`
    if (in_.at(".")) {
      in_.next();
      DRAWLOOM_TRY(const int64_t component, in_.expect_integer("a component"));
      buffer += str(".{}", component);
    }
    DRAWLOOM_TRY(const Token how, word("a word for strides"));
    out_.strides.push_back({buffer, std::string(how.text)});
    return Done();
  }
  auto seed_line() -> Status {
    DRAWLOOM_TRY(const Token number, in_.expect(TokenKind::Int, "a number"));
    if (!parse_magnitude(number.text, out_.seed))
      return Diag(DiagKind::parse_number, number.loc, number.text, "64-bit integer");
    return Done();
  }

  // --- names

  auto word(std::string_view what) -> Result<Token> { return in_.expect(TokenKind::Word, what); }
  auto new_name(std::string_view what) -> Result<Token> {
    DRAWLOOM_TRY(const Token name, word(str("the name of the {}", what)));
    if (names_.contains(std::string(name.text))) return Diag(DiagKind::parse_redefined, name.loc, what, name.text);
    if (is_language_word(name.text))
      return Diag(DiagKind::name_malformed, name.loc, name.text).with_help("it is a word of the language");
    return name;
  }
  auto known_name() -> Result<Token> {
    DRAWLOOM_TRY(const Token name, word("a name"));
    if (!names_.contains(std::string(name.text))) return unknown("name", name);
    return name;
  }
  auto known_func() -> Result<Ref<FunctionDef>> {
    DRAWLOOM_TRY(const Token name, word("the name of a func"));
    const auto hit = names_.find(std::string(name.text));
    if (hit == names_.end() || !hit->second.func) return unknown("func", name);
    return hit->second.func;
  }
  auto unknown(std::string_view what, const Token& name) -> Diag {
    std::vector<std::string> known;
    for (const auto& [text, named] : names_) known.push_back(text);
    for (const auto& s : scope_) known.push_back(s->name);
    std::sort(known.begin(), known.end());
    return unknown_word(what, std::string(name.text), known, name.loc);
  }
  auto find(std::string_view text) const -> SymbolRef {
    for (const auto& s : scope_) {
      if (s->name == text) return s;
    }
    return {};
  }

  // --- what names mean in expressions

  auto name(const Token& token) -> Result<Expr> {
    if (const auto symbol = find(token.text)) return var_ref(symbol, token.loc);
    const auto hit = names_.find(std::string(token.text));
    if (hit != names_.end() && hit->second.param) return var_ref(hit->second.param, token.loc);
    return unknown("name", token);
  }
  auto input(const Token& token) -> BufferRef {
    const auto hit = names_.find(std::string(token.text));
    return hit == names_.end() ? BufferRef() : hit->second.input;
  }
  auto call(const Token& token, const ExprList& args, int component) -> Result<Expr> {
    const auto hit = names_.find(std::string(token.text));
    if (hit == names_.end() || hit->second.param) return unknown("function", token);
    if (hit->second.func) return call_func(hit->second.func, component, args, token.loc);
    const auto& buffer = hit->second.input;
    if (static_cast<int>(args.size()) != buffer->rank) {
      return Diag(DiagKind::func_arity, token.loc, buffer->name, counted(buffer->rank, "dimension"), args.size());
    }
    ExprList index;
    for (const auto& e : args) {
      DRAWLOOM_TRY(auto i, subscript(e, buffer->name));
      index.push_back(std::move(i));
    }
    return load(buffer, std::move(index), {}, {}, token.loc);
  }
  /// A number without a type is a literal, as in C++; a typed one is what it says.
  static auto from_literal(const Expr& e) -> Expr {
    const auto* imm = e.as<IntImm>();
    return imm && imm->type == kIndex ? int_imm(int_type(64), imm->value, imm->loc) : e;
  }
  auto unify(ExprList& operands) -> Status {
    const auto is_data = [](const Expr& e) { return !e.type().is_index(); };
    if (std::any_of(operands.begin(), operands.end(), is_data)) {
      for (auto& e : operands) e = from_literal(e);
    }
    const bool agree =
        std::all_of(operands.begin(), operands.end(), [&](const Expr& e) { return e.type() == operands[0].type(); });
    return agree ? Status(Done()) : match_types("an operation", operands, operands[0].loc());
  }

  auto close(const Loc& loc) -> Status {
    DRAWLOOM_TRY(const auto closed, close_pipeline(outputs_, name_, allowed_, loc));
    // The order of the text is the order of arguments.
    const auto used = [](const auto& list, const auto& x) {
      return std::find(list.begin(), list.end(), x) != list.end();
    };
    for (const auto& f : funcs_) {
      if (!used(closed->funcs, FunctionRef(f))) return Diag(DiagKind::name_unused, f->loc, "func", f->name);
    }
    for (const auto& b : inputs_) {
      if (!used(closed->inputs, b)) return Diag(DiagKind::name_unused, b->loc, "input", b->name);
    }
    for (const auto& p : params_) {
      if (!used(closed->params, p)) return Diag(DiagKind::name_unused, p->loc, "param", p->name);
    }
    auto def = make_ref<PipelineDef>(*closed);
    def->funcs.assign(funcs_.begin(), funcs_.end());
    def->inputs = inputs_;
    def->params = params_;
    out_.pipeline = def;
    return Done();
  }

  TokenCursor in_;
  ExprHooks hooks_;
  DlCase out_;
  std::string name_;
  Effect allowed_ = Effect::exact;
  std::unordered_map<std::string, Named> names_;
  std::vector<Ref<FunctionDef>> funcs_;
  std::vector<BufferRef> inputs_;
  std::vector<SymbolRef> params_;
  std::vector<FunctionRef> outputs_;
  std::vector<SymbolRef> scope_;  ///< Vars and RVars of the definition being read
  Ref<DomainBox> box_;
};

}  // namespace

auto parse_case(std::string_view text, std::string_view file) -> Result<DlCase> {
  DRAWLOOM_TRY(const auto tokens, lex(text, file, NameStyle::Plain));
  return Parser(tokens).run();
}

}  // namespace drawloom
