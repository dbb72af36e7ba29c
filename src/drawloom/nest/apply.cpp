#include "drawloom/nest/apply.h"

#include <algorithm>

#include "drawloom/ir/node_ops.h"
#include "drawloom/ir/rewrite.h"

// What all steps share: they find by name what they change, and say how it could have been named.
//
//   split out.x -> xo, xi by 8, then unroll out.x:
//     refused: out has no loop `x`
//     note: `x` was consumed here and became `xo` and `xi`      (the line of the split)
//     help: its loops, innermost first, are: xi, xo, y
//
// A name is looked up in the nest as it is after the steps before. What is close to a name that exists is taken for a
// slip of the pen; else all names are listed.

namespace drawloom {
namespace {

auto placed_names(const Nest& nest) -> std::vector<std::string> {
  std::vector<std::string> names;
  for (const auto& f : nest.graph->funcs) names.push_back(f->name());
  return names;
}

auto with_suggestion(Diag diag, std::string_view word, const std::vector<std::string>& legal, std::string_view what)
    -> Diag {
  const auto near = nearest(word, legal);
  if (!near.empty()) return diag.with_help(str("did you mean `{}`?", near));
  if (legal.empty()) return diag;
  return diag.with_help(str("{}: {}", what, join(legal, ", ")));
}

auto stages_text(const GraphFunc& f) -> std::string {
  std::vector<std::string> names;
  for (int s = 0; s < f.def->stages(); ++s) names.push_back(StageName{f.name(), s - 1, -1}.text());
  return join(names, ", ");
}

auto loop_names(const StageLeaf& leaf) -> std::vector<std::string> {
  std::vector<std::string> names;
  for (auto it = leaf.loops.rbegin(); it != leaf.loops.rend(); ++it) names.push_back(it->name);
  return names;
}

auto contains_self(const Expr& e, const FunctionDef& f) -> bool {
  bool found = false;
  each_node(*e.get(), [&](const Node& n) {
    if (n.kind == Kind::Access && static_cast<const Access&>(n).func == &f) found = true;
    return !found;
  });
  return found;
}

/// Sums and products of integers wrap, so any order gives the same bits; those of floats round after each step. Of min
/// and max only what the language leaves open depends on the order: NaN, and zeros of both signs.
auto order_free(BinaryOp op, Type type) -> bool {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Mul:
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor: return type.is_data_int();
    case BinaryOp::Min:
    case BinaryOp::Max: return true;
    case BinaryOp::And:
    case BinaryOp::Or: return true;
    case BinaryOp::Sub:
    case BinaryOp::Div:
    case BinaryOp::Mod:
    case BinaryOp::Shl:
    case BinaryOp::Shr:
    case BinaryOp::EQ:
    case BinaryOp::NE:
    case BinaryOp::LT:
    case BinaryOp::LE:
    case BinaryOp::GT:
    case BinaryOp::GE: return false;
  }
  return false;
}

}  // namespace

auto find_func(const Nest& nest, std::string_view name, const Loc& loc) -> Result<int> {
  const int f = nest.graph->find(name);
  if (f >= 0) return f;
  return with_suggestion(Diag(DiagKind::schedule_unknown_func, loc, name), name, placed_names(nest), "its Funcs are");
}

auto find_stages(const Nest& nest, const StageName& name, const Loc& loc)
    -> Result<std::vector<std::pair<RealisationId, int>>> {
  DRAWLOOM_TRY(const int f, find_func(nest, name.func, loc));
  const auto& func = nest.graph->func(f);
  const int stage = name.update + 1;
  if (stage >= func.def->stages())
    return Diag(DiagKind::schedule_unknown_stage, loc, func.name(), name.text())
        .with_note(func.def->loc, str("{} is defined here", func.name()))
        .with_help(str("its stages are: {}", stages_text(func)));
  std::vector<std::pair<RealisationId, int>> out;
  for (const auto& id : realisations(nest))
    if (id.func == f && (name.realisation < 0 || name.realisation == id.copy)) out.emplace_back(id, stage);
  if (!out.empty()) return out;
  if (name.realisation >= 0 && func.placement == PlacementState::Placed)
    return Diag(DiagKind::schedule_unknown_stage, loc, func.name(), name.text())
        .with_help(str("{} is computed in one place: leave `[{}]` out", func.name(), name.realisation));
  return Diag(DiagKind::schedule_not_placed, loc, func.name())
      .with_help(str("give it loops first: compute_root {} or compute_at {} <loop>", func.name(), func.name()));
}

auto leaf_at(const Nest& nest, RealisationId what, int stage) -> const Located& {
  const auto& leaves = place_of(nest, what).leaves;
  const auto found = std::find_if(leaves.begin(), leaves.end(),
                                  [&](const Located& l) { return l.node->as<StageLeaf>()->stage == stage; });
  DRAWLOOM_CHECK(found != leaves.end(), "no stage {} of {}", stage, nest.func(what).name());
  return *found;
}

auto stage_text(const Nest& nest, RealisationId what, int stage) -> std::string {
  return StageName{nest.func(what).name(), stage - 1, what.copy > 0 ? what.copy : -1}.text();
}

auto site_text(const Nest& nest, const Site& site) -> std::string {
  if (!site) return "root";
  for (const auto& l : stage_leaves(nest.tree)) {
    const auto& leaf = *l.node->as<StageLeaf>();
    for (const auto& n : leaf.loops)
      if (n.id == site) return str("{}.{}", stage_text(nest, leaf.what, leaf.stage), n.name);
  }
  return site->name;
}

auto find_named_loop(const Nest& nest, const StageLeaf& leaf, std::string_view loop, const Loc& loc)
    -> Result<SymbolRef> {
  for (const auto& n : leaf.loops)
    if (n.name == loop) return n.id;
  const Diag diag(DiagKind::schedule_unknown_loop, loc, stage_text(nest, leaf.what, leaf.stage), loop);
  const auto gone =
      std::find_if(leaf.consumed.rbegin(), leaf.consumed.rend(), [&](const ConsumedLoop& c) { return c.name == loop; });
  if (gone != leaf.consumed.rend())
    return diag.with_note(gone->loc, str("`{}` was consumed here and became {}", loop, gone->became))
        .with_help(str("its loops, innermost first, are: {}", join(loop_names(leaf), ", ")));
  return with_suggestion(diag, loop, loop_names(leaf), "its loops, innermost first, are");
}

auto check_free_name(const Nest& nest, const StageLeaf& leaf, std::string_view name, std::string_view consumed,
                     const Loc& loc) -> Status {
  for (const auto& n : leaf.loops)
    if (n.name == name && name != consumed)
      return Diag(DiagKind::schedule_name_taken, loc, stage_text(nest, leaf.what, leaf.stage), name)
          .with_help(str("its loops, innermost first, are: {}", join(loop_names(leaf), ", ")));
  return Done{};
}

auto find_dim(const Nest& nest, int func, std::string_view dim, const Loc& loc) -> Result<int> {
  const auto& f = nest.graph->func(func);
  std::vector<std::string> names;
  for (size_t d = 0; d < f.def->args.size(); ++d) {
    if (f.def->args[d]->name == dim) return static_cast<int>(d);
    names.push_back(f.def->args[d]->name);
  }
  return with_suggestion(Diag(DiagKind::schedule_unknown_dim, loc, f.name(), dim), dim, names, "its dimensions are");
}

auto amount_form(const Nest& nest, const Amount& amount, const Loc& loc) -> Result<Form> {
  if (amount.symbol.empty()) return Form(amount.value);
  std::vector<std::string> names;
  for (const auto& p : nest.graph->pipeline->params) {
    if (p->type.is_float()) continue;
    if (p->name == amount.symbol) return Form(p);
    names.push_back(p->name);
  }
  return with_suggestion(Diag(DiagKind::schedule_unknown_param, loc, amount.symbol), amount.symbol, names,
                         "its integer parameters are");
}

auto with_leaf(const Nest& nest, RealisationId what, int stage, const StageLeaf& leaf) -> Nest {
  Nest out = nest;
  out.tree = replace_at(nest.tree, path_of(nest.tree, leaf_at(nest, what, stage)), tree_node(leaf));
  return out;
}

auto reduction_loops(const Nest& nest, const StageLeaf& leaf) -> std::vector<SymbolRef> {
  const auto& f = *nest.func(leaf.what).def;
  const bool recurrence = leaf.stage == 0 && f.ordered_dim >= 0;
  const auto is_ordered = [&](const StageDim& d) {
    return d.var->kind == SymbolKind::RVar || (recurrence && d.var == f.args[static_cast<size_t>(f.ordered_dim)]);
  };
  std::vector<SymbolRef> out;
  for (const auto& l : leaf.loops)
    if (std::any_of(leaf.dims.begin(), leaf.dims.end(),
                    [&](const StageDim& d) { return is_ordered(d) && uses_symbol(d.rel, l.id.get()); }))
      out.push_back(l.id);
  return out;
}

auto pure_loops_text(const Nest& nest, const StageLeaf& leaf) -> std::string {
  const auto ordered = reduction_loops(nest, leaf);
  std::vector<std::string> names;
  for (auto it = leaf.loops.rbegin(); it != leaf.loops.rend(); ++it)
    if (std::find(ordered.begin(), ordered.end(), it->id) == ordered.end()) names.push_back(str("`{}`", it->name));
  return join(names, ", ");
}

auto divides(const Form& extent, const Form& factor) -> bool {
  const auto e = extent.as_constant(), f = factor.as_constant();
  if (e && f) return *e % *f == 0;
  // by structure: 8*n is a multiple of 8 whatever n is
  return f && floor_mod(extent, factor) == Form(0);
}

auto leaf_reads(const Graph& graph, const StageLeaf& leaf, int func) -> bool {
  const auto reads = [&](auto&& self, int f, int stage) -> bool {
    for (const int producer : graph.func(f).producers[static_cast<size_t>(stage)]) {
      if (producer == func) return true;
      const auto& p = graph.func(producer);
      // Open with updates: it will be computed inside this very leaf's loops (close_nest), so what it reads is read
      // here.
      if (p.placement != PlacementState::Open || p.can_inline()) continue;
      for (int s = 0; s < p.def->stages(); ++s)
        if (self(self, producer, s)) return true;
    }
    return false;
  };
  return reads(reads, leaf.what.func, leaf.stage);
}

/// f(lhs) = f(lhs) op e, with no other read of f: what e reads then stays the same whatever has run before.
auto is_exact_reduction(const FunctionDef& f, int stage) -> bool {
  const auto& def = f.stage(stage);
  if (def.values.size() != 1) return false;
  const auto* op = def.values[0].as<Binary>();
  if (!op || !order_free(op->op, op->type)) return false;
  const auto is_self = [&](const Expr& e) {
    const auto* a = e.as<Access>();
    if (!a || a->func != &f || a->args.size() != def.lhs.size()) return false;
    for (size_t d = 0; d < def.lhs.size(); ++d)
      if (!equal(a->args[d], def.lhs[d])) return false;
    return true;
  };
  for (const auto& s : def.lhs)
    if (contains_self(s, f)) return false;
  return (is_self(op->a) && !contains_self(op->b, f)) || (is_self(op->b) && !contains_self(op->a, f));
}

}  // namespace drawloom
