#pragma once
/// Names as identities. Two symbols are the same exactly when they are one object; the text is a hint that the
/// printer makes unique.

#include <optional>
#include <string>
#include <vector>

#include "drawloom/ir/type.h"
#include "drawloom/support/loc.h"
#include "drawloom/support/ref.h"

namespace drawloom {

/// Var: a pure dimension of a definition. RVar: a dimension of a reduction domain. Loop: a loop variable of a nest or
/// a lowered program. Let: a let-bound value. Param: a scalar argument of a pipeline.
/// BufferMin, BufferExtent, BufferStride: fields of a buffer argument, known at the call. TensorMap: of a TensorMap node.
enum class SymbolKind : uint8_t { Var, RVar, Loop, Let, Param, BufferMin, BufferExtent, BufferStride, TensorMap };

/// Numbers handed out in order of creation. They order symbols, buffers and Funcs where output must not depend on
/// addresses; only their relative order may be observed.
auto next_identity() -> uint64_t;

/// What the front end keeps behind an identity: the domain of an RVar, the value set for a parameter, the contents of an
/// embedded buffer. The IR knows no more.
struct Attachment : RefCounted {
  virtual ~Attachment() = default;
};

struct Symbol : RefCounted {
  Symbol(SymbolKind k, std::string n, Type t, Loc l = {}) : kind(k), name(std::move(n)), type(t), loc(std::move(l)) {}
  SymbolKind kind;
  std::string name;
  Type type;
  Loc loc;
  uint64_t id = next_identity();
  /// Params: promised range, checked at the call (integers only).
  std::optional<int64_t> min, max;
  Ref<const Attachment> attached;
};
using SymbolRef = Ref<const Symbol>;

auto make_symbol(SymbolKind kind, std::string name, Type type = kIndex, Loc loc = {}) -> SymbolRef;
/// Known from the call on: parameters and buffer fields. The others vary inside a program.
auto is_runtime_symbol(const Symbol& s) -> bool;

/// Min, extent or stride of a buffer argument; its hint is `buffer.field.dimension`.
auto is_buffer_field(const Symbol& s) -> bool;

/// Where the elements of a buffer live.
/// Argument: the caller's drawloom_buffer_t. Heap: the runtime's allocator. Stack: the frame of the task.
/// Register: small, all subscripts constant after unrolling; becomes SSA values. Shared: the shared memory of a block of
/// threads, from byte `at` on.
enum class MemoryKind : uint8_t { Argument, Heap, Stack, Register, Shared };
auto memory_name(MemoryKind m) -> std::string_view;

/// A buffer of one element type. Compared by identity.
/// Argument buffers own the symbols of their fields: `min(d)`, `extent(d)` in elements of dimension d, `stride(d)` in
/// elements. Their subscripts are logical coordinates until flatten_storage; those of other buffers start at 0.
struct BufferDecl : RefCounted {
  BufferDecl(std::string n, Type e, int rank, MemoryKind m, Loc l = {});
  std::string name;
  Type element;
  MemoryKind memory;
  Loc loc;
  std::vector<SymbolRef> min, extent, stride;  ///< one per dimension for Argument, else empty
  int rank;
  int64_t at = 0;  ///< Shared: byte of its first element in the block's shared memory; the name of a place, not unique
  uint64_t id = next_identity();
  Ref<const Attachment> attached;
};
using BufferRef = Ref<const BufferDecl>;

auto make_buffer(std::string name, Type element, int rank, MemoryKind memory, Loc loc = {}) -> BufferRef;
auto make_shared_buffer(std::string name, Type element, int rank, int64_t at, Loc loc = {}) -> BufferRef;

/// Identity of a Func for nodes that mention one. The front end's definition derives from it; the IR knows no more.
struct FuncDecl : RefCounted {
  explicit FuncDecl(std::string n) : name(std::move(n)) {}
  virtual ~FuncDecl() = default;
  std::string name;
  uint64_t id = next_identity();
};

}  // namespace drawloom
