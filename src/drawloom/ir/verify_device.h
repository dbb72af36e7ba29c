#pragma once
/// The rules of one launch that no single node shows.

#include <vector>

#include "drawloom/ir/nodes.h"
#include "drawloom/support/result.h"

namespace drawloom {

/// The shape of a launch: its loops from the outside in, and what one thread runs.
struct LaunchShape {
  std::vector<const For*> blocks;  ///< up to three; the last is x
  const For* threads = nullptr;
  Stmt body;
};
/// Errors: ir_malformed.
auto launch_shape(const Launch& n) -> Result<LaunchShape>;

/// Threads of a block of a well-formed launch.
auto launch_threads(const For& threads) -> int;
/// Registers a thread has at entry, before any set_registers: what the launch says, or the block's share of the file.
auto entry_registers(const Launch& n, int threads) -> int;

/// Violations in what a launch holds: the loops stand as they must, nothing of the host is in it, shared buffers lie in
/// its shared memory, roles have warps and registers enough.
/// Errors: ir_malformed, role_registers.
auto verify_launch(const Launch& n) -> std::vector<Diag>;

}  // namespace drawloom
