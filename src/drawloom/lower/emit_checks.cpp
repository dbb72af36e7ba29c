// What a call must keep to before anything is read or written.
//
//   out(x) = in(x) + in(x + 1), called with `out` over 0 .. n - 1:
//     check !(n >= 1) || min(in) <= 0 && n < min(in) + extent(in)       in(n) is the last element read
//
// The regions are Forms over the fields of the arguments and the parameters, so a check costs a few operations per
// dimension and call, and the loops need no bounds tests. A region is a bound that is known before any data is:
// in(clamp(a(x), 0, 255)) asks for 256 elements whatever `a` holds. An empty output asks for nothing, hence the
// condition in front.

#include <algorithm>

#include "drawloom/lang/recurrence.h"
#include "drawloom/lower/emit_scope.h"
#include "drawloom/nest/region_box.h"
#include "drawloom/support/fault.h"

namespace drawloom {
namespace {

class CallChecks {
 public:
  CallChecks(const Nest& nest, QueryCache& cache, const EmitScope& scope) : nest_(nest), cache_(cache), scope_(scope) {}

  auto emit() -> StmtList {
    for (const auto& b : nest_.graph->pipeline->inputs) input(b);
    outputs();
    for (const auto& id : realisations(nest_)) steps(id);
    for (const auto& at : stage_leaves(nest_.tree)) demands(*at.node->as<StageLeaf>());
    return std::move(out_);
  }

 private:
  void require(const Expr& ok, std::string_view code, std::string message, ExprList args) {
    out_.push_back(check(ok, std::string(code), std::move(message), std::move(args)));
  }

  auto pipeline() const -> const std::string& { return nest_.graph->pipeline->name; }

  void input(const BufferRef& b) {
    if (const auto region = input_region(nest_, b, cache_)) holds(*b, "input", *region);
  }

  void outputs() {
    const auto& p = *nest_.graph->pipeline;
    size_t next = 0;
    for (const auto& o : p.outputs) {
      // components of one output follow each other among the buffers
      const auto& first = *p.output_buffers[next];
      const auto& f = nest_.graph->func(nest_.graph->find(o->name));
      for (int c = 1; c < o->components(); ++c) same_shape(first, *p.output_buffers[next + static_cast<size_t>(c)]);
      next += static_cast<size_t>(o->components());
      for (size_t d = 0; d < f.dims.size(); ++d) bound(f, first, d);
      readers(f, first);
    }
  }

  /// One nest of loops computes all components of a Tuple, and it is sized by the first.
  void same_shape(const BufferDecl& a, const BufferDecl& b) {
    for (int d = 0; d < a.rank; ++d) {
      const auto i = static_cast<size_t>(d);
      const Expr ok = binary(BinaryOp::And, binary(BinaryOp::EQ, var_ref(a.min[i]), var_ref(b.min[i])),
                             binary(BinaryOp::EQ, var_ref(a.extent[i]), var_ref(b.extent[i])));
      require(ok, "constraint_failed",
              str("{}: outputs {} and {} differ in dimension {}", pipeline(), a.name, b.name, d), {});
    }
  }

  /// `bound` on an output is a promise of the caller: all regions were found as if it held.
  void bound(const GraphFunc& f, const BufferDecl& b, size_t d) {
    if (!f.dims[d].bound) return;
    const auto promised = realisation_facts(nest_, {nest_.graph->find(f.name()), 0}, cache_).need.dims[d];
    const Expr ok = binary(BinaryOp::And, binary(BinaryOp::EQ, var_ref(b.min[d]), scope_.expr(promised.lo)),
                           binary(BinaryOp::EQ, var_ref(b.extent[d]), scope_.expr(promised.extent())));
    require(ok, "constraint_failed",
            str("{}: output {} is bound to {{}} elements from {{}} in dimension {}, but has {{}} from {{}}", pipeline(),
                b.name, d),
            {scope_.expr(promised.extent()), scope_.expr(promised.lo), var_ref(b.extent[d]), var_ref(b.min[d])});
  }

  /// An output must hold what other Funcs read of it and what its own updates write and read.
  void readers(const GraphFunc& f, const BufferDecl& b) {
    const RealisationId id{nest_.graph->find(f.name()), 0};
    if (const auto region = output_read_region(nest_, id, cache_)) holds(b, "output", *region);
    for (const auto& region : output_update_regions(nest_, id, cache_)) holds(b, "output", region);
  }

  /// A recurrence that starts at one step has no values before it.
  void steps(RealisationId id) {
    const auto& f = nest_.func(id);
    if (f.self_accesses[0].empty() || !starts_at_one_step(*f.def)) return;
    const auto d = static_cast<size_t>(f.def->ordered_dim);
    const Form first = to_form(f.def->ordered_first);
    auto unrounded = make_ref<GraphFunc>(f);  // what is read, not what align or bound make of it
    if (!f.is_output) unrounded->dims[d] = {};
    Nest nest = nest_;
    nest.graph = with_func(nest_.graph, id.func, unrounded);
    QueryCache cache;
    const Region need = need_at(nest, id, {}, cache);
    const Cond in_time = Cond::nonnegative(need.dims[d].lo - first);
    if (in_time.is_always()) return;
    const Expr ok = to_expr(scope_.cond(in_time));
    require(f.is_output ? ok : binary(BinaryOp::Or, unary(UnaryOp::Not, to_expr(scope_.when(need.when))), ok),
            "out_of_bounds",
            str("{}: {}{} starts at {{}} in dimension {}, but its first step is {{}}", pipeline(),
                f.is_output ? "output " : "", f.name(), d),
            {scope_.expr(need.dims[d].lo), to_expr(first)});
  }

  /// The buffer holds the region, where there is one.
  void holds(const BufferDecl& b, std::string_view what, const Region& region) {
    for (size_t d = 0; d < region.dims.size(); ++d) {
      const auto& r = region.dims[d];
      const Form lo(b.min[d]), end = Form(b.min[d]) + Form(b.extent[d]);
      // an output's own region is its buffer: nothing to ask
      if (r.lo == lo && r.hi == end - 1) continue;
      const Expr inside = to_expr(scope_.cond(Cond::nonnegative(r.lo - lo) && Cond::nonnegative(end - 1 - r.hi)));
      require(binary(BinaryOp::Or, unary(UnaryOp::Not, to_expr(scope_.when(region.when))), inside), "out_of_bounds",
              str("{}: {} {} is used from {{}} to {{}} in dimension {}, but holds {{}} to {{}}", pipeline(), what,
                  b.name, d),
              {scope_.expr(r.lo), scope_.expr(r.hi), to_expr(lo), to_expr(end - 1)});
    }
  }

  /// tail=round_up dropped the clip, so the loops write up to the next multiple.
  void demands(const StageLeaf& leaf) {
    for (const auto& d : leaf.demands) {
      const Form extent = scope_.form(resolve(nest_, d.extent, cache_));
      require(
          binary(BinaryOp::EQ, to_expr(floor_mod(extent, d.factor)), index_imm(0)), "constraint_failed",
          str("{}: {} rounds a loop of extent {{}} up to a multiple of {{}}", pipeline(), nest_.func(leaf.what).name()),
          {to_expr(extent), to_expr(d.factor)});
    }
  }

  const Nest& nest_;
  QueryCache& cache_;
  const EmitScope& scope_;
  StmtList out_;
};

}  // namespace

auto call_checks(const Nest& nest, QueryCache& cache, const EmitScope& scope) -> StmtList {
  return CallChecks(nest, cache, scope).emit();
}

}  // namespace drawloom
