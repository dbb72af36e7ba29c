#include "commands_ir.h"

#include "drawloom/interp/simt/call.h"

namespace drawloom::text_tests {
namespace {

/// What the first order that finds something finds.
void simulate_one(TestCase& test, const Program& program, const CommandArgs& words) {
  for (const auto& policy : sim_policies()) {
    auto call = sim_call(program, words);
    if (!call.ok()) return test.diags.push_back(call.diag());
    call->options.order = policy.order, call->options.moment = policy.moment;
    auto report = simulate(program, call->arguments, call->options);
    if (!report.ok()) return test.diags.push_back(report.diag());
    if (report->check_failure) return test.failures.push_back(str("check failed: {}", report->check_failure->message));
    if (report->errors.empty()) continue;
    for (const auto& e : report->errors) test.diags.push_back(e);
    return;
  }
  test.value = std::string("clean\n");
}

}  // namespace

void simulate_command(TestCase& test, const CommandArgs& words) {
  const auto* programs = test.get<std::vector<Program>>("simulate");
  if (!programs) return;
  const auto copy = *programs;
  for (const auto& p : copy) simulate_one(test, p, words);
}

}  // namespace drawloom::text_tests
