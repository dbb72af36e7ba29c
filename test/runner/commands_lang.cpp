#include "drawloom/lang/dl_text.h"
#include "runner.h"

namespace drawloom::text_tests {

void case_command(TestCase& test, const CommandArgs&) {
  const auto* text = test.get<std::string>("case");
  if (!text) return;
  auto parsed = parse_case(*text, test.file.name);
  if (!parsed.ok()) return test.diags.push_back(parsed.diag());
  const auto printed = print(*parsed);
  const auto again = parse_case(printed, "printed");
  if (!again.ok()) {
    test.failures.push_back(str("printed text does not parse: {}\n{}", again.diag().text(), printed));
    return;
  }
  if (!equal_by_name(*parsed, *again)) test.failures.push_back("printed text parses to another case:\n" + printed);
  const auto second = print(*again);
  if (second != printed) test.failures.push_back("printing what was parsed differs:\n" + line_diff(printed, second));
  test.value = std::move(parsed).value();
}

void print_case_command(TestCase& test, const CommandArgs&) {
  if (const auto* c = test.get<DlCase>("print_case")) test.value = print(*c);
}

void schedule_command(TestCase& test, const CommandArgs&) {
  const auto* text = test.get<std::string>("schedule");
  if (!text) return;
  auto parsed = parse_schedule(*text, test.file.name);
  if (!parsed.ok()) return test.diags.push_back(parsed.diag());
  const auto printed = print(*parsed);
  const auto again = parse_schedule(printed, "printed");
  if (!again.ok() || !(*again == *parsed))
    test.failures.push_back("printed text parses to another schedule:\n" + printed);
  test.value = std::move(parsed).value();
}

void print_schedule_command(TestCase& test, const CommandArgs&) {
  if (const auto* s = test.get<Schedule>("print_schedule")) test.value = print(*s);
}

}  // namespace drawloom::text_tests
