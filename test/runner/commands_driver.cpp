#include "drawloom/driver/case_run.h"
#include "runner.h"

namespace drawloom::text_tests {

void run_command(TestCase& test, const CommandArgs&) {
  const auto* c = test.get<DlCase>("run");
  if (!c) return;
  const auto target = c->schedule.target.empty() ? Result<Target>(host_target()) : parse_target(c->schedule.target);
  if (!target.ok()) return test.diags.push_back(target.diag());
  const auto report = run_case(*c, *target);
  if (!report.ok()) return test.diags.push_back(report.diag());
  for (const auto& step : report->steps)
    if (!step.problem.empty()) test.failures.push_back(str("{}: {}", step.where, step.problem));
  test.value = report->not_compared.empty() ? std::string("same bits\n") : str("not compared: {}\n", report->not_compared);
}

}  // namespace drawloom::text_tests
