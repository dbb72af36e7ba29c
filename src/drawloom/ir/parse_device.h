#pragma once
/// Reading of device statements that hold no other; print_device.h is the other direction.

#include "drawloom/ir/parse_expr.h"

namespace drawloom {

/// The statement that `first`, already read, begins; undefined where it begins none of these.
auto device_statement(const Token& first, TokenCursor& in, ExprParser& exprs) -> Result<Stmt>;

/// What follows `launch`, up to its brace.
struct LaunchHead {
  std::string name;
  Launch::Attributes attributes;
};
auto launch_head(TokenCursor& in) -> Result<LaunchHead>;

/// What follows `tensor_map %m =`.
struct TensorMapHead {
  BufferRef buffer;
  TensorMap::Shape shape;
};
auto tensor_map_head(TokenCursor& in, ExprParser& exprs) -> Result<TensorMapHead>;

}  // namespace drawloom
