#pragma once
/// Device code: PTX from launches, and machine code from PTX. No LLVM type shows.

#include <string>
#include <vector>

#include "drawloom/ir/program.h"
#include "drawloom/support/result.h"

namespace drawloom {

/// A compute capability: `sm_80`, or `sm_90a` with the features of that very chip.
struct DeviceTarget {
  int capability = 90;      ///< 10 * major + minor
  bool accelerated = true;  ///< the `a` of sm_90a
  auto text() const -> std::string;
};
/// `sm_80` or `sm_90a`. Errors: target_unknown.
auto parse_device_target(std::string_view text, Loc loc = {}) -> Result<DeviceTarget>;

/// One PTX module with an entry for each launch of the programs. Same input, same text.
/// Needs: verified programs, flat storage, no unrolled or vectorised loops.
/// Errors: kernel_target, codegen_register, codegen_subscript, codegen_node.
auto generate_ptx(const std::vector<Program>& programs, const DeviceTarget& target) -> Result<std::string>;

/// What ptxas says of one entry.
struct KernelUsage {
  std::string name;
  int registers = 0, spill_bytes = 0, shared_bytes = 0, stack_bytes = 0;
};
struct Cubin {
  std::string bytes;
  std::vector<KernelUsage> usage;
};
/// Where ptxas is: on the PATH, else where toolkits are usually installed; empty if nowhere.
auto find_ptxas() -> std::string;
/// Runs ptxas. A kernel that it serialises or that spills beyond what its launch allows is refused.
/// Errors: kernel_assembler, kernel_serialised, kernel_spills.
auto assemble(const std::string& ptx, const DeviceTarget& target, const std::vector<Program>& programs,
              const std::string& ptxas) -> Result<Cubin>;

}  // namespace drawloom
