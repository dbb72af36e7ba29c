#pragma once
/// A lowered function: what passes rewrite, what the machine runs and what code generation reads.

#include <variant>

#include "drawloom/ir/nodes.h"

namespace drawloom {

/// How an argument buffer is used. An output is never read before it is written by this call.
enum class ArgumentRole : uint8_t { Input, Output };

struct BufferArgument {
  BufferRef buffer;
  ArgumentRole role = ArgumentRole::Input;
};
/// A scalar: a symbol of kind Param.
struct ScalarArgument {
  SymbolRef symbol;
};
using Argument = std::variant<BufferArgument, ScalarArgument>;

/// `body` may use the symbols of its arguments (parameters, and min, extent, stride of the buffers).
struct Program {
  std::string name;
  std::vector<Argument> arguments;
  Stmt body;
  /// Every Load, Store and Address has one subscript, which counts elements from the place of the first: for an argument,
  /// from the element whose coordinates are all min. Else subscripts are coordinates, one per dimension.
  bool flat_storage = false;
};

}  // namespace drawloom
