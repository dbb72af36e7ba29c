// From the statement tree of a launch to one list of instructions with jumps.
//
//     if %c { A } else { B }        0 If c, else at 2    1 A    2 Else, end at 4    3 B    4 EndIf
//     for %i = 0 : n { A }          0 Loop i, behind at 3    1 A    2 Next, first at 1    3 ...
//
// A warp can stop before any instruction and be tried again there, which a walk over the tree could not offer without a
// stack of its own. What the host has bound by then (arguments, lets around the launch) is constant.
//
// Subexpressions are shared within one statement only: a store in between may change what a load reads.
#include <algorithm>

#include "drawloom/interp/simt/compiler.h"
#include "drawloom/ir/build.h"
#include "drawloom/ir/text_form.h"

namespace drawloom::simt {

auto compile_launch(const Launch& launch, const HostNames& host) -> Result<Code> {
  return Compiler(launch, host).run();
}

auto Compiler::run() -> Result<Code> {
  DRAWLOOM_TRY(code_.shape, launch_shape(*code_.launch));
  code_.flat_storage = host_.flat_storage;
  code_.threads = launch_threads(*code_.shape.threads);
  code_.sites.push_back({.loc = code_.launch->loc, .words = str("launch \"{}\"", code_.launch->name)});
  const size_t blocks = code_.shape.blocks.size();
  for (size_t i = 0; i < blocks; ++i) {
    const int slot = code_.block_slots[blocks - 1 - i] = new_slot();
    symbols_[code_.shape.blocks[i]->symbol.get()] = slot_operand(slot, kIndex, true);
  }
  code_.thread_slot = new_slot();
  symbols_[code_.shape.threads->symbol.get()] = slot_operand(code_.thread_slot, kIndex, false);
  statement(code_.shape.body);
  instruction(Op::End);
  if (problem_) return *problem_;
  return std::move(code_);
}

void Compiler::statement(const Stmt& s) {
  if (problem_ || !s) return;
  memo_.clear();
  const int outer_slot = next_slot_, outer_site = site_;
  const bool has_site = s.kind() != Kind::Block && s.kind() != Kind::Stage;
  if (has_site) {
    // Plain accesses need no name: messages about them say `reads` or `writes`.
    const bool named =
        s.kind() != Kind::Store && s.kind() != Kind::LetStmt && s.kind() != Kind::For && s.kind() != Kind::If;
    site_ = static_cast<int>(code_.sites.size());
    code_.sites.push_back({.loc = s.loc(), .words = named ? described(*s.get()) : std::string()});
  }
  dispatch(*s.get(), [&](const auto& n) {
    if constexpr (std::is_base_of_v<StmtNode, std::decay_t<decltype(n)>>) this->emit_statement(n);
  });
  next_slot_ = outer_slot;
  site_ = outer_site;
}

template <typename T>
void Compiler::emit_statement(const T& n) {
  fail(n, "not in device code");
}
void Compiler::emit_statement(const Block& n) {
  for (const auto& s : n.stmts) statement(s);
}
void Compiler::emit_statement(const Stage& n) { statement(n.body); }

void Compiler::emit_statement(const For& n) {
  const Operand min = expr(n.min), extent = expr(n.extent);
  const Operand symbol = slot_operand(new_slot(), kIndex, min.same_in_all_lanes());
  const int head = here();
  auto& loop = instruction(Op::Loop);
  loop.from[0] = min, loop.from[1] = extent, loop.to = symbol.index, loop.uniform = symbol.uniform;
  with_symbol(n.symbol, symbol, [&] { statement(n.body); });
  auto& next = instruction(Op::Next);
  next.from[0] = min, next.from[1] = extent, next.to = symbol.index, next.uniform = symbol.uniform;
  next.target = head + 1;
  at(head).target = here();
}

void Compiler::emit_statement(const If& n) {
  const Operand condition = expr(n.condition);
  const int head = here();
  instruction(Op::If).from[0] = condition;
  statement(n.then);
  const int middle = here();
  instruction(Op::Else);
  at(head).target = middle;
  statement(n.otherwise);
  at(middle).target = here();
  instruction(Op::EndIf);
}

void Compiler::emit_statement(const LetStmt& n) {
  with_symbol(n.symbol, expr(n.value), [&] { statement(n.body); });
}

void Compiler::emit_statement(const Allocate& n) {
  int64_t elements = 1;
  std::vector<int64_t> extents;
  for (const auto& e : n.extents) {
    int64_t size = 0;
    if (!as_int(e, size)) return void(fail(n, "device code has buffers of constant size"));
    extents.push_back(std::max<int64_t>(size, 0));
    elements *= extents.back();
  }
  const auto* buffer = n.buffer.get();
  const int bytes = buffer->element.bytes();
  extents_[buffer] = extents;
  if (buffer->memory == MemoryKind::Register) {
    if (!registers_.contains(buffer)) {
      registers_[buffer] = static_cast<int>(code_.registers.size());
      code_.registers.push_back({.buffer = buffer, .elements = elements});
    }
    instruction(Op::Allocate).place = registers_[buffer];
  } else if (buffer->memory == MemoryKind::Shared) {
    shared_[buffer] = static_cast<int>(code_.shared.size());
    code_.shared.push_back({.buffer = buffer, .at = buffer->at, .bytes = elements * bytes});
    // Records of who touched what are kept as fine as the finest buffer, and no finer.
    while (bytes % code_.shared_granule != 0 || buffer->at % code_.shared_granule != 0) code_.shared_granule /= 2;
  } else {
    return void(fail(n, "device code has register and shared buffers"));
  }
  statement(n.body);
}

void Compiler::emit_statement(const Store& n) {
  const int p = place(n, n.buffer, n.index);
  const Operand value = expr(n.value), mask = n.mask ? expr(n.mask) : Operand{};
  auto& i = instruction(Op::Store);
  i.from[0] = mask, i.from[1] = value, i.place = p, i.type = n.buffer->element;
}

void Compiler::emit_statement(const RoleSwitch& n) {
  int first = 0;
  for (const auto& s : n.roles) {
    role(s.to<Role>(), first);
    first += s.to<Role>().warps;
  }
}
void Compiler::role(const Role& n, int first_warp) {
  const int outer_slot = next_slot_;
  const int head = here();
  auto& i = instruction(Op::Role);
  i.to = new_slot();
  i.number = static_cast<int>(code_.roles.size());
  const Operand thread = slot_operand(i.to, kIndex, false);
  code_.roles.push_back({.name = n.name, .first_warp = first_warp, .warps = n.warps});
  with_symbol(n.symbol, thread, [&] { statement(n.body); });
  at(head).target = here();
  next_slot_ = outer_slot;
}

void Compiler::emit_statement(const Elect& n) {
  const int head = here();
  instruction(Op::Elect);
  statement(n.body);
  at(head).target = here() + 1;
  instruction(Op::EndElect);
}

void Compiler::emit_statement(const Sync& n) {
  const Operand id = n.id ? expr(n.id) : Operand{};
  auto& i = instruction(Op::Sync);
  i.sub = static_cast<uint8_t>(n.how), i.from[0] = id, i.number = n.threads;
}
void Compiler::emit_statement(const Init& n) {
  const int p = barrier_place(n);
  const Operand count = expr(n.count);
  auto& i = instruction(Op::Init);
  i.place = p, i.from[0] = count;
}
void Compiler::emit_statement(const Arrive& n) {
  const int p = barrier_place(n);
  const Operand count = expr(n.count);
  const Operand bytes = n.bytes ? expr(n.bytes) : Operand{}, rank = n.rank ? expr(n.rank) : Operand{};
  auto& i = instruction(Op::Arrive);
  i.place = p, i.from[0] = count, i.from[1] = bytes, i.from[2] = rank;
}
void Compiler::emit_statement(const Expect& n) {
  const int p = barrier_place(n);
  const Operand bytes = expr(n.bytes);
  auto& i = instruction(Op::Expect);
  i.place = p, i.from[0] = bytes;
}
void Compiler::emit_statement(const Wait& n) {
  const int p = barrier_place(n);
  const Operand parity = expr(n.parity);
  auto& i = instruction(Op::Wait);
  i.place = p, i.from[0] = parity, i.flag = n.cluster;
}
void Compiler::emit_statement(const Fence& n) { instruction(Op::Fence).sub = static_cast<uint8_t>(n.how); }
void Compiler::emit_statement(const Commit& n) { instruction(Op::Commit).sub = static_cast<uint8_t>(n.group); }
void Compiler::emit_statement(const WaitGroup& n) {
  auto& i = instruction(Op::WaitGroup);
  i.sub = static_cast<uint8_t>(n.group), i.number = n.pending;
}
void Compiler::emit_statement(const SetRegisters& n) { instruction(Op::SetRegisters).number = n.count; }

void Compiler::emit_statement(const Issue& n) {
  IssueCode code{.atom = find_atom(n.atom), .operands = {}};
  if (!code.atom) return void(fail(n, "no such atom"));
  size_t at = 0;
  for (const auto& row : code.atom->operands) code.operands.push_back(issue_operand(n, row, at));
  auto& i = instruction(Op::Issue);
  i.number = static_cast<int>(code_.issues.size());
  code_.issues.push_back(std::move(code));
}

auto Compiler::issue_operand(const Issue& n, const AtomOperand& row, size_t& at) -> IssueOperand {
  IssueOperand out{.row = &row};
  if (row.kind == OperandKind::Registers) {
    const auto& a = n.operands[at++].to<Address>();
    const auto found = registers_.find(a.buffer.get());
    if (found == registers_.end() || a.index.size() != 1) {
      fail(n, "a register operand must be allocated, and takes one subscript");
      return out;
    }
    out.registers = found->second, out.first = expr(a.index[0]);
    if (!out.first.same_in_all_lanes())
      fail(n, str("which registers operand {} takes differs among the lanes", row.name));
    return out;
  }
  if (row.kind == OperandKind::Map) {
    out.map = n.operands[at++].to<VarRef>().symbol.get();
    return out;
  }
  const int count = row.kind == OperandKind::Values ? row.count : 1;
  for (int i = 0; i < count; ++i) out.values.push_back(expr(n.operands[at++]));
  return out;
}

}  // namespace drawloom::simt
