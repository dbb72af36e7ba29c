#pragma once
/// From one Launch to one PTX entry. Internal to codegen/llvm.
///
/// Expressions become LLVM IR with index arithmetic of 32 bits; every device statement becomes one piece of inline PTX,
/// from the templates of device.def and atoms.def, so that what the text says is what the chip runs. Register buffers are
/// allocas that SROA turns into values. All shared memory is one external array: LLVM would delete stores to a private one
/// that only inline PTX reads.

#include "drawloom/codegen/kernel.h"
#include "drawloom/codegen/llvm/arithmetic.h"
#include "drawloom/codegen/ptx.h"
#include "drawloom/ir/atoms.h"

namespace drawloom::codegen {

class KernelEmitter : private Arithmetic {
 public:
  KernelEmitter(ModuleEmitter& module, const DeviceTarget& target, const Launch& launch);
  void emit();

 private:
  using BasicBlock = llvm::BasicBlock;

  /// Registers of one array, or shared or device memory from one place on.
  struct Place {
    Value* base = nullptr;
    MemoryKind memory = MemoryKind::Register;
  };

  // --- kernel.cpp: the frame and ordinary statements
  void declare();
  void name_param(const KernelParam& p, llvm::Argument* argument);
  void statement(const Stmt& s);
  void emit_for(const For& n);
  void emit_if(const If& n);
  void emit_allocate(const Allocate& n);
  void emit_store(const Store& n);
  auto block(const char* name) -> BasicBlock*;
  auto value(const Expr& e) -> Value* override;
  auto compute(const Expr& e) -> Value*;
  auto emit_load(const Load& n) -> Value*;
  /// The element at a flat subscript, in memory of its kind.
  auto pointer(const BufferDecl* buffer, Value* index) -> Value*;
  void forget() { memo_.clear(); }

  // --- device_statements.cpp
  void emit_roles(const RoleSwitch& n);
  void emit_elect(const Elect& n);
  void emit_sync(const Sync& n);
  void named_barrier(std::string_view instruction, const Sync& n);
  void emit_wait(const Wait& n);
  void emit_arrive(const Arrive& n);
  void emit_wait_group(const WaitGroup& n);
  void emit_set_registers(const SetRegisters& n);
  auto barrier(const BufferRef& b, const ExprList& index) -> Value*;
  /// Bytes from the start of the shared window, 32 bits.
  auto shared_address(const BufferDecl* b, Value* index) -> Value*;
  auto warp_number() -> Value*;
  auto uniform(Value* v) -> Value*;
  auto lane_number() -> Value*;

  // --- inline_ptx.cpp
  /// A piece of PTX without results; `$0`, `$1`.. are the operands.
  void ptx(std::string_view text, std::string_view constraints = {}, llvm::ArrayRef<Value*> operands = {});
  void emit_issue(const Issue& n);
  auto register_home(const BufferDecl* buffer, int64_t at) -> Value*;
  auto register_homes(const Address& a, int count) -> std::vector<Value*>;
  auto load_all(llvm::Type* type, const std::vector<Value*>& homes) -> std::vector<Value*>;
  void note_accumulator(const DeviceAtom& atom, const BufferDecl* buffer);
  void pin_accumulators(std::string_view text);

  const DeviceTarget& target_;
  const Launch& launch_;
  llvm::Function* fn_ = nullptr;
  BasicBlock* entry_ = nullptr;
  Value* shared_ = nullptr;
  int threads_ = 0;
  int registers_ = 0;  ///< of a thread of the role whose statements are emitted
  std::unordered_map<const Symbol*, Value*> symbols_;
  std::unordered_map<const BufferDecl*, Place> places_;
  std::vector<const BufferDecl*> accumulators_;  ///< arrays that a wgmma in scope adds to
  std::unordered_map<const BufferDecl*, int64_t> register_counts_;
  std::unordered_map<const ExprNode*, Value*> memo_;
};

}  // namespace drawloom::codegen
