/// The frame of one emitted function: captures, fields of C structs, calls through the table, the way out after errors.

#include "drawloom/codegen/llvm/emitter.h"
#include "drawloom/codegen/llvm/x86/x86.h"
#include "drawloom/runtime.h"
#include "drawloom/support/check.h"

namespace drawloom::codegen {

FunctionEmitter::FunctionEmitter(ModuleEmitter& module, const Program& program, llvm::Function* function,
                                 FunctionEmitter* parent)
    : Arithmetic(module), program_(program), fn_(function), parent_(parent) {
  ctx_ = fn_->getArg(0);
  entry_ = start_ = block("entry");
  error_ = block("failed");
  code_ = entry_alloca(m_.i32, 1, 4, "code");
  b_.SetInsertPoint(error_);
  b_.CreateRet(b_.CreateLoad(m_.i32, code_));
  b_.SetInsertPoint(entry_);
}

void FunctionEmitter::open_body() { b_.SetInsertPoint(body_ = block("body")); }

void FunctionEmitter::finish() {
  b_.CreateRet(b_.getInt32(0));
  Builder(start_).CreateBr(body_);
}

auto FunctionEmitter::block(const char* name) -> BasicBlock* { return BasicBlock::Create(m_.context, name, fn_); }

auto FunctionEmitter::entry_alloca(llvm::Type* type, int64_t count, int align, const std::string& name) -> Value* {
  Builder b(entry_, entry_->begin());
  llvm::Type* whole = count == 1 ? type : llvm::ArrayType::get(type, static_cast<uint64_t>(count));
  llvm::AllocaInst* a = b.CreateAlloca(whole, nullptr, name);
  a->setAlignment(llvm::Align(align));
  return a;
}

/// In the block that dominates all others, wherever the first use stands: later uses must find it too.
auto FunctionEmitter::capture(Value* parents) -> Value* {
  if (llvm::isa<llvm::Constant>(parents)) return parents;
  constexpr int64_t kAlign = 8;
  const int64_t bytes = static_cast<int64_t>(m_.module.getDataLayout().getTypeStoreSize(parents->getType()));
  Builder b(start_);
  Value* at = b.CreateConstInBoundsGEP1_64(m_.i8, closure_, static_cast<uint64_t>(closure_bytes_));
  captured_.push_back({parents, closure_bytes_});
  closure_bytes_ += (bytes + kAlign - 1) / kAlign * kAlign;
  return b.CreateAlignedLoad(parents->getType(), at, llvm::Align(kAlign), parents->getName());
}

auto FunctionEmitter::symbol(const Symbol* s) -> Binding {
  if (auto hit = symbols_.find(s); hit != symbols_.end()) return hit->second;
  DRAWLOOM_CHECK(parent_, "codegen: symbol {} of {} has no value", s->name, program_.name);
  Binding binding{capture(parent_->symbol(s).value)};
  symbols_.emplace(s, binding);
  return binding;
}

auto FunctionEmitter::storage(const BufferDecl* buffer) -> Storage {
  if (auto hit = storages_.find(buffer); hit != storages_.end()) return hit->second;
  DRAWLOOM_CHECK(parent_, "codegen: buffer {} of {} has no storage", buffer->name, program_.name);
  Storage s = parent_->storage(buffer);
  s.base = capture(s.base);
  storages_.emplace(buffer, s);
  return s;
}

auto FunctionEmitter::field(Value* base, int64_t bytes) -> Value* {
  return b_.CreateConstInBoundsGEP1_64(m_.i8, base, static_cast<uint64_t>(bytes));
}

auto FunctionEmitter::load_field(Value* base, int64_t bytes, llvm::Type* type, const char* name) -> Value* {
  return b_.CreateLoad(type, field(base, bytes), name);
}

/// The runtime's table: loaded once per function, where it dominates everything.
auto FunctionEmitter::ctx_table() -> Value* {
  if (!table_) {
    Builder b(start_);
    table_ =
        b.CreateLoad(m_.ptr, b.CreateConstInBoundsGEP1_64(m_.i8, ctx_, offsetof(drawloom_context_t, table)), "table");
  }
  return table_;
}

auto FunctionEmitter::table_call(int64_t offset, llvm::Type* result, llvm::ArrayRef<Value*> args) -> llvm::CallInst* {
  std::vector<llvm::Type*> types;
  for (Value* a : args) types.push_back(a->getType());
  Value* callee = load_field(ctx_table(), offset, m_.ptr, "service");
  llvm::CallInst* call = b_.CreateCall(llvm::FunctionType::get(result, types, false), callee, args);
  call->setDoesNotThrow();
  return call;
}

void FunctionEmitter::leave(Value* code) {
  b_.CreateStore(code, code_);
  b_.CreateBr(error_);
}

void FunctionEmitter::leave_if_error(Value* code) {
  BasicBlock *good = block("ok"), *bad = block("error");
  branch_likely(b_.CreateICmpEQ(code, b_.getInt32(0)), good, bad);
  b_.SetInsertPoint(bad);
  leave(code);
  b_.SetInsertPoint(good);
}

void FunctionEmitter::branch(Value* condition, BasicBlock* yes, BasicBlock* no) { b_.CreateCondBr(condition, yes, no); }

void FunctionEmitter::branch_likely(Value* condition, BasicBlock* yes, BasicBlock* no) {
  b_.CreateCondBr(condition, yes, no, llvm::MDBuilder(m_.context).createLikelyBranchWeights());
}

auto FunctionEmitter::site(std::string_view name, const Loc& loc) -> llvm::Constant* {
  static_assert(sizeof(drawloom_site_t) == 4 * sizeof(char*));
  llvm::Constant* none = llvm::ConstantPointerNull::get(llvm::cast<llvm::PointerType>(m_.ptr));
  const std::string where = loc.known() ? str("{}:{}", loc.file(), loc.line()) : "";
  return m_.constant_struct(
      {m_.constant_text(program_.name), m_.constant_text(name), none, where.empty() ? none : m_.constant_text(where)},
      "site");
}

}  // namespace drawloom::codegen
