// From a Program to instruction lists and a tree of statements.
//
// Example: `store %out[%x] = %a[%x] * %a[%x]`, with one node for the load, becomes
//     instructions   l = Load, access 0; m = Mul l, l
//     statement      Store, access 1, value m; runs those two first
// The operands of a statement are computed right before it, every shared node once (`memo_`); the next statement starts
// afresh, since it may follow a store to what was loaded. Registers are never used twice: the machine is not meant to
// be fast, and a value stays where messages can find it.
#include "drawloom/interp/machine/code.h"
#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/type_rules.h"

namespace drawloom::machine {
namespace {

class Compiler {
 public:
  auto program(const Program& p) -> Result<Code> {
    code_.stages.emplace_back();
    code_.flat_storage = p.flat_storage;
    for (size_t i = 0; i < p.arguments.size(); ++i) argument(p.arguments[i], static_cast<int>(i));
    code_.root = statement(p.body);
    if (problem_) return *problem_;
    return std::move(code_);
  }

 private:
  // --- names

  void argument(const Argument& a, int position) {
    if (const auto* scalar = std::get_if<ScalarArgument>(&a)) return bind_runtime(scalar->symbol);
    const auto& b = std::get<BufferArgument>(a);
    storages_[b.buffer.get()] = static_cast<int>(code_.storages.size());
    code_.storages.push_back(
        {.buffer = b.buffer.get(), .argument = position, .writable = b.role == ArgumentRole::Output});
    for (const auto* fields : {&b.buffer->min, &b.buffer->extent, &b.buffer->stride}) {
      for (const auto& s : *fields) bind_runtime(s);
    }
  }
  void bind_runtime(const SymbolRef& s) {
    const Register r = reserve(1);
    symbols_[s.get()] = r;
    code_.runtime_symbols[s.get()] = r;
  }
  auto reserve(int lanes) -> Register {
    const Register r = code_.registers;
    code_.registers += lanes;
    return r;
  }
  /// Names a value for the time of `body`. Nodes computed under one meaning of the symbol are not those under another.
  template <typename F>
  auto with_symbol(const SymbolRef& s, Register r, F&& body) {
    const auto found = symbols_.find(s.get());
    const Register outer = found == symbols_.end() ? kNone : found->second;
    const bool again = !ever_bound_.insert({s.get(), true}).second;
    if (again) memo_.clear();
    symbols_[s.get()] = r;
    auto result = body();
    if (outer == kNone) {
      symbols_.erase(s.get());
    } else {
      symbols_[s.get()] = outer;
      memo_.clear();
    }
    return result;
  }

  static constexpr std::string_view kDeviceCode = "device code is run by the simulator";

  auto fail(const Diag& d) -> Register {
    if (!problem_) problem_ = d;
    return 0;
  }
  auto malformed(const Node& n, std::string_view what) -> Register {
    return fail(Diag(DiagKind::ir_malformed, n.loc, std::string(kind_name(n.kind)), what));
  }

  // --- expressions

  auto expr(const Expr& e) -> Register {
    if (problem_) return 0;
    if (const auto known = memo_.find(e.get()); known != memo_.end()) return known->second;
    if (auto p = operand_problem(*e.get())) return fail(*p);
    const Register r = dispatch(*e.get(), [&](const auto& n) -> Register {
      if constexpr (std::is_base_of_v<ExprNode, std::decay_t<decltype(n)>>) return this->emit(n);
      return kNone;
    });
    memo_[e.get()] = r;
    return r;
  }
  auto exprs(const ExprList& list) -> std::vector<Register> {
    std::vector<Register> out;
    for (const auto& e : list) out.push_back(expr(e));
    return out;
  }
  auto push(Instruction i) -> Register {
    i.to = reserve(i.type.lanes);
    code_.instructions.push_back(i);
    return i.to;
  }
  auto constant(Type t, Value v) -> Register {
    const Register r = reserve(t.lanes);
    code_.constants.push_back({r, v, t.lanes});
    return r;
  }

  auto emit(const IntImm& n) -> Register { return constant(n.type, int_value(n.type, n.value)); }
  auto emit(const FloatImm& n) -> Register { return constant(n.type, float_value(n.type, n.value)); }
  auto emit(const VarRef& n) -> Register {
    const auto found = symbols_.find(n.symbol.get());
    return found != symbols_.end() ? found->second : malformed(n, str("`{}` is not in scope", n.symbol->name));
  }
  auto emit(const Cast& n) -> Register {
    return push({.kind = n.kind, .type = n.type, .from = {expr(n.value), kNone, kNone}});
  }
  auto emit(const Reinterpret& n) -> Register {
    return push({.kind = n.kind, .type = n.type, .from = {expr(n.value), kNone, kNone}});
  }
  auto emit(const Address& n) -> Register { return malformed(n, kDeviceCode); }
  auto emit(const Unary& n) -> Register {
    return push({.kind = n.kind, .op = static_cast<uint8_t>(n.op), .type = n.type, .from = {expr(n.a), kNone, kNone}});
  }
  auto emit(const Binary& n) -> Register {
    const Register a = expr(n.a), b = expr(n.b);
    return push({.kind = n.kind, .op = static_cast<uint8_t>(n.op), .type = n.type, .from = {a, b, kNone}});
  }
  auto emit(const Select& n) -> Register {
    const Register c = expr(n.condition), yes = expr(n.yes), no = expr(n.no);
    return push({.kind = n.kind, .type = n.type, .from = {c, yes, no}});
  }
  auto emit(const Call& n) -> Register {
    Instruction i{.kind = n.kind, .op = static_cast<uint8_t>(n.function), .type = n.type};
    for (size_t k = 0; k < n.args.size(); ++k) i.from[k] = expr(n.args[k]);
    return push(i);
  }
  auto emit(const Access& n) -> Register { return malformed(n, "only definitions read a Func"); }
  auto emit(const Load& n) -> Register {
    const int access = element(n);
    return push({.kind = n.kind, .type = n.type, .access = access});
  }
  auto emit(const Ramp& n) -> Register {
    const Register base = expr(n.base), stride = expr(n.stride);
    return push({.kind = n.kind, .type = n.type, .from = {base, stride, kNone}});
  }
  auto emit(const Broadcast& n) -> Register {
    return push({.kind = n.kind, .type = n.type, .from = {expr(n.value), kNone, kNone}});
  }
  auto emit(const Let& n) -> Register {
    const Register value = expr(n.value);
    return with_symbol(n.symbol, value, [&] { return expr(n.body); });
  }

  template <typename T>
  auto element(const T& n) -> int {
    const auto found = storages_.find(n.buffer.get());
    if (found == storages_.end()) return malformed(n, str("buffer `{}` is not in scope", n.buffer->name));
    ElementAccess a{.storage = found->second, .stage = stage_, .scope = scope_, .loc = n.loc};
    a.lanes = n.index.empty() ? 1 : n.index[0].type().lanes;
    a.index = exprs(n.index);
    a.origin = exprs(n.origin);
    if (n.mask) a.mask = expr(n.mask);
    auto& rank = code_.storages[static_cast<size_t>(a.storage)].origin_rank;
    if (static_cast<int>(a.origin.size()) > rank) rank = static_cast<int>(a.origin.size());
    code_.accesses.push_back(std::move(a));
    return static_cast<int>(code_.accesses.size()) - 1;
  }

  // --- statements

  auto statement(const Stmt& s) -> int {
    if (problem_) return 0;
    if (auto p = operand_problem(*s.get())) return fail(*p);
    if (const auto* stage = s.as<Stage>()) return in_stage(*stage);
    memo_.clear();
    Statement out{.kind = s.kind(), .scope = scope_, .stage = stage_, .loc = s.loc()};
    out.first = static_cast<int>(code_.instructions.size());
    dispatch(*s.get(), [&](const auto& n) {
      if constexpr (std::is_base_of_v<StmtNode, std::decay_t<decltype(n)>>) this->operands(n, out);
    });
    out.last = static_cast<int>(code_.instructions.size());
    dispatch(*s.get(), [&](const auto& n) {
      if constexpr (std::is_base_of_v<StmtNode, std::decay_t<decltype(n)>>) this->children(n, out);
    });
    code_.statements.push_back(std::move(out));
    return static_cast<int>(code_.statements.size()) - 1;
  }

  auto in_stage(const Stage& n) -> int {
    const int outer = stage_;
    stage_ = 0;
    while (stage_ < static_cast<int>(code_.stages.size()) && code_.stages[static_cast<size_t>(stage_)] != n.name)
      ++stage_;
    if (stage_ == static_cast<int>(code_.stages.size())) code_.stages.push_back(n.name);
    const int body = statement(n.body);
    stage_ = outer;
    return body;
  }

  void operands(const Block&, Statement&) {}
  void operands(const Stage&, Statement&) {}
  void operands(const StoreFence&, Statement&) {}
  void operands(const For& n, Statement& out) { out.operands = {expr(n.min), expr(n.extent)}; }
  void operands(const If& n, Statement& out) { out.operands = {expr(n.condition)}; }
  void operands(const LetStmt& n, Statement& out) { out.operands = {expr(n.value)}; }
  void operands(const Allocate& n, Statement& out) { out.operands = exprs(n.extents); }
  void operands(const Store& n, Statement& out) {
    const Register value = expr(n.value);
    out.access = element(n);
    if (problem_) return;
    auto& access = code_.accesses[static_cast<size_t>(out.access)];
    access.is_store = true;
    access.value = value;
  }
  void operands(const Check& n, Statement& out) {
    out.operands = {expr(n.condition)};
    for (const auto& a : n.args) out.operands.push_back(expr(a));
    out.check = &n;
  }

  template <typename T>
  void operands(const T& n, Statement&) {
    malformed(n, kDeviceCode);
  }
  template <typename T>
  void children(const T&, Statement&) {}
  void children(const Store&, Statement&) {}
  void children(const Stage&, Statement&) {}
  void children(const Check&, Statement&) {}
  void children(const StoreFence&, Statement&) {}
  void children(const Block& n, Statement& out) {
    for (const auto& s : n.stmts) out.children.push_back(statement(s));
  }
  void children(const For& n, Statement& out) {
    const int outer = scope_;
    out.how = n.how;
    out.symbol = reserve(1);
    code_.scopes.push_back({.parent = outer, .symbol = out.symbol, .name = n.symbol.get()});
    out.scope = scope_ = static_cast<int>(code_.scopes.size()) - 1;
    out.children = {with_symbol(n.symbol, out.symbol, [&] { return statement(n.body); })};
    scope_ = outer;
  }
  void children(const If& n, Statement& out) {
    const int then = statement(n.then);
    out.children = {then, n.otherwise ? statement(n.otherwise) : kNone};
  }
  void children(const LetStmt& n, Statement& out) {
    // Its own registers: the value's may belong to another symbol, or be written again by a later statement.
    out.type = n.value.type();
    out.symbol = reserve(out.type.lanes);
    out.children = {with_symbol(n.symbol, out.symbol, [&] { return statement(n.body); })};
  }
  void children(const Allocate& n, Statement& out) {
    const auto found = storages_.find(n.buffer.get());
    const int outer = found == storages_.end() ? kNone : found->second;
    out.storage = storages_[n.buffer.get()] = static_cast<int>(code_.storages.size());
    code_.storages.push_back({.buffer = n.buffer.get()});
    out.children = {statement(n.body)};
    if (outer == kNone) {
      storages_.erase(n.buffer.get());
    } else {
      storages_[n.buffer.get()] = outer;
    }
  }

  Code code_;
  std::optional<Diag> problem_;
  std::unordered_map<const Symbol*, Register> symbols_;
  std::unordered_map<const Symbol*, bool> ever_bound_;
  std::unordered_map<const BufferDecl*, int> storages_;
  /// Nodes computed by the statement at hand.
  std::unordered_map<const Node*, Register> memo_;
  int stage_ = 0, scope_ = kNone;
};

}  // namespace

auto compile(const Program& program) -> Result<Code> { return Compiler().program(program); }

}  // namespace drawloom::machine
