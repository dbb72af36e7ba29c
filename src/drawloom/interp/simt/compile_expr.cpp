// Expressions as instructions over slots, each node once.
//
// Where all operands agree in all lanes by construction (constants, the block's number, what is computed of them), so
// does the result: it is computed once and kept in lane 0. Loads never count as such, since each lane's access is to be
// recorded. What vectors would do on the host is done by atoms and by the 32 lanes, so values here are scalars.
#include <algorithm>

#include "drawloom/interp/simt/compiler.h"
#include "drawloom/ir/text_form.h"

namespace drawloom::simt {

auto Compiler::fail(const Node& n, std::string_view what) -> Operand {
  if (!problem_) problem_ = Diag(DiagKind::ir_malformed, n.loc, described(n), what);
  return {};
}

auto Compiler::expr(const Expr& e) -> Operand {
  if (problem_) return {};
  if (e.type().lanes != 1) return fail(*e.get(), "vectors in device code are moved by atoms");
  if (const auto known = memo_.find(e.get()); known != memo_.end()) return known->second;
  const Operand out = dispatch(*e.get(), [&](const auto& n) -> Operand {
    if constexpr (std::is_base_of_v<ExprNode, std::decay_t<decltype(n)>>) return this->emit(n);
    return {};
  });
  memo_[e.get()] = out;
  return out;
}
auto Compiler::exprs(const ExprList& list) -> std::vector<Operand> {
  std::vector<Operand> out;
  for (const auto& e : list) out.push_back(expr(e));
  return out;
}

auto Compiler::constant(Type t, Value v) -> Operand {
  code_.constants.push_back(v);
  return {.where = Operand::Where::constant, .type = t, .index = static_cast<int>(code_.constants.size()) - 1};
}

/// Appends a value instruction; where its operands agree in all lanes, so does it.
auto Compiler::push(Instruction i) -> Operand {
  i.site = site_;
  i.to = new_slot();
  i.uniform = i.op != Op::Load && i.place == kNone;
  for (const auto& o : i.from) {
    if (o.defined() && !o.same_in_all_lanes()) i.uniform = false;
  }
  code_.instructions.push_back(i);
  return slot_operand(i.to, i.type, i.uniform);
}

template <typename T>
auto Compiler::emit(const T& n) -> Operand {
  return fail(n, "not in device code");
}
auto Compiler::emit(const IntImm& n) -> Operand { return constant(n.type, int_value(n.type, n.value)); }
auto Compiler::emit(const FloatImm& n) -> Operand { return constant(n.type, Value{.type = n.type, .f = n.value}); }
auto Compiler::emit(const VarRef& n) -> Operand {
  if (const auto own = symbols_.find(n.symbol.get()); own != symbols_.end()) return own->second;
  const auto host = host_.values.find(n.symbol.get());
  if (host == host_.values.end()) return fail(n, str("`{}` has no value here", n.symbol->name));
  return constant(host->second.type, host->second);
}
auto Compiler::emit(const Cast& n) -> Operand {
  return push({.op = Op::Cast, .type = n.type, .from = {expr(n.value), {}, {}}});
}
auto Compiler::emit(const Reinterpret& n) -> Operand {
  return push({.op = Op::Reinterpret, .type = n.type, .from = {expr(n.value), {}, {}}});
}
auto Compiler::emit(const Unary& n) -> Operand {
  return push({.op = Op::Unary, .sub = static_cast<uint8_t>(n.op), .type = n.type, .from = {expr(n.a), {}, {}}});
}
auto Compiler::emit(const Binary& n) -> Operand {
  const Operand a = expr(n.a), b = expr(n.b);
  return push({.op = Op::Binary, .sub = static_cast<uint8_t>(n.op), .type = n.type, .from = {a, b, {}}});
}
auto Compiler::emit(const Select& n) -> Operand {
  const Operand c = expr(n.condition), yes = expr(n.yes), no = expr(n.no);
  return push({.op = Op::Select, .type = n.type, .from = {c, yes, no}});
}
auto Compiler::emit(const Call& n) -> Operand {
  Instruction i{.op = Op::Call, .sub = static_cast<uint8_t>(n.function), .type = n.type};
  for (size_t k = 0; k < n.args.size(); ++k) i.from[k] = expr(n.args[k]);
  return push(i);
}
auto Compiler::emit(const Load& n) -> Operand {
  const int p = place(n, n.buffer, n.index);
  const Operand mask = n.mask ? expr(n.mask) : Operand{};
  return push({.op = Op::Load, .type = n.type, .from = {mask, {}, {}}, .place = p});
}
auto Compiler::emit(const Address& n) -> Operand {
  if (n.buffer->memory == MemoryKind::Register) return fail(n, "registers have no place outside `issue`");
  return push({.op = Op::Address, .type = n.type, .place = place(n, n.buffer, n.index)});
}
auto Compiler::emit(const Let& n) -> Operand {
  Operand out;
  with_symbol(n.symbol, expr(n.value), [&] { out = expr(n.body); });
  return out;
}

auto Compiler::place(const Node& n, const BufferRef& buffer, const ExprList& index) -> int {
  Place p{.buffer = buffer.get(), .site = site_};
  if (const auto a = host_.arguments.find(buffer.get()); a != host_.arguments.end()) {
    p.argument = a->second;
  } else if (const auto r = registers_.find(buffer.get()); r != registers_.end()) {
    p.registers = r->second;
  } else if (!shared_.contains(buffer.get())) {
    fail(n, str("buffer `{}` is not in scope", buffer->name));
    return 0;
  }
  if (const auto e = extents_.find(buffer.get()); e != extents_.end()) p.extents = e->second;
  p.index = exprs(index);
  code_.places.push_back(std::move(p));
  return static_cast<int>(code_.places.size()) - 1;
}

}  // namespace drawloom::simt
