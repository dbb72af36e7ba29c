#pragma once
/// Ahead of time: files that a build links or ships.

#include <string>
#include <vector>

#include "drawloom/driver/compile.h"

namespace drawloom {

/// One pipeline with its schedule, to stand in one object.
struct AotPipeline {
  PipelineRef pipeline;
  Schedule schedule;
};

/// Files to write, named `<directory>/<name>.<suffix>`; what is in the object is what was tuned: schedule text included.
struct AotOptions {
  std::string directory = ".";
  std::string name;            ///< empty: the first pipeline's
  bool object = true;          ///< `.o`: ELF, position independent; needs drawloom_runtime, libc and libm
  bool static_library = true;  ///< `.a`: that object alone
  bool header = true;          ///< `.h`: C11 and C++
  bool schedule = true;        ///< `.sched`: per pipeline its schedule with the target, as it was applied
  bool assembly = false;       ///< `.s`
  bool llvm_ir = false;        ///< `.ll`, after optimisation
  bool ir = false;             ///< `.ir`: our lowered programs
  bool nest = false;           ///< `.nest`: the loops with storage and regions
  CompileOptions compile;      ///< cache and report are those of JIT compilation; print_after adds to the report
};

/// Paths of the files written, in the order of the options.
/// Errors: those of compile; compile_file (a file cannot be written).
auto compile_to_files(const std::vector<AotPipeline>& pipelines, const Target& target, const AotOptions& options)
    -> Result<std::vector<std::string>>;

/// The text or bytes of one product, for callers with files of their own.
enum class AotProduct : uint8_t { object, static_library, header, schedule, assembly, llvm_ir, ir, nest };
auto compile_to(AotProduct product, const std::vector<AotPipeline>& pipelines, const Target& target,
                const AotOptions& options) -> Result<std::string>;

}  // namespace drawloom
