#include "commands_ir.h"

#include "drawloom/ir/node_ops.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/ir/verify.h"

namespace drawloom::text_tests {

void set_programs(TestCase& test, std::vector<Program> programs) {
  const auto text = print(programs);
  const auto again = parse_programs(text, "printed");
  if (!again.ok()) {
    test.failures.push_back(str("printed text does not parse: {}\n{}", again.diag().text(), text));
    return;
  }
  bool same = again->size() == programs.size();
  for (size_t i = 0; same && i < programs.size(); ++i) same = equal((*again)[i], programs[i]);
  if (!same) test.failures.push_back("printed text parses to another program:\n" + text);
  const auto second = print(*again);
  if (second != text) test.failures.push_back("printing what was parsed differs:\n" + line_diff(text, second));
  test.value = std::move(programs);
}

void parse_command(TestCase& test, const CommandArgs&) {
  const auto* text = test.get<std::string>("parse");
  if (!text) return;
  auto programs = parse_programs(*text, test.file.name);
  if (!programs.ok()) return test.diags.push_back(programs.diag());
  set_programs(test, std::move(programs).value());
}

void print_command(TestCase& test, const CommandArgs&) {
  if (const auto* programs = test.get<std::vector<Program>>("print")) test.value = print(*programs);
}

void verify_command(TestCase& test, const CommandArgs& args) {
  InvariantSet claims = 0;
  for (const auto& name : args) {
    bool known = false;
    for (const auto i : kInvariants) {
      if (invariant_name(i) == name) claims = claims | i, known = true;
    }
    if (!known) test.failures.push_back(str("`verify` knows no invariant `{}`", name));
  }
  const auto* programs = test.get<std::vector<Program>>("verify");
  if (!programs) return;
  for (const auto& p : *programs) {
    for (auto& d : verify(p, claims)) test.diags.push_back(std::move(d));
  }
}

}  // namespace drawloom::text_tests
