#pragma once
/// Makes Code of a launch. Slots live as long as the symbols they hold: temporaries of one statement are used again by
/// the next.

#include <unordered_set>

#include "drawloom/interp/simt/code.h"
#include "drawloom/ir/dispatch.h"

namespace drawloom::simt {

class Compiler {
 public:
  Compiler(const Launch& launch, const HostNames& host) : host_(host) { code_.launch = &launch; }
  auto run() -> Result<Code>;

 private:
  // compile_expr.cpp
  auto expr(const Expr& e) -> Operand;
  auto exprs(const ExprList& list) -> std::vector<Operand>;
  auto constant(Type t, Value v) -> Operand;
  auto push(Instruction i) -> Operand;
  template <typename T>
  auto emit(const T& n) -> Operand;
  auto emit(const IntImm& n) -> Operand;
  auto emit(const FloatImm& n) -> Operand;
  auto emit(const VarRef& n) -> Operand;
  auto emit(const Cast& n) -> Operand;
  auto emit(const Reinterpret& n) -> Operand;
  auto emit(const Unary& n) -> Operand;
  auto emit(const Binary& n) -> Operand;
  auto emit(const Select& n) -> Operand;
  auto emit(const Call& n) -> Operand;
  auto emit(const Load& n) -> Operand;
  auto emit(const Address& n) -> Operand;
  auto emit(const Let& n) -> Operand;
  auto place(const Node& n, const BufferRef& buffer, const ExprList& index) -> int;
  template <typename T>
  auto barrier_place(const T& n) -> int {
    return place(n, n.barrier, n.index);
  }

  // compile_stmt.cpp
  void statement(const Stmt& s);
  template <typename T>
  void emit_statement(const T& n);
  void emit_statement(const Block& n);
  void emit_statement(const Stage& n);
  void emit_statement(const For& n);
  void emit_statement(const If& n);
  void emit_statement(const LetStmt& n);
  void emit_statement(const Allocate& n);
  void emit_statement(const Store& n);
  void emit_statement(const RoleSwitch& n);
  void emit_statement(const Elect& n);
  void emit_statement(const Sync& n);
  void emit_statement(const Init& n);
  void emit_statement(const Arrive& n);
  void emit_statement(const Expect& n);
  void emit_statement(const Wait& n);
  void emit_statement(const Fence& n);
  void emit_statement(const Issue& n);
  void emit_statement(const Commit& n);
  void emit_statement(const WaitGroup& n);
  void emit_statement(const SetRegisters& n);
  auto issue_operand(const Issue& n, const AtomOperand& row, size_t& at) -> IssueOperand;
  void role(const Role& n, int first_warp);

  auto instruction(Op op) -> Instruction& {
    code_.instructions.push_back({.op = op, .site = site_});
    return code_.instructions.back();
  }
  auto here() const -> int { return static_cast<int>(code_.instructions.size()); }
  auto at(int i) -> Instruction& { return code_.instructions[static_cast<size_t>(i)]; }
  auto new_slot() -> int {
    const int slot = next_slot_++;
    if (next_slot_ > code_.slots) code_.slots = next_slot_;
    return slot;
  }
  auto slot_operand(int slot, Type t, bool uniform) const -> Operand {
    return {.where = Operand::Where::slot, .uniform = uniform, .type = t, .index = slot};
  }
  auto fail(const Node& n, std::string_view what) -> Operand;
  /// Names a value for the time of `body`; behind it the symbol means again what it meant before. Nodes computed under
  /// one meaning of the symbol are not those under another.
  template <typename F>
  void with_symbol(const SymbolRef& s, const Operand& value, F&& body) {
    const auto found = symbols_.find(s.get());
    const std::optional<Operand> outer = found == symbols_.end() ? std::nullopt : std::optional(found->second);
    if (!ever_bound_.insert(s.get()).second) memo_.clear();
    symbols_[s.get()] = value;
    body();
    if (!outer) return void(symbols_.erase(s.get()));
    symbols_[s.get()] = *outer;
    memo_.clear();
  }

  const HostNames& host_;
  Code code_;
  int next_slot_ = 0;
  int site_ = 0;
  bool in_role_ = false;
  std::unordered_map<const Symbol*, Operand> symbols_;
  std::unordered_set<const Symbol*> ever_bound_;
  std::unordered_map<const BufferDecl*, int> registers_, shared_;
  std::unordered_map<const BufferDecl*, std::vector<int64_t>> extents_;
  std::unordered_map<const Node*, Operand> memo_;
  std::optional<Diag> problem_;
};

}  // namespace drawloom::simt
