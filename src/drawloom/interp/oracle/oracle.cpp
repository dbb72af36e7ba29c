#include "drawloom/interp/oracle/oracle.h"

#include <exception>
#include <optional>

#include "drawloom/interp/oracle/evaluate.h"
#include "drawloom/interp/oracle/run_deep.h"

namespace drawloom {
namespace oracle {
namespace {

/// Left free at the end of the stack for what runs between two guards.
constexpr size_t kSpareBytes = size_t{1} << 19;

struct Job {
  const PipelineDef& pipeline;
  const OracleInputs& inputs;
  bool has_fma;
  std::optional<Result<OracleOutputs>> result;
  std::exception_ptr broken;  ///< an InternalError on its way out
};

void fill(Evaluator& evaluator, int func, const FunctionDef& f, const ArrayBox& box, std::vector<Array>& out) {
  const size_t first = out.size();
  for (const Type t : f.types) out.push_back(make_array(t, box));
  if (is_empty_box(box)) return;
  auto p = first_point(box);
  do {
    for (int c = 0; c < f.components(); ++c) {
      out[first + static_cast<size_t>(c)].set(p, evaluator.value(func, p.data(), c));
    }
  } while (next_point(box, p));
}

auto evaluate_here(const Job& job) -> Result<OracleOutputs> {
  DRAWLOOM_TRY(const PipelineCode code, compile(job.pipeline, job.inputs, job.has_fma));
  const size_t stack = job.inputs.stack_bytes > 2 * kSpareBytes ? job.inputs.stack_bytes - kSpareBytes : kSpareBytes;
  Evaluator evaluator(code, job.inputs.max_steps, stack);
  OracleOutputs out;
  try {
    for (size_t i = 0; i < job.pipeline.outputs.size(); ++i) {
      const auto& f = *job.pipeline.outputs[i];
      fill(evaluator, code.func_ids.at(&f), f, job.inputs.output_boxes[i], out.arrays);
    }
  } catch (const Stop& stop) {
    return stop.diag;
  }
  out.reads = evaluator.reads();
  out.ambiguous = evaluator.ambiguous();
  out.steps = evaluator.steps();
  return out;
}

void run_job(void* context) {
  auto& job = *static_cast<Job*>(context);
  try {
    job.result = evaluate_here(job);
  } catch (...) {
    job.broken = std::current_exception();
  }
}

}  // namespace
}  // namespace oracle

auto evaluate(const PipelineDef& pipeline, const OracleInputs& inputs, bool has_fma) -> Result<OracleOutputs> {
  oracle::Job job{.pipeline = pipeline, .inputs = inputs, .has_fma = has_fma, .result = {}, .broken = nullptr};
  if (!oracle::run_deep(inputs.stack_bytes, oracle::run_job, &job)) {
    return Diag(DiagKind::oracle_argument, {}, pipeline.name, str("no stack of {} bytes", inputs.stack_bytes));
  }
  if (job.broken) std::rethrow_exception(job.broken);
  return *std::move(job.result);
}

}  // namespace drawloom
