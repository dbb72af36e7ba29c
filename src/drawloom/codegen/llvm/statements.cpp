/// Statements: loops, tasks of parallel loops, storage, checks.
///
/// A parallel loop becomes a function of its own and a call of the runtime:
///     parallel for %y = 0 : h { .. uses %in, %w .. }
///     -> closure = {in, w};  par_for(ctx, task, 0, h, closure)      task(ctx, y, closure) { in, w = closure; .. }
/// The task is emitted first: only then is it known what it captures, and the closure filled accordingly. A constant is
/// not captured but written out again.
///
/// Values are remembered while they dominate what follows, so whoever opens a block computes before what it needs
/// (`fresh`) and forgets at the joints. What is computed twice for that reason is joined again by LLVM's GVN.

#include "drawloom/codegen/limits.h"
#include "drawloom/codegen/llvm/emitter.h"
#include "drawloom/codegen/llvm/x86/x86.h"
#include "drawloom/ir/build.h"
#include "drawloom/runtime.h"
#include "drawloom/support/check.h"

namespace drawloom::codegen {

void FunctionEmitter::emit(const Stmt& s) {
  switch (s.kind()) {
    case Kind::Block:
      for (const Stmt& each : s.to<Block>().stmts) emit(each);
      return;
    case Kind::For: {
      const auto& n = s.to<For>();
      return n.how == ForKind::Parallel ? emit_parallel(n) : emit_for(n);
    }
    case Kind::If: return emit_if(s.to<If>());
    case Kind::LetStmt: return emit_let(s.to<LetStmt>());
    case Kind::Allocate: return emit_allocate(s.to<Allocate>());
    case Kind::Store: return emit_store(s.to<Store>());
    case Kind::Stage: return emit(s.to<Stage>().body);
    case Kind::Check: return emit_check(s.to<Check>());
    case Kind::StoreFence: return x86_store_fence(b_);
    case Kind::Launch: return emit_launch(s.to<Launch>());
    case Kind::TensorMap: return emit_tensor_map(s.to<TensorMap>());
    case Kind::RoleSwitch:
    case Kind::Role:
    case Kind::Elect:
    case Kind::Sync:
    case Kind::Init:
    case Kind::Arrive:
    case Kind::Expect:
    case Kind::Wait:
    case Kind::Fence:
    case Kind::Issue:
    case Kind::Commit:
    case Kind::WaitGroup:
    case Kind::SetRegisters:
#include "drawloom/ir/expression_cases.def"
      break;
  }
  DRAWLOOM_CHECK(false, "codegen: {} is no statement", kind_name(s.kind()));
}

/// Twice where its stores may go past the caches: with and without.
void FunctionEmitter::emit_for(const For& n) {
  Value* min = fresh(n.min);
  Value* extent = value(n.extent);
  forget();
  std::vector<const Store*> streamed;
  Value* aligned = streams(n, min, streamed);
  if (!aligned) return emit_loop(n, min, extent);
  BasicBlock *stream = block("stream"), *plain = block("plain"), *after = block("after_streams");
  branch_likely(aligned, stream, plain);
  for (const auto& [start, kind] : {std::pair(stream, StoreKind::Streamed), std::pair(plain, StoreKind::Plain)}) {
    b_.SetInsertPoint(start);
    for (const Store* s : streamed) store_kinds_[s] = kind;
    emit_loop(n, min, extent);
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
}

/// Bottom-tested, so that the latch is the only exit and nothing has to rotate the loop.
void FunctionEmitter::emit_loop(const For& n, Value* min, Value* extent) {
  Value* end = b_.CreateNSWAdd(min, extent, "end");
  BasicBlock *before = b_.GetInsertBlock(), *body = block("loop"), *after = block("done");
  branch(b_.CreateICmpSGT(extent, b_.getInt64(0)), body, after);
  b_.SetInsertPoint(body);
  llvm::PHINode* i = b_.CreatePHI(m_.i64, 2, n.symbol->name);
  i->addIncoming(min, before);
  depth_++;
  symbols_[n.symbol.get()] = {i, std::nullopt, std::nullopt, depth_};
  emit(n.body);
  depth_--;
  Value* next = b_.CreateNSWAdd(i, b_.getInt64(1), "next");
  i->addIncoming(next, b_.GetInsertBlock());
  branch(b_.CreateICmpEQ(next, end), after, body);
  b_.SetInsertPoint(after);
}

void FunctionEmitter::emit_parallel(const For& n) {
  Value* min = fresh(n.min);
  Value* extent = value(n.extent);
  forget();
  auto* type = llvm::FunctionType::get(m_.i32, {m_.ptr, m_.i64, m_.ptr}, false);
  auto* task = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, program_.name + ".task", m_.module);
  task->setDoesNotThrow();
  task->getArg(0)->setName("ctx");
  task->getArg(1)->setName(n.symbol->name);
  task->getArg(2)->setName("closure");
  FunctionEmitter inner(m_, program_, task, this);
  inner.closure_ = task->getArg(2);
  inner.symbols_[n.symbol.get()] = {task->getArg(1)};
  inner.open_body();
  inner.emit(n.body);
  inner.finish();

  Value* closure = entry_alloca(m_.i8, std::max<int64_t>(inner.closure_bytes_, 1), 16, "closure");
  for (const Captured& c : inner.captured_) b_.CreateAlignedStore(c.parents, field(closure, c.offset), llvm::Align(8));
  leave_if_error(table_call(offsetof(drawloom_runtime_table_t, par_for), m_.i32, {ctx_, task, min, extent, closure}));
}

void FunctionEmitter::emit_if(const If& n) {
  Value* condition = fresh(n.condition);
  BasicBlock *yes = block("then"), *after = block("endif");
  BasicBlock* no = n.otherwise ? block("else") : after;
  branch(condition, yes, no);
  b_.SetInsertPoint(yes);
  emit(n.then);
  b_.CreateBr(after);
  if (n.otherwise) {
    b_.SetInsertPoint(no);
    emit(n.otherwise);
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
}

void FunctionEmitter::emit_let(const LetStmt& n) {
  forget();
  bind(n.symbol, n.value);
  emit(n.body);
}

void FunctionEmitter::emit_allocate(const Allocate& n) {
  const BufferDecl* decl = n.buffer.get();
  if (decl->memory == MemoryKind::Heap) return emit_heap(n);
  int64_t elements = 1;
  for (const Expr& e : n.extents) {
    int64_t extent = 0;
    DRAWLOOM_CHECK(as_int(e, extent), "codegen: extent of {} is no constant", decl->name);
    elements *= std::max<int64_t>(extent, 0);
  }
  llvm::Type* type = m_.memory_type(decl->element);
  Value* base;
  if (decl->memory == MemoryKind::Register) {
    // Room for the lanes that a masked vector may have before the first element and beyond the last.
    base = b_.CreateConstInBoundsGEP1_64(
        type, entry_alloca(type, elements + 2 * kMaxLanes, kStorageAlign, std::string(kRegisterPrefix) + decl->name),
        kMaxLanes);
  } else {
    const int64_t bytes = elements * decl->element.bytes() + 2 * kStackMargin;
    base = b_.CreateConstInBoundsGEP1_64(m_.i8, entry_alloca(m_.i8, bytes, kStorageAlign, "stack." + decl->name),
                                         kStackMargin);
  }
  storages_[decl] = {base, m_.new_storage_tag(decl->name), decl->memory};
  emit(n.body);
}

/// Bytes of the storage; a size that does not fit is the largest number, which no allocator has.
auto FunctionEmitter::heap_bytes(const Allocate& n) -> Value* {
  Value* bytes = b_.getInt64(static_cast<uint64_t>(n.buffer->element.bytes()));
  Value* too_large = b_.getFalse();
  for (const Expr& e : n.extents) {
    Value* extent = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value(e), b_.getInt64(0));
    Value* product = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, bytes, extent);
    bytes = b_.CreateExtractValue(product, 0);
    too_large = b_.CreateOr(too_large, b_.CreateExtractValue(product, 1));
  }
  return b_.CreateSelect(too_large, b_.getInt64(~uint64_t{0}), bytes, "bytes");
}

void FunctionEmitter::emit_heap(const Allocate& n) {
  forget();
  Value* bytes = heap_bytes(n);
  forget();
  llvm::CallInst* base =
      table_call(offsetof(drawloom_runtime_table_t, malloc), m_.ptr, {ctx_, bytes, b_.getInt64(kStorageAlign)});
  base->setName(n.buffer->name);
  BasicBlock *have = block("allocated"), *none = block("no_memory");
  branch_likely(b_.CreateIsNotNull(base), have, none);
  b_.SetInsertPoint(none);
  Value* zero = b_.getInt64(0);
  leave(table_call(
      offsetof(drawloom_runtime_table_t, fail), m_.i32,
      {ctx_, b_.getInt32(drawloom_error_out_of_memory), site(n.buffer->name, n.loc), bytes, zero, zero, zero}));

  // Errors inside the body pass through here on their way out.
  BasicBlock *outer_error = error_, *cleanup = block("free_and_leave");
  b_.SetInsertPoint(cleanup);
  auto free_block = [&] { table_call(offsetof(drawloom_runtime_table_t, free), b_.getVoidTy(), {ctx_, base}); };
  free_block();
  b_.CreateBr(outer_error);

  b_.SetInsertPoint(have);
  error_ = cleanup;
  // LLVM knows the alignment from here on.
  b_.CreateAlignmentAssumption(m_.module.getDataLayout(), base, kStorageAlign);
  storages_[n.buffer.get()] = {base, m_.new_storage_tag(n.buffer->name), MemoryKind::Heap};
  emit(n.body);
  error_ = outer_error;
  free_block();
}

/// The text of the message, formatted by snprintf into the frame.
auto FunctionEmitter::check_message(const Check& n) -> Value* {
  std::string format;
  std::vector<Value*> args;
  size_t next = 0;
  for (size_t i = 0; i < n.message.size(); i++) {
    const char c = n.message[i];
    if (c == '%') format += "%%";
    if (c == '{' && i + 1 < n.message.size() && n.message[i + 1] == '}' && next < n.args.size()) {
      const Expr& arg = n.args[next++];
      Value* v = value(arg);
      const Type t = arg.type();
      if (t.is_float()) {
        format += t.bits == 32 ? "%.9g" : "%.17g";
        v = t.bits == 32 ? b_.CreateFPExt(v, b_.getDoubleTy()) : v;
      } else {
        format += is_signed(t) ? "%lld" : "%llu";
        v = b_.CreateIntCast(v, m_.i64, is_signed(t));
      }
      args.push_back(v);
      i++;
    } else if (c != '%') {
      format += c;
    }
  }
  if (args.empty()) return m_.constant_text(n.message);
  Value* text = entry_alloca(m_.i8, drawloom_message_bytes, 16, "message");
  args.insert(args.begin(), {text, b_.getInt64(drawloom_message_bytes), m_.constant_text(format)});
  b_.CreateCall(m_.external("snprintf", llvm::FunctionType::get(m_.i32, {m_.ptr, m_.i64, m_.ptr}, true)), args);
  return text;
}

void FunctionEmitter::emit_check(const Check& n) {
  Value* condition = fresh(n.condition);
  BasicBlock *good = block("ok"), *bad = block("check_failed");
  branch_likely(condition, good, bad);
  b_.SetInsertPoint(bad);
  forget();
  Value* message = check_message(n);
  forget();
  Value* code = b_.getInt32(static_cast<uint32_t>(error_code(n.code)));
  // The result of `error` is the code again; a host's own table may say 0, which must not go on as success.
  table_call(offsetof(drawloom_runtime_table_t, error), m_.i32, {ctx_, code, message});
  leave(code);
  b_.SetInsertPoint(good);
}

}  // namespace drawloom::codegen
