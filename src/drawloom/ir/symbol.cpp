#include "drawloom/ir/symbol.h"

#include <atomic>

#include "drawloom/support/text.h"

namespace drawloom {

auto next_identity() -> uint64_t {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

auto make_symbol(SymbolKind kind, std::string name, Type type, Loc loc) -> SymbolRef {
  return make_ref<const Symbol>(kind, std::move(name), type, std::move(loc));
}

auto is_runtime_symbol(const Symbol& s) -> bool {
  switch (s.kind) {
    case SymbolKind::Param:
    case SymbolKind::BufferMin:
    case SymbolKind::BufferExtent:
    case SymbolKind::BufferStride: return true;
    case SymbolKind::Var:
    case SymbolKind::RVar:
    case SymbolKind::Loop:
    case SymbolKind::Let:
    case SymbolKind::TensorMap: return false;
  }
  return false;
}

auto is_buffer_field(const Symbol& s) -> bool {
  return s.kind == SymbolKind::BufferMin || s.kind == SymbolKind::BufferExtent || s.kind == SymbolKind::BufferStride;
}

auto memory_name(MemoryKind m) -> std::string_view {
  switch (m) {
    case MemoryKind::Argument: return "argument";
    case MemoryKind::Heap: return "heap";
    case MemoryKind::Stack: return "stack";
    case MemoryKind::Register: return "register";
    case MemoryKind::Shared: return "shared";
  }
  return "?";
}

BufferDecl::BufferDecl(std::string n, Type e, int r, MemoryKind m, Loc l)
    : name(std::move(n)), element(e), memory(m), loc(std::move(l)), rank(r) {
  if (memory != MemoryKind::Argument) return;
  for (int d = 0; d < rank; ++d) {
    min.push_back(make_symbol(SymbolKind::BufferMin, str("{}.min.{}", name, d), kIndex, loc));
    extent.push_back(make_symbol(SymbolKind::BufferExtent, str("{}.extent.{}", name, d), kIndex, loc));
    stride.push_back(make_symbol(SymbolKind::BufferStride, str("{}.stride.{}", name, d), kIndex, loc));
  }
}

auto make_buffer(std::string name, Type element, int rank, MemoryKind memory, Loc loc) -> BufferRef {
  return make_ref<const BufferDecl>(std::move(name), element, rank, memory, std::move(loc));
}

auto make_shared_buffer(std::string name, Type element, int rank, int64_t at, Loc loc) -> BufferRef {
  auto out = make_ref<BufferDecl>(std::move(name), element, rank, MemoryKind::Shared, std::move(loc));
  out->at = at;
  return out;
}

}  // namespace drawloom
