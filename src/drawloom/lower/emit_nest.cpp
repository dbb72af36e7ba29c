#include "drawloom/lower/emit_nest.h"

#include <algorithm>
#include <utility>

#include "drawloom/lower/emit_scope.h"
#include "drawloom/lower/stack_frame.h"
#include "drawloom/nest/region_box.h"
#include "drawloom/nest/storage.h"
#include "drawloom/support/fault.h"

// The nest already knows everything; this file only writes it down. Names of regions come first, then the checks of the
// call. A list of the tree becomes, in order:
//   storage      allocate around the rest of the list
//   realisation  its bases and extents as lets, then its stages, under `when`
//   loop         a For; clips tied to it shorten it, or stand as an If inside it where it is a vector or unrolled loop
// A clip is tied to the innermost of its loops. The next loop outwards is parted where the clip stops holding for all
// inner iterations: the first part is the steady state and has no test. In the other part unrolled loops stay loops,
// with a shorter trip count instead of tests: it runs seldom, and its copies would be most of the code.
//
//   split out.x -> xo, xi by 4; vectorize out.xi; n elements:
//     let xo.steady = n / 4
//     for xo = 0 : xo.steady                        (min : extent)
//       vectorized for xi = 0 : 4                   out[4*xo + xi]
//     for xo = xo.steady : (n + 3) / 4 - xo.steady  one iteration or none
//       vectorized for xi = 0 : 4
//         if 4*xo + xi < n                          out[4*xo + xi]
//
// Cost: a parted loop holds its body twice, and so does the pipeline where the plain version for other strides stands
// beside the scheduled one.

namespace drawloom {
namespace {

/// Loops belong to nobody in the tree; that a stage names one is all that ties them.
auto own_loop_node(const TreeNode& n, const StageLeaf& leaf) -> bool {
  const auto* loop = n.as<LoopNode>();
  return loop &&
         std::any_of(leaf.loops.begin(), leaf.loops.end(), [&](const NamedLoop& l) { return l.id == loop->id; });
}

class Emitter {
 public:
  Emitter(const Nest& nest, QueryCache& cache) : nest_(nest), cache_(cache), frame_(nest, *nest.tree, cache) {}

  auto emit(EmitScope scope) -> Stmt {
    add_outputs(scope);
    return list(*nest_.tree, 0, {}, scope);
  }

  /// The version without wide loops, in the same function.
  auto emit_plain(EmitScope scope) -> Stmt {
    plain_ = true;
    frame_.counted = false;
    return emit(std::move(scope));
  }

 private:
  /// Storage that is there before any list begins: no StoreNode stands for it.
  void add_outputs(EmitScope& scope) const {
    const auto& p = *nest_.graph->pipeline;
    size_t next = 0;
    for (const auto& o : p.outputs) {
      StorageHere s;
      s.is_argument = true;
      for (int c = 0; c < o->components(); ++c) s.buffers.push_back(p.output_buffers[next++]);
      scope.storage[nest_.graph->find(o->name)] = s;
    }
  }

  // ---- lists

  /// The children of `node` from `from` on. `only_warm`: realisations that run in the warm-up of `site` alone.
  auto list(const TreeNode& node, size_t from, const Site& site, const EmitScope& scope, bool only_warm = false)
      -> Stmt {
    StmtList out;
    for (size_t i = from; i < node.children.size(); ++i) {
      const auto& child = *node.children[i];
      // it takes the rest of the list along: the storage lives to its end
      if (const auto* s = child.as<StoreNode>()) {
        out.push_back(storage(*s, node, i, site, scope, only_warm));
        break;
      }
      const auto* leaf = first_leaf(child);
      if (!starts_realisation(child, *leaf)) {
        if (!only_warm) out.push_back(loop_or_stage(child, *leaf, scope));
        continue;
      }
      const auto& facts = realisation_facts(nest_, leaf->what, cache_);
      const size_t end = realisation_end(node, i, leaf->what);
      if (!only_warm || facts.warm_iterations > 0) out.push_back(realisation(node, i, end, leaf->what, facts, scope));
      i = end - 1;
    }
    return make_block(std::move(out));
  }

  /// The stage that a child of a list is there for: the one whose own loops (or leaf) the child is.
  auto first_leaf(const TreeNode& child) const -> const StageLeaf* {
    if (const auto* leaf = child.as<StageLeaf>()) return leaf;
    for (const auto* leaf : stage_leaves_below(&child))
      if (own_loop_node(child, *leaf)) return leaf;
    DRAWLOOM_CHECK(false, "a node of the tree has no stage");
    return nullptr;
  }

  /// Lets, condition and fence of a realisation go around the outermost loop of each stage, not around those inside.
  auto starts_realisation(const TreeNode& child, const StageLeaf& leaf) const -> bool {
    if (leaf.loops.empty()) return true;
    const auto* loop = child.as<LoopNode>();
    return loop && loop->id == leaf.loops.front().id;
  }

  /// Past the stages of one realisation: they follow each other and share one region, so its bases and condition are
  /// made once.
  auto realisation_end(const TreeNode& node, size_t i, RealisationId what) const -> size_t {
    size_t end = i;
    while (end < node.children.size()) {
      const auto& child = *node.children[end];
      if (child.as<StoreNode>() || first_leaf(child)->what != what) break;
      ++end;
    }
    return end;
  }

  // ---- storage

  auto storage(const StoreNode& s, const TreeNode& node, size_t i, const Site& site, EmitScope scope, bool only_warm)
      -> Stmt {
    const auto& facts = realisation_facts(nest_, s.what, cache_);
    const auto& f = nest_.func(s.what);
    StorageHere here;
    ExprList extents;
    std::optional<int64_t> elements = 1;
    for (size_t d = 0; d < facts.stored.dims.size(); ++d) {
      const auto& stored = facts.stored.dims[d];
      const int64_t fold = fold_depth(s, facts, d);
      here.fold.push_back(fold);
      here.origin.push_back(
          scope.facts.simplify(scope.form(DRAWLOOM_FAULT(origin_of_need) ? facts.need.dims[d].lo : stored.lo)));
      // The cover rather than the exact extent where it is constant: only a constant size can go to the stack.
      const Form extent = fold > 0                     ? Form(fold)
                          : stored.cover.is_constant() ? stored.cover
                                                       : scope.form(stored.extent());
      extents.push_back(to_expr(extent));
      const auto c = extent.as_constant();
      elements = elements && c ? std::optional(stack_product(*elements, std::max<int64_t>(*c, 0))) : std::nullopt;
    }
    int64_t bytes = 0;
    for (const auto& t : f.def->types) bytes += t.bytes();
    const MemoryKind memory = memory_of(s, elements ? std::optional(stack_product(*elements, bytes)) : std::nullopt);
    for (size_t c = 0; c < f.def->types.size(); ++c) {
      const auto name = f.def->types.size() > 1 ? str("{}.{}", f.name(), c) : f.name();
      here.buffers.push_back(make_buffer(name, f.def->types[c], f.def->rank(), memory, s.loc));
    }
    scope.storage[s.what.func] = here;
    registers_around_ += memory == MemoryKind::Register;
    Stmt body = list(node, i + 1, site, scope, only_warm);
    registers_around_ -= memory == MemoryKind::Register;
    // a buffer per component, all of them around the same list
    for (auto it = here.buffers.rbegin(); it != here.buffers.rend(); ++it) body = allocate(*it, extents, body, s.loc);
    return body;
  }

  /// `bytes`: of all components, if that is a constant.
  auto memory_of(const StoreNode& s, std::optional<int64_t> bytes) -> MemoryKind {
    if (!frame_.takes(s, bytes)) return MemoryKind::Heap;
    // A subscript of registers must be constant, which takes unrolling.
    return s.memory == MemoryKind::Register && !plain_ && !rolled_ ? MemoryKind::Register : MemoryKind::Stack;
  }

  // ---- realisations

  auto realisation(const TreeNode& node, size_t begin, size_t end, RealisationId what, const RealisationFacts& facts,
                   EmitScope scope) -> Stmt {
    std::vector<std::pair<SymbolRef, Expr>> lets;
    const auto bind = [&](const StageLeaf& leaf, const SymbolRef& nest_symbol, const Form& value) {
      if (uses_own_loops(value, leaf)) {  // a recurrence: the region moves with the stage's own loop
        scope.moving.insert_or_assign(nest_symbol.get(), value);
        return;
      }
      const Form here = scope.facts.simplify(scope.form(value));
      if (is_affine(here) ||
          cancels_in_registers(here, scope)) {  // spelled out: it cancels against an origin of storage
        scope.spelled.insert_or_assign(nest_symbol.get(), here);
        return;
      }
      const auto fresh = make_symbol(SymbolKind::Let, nest_symbol->name);
      lets.emplace_back(fresh, to_expr(here));
      scope.spelled.insert_or_assign(nest_symbol.get(), Form(fresh));
    };
    StmtList stages;
    for (size_t i = begin; i < end; ++i) {
      const auto& leaf = *first_leaf(*node.children[i]);
      for (size_t d = 0; d < leaf.dims.size(); ++d) {
        const RegionDim r = stage_dim_range(nest_, leaf, d, cache_);
        bind(leaf, leaf.dims[d].base, r.lo);
        bind(leaf, leaf.dims[d].whole, r.extent());
      }
      Stmt body = loop_or_stage(*node.children[i], leaf, scope);
      // in a parallel loop each iteration ends with a fence of its own
      if (nest_.func(what).nontemporal && !inside_parallel_) body = make_block({body, store_fence()});
      stages.push_back(stage(stage_name(leaf), body));
    }
    Stmt body = make_block(std::move(stages));
    const When when = here(facts.computed.when, scope);
    if (!when.is_always()) body = make_if(to_expr(when), body);
    // around all stages and the condition: a value computed early does no harm
    for (auto it = lets.rbegin(); it != lets.rend(); ++it) body = let_stmt(it->first, it->second, body);
    return body;
  }

  static auto is_affine(const Form& f) -> bool {
    const auto& terms = f.node().terms;
    return std::none_of(terms.begin(), terms.end(), [](const Term& t) { return static_cast<bool>(t.atom); });
  }

  /// A name would stand between a coordinate and the origin of registers, whose slots have to be constants.
  static auto cancels_in_registers(const Form& f, const EmitScope& scope) -> bool {
    return std::any_of(scope.storage.begin(), scope.storage.end(), [&](const auto& entry) {
      const StorageHere& s = entry.second;
      return !s.buffers.empty() && s.buffers[0]->memory == MemoryKind::Register &&
             std::any_of(s.origin.begin(), s.origin.end(), [&](const Form& o) { return is_affine(f - o); });
    });
  }

  static auto uses_own_loops(const Form& f, const StageLeaf& leaf) -> bool {
    return std::any_of(leaf.loops.begin(), leaf.loops.end(),
                       [&](const NamedLoop& l) { return uses_symbol(f, l.id.get()); });
  }

  static auto here(const When& when, const EmitScope& scope) -> When {
    When out;
    for (const auto& c : when.any) out.any.push_back(scope.facts.simplify(scope.cond(c)));
    return out;
  }

  auto stage_name(const StageLeaf& leaf) const -> std::string {
    return StageName{nest_.func(leaf.what).name(), leaf.stage - 1, -1}.text();
  }

  // ---- loops

  auto how(const LoopNode& loop) const -> ForKind {
    const bool flat = plain_ ? loop.how == ForKind::Vectorized || loop.how == ForKind::Unrolled
                             : rolled_ && loop.how == ForKind::Unrolled;
    return flat ? ForKind::Serial : loop.how;
  }

  /// Whether unrolled loops below `node` may stay loops, with what they keep in registers on the stack: not where it
  /// lives through a serial loop (the accumulators of a product), which would then load and store it in each iteration.
  static auto may_stay_rolled(const TreeNode& node) -> bool {
    bool registers = false;
    for (const auto& child : node.children) {
      if (const auto* s = child->as<StoreNode>()) registers |= s->memory == MemoryKind::Register;
      if ((registers && has_serial_loop(*child)) || !may_stay_rolled(*child)) return false;
    }
    return true;
  }

  static auto has_serial_loop(const TreeNode& node) -> bool {
    const auto* loop = node.as<LoopNode>();
    if (loop && loop->how == ForKind::Serial) return true;
    return std::any_of(node.children.begin(), node.children.end(),
                       [](const TreeRef& c) { return has_serial_loop(*c); });
  }

  /// What `emit` makes for the part of a loop that is not the steady state.
  template <typename F>
  auto unsteady(const TreeNode& node, F&& emit) -> Stmt {
    const bool outer = std::exchange(rolled_, rolled_ || (registers_around_ == 0 && may_stay_rolled(node)));
    const bool counted = std::exchange(frame_.counted, false);
    const Stmt out = emit();
    rolled_ = outer;
    frame_.counted = counted;
    return out;
  }

  struct Parting {
    const Clip* clip;
    Form steady;  ///< iterations for which the clip holds whatever the inner loops do
    Cond holds;   ///< that it does, in symbols of the nest
  };

  struct Iterations {
    Form first, end;
    const Parting* holds = nullptr;   ///< its clip holds in all of them
    const Parting* inside = nullptr;  ///< the test stands inside the loop: iterations below its `steady` have no clip
  };

  auto loop_or_stage(const TreeNode& node, const StageLeaf& leaf, const EmitScope& scope) -> Stmt {
    if (node.as<StageLeaf>()) return point(leaf, scope);
    const auto& loop = *node.as<LoopNode>();
    const Form end = scope.form(loop.extent);
    const auto part = steady_iterations(loop, leaf, scope);
    if (!part) return run_loop(node, loop, leaf, {Form(0), end}, scope);
    // Not two loops where they would be two rounds of parallel tasks, where extents must be constant (unrolled), or
    // where each would bring a warm-up: there the test stands inside.
    if (how(loop) != ForKind::Serial || warm_iterations(loop) > 0)
      return run_loop(node, loop, leaf, {Form(0), end, nullptr, &*part}, scope);
    const auto middle = make_symbol(SymbolKind::Let, str("{}.steady", loop.id->name));
    const Stmt first = run_loop(node, loop, leaf, {Form(0), Form(middle), &*part}, scope);
    const Stmt rest = unsteady(node, [&] { return run_loop(node, loop, leaf, {Form(middle), end}, scope); });
    return let_stmt(middle, to_expr(part->steady), make_block({first, rest}));
  }

  auto point(const StageLeaf& leaf, const EmitScope& scope) -> Stmt {
    std::map<const Symbol*, Expr> at;
    for (const auto& d : leaf.dims) at[d.var.get()] = scope.expr(Form(d.base) + d.rel);
    return emit_point(nest_, leaf, scope, at);
  }

  auto run_loop(const TreeNode& node, const LoopNode& loop, const StageLeaf& leaf, Iterations range,
                const EmitScope& scope) -> Stmt {
    std::vector<const Clip*> guards;
    for (const auto& c : leaf.clips) {
      if (std::find(scope.dropped.begin(), scope.dropped.end(), &c) != scope.dropped.end() ||
          tied_loop(c, leaf) != loop.id)
        continue;
      // a shorter loop costs nothing per iteration, a test does
      if (const auto shorter = shortened(c, loop, leaf, scope))
        range.end = min(range.end, *shorter);
      else if (!DRAWLOOM_FAULT(guard_dropped))
        guards.push_back(&c);
    }
    const Stmt warm = warm_up(node, loop, range, scope);
    const auto id = make_symbol(SymbolKind::Loop, loop.id->name, kIndex, loop.loc);
    EmitScope inside = scope;
    // of a single iteration the number is known: subscripts of registers need that
    inside.spelled.insert_or_assign(loop.id.get(), scope.form(loop.extent) == Form(1) ? Form(0) : Form(id));
    // what a clip of another loop asks may follow from how far this one runs
    inside.facts = inside.facts.with_range(id, range.first, range.end - 1);
    if (range.holds) drop_clip(*range.holds, inside);
    const bool starts_tasks = loop.how == ForKind::Parallel && !inside_parallel_;
    inside_parallel_ |= starts_tasks;
    Stmt body = in_frame_of(node, loop, [&] { return loop_body(node, loop, range, id, inside); });
    for (const auto* c : guards)
      if (!always_holds(*c, inside))
        body = make_if(to_expr(inside.cond(Cond::nonnegative(c->limit - c->index - 1))), body);
    if (starts_tasks) {
      inside_parallel_ = false;
      if (writes_nontemporally(node)) body = make_block({body, store_fence()});
    }
    const Stmt main = make_for(id, to_expr(range.first), to_expr(range.end - range.first), how(loop), body, loop.loc);
    return warm ? make_block({warm, main}) : main;
  }

  auto loop_body(const TreeNode& node, const LoopNode& loop, const Iterations& range, const SymbolRef& id,
                 const EmitScope& inside) -> Stmt {
    const auto all = [&] { return list(node, 0, loop.id, inside); };
    if (!range.inside) return all();
    EmitScope scope = inside;
    drop_clip(*range.inside, scope);
    const Stmt steady = list(node, 0, loop.id, scope);
    return make_if(to_expr(Cond::nonnegative(range.inside->steady - Form(id) - 1)), steady, unsteady(node, all));
  }

  /// The body of a loop with the stack that it will lie on: that of a task, or a part of the stack around.
  template <typename F>
  auto in_frame_of(const TreeNode& node, const LoopNode& loop, F&& emit) -> Stmt {
    if (loop.how == ForKind::Parallel) {
      StackFrame outer = std::exchange(frame_, StackFrame(nest_, node, cache_));
      const Stmt out = emit();
      frame_ = std::move(outer);
      return out;
    }
    const bool copied = how(loop) != ForKind::Serial;
    const int64_t outer =
        std::exchange(frame_.copies, copied ? stack_product(frame_.copies, body_copies(loop)) : frame_.copies);
    const Stmt out = emit();
    frame_.copies = outer;
    return out;
  }

  void drop_clip(const Parting& part, EmitScope& scope) const {
    scope.dropped.push_back(part.clip);
    scope.facts = scope.facts.with(scope.cond(part.holds));
  }

  /// As the limit is written, and as what it stands for: a fact may speak of either.
  auto always_holds(const Clip& c, const EmitScope& scope) const -> bool {
    return scope.facts.proves_nonnegative(scope.form(c.limit - c.index - 1)) ||
           scope.facts.proves_nonnegative(scope.form(resolve(nest_, c.limit, cache_) - c.index - 1));
  }

  /// Iterations before 0 that hold only what slides gradually, and what it reads.
  auto warm_up(const TreeNode& node, const LoopNode& loop, const Iterations& range, const EmitScope& scope) -> Stmt {
    const int64_t w = warm_iterations(loop);
    if (w == 0 || DRAWLOOM_FAULT(warm_up_skipped)) return {};
    const auto id = make_symbol(SymbolKind::Loop, str("{}.warm", loop.id->name), kIndex, loop.loc);
    EmitScope inside = scope;
    inside.spelled.insert_or_assign(loop.id.get(), Form(id));
    // a loop that does not run has no warm-up
    const Form count = choose(Cond::nonnegative(range.end - range.first - 1), Form(w), Form(0));
    const bool counted = std::exchange(frame_.counted, false);
    const Stmt body = list(node, 0, loop.id, inside, true);
    frame_.counted = counted;
    return make_for(id, index_imm(-w), to_expr(count), ForKind::Serial, body, loop.loc);
  }

  auto writes_nontemporally(const TreeNode& node) const -> bool {
    const auto leaves = stage_leaves_below(&node);
    return std::any_of(leaves.begin(), leaves.end(),
                       [&](const StageLeaf* l) { return nest_.func(l->what).nontemporal; });
  }

  auto warm_iterations(const LoopNode& loop) -> int64_t {
    int64_t most = 0;
    for (const auto& id : realisations(nest_)) {
      const auto& facts = realisation_facts(nest_, id, cache_);
      if (facts.compute_site == loop.id) most = std::max(most, facts.warm_iterations);
    }
    return most;
  }

  static auto tied_loop(const Clip& c, const StageLeaf& leaf) -> SymbolRef {
    for (auto it = leaf.loops.rbegin(); it != leaf.loops.rend(); ++it)
      if (uses_symbol(c.index, it->id.get())) return it->id;
    return {};
  }

  static auto without(const Form& f, const SymbolRef& s, int64_t value) -> Form {
    return substitute(f, [&](const SymbolRef& t) -> std::optional<Form> {
      if (t == s) return Form(value);
      return {};
    });
  }

  /// By how much f grows per step of `s`, if f is affine in it and the coefficient is a positive constant.
  static auto coefficient(const Form& f, const SymbolRef& s) -> std::optional<Form> {
    for (const auto& t : f.node().terms)
      if (t.atom)
        for (const auto& op : t.atom->operands)
          if (uses_symbol(op, s.get())) return {};
    const Form k = without(f, s, 1) - without(f, s, 0);
    const auto c = k.as_constant();
    if (c && *c > 0) return k;
    return {};
  }

  auto node_of(const SymbolRef& loop) const -> const LoopNode& {
    return *find_loop(nest_.tree, loop)->node->as<LoopNode>();
  }

  /// The trip count that the clip leaves to the loop it is tied to, where that is one number.
  auto shortened(const Clip& c, const LoopNode& loop, const StageLeaf& leaf, const EmitScope& scope) const
      -> std::optional<Form> {
    if (how(loop) != ForKind::Serial && how(loop) != ForKind::Parallel) return {};
    for (const auto& l : leaf.loops)  // a trip count per lane is no trip count
      if (uses_symbol(c.index, l.id.get()) && how(node_of(l.id)) == ForKind::Vectorized) return {};
    const auto k = coefficient(c.index, loop.id);
    if (!k) return {};
    const Form left = c.limit - without(c.index, loop.id, 0);
    return scope.form(DRAWLOOM_FAULT(trip_count_rounds_down) ? floor_div(left, *k) : ceil_div(left, *k));
  }

  /// Where `loop` is the next loop outside a vector or unrolled loop that a clip is tied to.
  auto steady_iterations(const LoopNode& loop, const StageLeaf& leaf, const EmitScope& scope) const
      -> std::optional<Parting> {
    if (plain_ || loop.partition == PartitionMode::never || how(loop) == ForKind::Vectorized) return {};
    for (const auto& c : leaf.clips) {
      if (std::find(scope.dropped.begin(), scope.dropped.end(), &c) != scope.dropped.end()) continue;
      const auto tied = tied_loop(c, leaf);
      if (!tied || tied == loop.id || !uses_symbol(c.index, loop.id.get())) continue;
      const auto kind = how(node_of(tied));
      if (kind != ForKind::Vectorized && kind != ForKind::Unrolled) continue;
      const auto k = coefficient(c.index, loop.id);
      if (!k || !innermost_outside(c, leaf, loop.id, tied)) continue;
      // The index grows with each loop, so inside one iteration of `loop` it is greatest where the others are in their
      // last.
      Form last = without(c.index, loop.id, 0);
      bool closed = true;
      for (const auto& l : leaf.loops) {
        if (!uses_symbol(last, l.id.get()) || !inside_of(leaf, l.id, loop.id)) continue;
        const auto extent = node_of(l.id).extent.as_constant();
        const auto step = coefficient(last, l.id);
        if (!extent || !step) closed = false;
        if (closed) last = without(last, l.id, *extent - 1);
      }
      if (!closed) continue;
      // how many iterations i have last + k*i < limit
      const Form steady = floor_div(c.limit - 1 - last, *k) + (DRAWLOOM_FAULT(steady_count_plus_one) ? 2 : 1);
      const Form most = last + *k * Form(loop.id);
      return Parting{&c, scope.form(max(Form(0), min(loop.extent, steady))),
                     Cond::nonnegative(resolve(nest_, c.limit, cache_) - 1 - most)};
    }
    return {};
  }

  static auto inside_of(const StageLeaf& leaf, const SymbolRef& inner, const SymbolRef& outer) -> bool {
    const auto at = [&](const SymbolRef& s) {
      return std::find_if(leaf.loops.begin(), leaf.loops.end(), [&](const NamedLoop& n) { return n.id == s; });
    };
    return at(inner) > at(outer);
  }

  /// No other loop of the clip stands between `loop` and the tied one.
  static auto innermost_outside(const Clip& c, const StageLeaf& leaf, const SymbolRef& loop, const SymbolRef& tied)
      -> bool {
    for (const auto& l : leaf.loops)
      if (l.id != loop && l.id != tied && uses_symbol(c.index, l.id.get()) && inside_of(leaf, l.id, loop)) return false;
    return true;
  }

  const Nest& nest_;
  QueryCache& cache_;
  bool plain_ = false;
  bool inside_parallel_ = false;
  bool rolled_ = false;  ///< unrolled loops stay loops here
  int registers_around_ = 0;
  StackFrame frame_;
};

/// Where dimension 0 is dense a vector is one load or store. Without wide loops one version does for all strides.
auto dense_arguments(const PipelineDef& p) -> Expr {
  Expr out;
  const auto add = [&](const BufferRef& b) {
    if (b->rank == 0) return;
    const Expr dense = binary(BinaryOp::EQ, var_ref(b->stride[0]), index_imm(1));
    out = out ? binary(BinaryOp::And, out, dense) : dense;
  };
  for (const auto& b : p.inputs) add(b);
  for (const auto& b : p.output_buffers) add(b);
  return out;
}

auto has_wide_loops(const TreeNode& n) -> bool {
  const auto* loop = n.as<LoopNode>();
  if (loop && (loop->how == ForKind::Vectorized || loop->how == ForKind::Unrolled)) return true;
  return std::any_of(n.children.begin(), n.children.end(), [](const TreeRef& c) { return has_wide_loops(*c); });
}

/// The names of regions, as lets around all else.
struct Names {
  EmitScope scope;
  std::vector<std::pair<SymbolRef, Expr>> lets;

  Names(const Nest& nest, QueryCache& cache) {
    for (const auto& [symbol, form] : region_names(nest, cache)) {
      const auto fresh = make_symbol(SymbolKind::Let, symbol->name);
      lets.emplace_back(fresh, scope.expr(form));
      scope.spelled.insert_or_assign(symbol.get(), Form(fresh));
    }
  }

  auto around(Stmt body) const -> Stmt {
    for (auto it = lets.rbegin(); it != lets.rend(); ++it) body = let_stmt(it->first, it->second, body);
    return body;
  }
};

}  // namespace

auto emit_nest(const Nest& open) -> Program {
  const Nest nest = settle_clips(close_nest(open).or_throw());
  const auto& p = *nest.graph->pipeline;
  QueryCache cache;
  Program out;
  out.name = p.name;
  for (const auto& b : p.inputs) out.arguments.emplace_back(BufferArgument{b, ArgumentRole::Input});
  for (const auto& s : p.params) out.arguments.emplace_back(ScalarArgument{s});
  for (const auto& b : p.output_buffers) out.arguments.emplace_back(BufferArgument{b, ArgumentRole::Output});

  const Names names(nest, cache);
  StmtList body = call_checks(nest, cache, names.scope);
  Emitter emitter(nest, cache);
  Stmt scheduled = emitter.emit(names.scope);
  const Expr dense = has_wide_loops(*nest.tree) ? dense_arguments(p) : Expr();
  body.push_back(dense ? make_if(dense, scheduled, emitter.emit_plain(names.scope)) : scheduled);
  out.body = names.around(make_block(std::move(body)));
  return out;
}

}  // namespace drawloom
