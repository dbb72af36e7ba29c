#pragma once
/// From a pipeline and a schedule to machine code in this process.

#include <memory>
#include <string>
#include <vector>

#include "drawloom/nest/nest.h"
#include "drawloom/runtime.h"

namespace drawloom {

struct PassReport {
  std::string name;  ///< `schedule`, a pass of lowering, `llvm_build`, `llvm_optimise`, `llvm_emit`, `link`
  double seconds = 0;
  size_t nodes = 0;  ///< of the statement after the pass; 0 outside lowering
};
struct PrintedPass {
  std::string name;
  std::string text;  ///< the text form of the program after it
};
struct CompileReport {
  std::vector<PassReport> passes;    ///< in order
  std::vector<PrintedPass> printed;  ///< those of CompileOptions::print_after, in order

  auto total_seconds() const -> double;
  /// One line per pass with milliseconds and nodes, then the sum.
  auto text() const -> std::string;
};

class CompileCache;

struct CompileOptions {
  bool verify = false;                   ///< run the verifier after every pass of lowering
  std::vector<std::string> print_after;  ///< names of passes of lowering, or `all`
  CompileReport* report = nullptr;       ///< filled if given; empty when the cache had the answer
  CompileCache* cache = nullptr;         ///< looked up first and filled if given
};

/// Machine code in this process with what it was made from. Immutable; its calls may run at the same time.
class CompiledPipeline : public RefCounted {
 public:
  ~CompiledPipeline();

  auto pipeline() const -> const PipelineDef& { return *nest_.graph->pipeline; }
  auto nest() const -> const Nest& { return nest_; }
  auto target() const -> const Target& { return nest_.target; }
  auto schedule() const -> const Schedule& { return schedule_; }

  /// Calls the code. `args`: one for each input, parameter and output buffer of the pipeline, in this order; a
  /// `drawloom_buffer_t*` for a buffer, the address of the value for a parameter. `context` null: errors are in the
  /// result alone, everything else as in the runtime's default context.
  /// Errors: call_arguments (their number), call_failed (the runtime's code and message).
  auto run(const std::vector<void*>& args, drawloom_context_t* context = nullptr) const -> Status;
  /// The same without a check of their number: for timing loops.
  auto function() const -> drawloom_argv_function_t;

 private:
  struct Loaded;
  CompiledPipeline(Nest nest, Schedule schedule, std::unique_ptr<Loaded> loaded);
  friend struct CompiledPipelineMaker;
  Nest nest_;
  Schedule schedule_;
  std::unique_ptr<Loaded> loaded_;
};
using CompiledPipelineRef = Ref<const CompiledPipeline>;

/// Pipelines compiled before, by pipeline (identity), schedule and target. A value that its owner passes in and drops when
/// it likes; copies share their contents. Thread-safe.
class CompileCache {
 public:
  CompileCache();
  auto size() const -> size_t;
  auto find(const PipelineDef& pipeline, const Schedule& schedule, const Target& target) const -> CompiledPipelineRef;
  void insert(CompiledPipelineRef compiled);

 private:
  struct Body;
  std::shared_ptr<Body> body_;
};

/// The target in the schedule's header says what it was written for and binds nobody.
/// Errors: those of make_nest, of apply, of code generation and the JIT; compile_other_pipeline.
auto compile(const PipelineRef& pipeline, const Schedule& schedule, const Target& target,
             const CompileOptions& options = {}) -> Result<CompiledPipelineRef>;
/// A nest that is scheduled already.
auto compile(const Nest& nest, const CompileOptions& options = {}) -> Result<CompiledPipelineRef>;

/// The pipeline with its schedule. Errors: those of make_nest and apply; compile_other_pipeline.
auto scheduled_nest(const PipelineRef& pipeline, const Schedule& schedule, const Target& target) -> Result<Nest>;

}  // namespace drawloom
