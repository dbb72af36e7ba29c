// Closing: what is reachable, in order; frozen; named; then what it needs from outside.
//
// Names are hints until a pipeline is closed, and then final. Example: the user's Func "sum" and an automatic one from
// sum(..), also "sum": the user's keeps its name, the other becomes sum_1, although producers come first in the order.
// A Func that an earlier pipeline has closed keeps the name that it got there, since schedules in text refer to it.
#include "drawloom/lang/close.h"

#include <algorithm>
#include <unordered_set>

#include "drawloom/lang/buffer.h"
#include "drawloom/lang/define.h"
#include "drawloom/lang/var.h"
#include "drawloom/lang/walk.h"

namespace drawloom {
namespace {

auto expressions_of(const FunctionDef& f) -> ExprList {
  ExprList out = f.pure.values;
  for (const auto& update : f.updates) {
    if (update.rdom) {
      for (const auto& dim : update.rdom->dims) out.push_back(dim.min), out.push_back(dim.extent);
    }
    out.insert(out.end(), update.lhs.begin(), update.lhs.end());
    out.insert(out.end(), update.values.begin(), update.values.end());
  }
  return out;
}

/// Producers before consumers, without recursion: chains of Funcs are long.
class Order {
 public:
  void add(const FunctionRef& root) {
    struct Visit {
      FunctionRef func;
      std::vector<FunctionRef> callees;
      size_t next = 0;
    };
    if (!seen_.insert(root.get()).second) return;
    std::vector<Visit> stack;
    stack.push_back({root, callees(*root)});
    while (!stack.empty()) {
      auto& top = stack.back();
      if (top.next == top.callees.size()) {
        list.push_back(top.func);
        stack.pop_back();
        continue;
      }
      const FunctionRef callee = top.callees[top.next++];
      if (seen_.insert(callee.get()).second) stack.push_back({callee, callees(*callee)});
    }
  }
  std::vector<FunctionRef> list;

 private:
  static auto callees(const FunctionDef& f) -> std::vector<FunctionRef> {
    std::vector<FunctionRef> out;
    for_each_node(expressions_of(f), [&](const Expr& e) {
      const auto* a = e.as<Access>();
      if (a && a->func != &f) out.emplace_back(&function_of(*a));
    });
    return out;
  }
  std::unordered_set<const FunctionDef*> seen_;
};

/// Names in use, and the next free one for a wish.
class Names {
 public:
  auto take(const std::string& name) -> bool { return used_.insert(name).second; }
  auto take_free(const std::string& wish) -> std::string {
    std::string name = wish;
    for (int n = 1; is_language_word(name) || !take(name); ++n) name = str("{}_{}", wish, n);
    return name;
  }

 private:
  std::unordered_set<std::string> used_;
};

/// Names of Funcs. The definitions are frozen and shared, but a name is a label that no expression depends on.
auto settle_names(const std::vector<FunctionRef>& funcs, Names& names, const Loc& loc) -> Status {
  for (const auto& f : funcs) {
    if (f->name_settled && !names.take(f->name)) {
      return Diag(DiagKind::name_clash, loc, "Funcs of one pipeline", f->name)
          .with_note(f->loc, "this one has its name from an earlier pipeline");
    }
  }
  for (const bool automatic : {false, true}) {
    for (const auto& f : funcs) {
      if (f->name_settled || f->auto_named != automatic) continue;
      auto& open = const_cast<FunctionDef&>(*f);
      open.name = names.take_free(f->name);
      open.name_settled = true;
    }
  }
  return Done{};
}

void rename(const BufferDecl& buffer, const std::string& name) {
  auto& open = const_cast<BufferDecl&>(buffer);
  const auto relabel = [&](const std::vector<SymbolRef>& list) {
    for (const auto& s : list) {
      auto& label = const_cast<Symbol&>(*s).name;
      label = name + label.substr(buffer.name.size());
    }
  };
  relabel(buffer.min), relabel(buffer.extent), relabel(buffer.stride);
  open.name = name;
}

struct Arguments {
  std::vector<BufferRef> inputs;
  std::vector<SymbolRef> params;
  std::vector<SymbolRef> fields;  ///< of buffers
};

auto arguments_of(const std::vector<FunctionRef>& funcs) -> Arguments {
  Arguments out;
  std::unordered_set<const void*> seen;
  for (const auto& f : funcs) {
    for_each_node(expressions_of(*f), [&](const Expr& e) {
      if (const auto* l = e.as<Load>()) {
        if (seen.insert(l->buffer.get()).second) out.inputs.push_back(l->buffer);
      }
      const auto* v = e.as<VarRef>();
      if (!v || !is_runtime_symbol(*v->symbol) || !seen.insert(v->symbol.get()).second) return;
      (v->symbol->kind == SymbolKind::Param ? out.params : out.fields).push_back(v->symbol);
    });
  }
  return out;
}

auto has_field(const BufferDecl& buffer, const SymbolRef& symbol) -> bool {
  const auto in = [&](const std::vector<SymbolRef>& list) {
    return std::find(list.begin(), list.end(), symbol) != list.end();
  };
  return in(buffer.min) || in(buffer.extent) || in(buffer.stride);
}

/// Binds loops to stages: names as the steps of a Func bind them.
class StageFinder {
 public:
  explicit StageFinder(const FunctionDef& f) : f_(f) {}
  /// The stage that has `loop`; the pure one when none is known to.
  auto find(const std::string& loop) const -> int {
    for (int stage = 0; stage < f_.stages(); ++stage) {
      if (has(stage, loop)) return stage - 1;
    }
    return -1;
  }

 private:
  auto has(int stage, const std::string& loop) const -> bool {
    const auto& def = f_.stage(stage);
    for (const auto& e : stage == 0 ? ExprList() : def.lhs) {
      const auto* v = e.as<VarRef>();
      if (v && v->symbol->kind == SymbolKind::Var && v->symbol->name == loop) return true;
    }
    for (const auto& arg : f_.args) {
      if (stage == 0 && arg->name == loop) return true;
    }
    if (def.rdom) {
      for (const auto& dim : def.rdom->dims) {
        if (dim.symbol->name == loop) return true;
      }
    }
    return std::any_of(f_.recorded.begin(), f_.recorded.end(),
                       [&](const RecordedStep& r) { return binds(r.step, stage - 1, loop); });
  }
  static auto binds(const Step& step, int update, const std::string& loop) -> bool {
    if (const auto* s = std::get_if<Split>(&step)) {
      return s->loop.stage.update == update && (s->outer == loop || s->inner == loop);
    }
    if (const auto* s = std::get_if<Fuse>(&step)) return s->inner.stage.update == update && s->fused == loop;
    if (const auto* s = std::get_if<Rename>(&step)) return s->loop.stage.update == update && s->name == loop;
    return false;
  }
  const FunctionDef& f_;
};

/// Puts the Func's present name where the step was recorded with an earlier one.
struct Renamer {
  const std::string& own;
  void operator()(std::string_view, auto&) const {}
  void operator()(std::string_view field, std::string& value) const {
    if (field == "func") value = own;
  }
  void operator()(std::string_view, StageName& value) const { value.func = own; }
  void operator()(std::string_view, LoopName& value) const { value.stage.func = own; }
};

auto target_loop(Step& step) -> LoopName* {
  if (auto* s = std::get_if<ComputeAt>(&step)) return &s->loop;
  if (auto* s = std::get_if<StoreAt>(&step)) return &s->loop;
  return nullptr;
}

/// Steps are recorded while names are still hints, and `compute_at(f, y)` before f has all its stages.
auto final_step(const PipelineDef& pipeline, const FunctionDef& f, const RecordedStep& recorded) -> Result<Step> {
  Step step = recorded.step;
  std::visit([&](auto& s) { s.each_field(Renamer{f.name}); }, step);
  LoopName* loop = target_loop(step);
  if (!loop) return step;
  for (const auto& g : pipeline.funcs) {
    if (g->id != recorded.target) continue;
    loop->stage.func = g->name;
    if (loop->stage.update < 0) loop->stage.update = StageFinder(*g).find(loop->loop);
    return step;
  }
  const auto written = *target_loop(const_cast<Step&>(recorded.step));
  return Diag(DiagKind::schedule_target, recorded.loc, f.name, written.stage.func);
}

}  // namespace

auto close_pipeline(const std::vector<FunctionRef>& outputs, const std::string& name, Effect allowed, const Loc& loc)
    -> Result<PipelineRef> {
  if (outputs.empty()) return Diag(DiagKind::pipeline_empty, loc);
  Order order;
  for (const auto& f : outputs) {
    if (!f->defined())
      return Diag(DiagKind::func_undefined, loc, f->name).with_help("define it before making a pipeline of it");
    order.add(f);
  }
  for (const auto& f : order.list) freeze(*f, loc);

  auto out = make_ref<PipelineDef>();
  const auto args = arguments_of(order.list);
  Names names;
  for (const auto& p : args.params) {
    if (!names.take(p->name)) {
      return Diag(DiagKind::name_clash, p->loc, "arguments of one pipeline", p->name)
          .with_help("name the Params apart");
    }
  }
  for (const auto& b : args.inputs) rename(*b, names.take_free(b->name));
  DRAWLOOM_REQUIRE(settle_names(order.list, names, loc));
  for (const auto& s : args.fields) {
    const bool bound =
        std::any_of(args.inputs.begin(), args.inputs.end(), [&](const BufferRef& b) { return has_field(*b, s); });
    if (!bound) return Diag(DiagKind::symbol_unbound, s->loc, s->name);
  }

  out->name = name.empty() ? outputs[0]->name : name;
  out->funcs = std::move(order.list);
  out->outputs = outputs;
  out->inputs = args.inputs;
  out->params = args.params;
  out->allowed = allowed;
  for (const auto& f : outputs) {
    for (int i = 0; i < f->components(); ++i) {
      const auto label = f->components() == 1 ? f->name : str("{}.{}", f->name, i);
      out->output_buffers.push_back(
          make_buffer(label, f->types[static_cast<size_t>(i)], f->rank(), MemoryKind::Argument, f->loc));
    }
  }
  return PipelineRef(out);
}

auto recorded_schedule(const PipelineDef& pipeline) -> Result<Schedule> {
  std::vector<ScheduleLine> lines;
  std::vector<std::string> from_outputs;
  for (auto f = pipeline.funcs.rbegin(); f != pipeline.funcs.rend(); ++f) {
    from_outputs.push_back((*f)->name);
    for (const auto& recorded : (*f)->recorded) {
      DRAWLOOM_TRY(auto step, final_step(pipeline, **f, recorded));
      lines.push_back({std::move(step), recorded.loc});
    }
  }
  return Schedule{pipeline.name, "", order_recorded(std::move(lines), from_outputs)};
}

}  // namespace drawloom
