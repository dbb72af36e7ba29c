/// The frame of a kernel, its expressions, loops, loads and stores.
///
///     block for %b = 0 : n { thread for %t = 0 : 128 { body } }  ->  b = %ctaid.x;  t = %tid.x;  body
///
/// The loops of a launch vanish: the grid runs them. Values are remembered within one statement only (`forget`), so
/// that nothing defined in a branch is used behind it. Register buffers are arrays on the stack at first, since a loop
/// may write them; SROA makes values of them, and what is left in memory is refused (ptx.cpp).

#include "drawloom/codegen/llvm/nvptx/kernel.h"

#include "drawloom/ir/build.h"
#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/ir/verify_device.h"
#include "drawloom/support/check.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace drawloom::codegen {
namespace {

namespace intrinsic = llvm::Intrinsic;

constexpr unsigned kGlobal = 1, kShared = 3;  // address spaces

}  // namespace

KernelEmitter::KernelEmitter(ModuleEmitter& module, const DeviceTarget& target, const Launch& launch)
    : Arithmetic(module), target_(target), launch_(launch) {}

auto KernelEmitter::block(const char* name) -> BasicBlock* { return BasicBlock::Create(m_.context, name, fn_); }

void KernelEmitter::emit() {
  auto shape = launch_shape(launch_);
  DRAWLOOM_CHECK(shape.ok(), "codegen: a malformed launch");
  threads_ = launch_threads(*shape->threads);
  declare();
  entry_ = block("entry");
  BasicBlock* body = block("body");
  b_.SetInsertPoint(body);
  constexpr intrinsic::ID kBlockIds[] = {intrinsic::nvvm_read_ptx_sreg_ctaid_x, intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                         intrinsic::nvvm_read_ptx_sreg_ctaid_z};
  for (size_t i = 0; i < shape->blocks.size(); ++i) {
    const auto& loop = *shape->blocks[shape->blocks.size() - 1 - i];  // the last is x
    symbols_[loop.symbol.get()] = b_.CreateIntrinsic(kBlockIds[i], {});
  }
  symbols_[shape->threads->symbol.get()] = b_.CreateIntrinsic(intrinsic::nvvm_read_ptx_sreg_tid_x, {});
  statement(shape->body);
  b_.CreateRetVoid();
  b_.SetInsertPoint(entry_);
  b_.CreateBr(body);
}

void KernelEmitter::declare() {
  const auto params = kernel_params(launch_);
  std::vector<llvm::Type*> types;
  for (const auto& p : params) {
    if (p.buffer) types.push_back(llvm::PointerType::get(m_.context, kGlobal));
    if (p.symbol) types.push_back(p.is_map() ? m_.ptr : m_.memory_type(p.symbol->type));
  }
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(m_.context), types, false);
  fn_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, launch_.name, m_.module);
  fn_->setCallingConv(llvm::CallingConv::PTX_Kernel);
  fn_->setDoesNotThrow();
  const auto attribute = [&](const char* name, int value) { fn_->addFnAttr(name, str("{}", value)); };
  attribute("nvvm.reqntid", threads_);
  if (launch_.registers > 0) attribute("nvvm.maxnreg", launch_.registers);
  if (launch_.min_blocks > 0) attribute("nvvm.minctasm", launch_.min_blocks);
  if (launch_.cluster_x * launch_.cluster_y * launch_.cluster_z > 1) {
    fn_->addFnAttr("nvvm.cluster_dim", str("{},{},{}", launch_.cluster_x, launch_.cluster_y, launch_.cluster_z));
  }
  for (size_t i = 0; i < params.size(); ++i) name_param(params[i], fn_->getArg(static_cast<unsigned>(i)));
}

void KernelEmitter::name_param(const KernelParam& p, llvm::Argument* argument) {
  if (p.buffer) {
    argument->setName(p.buffer->name);
    places_[p.buffer.get()] = {argument, MemoryKind::Argument};
    return;
  }
  argument->setName(p.symbol->name);
  symbols_[p.symbol.get()] = argument;
  if (!p.is_map()) return;
  // Without the attributes LLVM copies the map to local memory, where TMA does not find it.
  const unsigned n = argument->getArgNo();
  fn_->addParamAttr(n, llvm::Attribute::getWithByValType(m_.context, llvm::ArrayType::get(m_.i8, 128)));
  fn_->addParamAttr(n, llvm::Attribute::getWithAlignment(m_.context, llvm::Align(64)));
  fn_->addParamAttr(n, llvm::Attribute::get(m_.context, "nvvm.grid_constant"));
}

// --- statements

void KernelEmitter::statement(const Stmt& s) {
  if (!s) return;
  forget();
  switch (s.kind()) {
    case Kind::Block:
      for (const Stmt& each : s.to<Block>().stmts) statement(each);
      return;
    case Kind::For: return emit_for(s.to<For>());
    case Kind::If: return emit_if(s.to<If>());
    case Kind::LetStmt: {
      const auto& n = s.to<LetStmt>();
      symbols_[n.symbol.get()] = value(n.value);
      return statement(n.body);
    }
    case Kind::Allocate: return emit_allocate(s.to<Allocate>());
    case Kind::Store: return emit_store(s.to<Store>());
    case Kind::Stage: return statement(s.to<Stage>().body);
    case Kind::RoleSwitch: return emit_roles(s.to<RoleSwitch>());
    case Kind::Elect: return emit_elect(s.to<Elect>());
    case Kind::Sync: return emit_sync(s.to<Sync>());
    case Kind::Init: {
      const auto& n = s.to<Init>();
      return ptx("mbarrier.init.shared::cta.b64 [$0], $1;", "r,r", {barrier(n.barrier, n.index), value(n.count)});
    }
    case Kind::Arrive: return emit_arrive(s.to<Arrive>());
    case Kind::Expect: {
      const auto& n = s.to<Expect>();
      return ptx("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;", "r,r",
                 {barrier(n.barrier, n.index), value(n.bytes)});
    }
    case Kind::Wait: return emit_wait(s.to<Wait>());
    case Kind::Fence: return ptx(ptx_of(s.to<Fence>().how));
    case Kind::Issue: return emit_issue(s.to<Issue>());
    case Kind::Commit: return ptx(ptx_of_commit(s.to<Commit>().group));
    case Kind::WaitGroup: return emit_wait_group(s.to<WaitGroup>());
    case Kind::SetRegisters: return emit_set_registers(s.to<SetRegisters>());
    case Kind::Check:
    case Kind::StoreFence:
    case Kind::Launch:
    case Kind::TensorMap:
    case Kind::Role:
#include "drawloom/ir/expression_cases.def"
      break;
  }
  DRAWLOOM_CHECK(false, "codegen: {} is no statement of a kernel", kind_name(s.kind()));
}

void KernelEmitter::emit_for(const For& n) {
  Value *min = value(n.min), *extent = value(n.extent);
  Value* end = b_.CreateNSWAdd(min, extent);
  BasicBlock *before = b_.GetInsertBlock(), *head = block("loop"), *body = block("iteration"), *after = block("done");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  auto* i = b_.CreatePHI(m_.i32, 2, n.symbol->name);
  i->addIncoming(min, before);
  b_.CreateCondBr(b_.CreateICmpSLT(i, end), body, after);
  b_.SetInsertPoint(body);
  symbols_[n.symbol.get()] = i;
  statement(n.body);
  i->addIncoming(b_.CreateNSWAdd(i, b_.getInt32(1)), b_.GetInsertBlock());
  llvm::BranchInst* back = b_.CreateBr(head);
  // Neither LLVM nor ptxas shall unroll what the schedule did not.
  llvm::MDNode* no = llvm::MDNode::get(m_.context, llvm::MDString::get(m_.context, "llvm.loop.unroll.disable"));
  llvm::MDNode* id = llvm::MDNode::getDistinct(m_.context, {nullptr, no});
  id->replaceOperandWith(0, id);
  back->setMetadata(llvm::LLVMContext::MD_loop, id);
  b_.SetInsertPoint(after);
  forget();
}

void KernelEmitter::emit_if(const If& n) {
  Value* condition = value(n.condition);
  BasicBlock *yes = block("then"), *after = block("endif");
  BasicBlock* no = n.otherwise ? block("else") : after;
  b_.CreateCondBr(condition, yes, no);
  b_.SetInsertPoint(yes);
  statement(n.then);
  b_.CreateBr(after);
  if (n.otherwise) {
    b_.SetInsertPoint(no);
    statement(n.otherwise);
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
  forget();
}

void KernelEmitter::emit_allocate(const Allocate& n) {
  const BufferDecl* decl = n.buffer.get();
  if (decl->memory == MemoryKind::Shared) {
    if (!shared_) {
      auto* type = llvm::ArrayType::get(m_.i8, 0);
      auto* global =
          new llvm::GlobalVariable(m_.module, type, false, llvm::GlobalValue::ExternalLinkage, nullptr,
                                   launch_.name + "_shared", nullptr, llvm::GlobalValue::NotThreadLocal, kShared);
      global->setAlignment(llvm::Align(1024));
      shared_ = global;
    }
    places_[decl] = {b_.CreateConstInBoundsGEP1_64(m_.i8, shared_, static_cast<uint64_t>(decl->at)),
                     MemoryKind::Shared};
    return statement(n.body);
  }
  int64_t elements = 1;
  for (const Expr& e : n.extents) elements *= std::max<int64_t>(e.to<IntImm>().value, 0);
  Builder at_entry(entry_, entry_->begin());
  auto* type = llvm::ArrayType::get(m_.memory_type(decl->element), static_cast<uint64_t>(elements));
  auto* base = at_entry.CreateAlloca(type, nullptr, std::string(kRegisterPrefix) + decl->name);
  places_[decl] = {base, MemoryKind::Register};
  register_counts_[decl] = elements;
  // Nothing is defined in it yet: loops must not carry an old value round.
  b_.CreateStore(llvm::PoisonValue::get(type), base);
  statement(n.body);
  std::erase(accumulators_, decl);
}

// --- memory

auto KernelEmitter::pointer(const BufferDecl* buffer, Value* index) -> Value* {
  const Place place = places_.at(buffer);
  llvm::Type* element = m_.memory_type(buffer->element);
  if (place.memory == MemoryKind::Argument) index = b_.CreateSExt(index, m_.i64);
  return b_.CreateInBoundsGEP(element, place.base, index);
}

namespace {

/// Base of a dense ramp; the subscript itself when scalar; null for anything else.
auto dense_base(const Expr& index) -> Expr {
  if (index.type().lanes == 1) return index;
  const auto* r = index.as<Ramp>();
  return r && is_int(r->stride, 1) ? r->base : Expr();
}

}  // namespace

auto KernelEmitter::emit_load(const Load& n) -> Value* {
  const Expr base = dense_base(n.index[0]);
  const auto align = llvm::Align(static_cast<uint64_t>(n.buffer->element.bytes()));
  llvm::Type* type =
      n.type.lanes == 1 ? m_.memory_type(n.type) : llvm::FixedVectorType::get(m_.memory_type(n.type), n.type.lanes);
  Value* loaded = b_.CreateAlignedLoad(type, pointer(n.buffer.get(), value(base)), align);
  return n.type.is_bool() ? b_.CreateTrunc(loaded, m_.value_type(n.type)) : loaded;
}

void KernelEmitter::emit_store(const Store& n) {
  const Expr base = dense_base(n.index[0]);
  Value* stored = value(n.value);
  const Type t = n.value.type();
  if (t.is_bool()) stored = b_.CreateZExt(stored, t.lanes == 1 ? m_.i8 : llvm::FixedVectorType::get(m_.i8, t.lanes));
  const auto align = llvm::Align(static_cast<uint64_t>(n.buffer->element.bytes()));
  b_.CreateAlignedStore(stored, pointer(n.buffer.get(), value(base)), align);
}

// --- expressions

auto KernelEmitter::value(const Expr& e) -> Value* {
  if (auto hit = memo_.find(e.get()); hit != memo_.end()) return hit->second;
  Value* v = compute(e);
  memo_.emplace(e.get(), v);
  return v;
}

auto KernelEmitter::compute(const Expr& e) -> Value* {
  const Type t = e.type();
  switch (e.kind()) {
    case Kind::IntImm: return integer(t, e.to<IntImm>().value);
    case Kind::FloatImm: return real(t, e.to<FloatImm>().value);
    case Kind::VarRef: return symbols_.at(e.to<VarRef>().symbol.get());
    case Kind::Cast: return emit_cast(t, e.to<Cast>().value.type(), value(e.to<Cast>().value));
    case Kind::Reinterpret: return emit_reinterpret(e.to<Reinterpret>());
    case Kind::Unary: return emit_unary(e.to<Unary>());
    case Kind::Binary: return emit_binary(e.to<Binary>());
    case Kind::Select: {
      const auto& n = e.to<Select>();
      Value *condition = value(n.condition), *yes = value(n.yes), *no = value(n.no);
      return b_.CreateSelect(condition, yes, no);
    }
    case Kind::Call: {
      const auto& n = e.to<Call>();
      return n.function == Intrinsic::WarpUniform ? uniform(value(n.args[0])) : emit_call(n);
    }
    case Kind::Load: return emit_load(e.to<Load>());
    case Kind::Ramp: return emit_ramp(e.to<Ramp>());
    case Kind::Broadcast: return splat(value(e.to<Broadcast>().value), t.lanes);
    case Kind::Let: {
      const auto& n = e.to<Let>();
      symbols_[n.symbol.get()] = value(n.value);
      return value(n.body);
    }
    case Kind::Address: {
      const auto& n = e.to<Address>();
      Value* index = value(n.index[0]);
      if (n.buffer->memory == MemoryKind::Shared) return shared_address(n.buffer.get(), index);
      return b_.CreatePtrToInt(pointer(n.buffer.get(), index), m_.i64);
    }
    case Kind::Access:
#include "drawloom/ir/statement_cases.def"
      break;
  }
  DRAWLOOM_CHECK(false, "codegen: {} is no expression of a kernel", kind_name(e.kind()));
  return nullptr;
}

auto KernelEmitter::shared_address(const BufferDecl* b, Value* index) -> Value* {
  Value* base = b_.CreatePtrToInt(places_.at(b).base, m_.i32);
  return b_.CreateAdd(base, b_.CreateMul(index, b_.getInt32(static_cast<uint32_t>(b->element.bytes()))));
}

}  // namespace drawloom::codegen
