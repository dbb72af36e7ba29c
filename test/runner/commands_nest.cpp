#include <algorithm>

#include "commands_ir.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/lang/dl_text.h"
#include "drawloom/lower/lower.h"
#include "drawloom/nest/nest.h"

namespace drawloom::text_tests {
namespace {

/// Goldens must not depend on the machine: what a file does not say is this.
constexpr std::string_view kTarget = "x86-64-v3";

}  // namespace

void nest_command(TestCase& test, const CommandArgs&) {
  const auto* c = test.get<DlCase>("nest");
  if (!c) return;
  const auto target = parse_target(c->schedule.target.empty() ? kTarget : c->schedule.target);
  if (!target.ok()) return test.diags.push_back(target.diag());
  auto nest = make_nest(c->pipeline, *target);
  if (!nest.ok()) return test.diags.push_back(nest.diag());
  Nest held = std::move(nest).value();
  // A refused step leaves the nest as it was, so the steps after it are still worth trying.
  for (const auto& line : c->schedule.steps) {
    auto next = apply(held, line);
    if (next.ok()) {
      held = std::move(next).value();
    } else {
      test.diags.push_back(next.diag());
    }
  }
  test.value = std::move(held);
}

void print_nest_command(TestCase& test, const CommandArgs&) {
  if (const auto* nest = test.get<Nest>("print_nest")) test.value = print_nest(*nest);
}

void lower_command(TestCase& test, const CommandArgs& args) {
  const auto* nest = test.get<Nest>("lower");
  if (!nest) return;
  LowerOptions options;
  options.verify = true;
  if (!args.empty()) options.stop_after = args.front();
  const auto passes = pass_names();
  if (!args.empty() && std::find(passes.begin(), passes.end(), args.front()) == passes.end())
    return test.failures.push_back(str("`lower` knows no pass `{}`", args.front()));
  set_programs(test, {lower(*nest, options)});
}

void pass_command(TestCase& test, const CommandArgs& args) {
  const auto* programs = test.get<std::vector<Program>>("pass");
  if (!programs) return;
  auto target = parse_target(kTarget);
  DRAWLOOM_CHECK(target.ok(), "target {}", kTarget);
  std::vector<Program> out = *programs;
  for (const auto& name : args)
    for (auto& p : out) {
      auto changed = run_pass(name, p, *target);
      if (!changed.ok()) return test.diags.push_back(changed.diag());
      p = std::move(changed).value();
    }
  set_programs(test, std::move(out));
}

}  // namespace drawloom::text_tests
