#include <algorithm>
#include <map>

#include "drawloom/ir/build.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/lang/contraction.h"
#include "drawloom/lang/recurrence.h"
#include "random_pipeline.h"

namespace drawloom::fuzz {
namespace {

using Made = std::map<std::string, Ref<FunctionDef>>;

/// Sends accesses to the Funcs of the new pipeline.
class Relink : public Rewriter<Relink> {
 public:
  Relink(const Made& made, const FunctionDef& self) : made_(made), self_(self) {}
  auto on(const Access& a, const Expr& e) -> Expr {
    const ExprList args = rewrite(a.args);
    if (a.func->name == self_.name) return access(a.type, &self_, {}, a.component, args, e.loc());
    const auto& f = made_.at(a.func->name);
    return access(a.type, f.get(), f, a.component, args, e.loc());
  }

 private:
  const Made& made_;
  const FunctionDef& self_;
};

auto names_read(const Definition& d) -> std::vector<std::string> {
  std::vector<std::string> out;
  for (const auto* list : {&d.lhs, &d.values})
    for (const auto& e : *list)
      each_node(*e.get(), [&](const Node& n) {
        if (n.kind == Kind::Access) out.push_back(static_cast<const Access&>(n).func->name);
        return true;
      });
  return out;
}

void mark_needed(const std::vector<DraftFunc>& drafts, size_t i, std::vector<bool>& needed) {
  if (needed[i]) return;
  needed[i] = true;
  for (const auto& stage : drafts[i].stages)
    for (const auto& name : names_read(stage))
      for (size_t k = 0; k < drafts.size(); ++k)
        if (drafts[k].name == name) mark_needed(drafts, k, needed);
}

/// Buffers and parameters in order of first use.
void collect_arguments(PipelineDef& p, const Definition& d) {
  const auto param = [&](const SymbolRef& s) {
    if (s->kind == SymbolKind::Param && std::find(p.params.begin(), p.params.end(), s) == p.params.end())
      p.params.push_back(s);
  };
  const auto look = [&](const Expr& e) {
    each_node(*e.get(), [&](const Node& n) {
      if (n.kind == Kind::VarRef) param(static_cast<const VarRef&>(n).symbol);
      if (n.kind == Kind::Load) {
        const auto& b = static_cast<const Load&>(n).buffer;
        if (std::find(p.inputs.begin(), p.inputs.end(), b) == p.inputs.end()) p.inputs.push_back(b);
      }
      return true;
    });
  };
  for (const auto& e : d.lhs) look(e);
  for (const auto& e : d.values) look(e);
  if (!d.rdom) return;
  for (const auto& dim : d.rdom->dims) look(dim.min), look(dim.extent);
}

/// Bounds of reduction domains may not stand for a buffer that nobody reads.
auto with_known_bounds(const PipelineDef& p, const ReductionDomainRef& rdom) -> ReductionDomainRef {
  if (!rdom) return rdom;
  auto out = make_ref<ReductionDomain>(*rdom);
  for (auto& dim : out->dims) {
    const auto* field = dim.extent.as<VarRef>();
    if (!field || field->symbol->kind != SymbolKind::BufferExtent) continue;
    const bool read = std::any_of(p.inputs.begin(), p.inputs.end(), [&](const BufferRef& b) {
      return std::find(b->extent.begin(), b->extent.end(), field->symbol) != b->extent.end();
    });
    if (!read) dim.extent = index_imm(2);
  }
  return out;
}

auto reads_itself(const FunctionDef& f, const Definition& def) -> bool {
  const auto names = names_read(def);
  return std::find(names.begin(), names.end(), f.name) != names.end();
}

/// False where f reads itself in no order.
auto add_pure(FunctionDef& f, const Definition& def) -> bool {
  f.pure = def;
  if (!reads_itself(f, def)) return true;
  const auto order = order_of_pure(f, def);
  if (!order.ok()) return false;
  f.ordered_dim = order->dim, f.ordered_first = order->first;
  return true;
}

void add_update(FunctionDef& f, const Definition& def) {
  if (def.rdom && f.ordered_dim < 0) {
    const Order order = order_of_update(f, def);
    if (order.dim >= 0) f.ordered_dim = order.dim, f.ordered_first = order.first;
  }
  f.updates.push_back(def);
}

void add_output_buffers(PipelineDef& p, const FunctionDef& f) {
  for (int c = 0; c < f.components(); ++c) {
    const auto name = f.components() == 1 ? f.name : str("{}.{}", f.name, c);
    p.output_buffers.push_back(make_buffer(name, f.types[static_cast<size_t>(c)], f.rank(), MemoryKind::Argument));
  }
}

}  // namespace

auto close_pipeline(const std::vector<DraftFunc>& drafts) -> PipelineRef {
  std::vector<bool> needed(drafts.size(), false);
  for (size_t i = 0; i < drafts.size(); ++i)
    if (drafts[i].output) mark_needed(drafts, i, needed);
  auto p = make_ref<PipelineDef>();
  p->name = "fuzzed";
  Made made;
  for (size_t i = 0; i < drafts.size(); ++i) {
    if (!needed[i]) continue;
    const auto& d = drafts[i];
    auto f = make_ref<FunctionDef>(d.name);
    f->args = d.args, f->types = d.types, f->frozen = f->name_settled = true;
    for (size_t s = 0; s < d.stages.size(); ++s) {
      Relink relink(made, *f);
      Definition def = d.stages[s];
      def.lhs = relink.rewrite(def.lhs), def.values = relink.rewrite(def.values);
      def.contracted = contract(def.lhs, def.values);
      collect_arguments(*p, def);
      if (s > 0)
        add_update(*f, def);
      else if (!add_pure(*f, def))
        return {};
    }
    made[d.name] = f;
    p->funcs.push_back(f);
    if (!d.output) continue;
    p->outputs.push_back(f);
    add_output_buffers(*p, *f);
  }
  for (const auto& made_func : made)
    for (auto& u : made_func.second->updates) u.rdom = with_known_bounds(*p, u.rdom);
  return p;
}

auto drafts_of(const PipelineDef& pipeline) -> std::vector<DraftFunc> {
  std::vector<DraftFunc> out;
  for (const auto& f : pipeline.funcs) {
    DraftFunc d{f->name, f->args, f->types, {}, false};
    for (int s = 0; s < f->stages(); ++s) d.stages.push_back(f->stage(s));
    d.output = std::find(pipeline.outputs.begin(), pipeline.outputs.end(), f) != pipeline.outputs.end();
    out.push_back(d);
  }
  return out;
}

auto pipeline_text(const PipelineDef& pipeline) -> std::string {
  std::string out;
  for (const auto& b : pipeline.inputs) out += str("  input {}: {} of {} dimensions\n", b->name, b->element, b->rank);
  for (const auto& s : pipeline.params) out += str("  param {}: {}\n", s->name, s->type);
  for (const auto& f : pipeline.funcs) {
    const bool output = std::find(pipeline.outputs.begin(), pipeline.outputs.end(), f) != pipeline.outputs.end();
    for (int s = 0; s < f->stages(); ++s) {
      const auto& d = f->stage(s);
      std::vector<std::string> lhs, values;
      for (const auto& e : d.lhs) lhs.push_back(print(e));
      for (size_t c = 0; c < d.values.size(); ++c) values.push_back(str("{}: {}", print(d.values[c]), f->types[c]));
      out += str("  {}{}({}) = {}", s == 0 ? (output ? "output " : "") : "  ", f->name, join(lhs, ", "),
                 join(values, ", "));
      if (d.rdom)
        for (const auto& r : d.rdom->dims)
          out += str(" over {} from {} for {}", r.symbol->name, print(r.min), print(r.extent));
      out += "\n";
    }
  }
  return out;
}

}  // namespace drawloom::fuzz
