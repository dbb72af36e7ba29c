#include "drawloom/driver/compile.h"

#include <chrono>

#include "drawloom/driver/jit.h"
#include "drawloom/driver/lowered.h"
#include "drawloom/driver/runtime_status.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/lang/define.h"
#include "drawloom/lower/lower.h"

namespace drawloom {

struct CompiledPipeline::Loaded {
  Ref<const JitModule> module;
  drawloom_argv_function_t function = nullptr;
};

struct CompiledPipelineMaker {
  static auto make(const Nest& nest, const Schedule& schedule, Ref<const JitModule> module) -> CompiledPipelineRef {
    auto loaded = std::make_unique<CompiledPipeline::Loaded>();
    loaded->function = module->argv(nest.graph->pipeline->name);
    loaded->module = std::move(module);
    return CompiledPipelineRef(new CompiledPipeline(nest, schedule, std::move(loaded)));
  }
};

CompiledPipeline::CompiledPipeline(Nest nest, Schedule schedule, std::unique_ptr<Loaded> loaded)
    : nest_(std::move(nest)), schedule_(std::move(schedule)), loaded_(std::move(loaded)) {}
CompiledPipeline::~CompiledPipeline() = default;

auto CompiledPipeline::function() const -> drawloom_argv_function_t { return loaded_->function; }

auto CompiledPipeline::run(const std::vector<void*>& args, drawloom_context_t* context) const -> Status {
  const auto& p = pipeline();
  const size_t wanted = p.inputs.size() + p.params.size() + p.output_buffers.size();
  if (args.size() != wanted)
    return Diag(DiagKind::call_arguments, Loc(), p.name, counted(static_cast<int>(wanted), "argument"), args.size());
  return call_generated(function(), const_cast<void**>(args.data()), context);
}

namespace {

class Clock {
 public:
  explicit Clock(CompileReport* report) : report_(report) {}
  void done(std::string name) {
    const auto now = std::chrono::steady_clock::now();
    if (report_) report_->passes.push_back({std::move(name), std::chrono::duration<double>(now - start_).count(), 0});
    start_ = now;
  }

 private:
  CompileReport* report_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

auto compile_nest(const Nest& nest, const Schedule& schedule, const CompileOptions& options)
    -> Result<CompiledPipelineRef> {
  const Program program = lower_reported(nest, options);
  CodegenTimes times;
  int64_t link_ns = 0;
  DRAWLOOM_TRY(auto module, jit_compile({program}, nest.target, {&times, &link_ns}));
  if (options.report) {
    report_codegen(times, *options.report);
    options.report->passes.push_back({"link", static_cast<double>(link_ns) * 1e-9, 0});
  }
  return CompiledPipelineMaker::make(nest, schedule, std::move(module));
}

}  // namespace

auto scheduled_nest(const PipelineRef& pipeline, const Schedule& schedule, const Target& target) -> Result<Nest> {
  if (!schedule.pipeline.empty() && schedule.pipeline != pipeline->name)
    return Diag(DiagKind::compile_other_pipeline, Loc(), schedule.pipeline, pipeline->name);
  DRAWLOOM_TRY(Nest nest, make_nest(pipeline, target));
  return apply(std::move(nest), schedule);
}

auto compile(const PipelineRef& pipeline, const Schedule& schedule, const Target& target, const CompileOptions& options)
    -> Result<CompiledPipelineRef> {
  if (options.report) *options.report = {};
  if (options.cache)
    if (auto hit = options.cache->find(*pipeline, schedule, target)) return hit;
  Clock clock(options.report);
  DRAWLOOM_TRY(const Nest nest, scheduled_nest(pipeline, schedule, target));
  clock.done("schedule");
  DRAWLOOM_TRY(auto compiled, compile_nest(nest, schedule, options));
  if (options.cache) options.cache->insert(compiled);
  return compiled;
}

auto compile(const Nest& nest, const CompileOptions& options) -> Result<CompiledPipelineRef> {
  if (options.report) *options.report = {};
  return compile_nest(nest, Schedule{nest.graph->pipeline->name, {}, {}}, options);
}

}  // namespace drawloom
