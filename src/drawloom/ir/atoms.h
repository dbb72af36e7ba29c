#pragma once
/// The rows of atoms.def, read: what `issue "name" (operands)` may name, and how its operands are typed.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drawloom/ir/type.h"

namespace drawloom {

/// What an atom does, apart from its shape: the simulator has one set of formulas for each.
enum class AtomFamily : uint8_t {
  Wgmma,
  WgmmaRegisters,
  Mma,
  Ldmatrix,
  LdmatrixTransposed,
  Stmatrix,
  StmatrixTransposed,
  TmaLoad,
  TmaMulticast,
  TmaStore,
  TmaPrefetch,
  BulkLoad,
  BulkStore,
  CpAsync,
  CpAsyncArrive,
  VectorLoad,
  VectorStore,
  ShuffleXor,
  ShuffleFrom,
  ShuffleUp,
  ShuffleDown,
  Pack
};
/// The group of threads that runs an atom as one.
enum class AtomOwner : uint8_t { Thread, Warp, Warpgroup };

/// Value: an expression of `type`. Registers: `count` registers of a Register buffer. Values: `count` expressions.
/// Descriptor: a u64 expression. Map: a tensor map. Shared, Global: an Address. Barrier: the Address of a Shared u64.
/// Predicate: a bool. Immediate: a constant.
enum class OperandKind : uint8_t {
  Value,
  Registers,
  Values,
  Descriptor,
  Map,
  Shared,
  Global,
  Barrier,
  Predicate,
  Immediate
};

struct AtomOperand {
  std::string name;
  OperandKind kind = OperandKind::Value;
  Type type;                          ///< of Value, Values and Registers
  int count = 1;                      ///< of Values and Registers
  int alignment = 1;                  ///< bytes, of Shared and Global
  bool read = true, written = false;  ///< of Registers
};

/// One instruction.
struct DeviceAtom {
  std::string name;
  AtomFamily family = AtomFamily::Pack;
  AtomOwner owner = AtomOwner::Thread;
  int n = 1;     ///< the member of its row: N of a matrix product, the rank of a tensor map
  int k = 1;     ///< length of the reduction, or lanes or matrices moved
  int cost = 1;  ///< clocks of its unit
  Type element;
  std::vector<AtomOperand> operands;
  std::string_view needs, meaning;
  std::string ptx;  ///< operands in braces by name

  /// Expressions that `issue` takes for it.
  auto arity() const -> int;
};

/// The atom of a name, or null.
auto find_atom(std::string_view name) -> const DeviceAtom*;
/// All atoms, row by row.
auto all_atoms() -> std::span<const DeviceAtom>;

}  // namespace drawloom
