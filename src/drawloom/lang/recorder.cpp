#include "drawloom/lang/recorder.h"

#include <algorithm>

#include "drawloom/ir/build.h"
#include "drawloom/lang/func.h"
#include "drawloom/support/diag.h"
#include "drawloom/support/text.h"

namespace drawloom {

void StageRecorder::record(Step step, const std::source_location& at, uint64_t target) const {
  def_->recorded.push_back({std::move(step), at, target});
}

auto StageRecorder::amount(std::string_view step, const Arg& factor) -> Amount {
  const Expr& e = factor.expr();
  if (int64_t n; e.defined() && as_int(e, n)) return {n, ""};
  const auto* v = e.as<VarRef>();
  if (v && v->symbol->kind == SymbolKind::Param && v->symbol->type.is_data_int()) return {0, v->symbol->name};
  throw Error(
      Diag(DiagKind::schedule_amount, factor.loc(), step, e.defined() ? "an expression" : "an undefined expression"));
}

namespace {

/// Every name that stands in a step on its own: loops, not Funcs.
auto mentions(const Step& step, const std::string& name) -> bool {
  bool found = false;
  auto copy = step;
  std::visit(
      [&](auto& s) {
        s.each_field([&](std::string_view, auto& field) {
          using T = std::decay_t<decltype(field)>;
          if constexpr (std::is_same_v<T, std::string>) found = found || field == name;
          if constexpr (std::is_same_v<T, LoopName>) found = found || field.loop == name;
          if constexpr (std::is_same_v<T, std::vector<std::string>>) {
            found = found || std::find(field.begin(), field.end(), name) != field.end();
          }
        });
      },
      copy);
  return found;
}

}  // namespace

auto StageRecorder::fresh_name(const std::string& base) const -> std::string {
  const auto taken = [&](const std::string& name) {
    for (const auto& arg : def_->args) {
      if (arg->name == name) return true;
    }
    for (const auto& update : def_->updates) {
      if (!update.rdom) continue;
      for (const auto& dim : update.rdom->dims) {
        if (dim.symbol->name == name) return true;
      }
    }
    return std::any_of(def_->recorded.begin(), def_->recorded.end(),
                       [&](const RecordedStep& r) { return mentions(r.step, name); });
  };
  std::string name = base;
  for (int n = 2; taken(name); ++n) name = str("{}{}", base, n);
  return name;
}

void StageRecorder::split(const VarOrRVar& old, const std::string& outer, const std::string& inner, const Arg& factor,
                          const TailArg& tail, const std::source_location& at) const {
  record(Split{loop(old), outer, inner, amount("split", factor), tail.tail}, at);
}

auto StageRecorder::split_off(const VarOrRVar& v, std::string_view suffix, const Arg& factor, const TailArg& tail,
                              const std::source_location& at) const -> VarOrRVar {
  const Var inner(fresh_name(str("{}_{}", v.name(), suffix)));
  split(v, v.name(), inner.name(), factor, tail, at);
  return inner;
}

void StageRecorder::reorder(const std::vector<VarOrRVar>& loops, const std::source_location& at) const {
  Reorder step{stage(), {}};
  for (const auto& v : loops) {
    if (v.given()) step.loops.push_back(v.name());
  }
  record(std::move(step), at);
}

auto loop_target(const Func& f, const VarOrRVar& v) -> LoopTarget {
  // Which stage has the loop is known when all steps are: Pipeline::schedule settles it.
  return {{{f.name(), -1, -1}, v.name()}, f.definition()->id};
}
auto loop_target(const FuncStage& s, const VarOrRVar& v) -> LoopTarget {
  return {{s.recorder().stage(), v.name()}, s.definition()->id};
}

}  // namespace drawloom
