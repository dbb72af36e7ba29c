#include "random_pipeline.h"

#include <algorithm>

#include "drawloom/support/text.h"
#include "pipeline_maker.h"

// A pipeline is drawn Func by Func. Each Func picks producers among the inputs and earlier Funcs, the last one nearly
// always, and for every producer and dimension one *style* of access (same place, down- or upsampled, swapped, clamped,
// constant, data-dependent); its taps differ in small offsets only. That is what real stencils do, and it is what gives
// slides, folds and resampling chains their chance.

namespace drawloom::fuzz {

auto PipelineMaker::make() -> PipelineRef {
  const int inputs = r_.chance(10) ? 0 : static_cast<int>(r_.uniform(1, 3));
  for (int i = 0; i < inputs; ++i) add_input(i);
  if (r_.chance(30)) add_param("p", int_type(32), 0, 3);
  if (r_.chance(15)) add_param("q", r_.chance(50) ? float_type(32) : uint_type(8), 0, 9);
  if (r_.chance(10)) add_param("n", int_type(32), 1, 8);
  rank_ = r_.chance(20) ? 1 : r_.chance(75) ? 2 : 3;
  const int count = static_cast<int>(r_.uniform(shape_.min_funcs, shape_.max_funcs));
  for (int i = 0; i < count; ++i) add_func(i, i + 1 == count);
  return close_pipeline(funcs_);
}

// ---- arguments

void PipelineMaker::add_input(int i) {
  const int rank = static_cast<int>(r_.chance(70) ? 2 : r_.uniform(1, 3));
  inputs_.push_back({make_buffer(str("in{}", i), random_type(r_), rank, MemoryKind::Argument), r_.chance(45)});
}

void PipelineMaker::add_param(std::string name, Type type, int64_t min, int64_t max) {
  auto s = make_ref<Symbol>(SymbolKind::Param, std::move(name), type);
  if (!type.is_float()) s->min = min, s->max = max;
  params_.push_back(s);
}

// ---- Funcs

void PipelineMaker::add_func(int i, bool last) {
  DraftFunc f;
  f.name = last ? "out" : str("f{}", i);
  f.output = last || r_.chance(6);
  const int rank = last || r_.chance(80) ? rank_ : static_cast<int>(r_.uniform(1, 3));
  static const char* const kNames[] = {"x", "y", "z"};
  for (int d = 0; d < rank; ++d) f.args.push_back(make_symbol(SymbolKind::Var, kNames[d]));
  f.types.push_back(random_type(r_));
  if (r_.chance(8)) f.types.push_back(random_type(r_));
  self_ = &f;
  choose_producers();
  frame_ = f.args;
  const bool recurrence = !f.output && r_.chance(12);
  f.stages.push_back(recurrence ? recurrence_stage(f) : pure_stage(f));
  if (!recurrence && r_.chance(30))
    for (int64_t n = r_.uniform(1, 2); n > 0; --n)
      f.stages.push_back(update_stage(f, static_cast<int>(f.stages.size())));
  funcs_.push_back(f);
}

void PipelineMaker::choose_producers() {
  producers_.clear();
  const int n = static_cast<int>(funcs_.size());
  for (int k = 0; k < n; ++k)
    if (r_.chance(k + 1 == n ? 92 : unread(k) ? 60 : 22)) producers_.push_back({k, -1});
  for (int k = 0; k < static_cast<int>(inputs_.size()); ++k)
    if (r_.chance(producers_.empty() ? 80 : 25)) producers_.push_back({-1, k});
}

auto PipelineMaker::unread(int k) const -> bool { return std::find(read_.begin(), read_.end(), k) == read_.end(); }

auto PipelineMaker::pure_stage(const DraftFunc& f) -> Definition {
  Definition d;
  for (const auto& a : f.args) d.lhs.push_back(var_ref(a));
  styles_.clear();
  for (const auto& t : f.types) d.values.push_back(stage_value(t));
  return d;
}

auto PipelineMaker::recurrence_stage(DraftFunc& f) -> Definition {
  const auto t = static_cast<size_t>(r_.uniform(0, static_cast<int64_t>(f.args.size()) - 1));
  const int64_t c = r_.uniform(-1, 2), reach = r_.chance(75) ? 1 : 2;
  f.ordered_dim = static_cast<int>(t), f.first = c;
  const Expr step = var_ref(f.args[t]);
  Definition d = pure_stage(f);
  for (size_t k = 0; k < d.values.size(); ++k) {
    const Type type = f.types[k];
    Expr later = stage_value(type);
    for (int64_t taps = r_.uniform(1, 3); taps > 0; --taps)
      later = combine(type, earlier(f, d, k, taps == 1 ? reach : r_.uniform(1, reach)), later);
    // A reach of 2 needs two first steps: those up to c.
    const Expr start = reach == 1 && r_.chance(60) ? binary(BinaryOp::EQ, step, index_imm(c))
                                                   : binary(BinaryOp::LE, step, index_imm(c + reach - 1));
    d.values[k] = select(start, d.values[k], later);
  }
  return d;
}

auto PipelineMaker::earlier(const DraftFunc& f, const Definition& d, size_t component, int64_t distance) -> Expr {
  ExprList at = d.lhs;
  for (size_t i = 0; i < at.size(); ++i)
    at[i] = plus(at[i], static_cast<int>(i) == f.ordered_dim ? -distance : r_.chance(50) ? 0 : r_.uniform(-1, 1));
  return access(f.types[component], self_decl(f), {}, static_cast<int>(component), at);
}

// ---- updates

auto PipelineMaker::update_stage(const DraftFunc& f, int stage) -> Definition {
  Definition d;
  frame_ = f.args;
  styles_.clear();
  for (const auto& a : f.args) d.lhs.push_back(var_ref(a));
  const int kind = static_cast<int>(r_.uniform(0, 9));
  const bool over_domain = kind < 8;
  if (over_domain) d.rdom = random_domain(stage, kind);
  if (over_domain)
    for (const auto& dim : d.rdom->dims) frame_.push_back(dim.symbol);
  const size_t moved = static_cast<size_t>(r_.uniform(0, static_cast<int64_t>(f.args.size()) - 1));
  const SymbolRef rvar = over_domain ? d.rdom->dims[0].symbol : SymbolRef();
  if (kind == 4 || kind == 5) {  // histogram: anywhere in a range, as data say
    drop(f.args[moved]);
    d.lhs[moved] = data_subscript(0, r_.uniform(0, 12));
  } else if (kind == 6 || kind == 7) {  // scan along one dimension, up or down
    drop(f.args[moved]);
    const Expr at = var_ref(rvar);
    d.lhs[moved] = r_.chance(75) ? plus(at, r_.uniform(-2, 2)) : binary(BinaryOp::Sub, index_imm(r_.uniform(0, 9)), at);
    if (r_.chance(10)) d.lhs[moved] = binary(BinaryOp::Mul, at, index_imm(2));
  } else if (kind == 9) {  // one row
    drop(f.args[moved]);
    d.lhs[moved] = index_imm(r_.uniform(-1, 5));
  }
  for (size_t c = 0; c < f.types.size(); ++c) d.values.push_back(update_value(f, d, c, kind, moved));
  return d;
}

void PipelineMaker::drop(const SymbolRef& v) { frame_.erase(std::find(frame_.begin(), frame_.end(), v)); }

auto PipelineMaker::random_domain(int stage, int kind) -> ReductionDomainRef {
  auto dom = make_ref<ReductionDomain>();
  const int dims = kind >= 6 ? 1 : static_cast<int>(r_.uniform(1, 2));
  static const char* const kNames[] = {"rx", "ry"};
  for (int d = 0; d < dims; ++d) {
    const auto s = make_symbol(SymbolKind::RVar, str("{}{}", kNames[d], stage == 1 ? "" : "2"));
    dom->dims.push_back({s, index_imm(r_.chance(50) ? 0 : r_.uniform(-2, 3)), domain_extent()});
  }
  return dom;
}

auto PipelineMaker::domain_extent() -> Expr {
  if (r_.chance(8) && !params_.empty() && params_[0]->type == int_type(32)) return cast(kIndex, var_ref(params_[0]));
  if (r_.chance(10))
    for (const auto& in : inputs_)
      if (in.own_bounds && in.buffer->rank > 0) return var_ref(in.buffer->extent[0]);
  return index_imm(r_.chance(4) ? 0 : r_.uniform(1, 6));
}

auto PipelineMaker::update_value(const DraftFunc& f, const Definition& d, size_t c, int kind, size_t moved) -> Expr {
  const Type t = f.types[c];
  const Expr here = access(t, self_decl(f), {}, static_cast<int>(c), d.lhs);
  Expr other = stage_value(t);
  if (f.types.size() > 1 && r_.chance(50)) {
    const size_t o = 1 - c;
    other = combine(t, other, convert(t, access(f.types[o], self_decl(f), {}, static_cast<int>(o), d.lhs)));
  }
  if (kind == 6 || kind == 7) {
    ExprList before = d.lhs;
    before[moved] = plus(before[moved], r_.uniform(-2, 1));
    const Expr previous = access(t, self_decl(f), {}, static_cast<int>(c), before);
    return combine(t, previous, r_.chance(50) ? combine(t, other, here) : other);
  }
  if (kind <= 3 || kind == 4) {
    const BinaryOp op = reduction_op(t);
    return r_.chance(80) ? binary(op, here, other) : binary(op, other, here);
  }
  return r_.chance(80) ? combine(t, here, other) : other;
}

auto PipelineMaker::reduction_op(Type t) -> BinaryOp {
  if (t.is_bool()) return r_.chance(50) ? BinaryOp::And : BinaryOp::Or;
  static const BinaryOp kAny[] = {BinaryOp::Add, BinaryOp::Add, BinaryOp::Add,
                                  BinaryOp::Max, BinaryOp::Min, BinaryOp::Mul};
  static const BinaryOp kInt[] = {BinaryOp::Add, BinaryOp::BitXor, BinaryOp::Sub, BinaryOp::BitOr};
  if (!t.is_float() && r_.chance(25)) return kInt[r_.uniform(0, 3)];
  return kAny[r_.uniform(0, 5)];
}

auto PipelineMaker::self_decl(const DraftFunc& f) -> const FuncDecl* {
  for (const auto& s : decls_)
    if (s->name == f.name) return s.get();
  decls_.push_back(make_ref<FunctionDef>(f.name));
  return decls_.back().get();
}

auto random_pipeline(CounterRandom random, const PipelineShape& shape) -> PipelineRef {
  return PipelineMaker(random, shape).make();
}

}  // namespace drawloom::fuzz
