#pragma once
/// What host and device code of one launch agree on. No LLVM here.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "drawloom/ir/program.h"

namespace drawloom {

/// One parameter of a kernel, in the order of the entry: the device address of a buffer's first element; a number known on
/// the host (an index travels as 32 bits); a tensor map by value.
struct KernelParam {
  BufferRef buffer;  ///< a pointer, or null
  SymbolRef symbol;  ///< a number or a tensor map, or null
  auto is_map() const -> bool { return symbol && symbol->kind == SymbolKind::TensorMap; }
};

/// What the launch uses of the host's, each once, in the order of its first use.
auto kernel_params(const Launch& launch) -> std::vector<KernelParam>;

/// Every launch of the programs, in the order they stand.
auto launches(const std::vector<Program>& programs) -> std::vector<const Launch*>;

/// The PTX of device.def: of a fence, of closing a group, of waiting for one with `pending` left.
auto ptx_of(FenceKind how) -> std::string_view;
auto ptx_of_commit(AsyncGroup group) -> std::string_view;
auto ptx_of_wait(AsyncGroup group, int pending) -> std::string;

/// How a buffer is used by launches.
struct DeviceUse {
  bool read = false, written = false;
};
auto device_use(const Stmt& body, const BufferDecl* buffer) -> DeviceUse;

}  // namespace drawloom
