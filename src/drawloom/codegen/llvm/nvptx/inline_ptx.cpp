/// Atoms as inline PTX.

#include "drawloom/codegen/llvm/nvptx/kernel.h"
#include "drawloom/ir/atoms.h"
#include "drawloom/ir/build.h"
#include "drawloom/support/check.h"
#include "llvm/IR/InlineAsm.h"

namespace drawloom::codegen {
namespace {

/// Inline PTX under construction. LLVM numbers results first, then inputs; an input tied to a result has a number of its
/// own that the text does not use.
struct Piece {
  std::vector<llvm::Type*> results;
  std::vector<Value*> inputs;
  std::string result_constraints, input_constraints;
  std::vector<std::pair<const BufferDecl*, int>> homes;  ///< register and element of each result

  static void add(std::string& list, std::string_view c) {
    if (!list.empty()) list += ',';
    list += c;
  }
};

/// The letter for a register of a type.
auto letter(llvm::Type* t) -> std::string_view {
  if (t->isFloatTy()) return "f";
  if (t->isDoubleTy()) return "d";
  if (t->isIntegerTy(1)) return "b";
  if (t->isIntegerTy(16)) return "h";
  if (t->isIntegerTy(64) || t->isPointerTy()) return "l";
  DRAWLOOM_CHECK(t->isIntegerTy(32), "codegen: no register for an operand of inline PTX");
  return "r";
}

/// `always`: in braces even if it is one.
auto braced(int first, int count, bool always = false) -> std::string {
  if (count == 1 && !always) return str("${}", first);
  std::string out = "{";
  for (int i = 0; i < count; ++i) out += str("{}${}", i == 0 ? "" : ", ", first + i);
  return out + "}";
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

auto call_asm(llvm::IRBuilder<>& b, llvm::Type* result, const std::string& text, std::string constraints,
              llvm::ArrayRef<Value*> inputs) -> llvm::CallInst* {
  Piece::add(constraints, "~{memory}");
  std::vector<llvm::Type*> types;
  for (Value* v : inputs) types.push_back(v->getType());
  auto* type = llvm::FunctionType::get(result, types, false);
  auto* code = llvm::InlineAsm::get(type, text, constraints, /*hasSideEffects=*/true);
  llvm::CallInst* call = b.CreateCall(code, inputs);
  call->addFnAttr(llvm::Attribute::Convergent);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  return call;
}

}  // namespace

void KernelEmitter::ptx(std::string_view text, std::string_view constraints, llvm::ArrayRef<Value*> operands) {
  call_asm(b_, llvm::Type::getVoidTy(m_.context), std::string(text), std::string(constraints), operands);
}

auto KernelEmitter::register_pointer(const Address& a, int offset) -> Value* {
  int64_t first = 0;
  as_int(a.index[0], first);
  return b_.CreateConstInBoundsGEP1_64(m_.memory_type(a.buffer->element), places_.at(a.buffer.get()).base,
                                       static_cast<uint64_t>(first + offset));
}

void KernelEmitter::emit_issue(const Issue& n) {
  const DeviceAtom& atom = *find_atom(n.atom);
  Piece piece;
  std::vector<std::pair<std::string, std::string>> texts;  // of operands that are results
  struct Input {
    std::string name;
    std::vector<Value*> values;
    bool tied, list;
  };
  std::vector<Input> inputs;
  std::vector<Value*> homes;
  size_t at = 0;
  for (const auto& o : atom.operands) {
    const std::string name = "{" + o.name + "}";
    const auto& e = n.operands[at];
    if (o.kind == OperandKind::Registers) {
      const auto& array = e.to<Address>();
      llvm::Type* type = m_.memory_type(o.type);
      Input in{name, {}, o.written, false};
      for (int i = 0; i < o.count; ++i) {
        Value* home = register_pointer(array, i);
        if (o.read) in.values.push_back(b_.CreateLoad(type, home));
        if (o.written) homes.push_back(home), piece.results.push_back(type);
      }
      if (o.written) {
        const int first = static_cast<int>(piece.results.size()) - o.count;
        texts.emplace_back(name, braced(first, o.count));
        for (int i = 0; i < o.count; ++i) Piece::add(piece.result_constraints, str("={}", letter(type)));
      }
      if (o.read) inputs.push_back(std::move(in));
      ++at;
      const bool adds = atom.family == AtomFamily::Wgmma || atom.family == AtomFamily::WgmmaRegisters;
      const BufferDecl* array_decl = array.buffer.get();
      const bool known = std::find(accumulators_.begin(), accumulators_.end(), array_decl) != accumulators_.end();
      if (adds && o.written && !known) accumulators_.push_back(array_decl);
      continue;
    }
    const int count = o.kind == OperandKind::Values ? o.count : 1;
    Input in{name, {}, false, o.kind == OperandKind::Values};
    for (int i = 0; i < count; ++i) {
      Value* v = value(n.operands[at++]);
      if (o.kind == OperandKind::Immediate) v = nullptr;
      in.values.push_back(v);
    }
    if (o.kind == OperandKind::Immediate) {
      int64_t constant = 0;
      as_int(e, constant);
      texts.emplace_back(name, str("{}", constant));
      continue;
    }
    inputs.push_back(std::move(in));
  }

  int next = static_cast<int>(piece.results.size()), tied = 0;
  for (const auto& in : inputs) {
    if (!in.tied) texts.emplace_back(in.name, braced(next, static_cast<int>(in.values.size()), in.list));
    for (Value* v : in.values) {
      Piece::add(piece.input_constraints, in.tied ? str("{}", tied++) : std::string(letter(v->getType())));
      piece.inputs.push_back(v);
      ++next;
    }
  }
  std::string text = atom.ptx;
  for (const auto& [name, with] : texts) replace_all(text, name, with);
  std::string constraints = piece.result_constraints;
  if (!piece.input_constraints.empty()) Piece::add(constraints, piece.input_constraints);

  llvm::Type* result = llvm::Type::getVoidTy(m_.context);
  if (piece.results.size() == 1) result = piece.results[0];
  if (piece.results.size() > 1) result = llvm::StructType::get(m_.context, piece.results);
  llvm::CallInst* call = call_asm(b_, result, text, constraints, piece.inputs);
  for (size_t i = 0; i < homes.size(); ++i) {
    Value* v = homes.size() == 1 ? static_cast<Value*>(call) : b_.CreateExtractValue(call, static_cast<unsigned>(i));
    b_.CreateStore(v, homes[i]);
  }
  forget();
}

/// The wait with every accumulator going through it, so that no read of one can stand before it.
void KernelEmitter::pin_accumulators(std::string_view text) {
  std::vector<llvm::Type*> types;
  std::vector<Value*> values, homes;
  std::string outputs, inputs;
  for (const BufferDecl* decl : accumulators_) {
    llvm::Type* type = m_.memory_type(decl->element);
    for (int64_t i = 0; i < register_counts_.at(decl); ++i) {
      Value* home = b_.CreateConstInBoundsGEP1_64(type, places_.at(decl).base, static_cast<uint64_t>(i));
      Piece::add(outputs, str("={}", letter(type)));
      Piece::add(inputs, str("{}", values.size()));
      values.push_back(b_.CreateLoad(type, home));
      types.push_back(type);
      homes.push_back(home);
    }
  }
  if (values.empty()) return ptx(text);
  llvm::Type* result = types.size() == 1 ? types[0] : llvm::StructType::get(m_.context, types);
  llvm::CallInst* call = call_asm(b_, result, std::string(text), outputs + "," + inputs, values);
  for (size_t i = 0; i < homes.size(); ++i) {
    Value* v = homes.size() == 1 ? static_cast<Value*>(call) : b_.CreateExtractValue(call, static_cast<unsigned>(i));
    b_.CreateStore(v, homes[i]);
  }
  forget();
}

}  // namespace drawloom::codegen
