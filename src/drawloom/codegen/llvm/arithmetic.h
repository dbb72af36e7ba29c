#pragma once
/// The operators of ir/ops.def as LLVM instructions, for hosts and devices alike. Internal to codegen/llvm.

#include "drawloom/codegen/llvm/module.h"

namespace drawloom::codegen {

/// What writes operators; who derives from it says what the operands are.
class Arithmetic {
 protected:
  using Builder = llvm::IRBuilder<>;
  explicit Arithmetic(ModuleEmitter& module) : m_(module), b_(module.context) {}
  ~Arithmetic() = default;

  /// The value of an expression at the current point.
  virtual auto value(const Expr& e) -> Value* = 0;
  virtual auto emit_compare(const Binary& n) -> Value*;

  auto integer(Type t, int64_t v) -> llvm::Constant*;
  auto real(Type t, double v) -> llvm::Constant*;
  auto emit_cast(Type to, Type from, Value* v) -> Value*;
  auto emit_reinterpret(const Reinterpret& n) -> Value*;
  auto float_to_int(Type to, Type from, Value* v) -> Value*;
  auto emit_unary(const Unary& n) -> Value*;
  auto emit_binary(const Binary& n) -> Value*;
  auto integer_binary(BinaryOp op, Type t, Value* a, Value* b) -> Value*;
  auto float_binary(BinaryOp op, Type t, Value* a, Value* b) -> Value*;
  auto min_max(bool max, Type t, Value* a, Value* b) -> Value*;
  auto compare(BinaryOp op, Type t, Value* a, Value* b) -> Value*;
  auto floor_divide(Type t, Value* a, Value* b, bool remainder) -> Value*;
  auto divide_magnitudes(Type t, Value* a, Value* b) -> Value*;
  auto shift(Type t, Value* a, Value* n, bool left) -> Value*;
  auto shift_one_way(Type t, Value* a, Value* n, bool left) -> Value*;
  auto emit_call(const Call& n) -> Value*;
  auto libm_call(const char* name, Type t, const std::vector<Value*>& args) -> Value*;

  auto splat(Value* v, int lanes) -> Value*;
  auto lane(Value* v, int i) -> Value*;
  auto emit_ramp(const Ramp& n) -> Value*;

  ModuleEmitter& m_;
  Builder b_;
};

/// 0, 1, 2, ... as a vector constant.
auto count_up(llvm::Type* element, int lanes) -> llvm::Constant*;

}  // namespace drawloom::codegen
