#include <algorithm>

#include "arguments.h"
#include "drawloom/ir/node_ops.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/lower/lower.h"
#include "native.h"
#include "need.h"
#include "random_pipeline.h"
#include "random_schedule.h"

namespace drawloom::fuzz {
namespace {

struct Lowered {
  std::string pass;
  Program program;
};

/// Ends the check of a case.
struct Stop {
  Verdict verdict;
};
[[noreturn]] void fail(std::string kind, std::string details) {
  throw Stop{{Outcome::failed, std::move(kind), std::move(details)}};
}
[[noreturn]] void discard(Outcome why) { throw Stop{{why, {}, {}}}; }

/// A case that takes longer says nothing that a smaller one does not.
constexpr uint64_t kMaxSteps = 4'000'000;
constexpr size_t kMaxNodes = 10'000;

void check_round_trip(const Program& p, std::string_view pass) {
  const auto text = print(std::vector<Program>{p});
  const auto back = parse_programs(text, "program.ir");
  if (!back.ok()) fail("IR text", str("after {}: {}\n{}", pass, back.diag().text(), text));
  if (back->size() != 1 || !equal(back->front(), p))
    fail("IR text", str("after {}: the text reads back as another program\n{}", pass, text));
  if (print(back.value()) != text)
    fail("IR text", str("after {}: the text is not the same after reading it back\n{}", pass, text));
}

void check_case_text(const DlCase& c) {
  const auto text = print(c);
  const auto back = parse_case(text, "case.dl");
  if (!back.ok()) fail("case text", str("{}\n{}", back.diag().text(), text));
  if (!equal_by_name(back.value(), c))
    fail("case text", str("it reads back as another case\n{}\nwhich prints as\n{}", text, print(back.value())));
  if (print(back.value()) != text)
    fail("case text", str("it is not the same after reading it back\n{}\n{}", text, print(back.value())));
}

/// Text is checked in every fourth case: it takes as long as the machine.
auto lower_all(const Nest& nest, bool check_text, const CaseOptions& options) -> std::vector<Lowered> {
  std::vector<Lowered> out;
  LowerOptions lowering;
  lowering.verify = true;
  lowering.after_pass = [&](std::string_view pass, const Program& p) {
    if (node_count(p.body) > kMaxNodes) discard(Outcome::too_large);
    if (check_text) check_round_trip(p, pass);
    if (!options.every_pass && out.size() > 1) out.pop_back();
    out.push_back({std::string(pass), p});
  };
  try {
    lower(nest, lowering);
  } catch (const InternalError& e) {
    const std::string what = e.what();
    fail(str("lowering broke: {}", what.substr(0, 90)),
         str("after {}: {}", out.empty() ? "nothing" : out.back().pass, what));
  } catch (const Error& e) {
    fail("lowering refused", e.what());
  }
  return out;
}

auto run_oracle(const PipelineDef& p, const Arguments& arguments, const Target& target) -> OracleOutputs {
  auto out = evaluate(p, oracle_inputs(p, arguments), target.has_fma());
  if (out.ok()) {
    if (out->ambiguous) discard(Outcome::ambiguous);
    return std::move(out).value();
  }
  if (out.diag().kind() == DiagKind::oracle_budget || out.diag().kind() == DiagKind::oracle_too_deep)
    discard(Outcome::over_budget);
  if (!arguments.demands_met)
    discard(Outcome::call_refused);  // inputs were fitted to outputs that the call does not accept
  fail(str("oracle: {}", out.diag().name()), out.diag().text());
}

auto coordinates_text(const std::vector<int64_t>& at) -> std::string {
  std::vector<std::string> parts;
  for (const auto c : at) parts.push_back(std::to_string(c));
  return join(parts, ", ");
}

}  // namespace

auto difference(const Array& expected, const Array& found, const std::string& name) -> std::string {
  if (is_empty_box(expected.dims)) return {};
  auto at = first_point(expected.dims);
  int64_t wrong = 0;
  std::string first;
  do {
    const auto a = expected.at(at), b = found.at(at);
    if (same_value(a, b)) continue;
    if (wrong++ == 0) first = str("{}({}) is {}, should be {}", name, coordinates_text(at), b.text(), a.text());
  } while (next_point(expected.dims, at));
  return wrong == 0 ? std::string() : str("{}; {} of {} elements are wrong", first, wrong, expected.elements());
}

namespace {

void run_machine(const PipelineDef& p, const Arguments& arguments, const OracleOutputs& expected,
                 const Lowered& lowered, const Sizes& sizes) {
  std::vector<Array> inputs = arguments.inputs, outputs;
  for (size_t i = 0; i < arguments.outputs.size(); ++i)
    outputs.push_back(make_strided_array(p.output_buffers[i]->element, arguments.outputs[i]));
  MachineArguments args;
  for (auto& a : inputs) args.push_back({.array = &a, .scalar = {}});
  for (const auto& v : arguments.params) args.push_back({.array = nullptr, .scalar = v});
  for (auto& a : outputs) args.push_back({.array = &a, .scalar = {}});
  MachineOptions options;
  options.parallel_seed = sizes.parallel_seed;
  options.pass = lowered.pass;
  options.max_steps = kMaxSteps;
  const auto report = run(lowered.program, args, options);
  if (!report.ok())
    fail(str("machine: {}", report.diag().name()), str("after {}: {}", lowered.pass, report.diag().text()));
  if (report->check_failure) {
    const auto& c = *report->check_failure;
    if (arguments.demands_met) fail("refused at the call", str("after {}: {}: {}", lowered.pass, c.code, c.message));
    discard(Outcome::call_refused);
  }
  if (!arguments.demands_met) fail("not refused at the call", "a demand of the schedule on an output does not hold");
  if (!report->errors.empty()) {
    const auto& e = report->errors.front();
    if (e.kind() == DiagKind::machine_budget) discard(Outcome::over_budget);
    std::string all;
    for (const auto& d : report->errors) all += d.text() + "\n";
    fail(str("machine: {}", e.name()), all);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto what = difference(expected.arrays[i], outputs[i], p.output_buffers[i]->name);
    if (!what.empty()) fail("wrong value", str("on the machine after {}: {}", lowered.pass, what));
  }
  if (report->unwritten_outputs > 0)
    fail("unwritten output", str("after {}: {} elements", lowered.pass, report->unwritten_outputs));
}

void count_sizes(const Case& c, const Arguments& arguments, Coverage& coverage) {
  bool odd_min = false;
  for (const auto& dims : arguments.outputs)
    for (const auto& d : dims) coverage.add_extent(d.extent), odd_min |= d.min != 0;
  coverage.odd_min += odd_min;
  coverage.strided += std::any_of(c.sizes.strides.begin(), c.sizes.strides.end(),
                                  [](const auto& s) { return s.second != Strides::dense; });
}

void check(const Case& c, const CaseOptions& options, Coverage* coverage) {
  const Target target = host_target();
  const auto start = make_nest(c.pipeline, target);
  if (!start.ok()) discard(Outcome::graph_refused);
  const auto scheduled = c.nest ? ScheduledNest{*c.nest, c.schedule} : replay(*start, c.schedule);
  if (coverage) coverage->add_nest(scheduled.nest, scheduled.schedule);
  const auto text = print(scheduled.schedule);
  const auto back = parse_schedule(text, "case.sched");
  if (!back.ok()) fail("schedule text", back.diag().text());
  if (!(back.value() == scheduled.schedule)) fail("schedule text", "reads back as another schedule");

  if (options.draw_only) return;
  const auto lowered = lower_all(scheduled.nest, c.seed % 4 == 0, options);
  const auto arguments = make_arguments(scheduled.nest, c.sizes);
  if (!arguments.inputs_fit) discard(Outcome::call_refused);
  if (const auto excess = excess_need(*start, scheduled, c.sizes, arguments); !excess.empty()) {
    if (options.exact_need) fail("excess need", excess);
    if (coverage) ++coverage->excess_need;
  }
  check_case_text(dl_case_of(c, arguments, scheduled.schedule));
  if (coverage) count_sizes(c, arguments, *coverage);
  const auto expected = run_oracle(*c.pipeline, arguments, target);
  for (const auto& l : lowered) {
    if (coverage) ++coverage->machine_runs;
    try {
      run_machine(*c.pipeline, arguments, expected, l, c.sizes);
    } catch (Stop& s) {
      s.verdict.pass = l.pass;
      throw;
    }
  }
  if (!options.native) return;
  if (coverage) ++coverage->native;
  const auto what = run_native(lowered.back().program, *c.pipeline, arguments, expected, c.sizes, coverage);
  if (!what.kind.empty()) throw Stop{{Outcome::failed, what.kind, what.details}};
}

}  // namespace

auto check_case(const Case& c, const CaseOptions& options, Coverage* coverage) -> Verdict {
  try {
    check(c, options, coverage);
    return {};
  } catch (const Stop& s) {
    return s.verdict;
  } catch (const ScheduleBroke& b) {
    return {Outcome::failed, b.what.substr(0, 60), str("{}\nat the last step of\n{}", b.what, print(b.schedule))};
  } catch (const InternalError& e) {
    return {Outcome::failed, std::string("check failed: ") + std::string(e.what()).substr(0, 60), e.what()};
  } catch (const Error& e) {
    return {Outcome::failed, "unexpected refusal", e.what()};
  }
}

}  // namespace drawloom::fuzz
