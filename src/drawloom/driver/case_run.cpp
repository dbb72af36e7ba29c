// One case, run in every way there is, against the oracle.
//
// The oracle evaluates the definitions first. Then lowering calls back after each pass, and the machine runs what the
// pass made on a copy of the arguments; at the end machine code does. The first problem names the pass: what it was
// given was right.
//     right  vectorize_loops
//     right  flatten_storage
//     WRONG  propagate_equalities
//     out(3, 0) is 7, should be 8; 12 of 64 elements are wrong
#include "drawloom/driver/case_run.h"

#include <cstring>

#include "drawloom/driver/case_arguments.h"
#include "drawloom/driver/compile.h"
#include "drawloom/driver/jit.h"
#include "drawloom/driver/runtime_status.h"
#include "drawloom/lang/buffer.h"
#include "drawloom/lower/lower.h"

namespace drawloom {
namespace {

/// The first element that differs, in words; empty when none does.
auto difference(const Array& expected, const Array& found, const std::string& name) -> std::string {
  if (is_empty_box(expected.dims)) return {};
  auto at = first_point(expected.dims);
  int64_t wrong = 0;
  std::string first;
  do {
    const Value a = expected.at(at), b = found.at(at);
    if (same_value(a, b) || wrong++ > 0) continue;
    std::vector<std::string> coordinates;
    for (const int64_t c : at) coordinates.push_back(std::to_string(c));
    first = str("{}({}) is {}, should be {}", name, join(coordinates, ", "), b.text(), a.text());
  } while (next_point(expected.dims, at));
  return wrong == 0 ? std::string() : str("{}; {} of {} elements are wrong", first, wrong, expected.elements());
}

class CaseRun {
 public:
  CaseRun(const DlCase& c, const Target& target, const CaseRunOptions& options)
      : c_(c), target_(target), options_(options) {}

  auto run() -> Result<CaseReport> {
    DRAWLOOM_TRY(const Nest nest, scheduled_nest(c_.pipeline, c_.schedule, target_));
    DRAWLOOM_TRY(arguments_, case_arguments(nest, c_));
    DRAWLOOM_TRY(expected_, oracle());
    if (expected_.ambiguous) {
      report_.not_compared =
          "the definition leaves a value open (min or max of NaN or of zeros, or a NaN made an integer)";
      return report_;
    }
    LowerOptions lowering;
    lowering.verify = true;
    lowering.after_pass = [&](std::string_view pass, const Program& program) {
      report_.steps.push_back({std::string(pass), on_machine(program, pass)});
    };
    const Program program = lower(nest, lowering);
    if (options_.native) report_.steps.push_back({"native", natively(program)});
    return report_;
  }

 private:
  auto oracle() -> Result<OracleOutputs> {
    OracleInputs in;
    const auto& p = *c_.pipeline;
    for (size_t i = 0; i < p.inputs.size(); ++i) in.buffers[p.inputs[i].get()] = &arguments_.inputs[i];
    for (size_t i = 0; i < p.params.size(); ++i) in.params[p.params[i].get()] = arguments_.params[i];
    in.output_boxes = arguments_.output_boxes;
    in.max_steps = options_.max_steps;
    return evaluate(p, in, target_.has_fma());
  }

  auto compare(const CaseArguments& found) const -> std::string {
    for (size_t i = 0; i < found.outputs.size(); ++i) {
      auto what = difference(expected_.arrays[i], found.outputs[i], c_.pipeline->output_buffers[i]->name);
      if (!what.empty()) return what;
    }
    return {};
  }

  auto on_machine(const Program& program, std::string_view pass) const -> std::string {
    CaseArguments arguments = arguments_;
    MachineOptions options;
    options.parallel_seed = options_.parallel_seed;
    options.max_steps = options_.max_steps;
    options.pass = std::string(pass);
    const auto report = drawloom::run(program, arguments.for_machine(), options);
    if (!report.ok()) return report.diag().text();
    if (report->check_failure)
      return str("refused at the call: {} ({})", report->check_failure->message, report->check_failure->code);
    if (!report->errors.empty()) return report->errors.front().text();
    if (report->unwritten_outputs > 0) return str("{} elements of outputs are not written", report->unwritten_outputs);
    return compare(arguments);
  }

  auto natively(const Program& program) const -> std::string {
    if (!runs_on(target_, host_target())) return {};
    const auto module = jit_compile({program}, target_);
    if (!module.ok()) return module.diag().text();
    CaseArguments arguments = arguments_;
    std::vector<void*> pointers;
    std::vector<Ref<HostBuffer>> buffers;
    std::vector<uint64_t> scalars(arguments.params.size());
    for (auto& a : arguments.inputs) pointers.push_back(buffer_of(a, buffers));
    for (size_t i = 0; i < scalars.size(); ++i) pointers.push_back(scalar_of(arguments.params[i], scalars[i]));
    for (auto& a : arguments.outputs) pointers.push_back(buffer_of(a, buffers));
    const auto status = call_generated((*module)->argv(program.name), pointers.data(), nullptr);
    return status.ok() ? compare(arguments) : status.diag().message();
  }

  static auto buffer_of(Array& a, std::vector<Ref<HostBuffer>>& buffers) -> void* {
    std::vector<drawloom_dim_t> dims;
    for (const auto& d : a.dims) dims.push_back({d.min, d.extent, d.stride});
    buffers.push_back(make_ref<HostBuffer>(a.element, dims, a.data.data() + a.first * a.element.bytes()));
    return &buffers.back()->raw;
  }

  static auto scalar_of(const Value& v, uint64_t& slot) -> void* {
    const auto single = static_cast<float>(v.f);
    if (!v.type.is_float())
      std::memcpy(&slot, &v.i, sizeof slot);
    else if (v.type.bits == 32)
      std::memcpy(&slot, &single, sizeof single);
    else
      std::memcpy(&slot, &v.f, sizeof slot);
    return &slot;
  }

  const DlCase& c_;
  const Target& target_;
  const CaseRunOptions& options_;
  CaseArguments arguments_;
  OracleOutputs expected_;
  CaseReport report_;
};

}  // namespace

auto CaseReport::first_problem() const -> const CaseStep* {
  for (const auto& s : steps)
    if (!s.problem.empty()) return &s;
  return nullptr;
}

auto run_case(const DlCase& c, const Target& target, const CaseRunOptions& options) -> Result<CaseReport> {
  return CaseRun(c, target, options).run();
}

}  // namespace drawloom
