/// Atoms, and all that is more than one fixed line, as inline PTX.
///
/// An atom is its row of atoms.def with places filled in: results are registers stored back to their array, operands
/// that are read and written are tied. LLVM takes the result of a piece of inline PTX for final, but a wgmma goes on
/// writing its accumulators until the wait. So the wait takes every accumulator in scope as operand and result:
/// whatever reads one later depends on the wait, and nothing can be moved in front of it.

#include "drawloom/codegen/llvm/nvptx/inline_code.h"
#include "drawloom/codegen/llvm/nvptx/kernel.h"
#include "drawloom/ir/build.h"

namespace drawloom::codegen {

void KernelEmitter::ptx(std::string_view text, std::string_view constraints, llvm::ArrayRef<Value*> operands) {
  call_inline(b_, llvm::Type::getVoidTy(m_.context), text, std::string(constraints), operands);
}

auto KernelEmitter::register_home(const BufferDecl* buffer, int64_t at) -> Value* {
  return b_.CreateConstInBoundsGEP1_64(m_.memory_type(buffer->element), places_.at(buffer).base,
                                       static_cast<uint64_t>(at));
}

auto KernelEmitter::register_homes(const Address& a, int count) -> std::vector<Value*> {
  int64_t first = 0;
  as_int(a.index[0], first);
  std::vector<Value*> out;
  for (int i = 0; i < count; ++i) out.push_back(register_home(a.buffer.get(), first + i));
  return out;
}

auto KernelEmitter::load_all(llvm::Type* type, const std::vector<Value*>& homes) -> std::vector<Value*> {
  std::vector<Value*> out;
  for (Value* home : homes) out.push_back(b_.CreateLoad(type, home));
  return out;
}

void KernelEmitter::note_accumulator(const DeviceAtom& atom, const BufferDecl* buffer) {
  const bool adds = atom.family == AtomFamily::Wgmma || atom.family == AtomFamily::WgmmaRegisters;
  const bool known = std::find(accumulators_.begin(), accumulators_.end(), buffer) != accumulators_.end();
  if (adds && !known) accumulators_.push_back(buffer);
}

void KernelEmitter::emit_issue(const Issue& n) {
  const DeviceAtom& atom = *find_atom(n.atom);
  InlineCode code(atom.ptx);
  std::vector<ExprList> operands;  // one list for each operand of the row
  size_t at = 0;
  for (const auto& o : atom.operands) {
    const size_t count = o.kind == OperandKind::Values ? static_cast<size_t>(o.count) : 1;
    operands.emplace_back(n.operands.begin() + static_cast<long>(at),
                          n.operands.begin() + static_cast<long>(at + count));
    at += count;
  }
  // Results have the first numbers.
  std::vector<int> first_result(atom.operands.size());
  for (size_t i = 0; i < atom.operands.size(); ++i) {
    const auto& o = atom.operands[i];
    if (!o.written) continue;
    const auto& array = operands[i][0].to<Address>();
    first_result[i] = code.results(o.name, m_.memory_type(o.type), register_homes(array, o.count));
    note_accumulator(atom, array.buffer.get());
  }
  for (size_t i = 0; i < atom.operands.size(); ++i) {
    const auto& o = atom.operands[i];
    const auto& e = operands[i];
    if (o.kind == OperandKind::Immediate) {
      int64_t constant = 0;
      as_int(e[0], constant);
      code.constant(o.name, constant);
    } else if (o.kind == OperandKind::Registers) {
      if (!o.read) continue;
      const auto values = load_all(m_.memory_type(o.type), register_homes(e[0].to<Address>(), o.count));
      o.written ? code.tie(values, first_result[i]) : code.inputs(o.name, values, false);
    } else {
      std::vector<Value*> values;
      for (const auto& v : e) values.push_back(value(v));
      code.inputs(o.name, values, o.kind == OperandKind::Values);
    }
  }
  code.emit(b_);
  forget();
}

/// The wait with every accumulator going through it, so that no read of one can stand before it.
void KernelEmitter::pin_accumulators(std::string_view text) {
  InlineCode code{std::string(text)};
  struct Pinned {
    llvm::Type* type;
    std::vector<Value*> homes;
    int first;
  };
  std::vector<Pinned> all;
  for (const BufferDecl* decl : accumulators_) {
    Pinned p{m_.memory_type(decl->element), {}, 0};
    for (int64_t i = 0; i < register_counts_.at(decl); ++i) p.homes.push_back(register_home(decl, i));
    p.first = code.results("", p.type, p.homes);
    all.push_back(std::move(p));
  }
  for (const auto& p : all) code.tie(load_all(p.type, p.homes), p.first);
  code.emit(b_);
  forget();
}

}  // namespace drawloom::codegen
