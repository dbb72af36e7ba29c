#include <algorithm>

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
  // A call that is refused is refused by machine and machine code alike.
  const bool refused = !report->steps.empty() && report->steps.front().problem.starts_with("refused at the call: ");
  const bool by_all =
      std::all_of(report->steps.begin(), report->steps.end(), [](const CaseStep& s) { return !s.problem.empty(); });
  if (refused && by_all) {
    test.value = report->steps.front().problem + "\n";
    return;
  }
  for (const auto& step : report->steps)
    if (!step.problem.empty()) test.failures.push_back(str("{}: {}", step.where, step.problem));
  test.value =
      report->not_compared.empty() ? std::string("same bits\n") : str("not compared: {}\n", report->not_compared);
}

}  // namespace drawloom::text_tests
