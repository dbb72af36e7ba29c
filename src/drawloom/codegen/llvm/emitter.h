#pragma once
/// From one Program to LLVM functions. Internal to codegen/llvm.
///
/// A `FunctionEmitter` writes one LLVM function: the entry point of a program, or the task of a parallel loop. Tasks
/// are written while their parent is, by an emitter whose `parent_` answers for symbols and buffers it does not know;
/// each answer becomes a field of the closure. Nothing here fails: what cannot be emitted was found by limits.h.
///
/// Memory: every storage has a TBAA type of its own, all children of one root. So two storages never alias (arguments
/// were checked at the call), and the metadata grows with the number of storages, not with its square.

#include <unordered_map>

#include "drawloom/codegen/kernel.h"
#include "drawloom/codegen/llvm/arithmetic.h"
#include "drawloom/codegen/llvm/linear.h"
#include "drawloom/runtime.h"

namespace drawloom::codegen {

/// A storage as one function sees it.
struct Storage {
  Value* base = nullptr;
  llvm::MDNode* tag = nullptr;
  MemoryKind memory = MemoryKind::Heap;
};

/// base + k * stride in lane k; `stride` is a ConstantInt where it is known.
struct RampValue {
  Linear base;
  Value* stride = nullptr;
  /// Whether the stride is the constant `n`.
  auto has_stride(int64_t n) const -> bool;
  auto constant_stride(int64_t& out) const -> bool;
};

struct Binding {
  Value* value = nullptr;
  std::optional<RampValue> ramp = std::nullopt;  ///< vectors of index, where it is one
  std::optional<Linear> sum = std::nullopt;      ///< scalars of index, where it is more than `value` says
  int depth = 0;                                 ///< how many of the function's loops enclose what it depends on
};

/// Where an access goes, evaluated: one element, or the lanes of a vector.
struct Place {
  Storage storage;
  Type element;
  int lanes = 1;
  std::optional<RampValue> ramp;  ///< of the subscript; a scalar one is a ramp of stride 0
  /// The subscript of a vector access that is no ramp: one sum for all lanes, and for each lane an integer of the type
  /// that the program computed, before it was widened to index.
  Linear shared = {};
  Value* index = nullptr;
  bool index_signed = true;
  auto element_bytes() const -> int { return element.bytes(); }
  auto bytes() const -> int { return lanes * element.bytes(); }
};

/// A mask: absent (all lanes), one bool for all lanes, or a vector of bool.
struct Mask {
  Value* uniform = nullptr;
  Value* lanes = nullptr;
};

/// What becomes of a nontemporal store of a dense vector.
enum class StoreKind : uint8_t {
  Ask,       ///< past the caches if its address turns out aligned
  Streamed,  ///< past the caches: its address is aligned
  Plain,
};
using StoreKinds = std::unordered_map<const Store*, StoreKind>;

class FunctionEmitter : private Arithmetic {
 public:
  /// `function`'s first argument is the context.
  FunctionEmitter(ModuleEmitter& module, const Program& program, llvm::Function* function, FunctionEmitter* parent);

  /// The whole body of an entry point: checks, then the statements.
  void emit_entry();

 private:
  friend class ModuleEmitter;

  const Program& program_;
  llvm::Function* fn_;
  FunctionEmitter* parent_;
  BasicBlock* entry_;  ///< allocas
  BasicBlock* start_;  ///< what is loaded once: the table, captures; open until `finish`, then goes to `body_`
  BasicBlock* body_ = nullptr;
  BasicBlock* error_;  ///< where to go after an error was reported and `code_` holds it
  Value* ctx_;
  Value* table_ = nullptr;
  Value* code_;
  Value* scratch_ = nullptr;  ///< memory for lanes that are masked off
  Value* closure_ = nullptr;
  struct Captured {
    Value* parents;
    int64_t offset;
  };
  std::vector<Captured> captured_;
  int64_t closure_bytes_ = 0;
  std::unordered_map<const Symbol*, Binding> symbols_;
  std::unordered_map<const BufferDecl*, Storage> storages_;
  std::unordered_map<const ExprNode*, Value*> memo_;
  std::unordered_map<const ExprNode*, std::optional<RampValue>> ramps_;
  std::unordered_map<const ExprNode*, Linear> linears_;
  std::unordered_map<const ExprNode*, int> depths_;
  StoreKinds store_kinds_;  ///< of nontemporal stores in the loop being emitted; Ask where there is none
  Value* device_table_ = nullptr;
  std::unordered_map<const BufferDecl*, Value*> device_addresses_;
  std::unordered_map<const Symbol*, Value*> tensor_maps_;
  int depth_ = 0;  ///< loops of this function around the current point

  // --- frame.cpp: the function's frame, captures, errors
  void open_body();
  void finish();
  auto block(const char* name) -> BasicBlock*;
  auto entry_alloca(llvm::Type* type, int64_t count, int align, const std::string& name) -> Value*;
  auto capture(Value* parents) -> Value*;
  auto symbol(const Symbol* s) -> Binding;
  auto storage(const BufferDecl* b) -> Storage;
  auto field(Value* base, int64_t bytes) -> Value*;
  auto load_field(Value* base, int64_t bytes, llvm::Type* type, const char* name) -> Value*;
  auto table_call(int64_t offset, llvm::Type* result, llvm::ArrayRef<Value*> args) -> llvm::CallInst*;
  /// Leaves by the error path when the i32 is not 0.
  void leave_if_error(Value* code);
  void leave(Value* code);
  void branch(Value* condition, BasicBlock* yes, BasicBlock* no);
  /// As branch, where `no` is an error.
  void branch_likely(Value* condition, BasicBlock* yes, BasicBlock* no);
  auto site(std::string_view name, const Loc& loc) -> llvm::Constant*;

  // --- entry.cpp: arguments
  void default_context();
  void check_arguments();
  void load_arguments();
  void mark_outputs();
  auto buffer_spec(const BufferArgument& a) -> llvm::Constant*;
  auto param_spec(const Symbol& s) -> llvm::Constant*;

  // --- statements.cpp
  void emit(const Stmt& s);
  void emit_for(const For& n);
  void emit_loop(const For& n, Value* min, Value* extent);
  void emit_parallel(const For& n);
  void emit_if(const If& n);
  void emit_let(const LetStmt& n);
  void emit_allocate(const Allocate& n);
  void emit_heap(const Allocate& n);
  auto heap_bytes(const Allocate& n) -> Value*;
  void emit_check(const Check& n);
  auto check_message(const Check& n) -> Value*;

  // --- launch.cpp: devices
  auto ctx_table() -> Value*;
  void find_device();
  auto device_call(int64_t offset, llvm::ArrayRef<Value*> args) -> llvm::CallInst*;
  auto on_device(const BufferDecl* b) const -> bool;
  void place_arguments();
  auto device_address(const Address& n) -> Value*;
  void store_at(Value* base, int64_t bytes, Value* v);
  void emit_tensor_map(const TensorMap& n);
  void emit_launch(const Launch& n);
  void check_index_range(const Launch& n, const std::vector<KernelParam>& params);
  auto launch_params(const std::vector<KernelParam>& params, Value* maps) -> Value*;

  // --- memory.cpp
  auto place_of(const BufferDecl* buffer, const ExprList& index, int lanes) -> Place;
  auto mask_of(const Expr& mask) -> Mask;
  auto address(const Place& p, const Linear& index) -> Value*;
  void split_index(const Expr& e, Place& p);
  auto lane_addresses(const Place& p) -> std::vector<Value*>;
  auto ramp_addresses(const Place& p) -> Value*;
  auto gather_addresses(const Place& p) -> Value*;
  auto to_memory(Value* v, Type t) -> Value*;
  auto from_memory(Value* v, Type t) -> Value*;
  auto load_plain(const Place& p, llvm::Type* type, Value* at) -> Value*;
  auto store_plain(const Place& p, Value* value, Value* at) -> llvm::StoreInst*;
  auto tagged(const Place& p, llvm::Instruction* i) -> llvm::Instruction*;
  auto vector_memory_type(const Place& p, int lanes) -> llvm::Type*;
  auto mask_bits(Value* lanes) -> Value*;
  auto is_all(Value* lanes) -> Value*;
  auto is_any(Value* lanes) -> Value*;
  auto scratch() -> Value*;
  auto slice(Value* v, int first, int count) -> Value*;
  auto concat(Value* a, Value* b) -> Value*;
  auto reversed(Value* v) -> Value*;

  // --- loads.cpp, stores.cpp: values as in memory (bool is i8)
  auto emit_load(const Load& n) -> Value*;
  /// Register storage at constant places: no branch, select of addresses or masked access, which would keep it in memory.
  static auto in_registers(const Place& p) -> bool;
  auto load_registers(const Place& p, bool masked) -> Value*;
  auto load_uniform(const Place& p, Value* condition) -> Value*;
  auto load_lanes(const Place& p, Value* lanes) -> Value*;
  auto load_one(const Place& p, Value* lanes) -> Value*;
  auto load_dense(const Place& p, Value* at, Value* lanes) -> Value*;
  auto load_strided(const Place& p, Linear base, int64_t stride) -> Value*;
  auto load_gather(const Place& p, Value* lanes) -> Value*;
  void emit_store(const Store& n);
  void store_lanes(const Place& p, Value* value, Value* lanes, StoreKind kind);
  void store_dense(const Place& p, Value* value, const Linear& index, StoreKind kind);
  void store_streamed(const Place& p, Value* value, Value* at, int align);
  void store_dense_masked(const Place& p, Value* value, Value* at, Value* lanes);
  void store_parts(const Place& p, Value* value, Value* at, Value* lanes);
  void store_scatter(const Place& p, Value* value, Value* lanes);

  // --- streaming.cpp: nontemporal stores of innermost loops
  struct StreamScan;
  auto streams(const For& n, Value* min, std::vector<const Store*>& stores) -> Value*;
  auto address_bits(const Place& p, const Linear& index, int align) -> Value*;

  // --- values.cpp: expressions that are not arithmetic
  /// The value of an expression, each node once. Forgets nothing until `forget`.
  auto value(const Expr& e) -> Value* override;
  auto compute(const Expr& e) -> Value*;
  /// Forgets values: between statements, since loads may read other data and other blocks are not dominated.
  void forget() {
    memo_.clear();
    ramps_.clear();
    linears_.clear();
    depths_.clear();
  }
  auto fresh(const Expr& e) -> Value* {
    forget();
    return value(e);
  }
  auto emit_compare(const Binary& n) -> Value* override;
  auto ramp_compare(const Binary& n) -> Value*;
  auto lanes_below(Value* count, int lanes) -> Value*;

  // --- index.cpp: what is of type index
  /// A scalar as a sum.
  auto linear(const Expr& e) -> Linear;
  auto find_linear(const Expr& e) -> Linear;
  auto product(const Linear& a, const Linear& b) -> Linear;
  auto product_of_parts(const Linear& a, const Linear& b) -> Linear;
  auto depth_of(const Expr& e) -> int;
  auto sum(const Linear& l) -> Value*;
  void bind(const SymbolRef& s, const Expr& e);
  /// The expression as base and stride, if it is a vector of index and that simple.
  auto as_ramp(const Expr& e) -> std::optional<RampValue>;
  auto find_ramp(const Expr& e) -> std::optional<RampValue>;
  auto ramp_of_binary(const Binary& n) -> std::optional<RampValue>;
  auto index_product(Value* a, Value* b) -> Value*;
  auto index_sum(Value* a, Value* b) -> Value*;
};

/// The element type of a buffer as the runtime says it.
auto runtime_type(Type t) -> drawloom_type_t;

/// A sum, difference or product of type index.
auto is_linear(const Binary& n) -> bool;

}  // namespace drawloom::codegen
