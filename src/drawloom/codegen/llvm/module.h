#pragma once
/// What the functions of one LLVM module share. Internal to codegen/llvm.

#include <unordered_map>

#include "drawloom/codegen/code.h"
#include "drawloom/codegen/llvm/llvm_headers.h"
#include "drawloom/ir/program.h"
#include "drawloom/support/target.h"

namespace drawloom::codegen {

using llvm::BasicBlock;
using llvm::Value;

/// Alignment of heap blocks (the runtime promises it) and of stack storage.
inline constexpr int kStorageAlign = 64;
/// Bytes before and after stack storage that a masked vector access may touch without meaning it (masked.cpp).
inline constexpr int kStackMargin = 256;
/// Lanes that a mask in one integer has room for.
inline constexpr int kMaskLanes = 64;
/// Front of the names of allocas that must have become SSA values after optimisation.
inline constexpr std::string_view kRegisterPrefix = "register.";

/// What the functions of one module share.
class ModuleEmitter {
 public:
  /// index_bits: width of index arithmetic, 64 on hosts.
  ModuleEmitter(llvm::Module& module, const Target& target, int index_bits = 64, const DeviceCode* device = nullptr);

  llvm::Module& module;
  llvm::LLVMContext& context;
  const Target& target;
  const int index_bits;
  const DeviceCode* const device;  ///< what launches run; null: none
  llvm::Type *ptr, *i1, *i8, *i32, *i64;

  void emit(const Program& program);

  /// Bits of an integer value; a bool has one.
  auto width(Type t) const -> unsigned { return t.is_index() ? static_cast<unsigned>(index_bits) : t.bits; }
  auto scalar_type(Type t) -> llvm::Type*;  ///< of a value; bool is i1
  auto value_type(Type t) -> llvm::Type*;   ///< with its lanes
  auto memory_type(Type t) -> llvm::Type*;  ///< bool is i8
  auto constant_text(std::string_view text) -> llvm::Constant*;
  auto constant_bytes(const void* bytes, size_t n) -> llvm::Constant*;
  /// A private constant struct.
  auto constant_struct(const std::vector<llvm::Constant*>& fields, std::string_view name) -> llvm::Constant*;
  /// A C function that objects may refer to (libm, memcpy, snprintf, the default context).
  auto external(std::string_view name, llvm::FunctionType* type) -> llvm::Function*;
  /// masked.cpp. A mask has bit k for lane k; vectors are `lanes_type`, of at most 64 lanes.
  /// `void (ptr to, ptr from, i64 mask)`: copies the elements whose mask bit is set, in order.
  auto lane_copy(Type element) -> llvm::Function*;
  /// `vector (ptr at, i64 mask)`: lanes that are off are unspecified, and their memory need not exist.
  auto masked_load(Type element, int lanes) -> llvm::Function*;
  /// `void (ptr at, vector value, i64 mask)`
  auto masked_store(Type element, int lanes) -> llvm::Function*;
  auto lanes_type(Type element, int lanes) -> llvm::Type*;
  auto kernels() -> llvm::Constant*;
  /// A TBAA tag that no other storage has.
  auto new_storage_tag(std::string_view name) -> llvm::MDNode*;

 private:
  llvm::MDNode* tbaa_root_;
  int storages_ = 0;
  llvm::Constant* kernels_ = nullptr;
  std::unordered_map<std::string, llvm::Constant*> texts_;
};

/// The sign matters in arithmetic.
inline auto is_signed(Type t) -> bool { return t.is_int() || t.is_index(); }

}  // namespace drawloom::codegen
