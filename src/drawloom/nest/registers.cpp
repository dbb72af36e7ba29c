#include <algorithm>

#include "drawloom/ir/rewrite.h"
#include "drawloom/nest/apply.h"
#include "drawloom/nest/storage.h"

// Registers have no addresses: whoever stores b in them promises that each access of b names its slot by a constant
// once unrolled and vectorised loops are written out.
//
//   for xo { store b register; for x < 5: b(x) ..; for xi < 4: out(x) = b(x) + b(x + 1) }     x = 8*xo + xi
//     slot = coordinate - first stored coordinate: x of b; xi and xi + 1 of out
//     so x and xi have to be unrolled or vectorised; xo may be any loop, it cancels
//
// Slots are looked at as emission makes them, for each access as it is written, through inlined Funcs: the boxes that
// regions are made of do not tell b(x) and b(x + 1) from b(x + in(x)). Cost: one walk of the definitions around each
// such storage, which is small and rare.

namespace drawloom {
namespace {

using Coordinates = std::vector<Form>;

/// The coordinates at which one point of a stage touches a Func.
class AccessFinder {
 public:
  AccessFinder(const Graph& graph, int func) : graph_(graph), func_(func) {}
  std::vector<Coordinates> found;

  void visit(const ExprList& list, const FormMap& at) {
    for (const auto& e : list)
      each_node(*e.get(), [&](const Node& n) {
        if (n.kind == Kind::Access) access(static_cast<const Access&>(n), at);
        return true;
      });
  }

  static auto coordinates(const ExprList& subscripts, const FormMap& at) -> Coordinates {
    Coordinates out;
    for (const auto& e : subscripts) out.push_back(substitute(to_form(e), at));
    return out;
  }

 private:
  void access(const Access& a, const FormMap& at) {
    const int i = graph_.find(a.func->name);
    const Coordinates where = coordinates(a.args, at);
    if (i == func_) return found.push_back(where);
    const auto& f = graph_.func(i);
    if (!f.is_inlined() || !f.reads_func(0, func_) || !is_new(i, where)) return;
    visit(f.def->pure.values, [&](const SymbolRef& s) -> std::optional<Form> {
      for (size_t d = 0; d < where.size(); ++d)
        if (f.def->args[d] == s) return where[d];
      return {};
    });
  }

  auto is_new(int func, const Coordinates& where) -> bool {
    const auto entry = std::make_pair(func, where);
    if (std::find(seen_.begin(), seen_.end(), entry) != seen_.end()) return false;
    seen_.push_back(entry);
    return true;
  }

  const Graph& graph_;
  int func_;
  std::vector<std::pair<int, Coordinates>> seen_;
};

class RegisterCheck {
 public:
  RegisterCheck(const Nest& nest, const Located& at, QueryCache& cache, const Loc& loc)
      : nest_(nest), index_(index_of(nest.tree)), at_(at), store_(*at.node->as<StoreNode>()), cache_(cache), loc_(loc),
        facts_(realisation_facts(nest, store_.what, cache)) {}

  auto check() -> Status {
    const auto& list = index_.nodes[static_cast<size_t>(at_.parent)];
    for (const auto& at : stage_leaves(nest_.tree)) {
      const auto& leaf = *at.node->as<StageLeaf>();
      if (list.encloses(at) && (leaf.what == store_.what || leaf_reads(*nest_.graph, leaf, store_.what.func)))
        DRAWLOOM_REQUIRE(check_stage(at, leaf));
    }
    return Done{};
  }

 private:
  auto check_stage(const Located& at, const StageLeaf& leaf) -> Status {
    loops_.clear();
    for (int l = at.loop; l > at_.loop; l = index_.nodes[static_cast<size_t>(l)].loop)
      loops_.push_back(index_.nodes[static_cast<size_t>(l)].node->as<LoopNode>());
    for (const auto* loop : loops_)
      if (loop->how == ForKind::Parallel) return refuse(leaf, str("uses it in tasks of the parallel loop"), loop);

    std::vector<std::pair<SymbolRef, Form>> values;
    for (size_t d = 0; d < leaf.dims.size(); ++d)
      values.emplace_back(leaf.dims[d].var,
                          stage_dim_range(nest_, leaf, d, cache_).lo + resolve(nest_, leaf.dims[d].rel, cache_));
    const FormMap point = [&](const SymbolRef& s) -> std::optional<Form> {
      for (const auto& [var, value] : values)
        if (var == s) return value;
      return {};
    };
    const auto& def = nest_.func(leaf.what).def->stage(leaf.stage);
    AccessFinder accesses(*nest_.graph, store_.what.func);
    if (leaf.what == store_.what) accesses.found.push_back(AccessFinder::coordinates(def.lhs, point));
    accesses.visit(def.lhs, point);
    accesses.visit(def.values, point);
    for (const auto& where : accesses.found)
      for (size_t d = 0; d < where.size(); ++d) DRAWLOOM_REQUIRE(check_slot(leaf, where[d], d));
    return Done{};
  }

  auto check_slot(const StageLeaf& leaf, const Form& coordinate, size_t d) -> Status {
    const int64_t fold = fold_depth(store_, facts_, d);
    const Form slot = fold > 0 ? floor_mod(coordinate, Form(fold)) : coordinate - facts_.stored.dims[d].lo;
    for (const auto& s : symbols_of(slot)) {
      const auto loop = std::find_if(loops_.begin(), loops_.end(), [&](const LoopNode* l) { return l->id == s; });
      if (loop == loops_.end()) return refuse_slot(leaf, coordinate, d);
      if (resolve(nest_, (*loop)->extent, cache_) == Form(1)) continue;  // its number is 0
      if ((*loop)->how == ForKind::Serial) return refuse(leaf, "runs over its elements in the serial loop", *loop);
      if ((*loop)->how == ForKind::Vectorized)
        if (const auto* guest = guest_of(**loop)) return refuse_guest(leaf, **loop, *guest);
      // lanes lie a constant distance apart
      if ((*loop)->how == ForKind::Vectorized && in_atom(slot, s)) return refuse_slot(leaf, coordinate, d);
    }
    return reads_data(slot) ? refuse_slot(leaf, coordinate, d) : Status(Done{});
  }

  static auto in_atom(const Form& f, const SymbolRef& s) -> bool {
    return std::any_of(f.terms().begin(), f.terms().end(),
                       [&](const Term& t) { return t.atom && uses_symbol(form_of({1, {}, t.atom}), s.get()); });
  }

  static auto reads_data(const Form& f) -> bool {
    return std::any_of(f.terms().begin(), f.terms().end(), [](const Term& t) {
      return t.atom && (t.atom->kind == AtomKind::Opaque ||
                        std::any_of(t.atom->operands.begin(), t.atom->operands.end(), reads_data));
    });
  }

  auto refuse(const StageLeaf& leaf, std::string_view what, const LoopNode* loop) const -> Diag {
    const auto name = site_text(nest_, loop->id);
    return diag(str("{} {} `{}`", stage_text(nest_, leaf.what, leaf.stage), what, name))
        .with_note(loop->loc, str("`{}` is made here", name))
        .with_help(loop->how == ForKind::Serial
                       ? str("unroll or vectorize `{}` first, or store {} on the stack", name, func_name())
                       : str("store {} inside `{}`", func_name(), name));
  }

  /// What has no place of its own and is computed for each lane. Where lanes need different amounts of it, the loop
  /// does not become a vector.
  auto guest_of(const LoopNode& loop) const -> const StoreNode* {
    const auto& around = *find_loop(nest_.tree, loop.id);
    for (const auto& at : store_nodes(nest_.tree))
      if (around.encloses(at)) return at.node->as<StoreNode>();
    return nullptr;
  }

  auto refuse_guest(const StageLeaf& leaf, const LoopNode& loop, const StoreNode& guest) const -> Diag {
    const auto name = site_text(nest_, loop.id);
    const auto& inside = nest_.func(guest.what).name();
    return diag(str("{} runs over its elements in the vectorized loop `{}`, inside which {} is computed",
                    stage_text(nest_, leaf.what, leaf.stage), name, inside))
        .with_note(loop.loc, str("`{}` is made here", name))
        .with_help(str("compute {} outside `{}` first, or store {} on the stack", inside, name, func_name()));
  }

  auto refuse_slot(const StageLeaf& leaf, const Form& coordinate, size_t d) const -> Diag {
    return diag(str("{} uses it at {} = {}, which no unrolling makes a constant slot",
                    stage_text(nest_, leaf.what, leaf.stage), nest_.func(store_.what).def->args[d]->name, coordinate))
        .with_help(str("store {} on the stack", func_name()));
  }

  auto diag(const std::string& why) const -> Diag {
    return Diag(DiagKind::store_register, loc_, func_name(), why)
        .with_note(store_.loc, str("{} is stored there since here", func_name()));
  }
  auto func_name() const -> const std::string& { return nest_.func(store_.what).name(); }

  const Nest& nest_;
  const TreeIndex& index_;
  const Located& at_;
  const StoreNode& store_;
  QueryCache& cache_;
  const Loc& loc_;
  const RealisationFacts& facts_;
  std::vector<const LoopNode*> loops_;  ///< between the storage and the stage being looked at
};

}  // namespace

auto check_registers(const Nest& nest, const Located& store, QueryCache& cache, const Loc& loc) -> Status {
  return RegisterCheck(nest, store, cache, loc).check();
}

}  // namespace drawloom
