#pragma once
/// Programs written as text, kernels included, to files that a build links.

#include <string>
#include <vector>

#include "drawloom/codegen/ptx.h"
#include "drawloom/support/target.h"

namespace drawloom {

struct CompileIrOptions {
  Target host;
  DeviceTarget device;
  std::string ptxas;  ///< path; empty: PTX alone, which the driver assembles at the first launch
};

/// What comes of one file.
struct CompiledIr {
  std::vector<Program> programs;  ///< as they were given to code generation
  std::string object;             ///< ELF; device code inside; needs drawloom_runtime
  std::string header;             ///< C
  std::string ptx, cubin;         ///< empty without launches; cubin also without ptxas
  std::vector<KernelUsage> usage;
};

/// `stem`: names the header's guard and the kernels in messages.
/// Errors: those of parse_programs, verify, generate_code, generate_ptx and assemble.
auto compile_ir(std::string_view text, std::string_view file, std::string_view stem, const CompileIrOptions& options)
    -> Result<CompiledIr>;

/// A parsed and verified program with loops unrolled and storage flat: what the simulator and code generation take.
/// Errors: those of parse_programs and verify.
auto prepare_ir(std::string_view text, std::string_view file, const Target& host) -> Result<std::vector<Program>>;

}  // namespace drawloom
