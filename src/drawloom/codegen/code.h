#pragma once
/// From lowered programs to code: the door of this layer. No LLVM type shows.

#include <string>
#include <vector>

#include "drawloom/codegen/ptx.h"
#include "drawloom/ir/program.h"
#include "drawloom/support/result.h"
#include "drawloom/support/target.h"

namespace drawloom {

/// Object: an ELF relocatable, position independent. Assembly: AT&T text. LlvmIr: text after optimisation;
/// RawLlvmIr: before.
enum class CodeKind : uint8_t { Object, Assembly, LlvmIr, RawLlvmIr };

/// Wall time, in nanoseconds.
struct CodegenTimes {
  int64_t build_ns = 0;     ///< IR to LLVM IR
  int64_t optimise_ns = 0;  ///< LLVM's passes on its IR
  int64_t emit_ns = 0;      ///< instruction selection to bytes
};

/// What the launches of some programs run, to be put into their object. `cubin` may be empty.
struct DeviceCode {
  std::string name;  ///< for messages
  std::string ptx, cubin;
  DeviceTarget target;
};

/// For each program the functions `int NAME(drawloom_context_t*, args...)` and `int NAME_argv(drawloom_context_t*,
/// void**)` of runtime.h. The code needs `drawloom_default_context`, libc and libm, nothing else. Same input, same
/// bytes. Thread-safe.
/// Needs: verified programs, flat storage (a subscript of an argument counts elements from its host address), no
/// vectorised or unrolled loops. Launches need `device`, and their programs run nothing else on the arguments they use.
/// Errors: those of find_unsupported (limits.h; the first one, the others as notes).
auto generate_code(const std::vector<Program>& programs, const Target& target, CodeKind kind,
                   CodegenTimes* times = nullptr, const DeviceCode* device = nullptr) -> Result<std::string>;

struct ArchiveMember {
  std::string name, bytes;
};
/// A static library of objects, with an index; no time stamps, so same input, same bytes.
auto make_archive(const std::vector<ArchiveMember>& members) -> std::string;

}  // namespace drawloom
