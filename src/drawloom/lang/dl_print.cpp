// Pipelines as text; the inverse of dl_parse.cpp, and what two cases are compared by.
//
// All expressions of a definition are printed in one go, those of an update with its domain and its left side: a node
// that stands in several of them gets one `#1 = ..` line for all.
#include <unordered_map>

#include "drawloom/ir/build.h"
#include "drawloom/ir/node_ops.h"
#include "drawloom/ir/print_expr.h"
#include "drawloom/lang/dl_text.h"

namespace drawloom {
namespace {

class Printer {
 public:
  explicit Printer(const PipelineDef& pipeline) : pipeline_(pipeline) {
    for (const auto& b : pipeline.inputs) {
      add_fields("min", *b, b->min), add_fields("extent", *b, b->extent), add_fields("stride", *b, b->stride);
    }
    hooks_.context = this;
    hooks_.symbol = [](void* self, const Symbol& s) { return static_cast<Printer*>(self)->symbol(s); };
    hooks_.buffer = [](void*, const BufferDecl& b) { return b.name; };
    hooks_.func = [](void*, const FuncDecl& f) { return f.name; };
    hooks_.loads_as_calls = true;
  }

  auto pipeline() -> std::string {
    line(str("drawloom-pipeline {} {}", kPipelineVersion, pipeline_.name));
    if (pipeline_.allowed != Effect::exact) line(str("allow {}", effect_word(pipeline_.allowed)));
    for (const auto& b : pipeline_.inputs) line(str("input {}: buffer<{}, {}>", b->name, b->element, b->rank));
    for (const auto& p : pipeline_.params) line(param(*p));
    for (const auto& f : pipeline_.funcs) func(*f);
    std::vector<std::string> outputs;
    for (const auto& f : pipeline_.outputs) outputs.push_back(f->name);
    line("");
    line(str("output {}", join(outputs, ", ")));
    return std::move(out_);
  }

  auto constant(const Expr& e) -> std::string { return print_exprs({e}, hooks_).texts[0]; }

  static auto effect_word(Effect e) -> std::string_view {
    switch (e) {
      case Effect::exact: return "exact";
      case Effect::reassociates: return "reassociates";
      case Effect::approximates: return "approximates";
    }
    return "?";
  }

 private:
  void line(std::string_view text) { out_ += str("{}\n", text); }

  void add_fields(std::string_view word, const BufferDecl& b, const std::vector<SymbolRef>& list) {
    for (size_t d = 0; d < list.size(); ++d) fields_[list[d].get()] = str("{}({}, {})", word, b.name, d);
  }
  auto symbol(const Symbol& s) const -> std::string {
    const auto field = fields_.find(&s);
    return field == fields_.end() ? s.name : field->second;
  }

  static auto param(const Symbol& s) -> std::string {
    std::string out = str("param {}: {}", s.name, s.type);
    if (!s.min && !s.max) return out;
    return out + str(" in [{}, {}]", s.min ? to_text(*s.min) : "-inf", s.max ? to_text(*s.max) : "inf");
  }

  void func(const FunctionDef& f) {
    std::vector<std::string> args, types;
    for (const auto& a : f.args) args.push_back(a->name);
    for (const auto& t : f.types) types.push_back(t.text());
    const auto type = types.size() == 1 ? types[0] : str("({})", join(types, ", "));
    const auto head = str("func {}({}): {}", f.name, join(args, ", "), type);
    const auto values = print_exprs(f.pure.values, hooks_);
    line("");
    if (values.shared.empty()) {
      line(str("{} = {}", head, join(values.texts, ", ")));
    } else {
      line(head);
      for (const auto& s : values.shared) line(str("  {}", s));
      line(str("  = {}", join(values.texts, ", ")));
    }
    for (const auto& u : f.updates) update(f, u);
  }

  void update(const FunctionDef& f, const Definition& def) {
    ExprList all;
    const size_t dims = def.rdom ? def.rdom->dims.size() : 0;
    for (size_t d = 0; d < dims; ++d) all.push_back(def.rdom->dims[d].min), all.push_back(def.rdom->dims[d].extent);
    all.insert(all.end(), def.lhs.begin(), def.lhs.end());
    all.insert(all.end(), def.values.begin(), def.values.end());
    const auto printed = print_exprs(all, hooks_);
    auto text = printed.texts.begin();
    const auto take = [&](size_t n) {
      std::vector<std::string> out(text, text + static_cast<ptrdiff_t>(n));
      text += static_cast<ptrdiff_t>(n);
      return out;
    };
    std::vector<std::string> ranges;
    for (size_t d = 0; d < dims; ++d) {
      const auto bounds = take(2);
      ranges.push_back(str("{} = {} : {}", def.rdom->dims[d].symbol->name, bounds[0], bounds[1]));
    }
    const auto over = ranges.empty() ? std::string() : str("over {}", join(ranges, ", "));
    if (printed.shared.empty()) {
      line(str("update {}{}{}", f.name, over.empty() ? "" : " ", over));
    } else {
      line(str("update {}", f.name));
      for (const auto& s : printed.shared) line(str("  {}", s));
      if (!over.empty()) line(str("  {}", over));
    }
    const auto lhs = join(take(def.lhs.size()), ", ");
    line(str("  {}({}) = {}", f.name, lhs, join(take(def.values.size()), ", ")));
  }

  const PipelineDef& pipeline_;
  NameHooks hooks_;
  std::unordered_map<const Symbol*, std::string> fields_;
  std::string out_;
};

auto same_list(const ExprList& a, const ExprList& b) -> bool {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!equal_by_name(a[i], b[i])) return false;
  }
  return true;
}

auto same_stage(const Definition& a, const Definition& b) -> bool {
  if (static_cast<bool>(a.rdom) != static_cast<bool>(b.rdom)) return false;
  const size_t dims = a.rdom ? a.rdom->dims.size() : 0;
  if (dims != (b.rdom ? b.rdom->dims.size() : 0)) return false;
  for (size_t d = 0; d < dims; ++d) {
    const auto &x = a.rdom->dims[d], &y = b.rdom->dims[d];
    if (x.symbol->name != y.symbol->name || !equal_by_name(x.min, y.min) || !equal_by_name(x.extent, y.extent))
      return false;
  }
  return same_list(a.lhs, b.lhs) && same_list(a.values, b.values) && same_list(a.contracted, b.contracted);
}

auto same_func(const FunctionDef& a, const FunctionDef& b) -> bool {
  if (a.name != b.name || a.types != b.types || a.rank() != b.rank() || a.stages() != b.stages()) return false;
  for (size_t d = 0; d < a.args.size(); ++d) {
    if (a.args[d]->name != b.args[d]->name) return false;
  }
  for (int i = 1; i < a.stages(); ++i) {
    if (!same_stage(a.stage(i), b.stage(i))) return false;
  }
  return same_list(a.pure.values, b.pure.values) && same_list(a.pure.contracted, b.pure.contracted);
}

template <typename T>
auto same_names(const std::vector<Ref<T>>& a, const std::vector<Ref<T>>& b) -> bool {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i]->name != b[i]->name) return false;
  }
  return true;
}

}  // namespace

auto print(const PipelineDef& pipeline) -> std::string { return Printer(pipeline).pipeline(); }

auto print(const DlCase& c) -> std::string {
  std::string out = print(*c.pipeline);
  if (!c.schedule.steps.empty() || !c.schedule.target.empty()) {
    out += str("\nschedule {}{}{{\n", c.schedule.target.empty() ? "" : "target ",
               c.schedule.target + (c.schedule.target.empty() ? "" : " "));
    for (const auto& step : c.schedule.steps) out += str("  {}\n", print(step.step));
    out += "}\n";
  }
  const bool runs = !c.sizes.empty() || !c.settings.empty() || !c.strides.empty() || c.seed != 0;
  if (runs) out += "\n";
  for (const auto& size : c.sizes) {
    std::vector<std::string> dims;
    for (const auto& d : size.dims) dims.push_back(str("{} : {}", d.min, d.extent));
    out += str("size {}{}{}\n", size.name, dims.empty() ? "" : " = ", join(dims, ", "));
  }
  Printer printer(*c.pipeline);
  for (const auto& s : c.settings) out += str("set {} = {}\n", s.param, printer.constant(s.value));
  for (const auto& s : c.strides) out += str("strides {} {}\n", s.name, s.word);
  if (c.seed != 0) out += str("seed {}\n", c.seed);
  return out;
}

auto equal_by_name(const PipelineDef& a, const PipelineDef& b) -> bool {
  if (a.name != b.name || a.allowed != b.allowed || a.funcs.size() != b.funcs.size()) return false;
  if (!same_names(a.outputs, b.outputs) || !same_names(a.inputs, b.inputs) || !same_names(a.params, b.params))
    return false;
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    if (a.inputs[i]->element != b.inputs[i]->element || a.inputs[i]->rank != b.inputs[i]->rank) return false;
  }
  for (size_t i = 0; i < a.params.size(); ++i) {
    const auto &x = *a.params[i], &y = *b.params[i];
    if (x.type != y.type || x.min != y.min || x.max != y.max) return false;
  }
  std::unordered_map<std::string, const FunctionDef*> others;
  for (const auto& f : b.funcs) others[f->name] = f.get();
  for (const auto& f : a.funcs) {
    const auto other = others.find(f->name);
    if (other == others.end() || !same_func(*f, *other->second)) return false;
  }
  return true;
}

auto equal_by_name(const DlCase& a, const DlCase& b) -> bool {
  if (!equal_by_name(*a.pipeline, *b.pipeline) || a.sizes != b.sizes || a.strides != b.strides || a.seed != b.seed)
    return false;
  if (a.schedule.steps != b.schedule.steps || a.schedule.target != b.schedule.target) return false;
  if (a.settings.size() != b.settings.size()) return false;
  for (size_t i = 0; i < a.settings.size(); ++i) {
    if (a.settings[i].param != b.settings[i].param || !equal(a.settings[i].value, b.settings[i].value)) return false;
  }
  return true;
}

}  // namespace drawloom
