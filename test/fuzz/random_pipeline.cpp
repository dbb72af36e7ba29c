#include "random_pipeline.h"

#include <algorithm>

#include "drawloom/ir/build.h"
#include "drawloom/support/text.h"

// A pipeline is drawn Func by Func. Each Func picks producers among the inputs and earlier Funcs, the last one nearly
// always, and for every producer and dimension one *style* of access (same place, down- or upsampled, swapped, clamped,
// constant, data-dependent); its taps differ in small offsets only. That is what real stencils do, and it is what gives
// slides, folds and resampling chains their chance.

namespace drawloom::fuzz {
namespace {

/// from: never below a first coordinate, where a recurrence starts.
enum class AccessStyle : uint8_t { same, down, up, clamped, modulo, fixed, data, mirrored, from };

struct DimStyle {
  AccessStyle style = AccessStyle::same;
  SymbolRef var;   ///< null: fixed
  SymbolRef more;  ///< an RVar added to it, or null
  int64_t lo = 0, hi = 0;
};

struct Producer {
  int func = -1;  ///< index of a draft, else an input
  int input = -1;
};

/// Element types, more of those people use.
auto random_type(CounterRandom& r) -> Type {
  static const Type kTypes[] = {uint_type(8),   uint_type(8),   uint_type(16), uint_type(16),  int_type(16),
                                int_type(32),   int_type(32),   uint_type(32), float_type(32), float_type(32),
                                float_type(32), float_type(64), int_type(64),  int_type(8),    uint_type(64)};
  if (r.chance(2)) return kBool;
  return kTypes[r.uniform(0, static_cast<int64_t>(std::size(kTypes)) - 1)];
}

auto plus(const Expr& e, int64_t k) -> Expr { return k == 0 ? e : binary(BinaryOp::Add, e, index_imm(k)); }
auto clamp_index(const Expr& e, const Expr& lo, const Expr& hi) -> Expr {
  return binary(BinaryOp::Max, binary(BinaryOp::Min, e, hi), lo);
}

class Maker {
 public:
  Maker(CounterRandom random, const PipelineShape& shape) : r_(random), shape_(shape) {}

  auto make() -> PipelineRef {
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

 private:
  // ---- arguments

  struct Input {
    BufferRef buffer;
    bool own_bounds;  ///< every access is clamped to the buffer's own fields
  };

  void add_input(int i) {
    const int rank = static_cast<int>(r_.chance(70) ? 2 : r_.uniform(1, 3));
    inputs_.push_back({make_buffer(str("in{}", i), random_type(r_), rank, MemoryKind::Argument), r_.chance(45)});
  }
  void add_param(std::string name, Type type, int64_t min, int64_t max) {
    auto s = make_ref<Symbol>(SymbolKind::Param, std::move(name), type);
    if (!type.is_float()) s->min = min, s->max = max;
    params_.push_back(s);
  }

  // ---- Funcs

  void add_func(int i, bool last) {
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

  void choose_producers() {
    producers_.clear();
    const int n = static_cast<int>(funcs_.size());
    for (int k = 0; k < n; ++k)
      if (r_.chance(k + 1 == n ? 92 : unread(k) ? 60 : 22)) producers_.push_back({k, -1});
    for (int k = 0; k < static_cast<int>(inputs_.size()); ++k)
      if (r_.chance(producers_.empty() ? 80 : 25)) producers_.push_back({-1, k});
  }

  auto unread(int k) const -> bool { return std::find(read_.begin(), read_.end(), k) == read_.end(); }

  auto pure_stage(const DraftFunc& f) -> Definition {
    Definition d;
    for (const auto& a : f.args) d.lhs.push_back(var_ref(a));
    styles_.clear();
    for (const auto& t : f.types) d.values.push_back(stage_value(t));
    return d;
  }

  /// f(x, t) = select(t == c, .., .. f(x + 1, t - 1) ..): along t each step is made of earlier ones.
  auto recurrence_stage(DraftFunc& f) -> Definition {
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

  auto earlier(const DraftFunc& f, const Definition& d, size_t component, int64_t distance) -> Expr {
    ExprList at = d.lhs;
    for (size_t i = 0; i < at.size(); ++i)
      at[i] = plus(at[i], static_cast<int>(i) == f.ordered_dim ? -distance : r_.chance(50) ? 0 : r_.uniform(-1, 1));
    return access(f.types[component], self_decl(f), {}, static_cast<int>(component), at);
  }

  // ---- updates

  auto update_stage(const DraftFunc& f, int stage) -> Definition {
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
      d.lhs[moved] =
          r_.chance(75) ? plus(at, r_.uniform(-2, 2)) : binary(BinaryOp::Sub, index_imm(r_.uniform(0, 9)), at);
      if (r_.chance(10)) d.lhs[moved] = binary(BinaryOp::Mul, at, index_imm(2));
    } else if (kind == 9) {  // one row
      drop(f.args[moved]);
      d.lhs[moved] = index_imm(r_.uniform(-1, 5));
    }
    for (size_t c = 0; c < f.types.size(); ++c) d.values.push_back(update_value(f, d, c, kind, moved));
    return d;
  }

  /// A variable that is not on the left stands nowhere on the right.
  void drop(const SymbolRef& v) { frame_.erase(std::find(frame_.begin(), frame_.end(), v)); }

  auto random_domain(int stage, int kind) -> ReductionDomainRef {
    auto dom = make_ref<ReductionDomain>();
    const int dims = kind >= 6 ? 1 : static_cast<int>(r_.uniform(1, 2));
    static const char* const kNames[] = {"rx", "ry"};
    for (int d = 0; d < dims; ++d) {
      const auto s = make_symbol(SymbolKind::RVar, str("{}{}", kNames[d], stage == 1 ? "" : "2"));
      dom->dims.push_back({s, index_imm(r_.chance(50) ? 0 : r_.uniform(-2, 3)), domain_extent()});
    }
    return dom;
  }
  auto domain_extent() -> Expr {
    if (r_.chance(8) && !params_.empty() && params_[0]->type == int_type(32)) return cast(kIndex, var_ref(params_[0]));
    if (r_.chance(10))
      for (const auto& in : inputs_)
        if (in.own_bounds && in.buffer->rank > 0) return var_ref(in.buffer->extent[0]);
    return index_imm(r_.chance(4) ? 0 : r_.uniform(1, 6));
  }

  auto update_value(const DraftFunc& f, const Definition& d, size_t c, int kind, size_t moved) -> Expr {
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

  auto reduction_op(Type t) -> BinaryOp {
    if (t.is_bool()) return r_.chance(50) ? BinaryOp::And : BinaryOp::Or;
    static const BinaryOp kAny[] = {BinaryOp::Add, BinaryOp::Add, BinaryOp::Add,
                                    BinaryOp::Max, BinaryOp::Min, BinaryOp::Mul};
    static const BinaryOp kInt[] = {BinaryOp::Add, BinaryOp::BitXor, BinaryOp::Sub, BinaryOp::BitOr};
    if (!t.is_float() && r_.chance(25)) return kInt[r_.uniform(0, 3)];
    return kAny[r_.uniform(0, 5)];
  }

  /// Stands for the Func that is being drawn; close_pipeline finds it by its name.
  auto self_decl(const DraftFunc& f) -> const FuncDecl* {
    for (const auto& s : decls_)
      if (s->name == f.name) return s.get();
    decls_.push_back(make_ref<FunctionDef>(f.name));
    return decls_.back().get();
  }

  // ---- values

  /// Every producer is read at least once.
  auto stage_value(Type t) -> Expr {
    Expr out;
    for (size_t p = 0; p < producers_.size(); ++p) {
      const int64_t taps = r_.chance(45) ? 1 : r_.uniform(2, 3);
      for (int64_t k = 0; k < taps; ++k) {
        const Expr tap = convert(t, read(p));
        out = out ? combine(t, out, tap) : tap;
      }
    }
    if (!out || r_.chance(25)) {
      const Expr more = value(t, 2);
      out = out ? combine(t, out, more) : more;
    }
    return out;
  }

  auto value(Type t, int depth) -> Expr {
    if (depth == 0 || r_.chance(25)) return leaf(t);
    if (t.is_bool()) return r_.chance(60) ? condition(depth - 1) : unary(UnaryOp::Not, value(t, depth - 1));
    switch (r_.uniform(0, 9)) {
      case 0: return select(condition(depth - 1), value(t, depth - 1), value(t, depth - 1));
      case 1: return convert(t, value(random_type(r_), depth - 1));
      case 2: return function(t, depth);
      case 3:
        if (t.is_int() || t.is_float()) return unary(UnaryOp::Neg, value(t, depth - 1));
        return unary(UnaryOp::BitNot, value(t, depth - 1));
      default: return combine(t, value(t, depth - 1), value(t, depth - 1));
    }
  }

  auto function(Type t, int depth) -> Expr {
    const Expr a = value(t, depth - 1);
    if (!t.is_float()) {
      const Expr e = r_.chance(50) ? call(Intrinsic::Abs, {a}) : call(Intrinsic::Absd, {a, value(t, depth - 1)});
      return convert(t, e);
    }
    static const Intrinsic kRounding[] = {Intrinsic::Floor, Intrinsic::Ceil, Intrinsic::Round,
                                          Intrinsic::Trunc, Intrinsic::Abs,  Intrinsic::Sqrt};
    static const Intrinsic kLibm[] = {Intrinsic::Exp, Intrinsic::Log, Intrinsic::Sin, Intrinsic::Cos};
    if (r_.chance(10)) return call(Intrinsic::Fma, {a, value(t, 0), value(t, 0)});
    if (shape_.transcendentals && r_.chance(15)) return call(kLibm[r_.uniform(0, 3)], {a});
    return call(kRounding[r_.uniform(0, 5)], {a});
  }

  auto condition(int depth) -> Expr {
    static const BinaryOp kCompare[] = {BinaryOp::LT, BinaryOp::LE, BinaryOp::GT,
                                        BinaryOp::GE, BinaryOp::EQ, BinaryOp::NE};
    const BinaryOp op = kCompare[r_.uniform(0, 5)];
    if (r_.chance(40) && !frame_.empty()) {
      const Expr x = var_ref(frame_[static_cast<size_t>(r_.uniform(0, static_cast<int64_t>(frame_.size()) - 1))]);
      if (r_.chance(40))
        return binary(op, binary(BinaryOp::Mod, x, index_imm(r_.uniform(2, 3))), index_imm(r_.uniform(0, 2)));
      return binary(op, x, index_imm(r_.uniform(-3, 12)));
    }
    if (depth > 0 && r_.chance(15))
      return binary(r_.chance(50) ? BinaryOp::And : BinaryOp::Or, condition(depth - 1), condition(depth - 1));
    const Type t = data_type();
    return binary(op, value(t, std::max(0, depth)), value(t, 0));
  }

  auto data_type() -> Type {
    Type t = random_type(r_);
    while (t.is_bool()) t = random_type(r_);
    return t;
  }

  auto leaf(Type t) -> Expr {
    const int64_t k = r_.uniform(0, 99);
    if (k < 45 && !producers_.empty())
      return convert(t, read(static_cast<size_t>(r_.uniform(0, static_cast<int64_t>(producers_.size()) - 1))));
    if (k < 70 && !frame_.empty())
      return convert(
          t, cast(int_type(32),
                  var_ref(frame_[static_cast<size_t>(r_.uniform(0, static_cast<int64_t>(frame_.size()) - 1))])));
    if (k < 78 && !params_.empty())
      return convert(t, var_ref(params_[static_cast<size_t>(r_.uniform(0, static_cast<int64_t>(params_.size()) - 1))]));
    if (t.is_bool()) return bool_imm(r_.chance(50));
    if (t.is_float()) return float_imm(t, static_cast<double>(r_.uniform(-20, 20)) / 8);
    return int_imm(t, r_.uniform(t.is_int() ? -9 : 0, 9));
  }

  static auto convert(Type t, const Expr& e) -> Expr { return cast(t, e); }

  auto combine(Type t, const Expr& a, const Expr& b) -> Expr {
    if (t.is_bool()) return binary(r_.chance(50) ? BinaryOp::And : BinaryOp::Or, a, b);
    static const BinaryOp kCommon[] = {BinaryOp::Add, BinaryOp::Add, BinaryOp::Add, BinaryOp::Sub,
                                       BinaryOp::Mul, BinaryOp::Min, BinaryOp::Max};
    static const BinaryOp kInt[] = {BinaryOp::BitAnd, BinaryOp::BitOr, BinaryOp::BitXor, BinaryOp::Shl,
                                    BinaryOp::Shr,    BinaryOp::Div,   BinaryOp::Mod};
    if (!t.is_float() && r_.chance(12)) return binary(kInt[r_.uniform(0, 6)], a, b);
    if (t.is_float() && r_.chance(4)) return binary(BinaryOp::Div, a, b);
    return binary(kCommon[r_.uniform(0, 6)], a, b);
  }

  // ---- accesses

  auto read(size_t p) -> Expr {
    const Producer& from = producers_[p];
    const size_t rank = from.func >= 0 ? funcs_[static_cast<size_t>(from.func)].args.size()
                                       : static_cast<size_t>(inputs_[static_cast<size_t>(from.input)].buffer->rank);
    while (styles_.size() <= p) styles_.emplace_back();
    if (styles_[p].empty())
      for (size_t d = 0; d < rank; ++d) {
        const bool ordered =
            from.func >= 0 && funcs_[static_cast<size_t>(from.func)].ordered_dim == static_cast<int>(d);
        styles_[p].push_back(ordered ? style_from(d, funcs_[static_cast<size_t>(from.func)].first) : random_style(d));
      }
    ExprList at;
    for (size_t d = 0; d < rank; ++d) at.push_back(subscript(styles_[p][d]));
    if (from.func < 0) {
      const auto& in = inputs_[static_cast<size_t>(from.input)];
      for (size_t d = 0; d < rank && in.own_bounds; ++d) {
        const Expr lo = var_ref(in.buffer->min[d]);
        const Expr hi = binary(BinaryOp::Sub, binary(BinaryOp::Add, lo, var_ref(in.buffer->extent[d])), index_imm(1));
        at[d] = clamp_index(at[d], lo, hi);
      }
      return load(in.buffer, at);
    }
    read_.push_back(from.func);
    const auto& f = funcs_[static_cast<size_t>(from.func)];
    const auto c = static_cast<size_t>(r_.uniform(0, static_cast<int64_t>(f.types.size()) - 1));
    return access(f.types[c], self_decl(f), {}, static_cast<int>(c), at);
  }

  auto random_style(size_t d) -> DimStyle {
    DimStyle s;
    if (frame_.empty()) {
      s.style = AccessStyle::fixed;
      return s;
    }
    const auto pick = [&] {
      return frame_[static_cast<size_t>(r_.uniform(0, static_cast<int64_t>(frame_.size()) - 1))];
    };
    s.var = d < frame_.size() && r_.chance(85) ? frame_[d] : pick();
    const auto& last = frame_.back();
    if (last->kind == SymbolKind::RVar && last != s.var && r_.chance(50)) s.more = last;
    const int64_t k = r_.uniform(0, 99);
    if (k < 59)
      s.style = AccessStyle::same;
    else if (k < 63)
      s.style = AccessStyle::mirrored;
    else if (k < 71)
      s.style = AccessStyle::down;
    else if (k < 80)
      s.style = AccessStyle::up;
    else if (k < 90)
      s.style = AccessStyle::clamped;
    else if (k < 92)
      s.style = AccessStyle::modulo;
    else if (k < 95)
      s.style = AccessStyle::fixed;
    else
      s.style = AccessStyle::data;
    s.lo = r_.uniform(-3, 2), s.hi = s.lo + r_.uniform(0, 14);
    return s;
  }

  /// Of a recurrence: it has no values before its first step.
  auto style_from(size_t d, int64_t first) -> DimStyle {
    DimStyle s;
    s.style = AccessStyle::from, s.lo = first, s.hi = first + 2;
    if (!frame_.empty()) s.var = d < frame_.size() && r_.chance(85) ? frame_[d] : frame_.back();
    return s;
  }

  auto subscript(const DimStyle& s) -> Expr {
    const int64_t offset = r_.chance(35) ? 0 : r_.uniform(-2, 2);
    if (s.style == AccessStyle::from && (!s.var || r_.chance(10))) return index_imm(r_.uniform(s.lo, s.hi));
    if (!s.var || s.style == AccessStyle::fixed) return index_imm(r_.uniform(-2, 3));
    Expr x = var_ref(s.var);
    if (s.more) x = binary(BinaryOp::Add, x, var_ref(s.more));
    switch (s.style) {
      case AccessStyle::same:
        if (r_.chance(4) && !params_.empty() && params_[0]->type == int_type(32))
          x = binary(BinaryOp::Add, x, cast(kIndex, var_ref(params_[0])));
        return plus(x, offset);
      case AccessStyle::down: return plus(binary(BinaryOp::Mul, x, index_imm(2)), offset);
      case AccessStyle::up:
        return plus(binary(BinaryOp::Div, plus(x, r_.uniform(0, 1)), index_imm(2)),
                    r_.chance(50) ? 0 : r_.uniform(-1, 1));
      case AccessStyle::clamped: return clamp_index(plus(x, offset), index_imm(s.lo), index_imm(s.hi));
      case AccessStyle::modulo: return binary(BinaryOp::Mod, plus(x, offset), index_imm(s.hi - s.lo + 1));
      case AccessStyle::data: return data_subscript(s.lo, s.hi);
      case AccessStyle::mirrored: return binary(BinaryOp::Sub, index_imm(s.hi + offset), x);
      case AccessStyle::from: return binary(BinaryOp::Max, plus(x, offset), index_imm(s.lo));
      case AccessStyle::fixed: break;
    }
    return index_imm(0);
  }

  /// A value of the pipeline as a subscript, clamped into a range.
  auto data_subscript(int64_t lo, int64_t hi) -> Expr {
    if (in_subscript_) return index_imm(lo);
    in_subscript_ = true;
    static const Type kTypes[] = {uint_type(8), int_type(32), uint_type(16)};
    const Type t = kTypes[r_.uniform(0, 2)];
    Expr v = value(t, 1);
    in_subscript_ = false;
    if (r_.chance(70)) v = binary(BinaryOp::Mod, v, int_imm(t, 16));
    return clamp_index(cast(kIndex, v), index_imm(lo), index_imm(hi));
  }

  CounterRandom r_;
  PipelineShape shape_;
  int rank_ = 2;
  std::vector<Input> inputs_;
  std::vector<SymbolRef> params_;
  std::vector<DraftFunc> funcs_;
  std::vector<Ref<FunctionDef>> decls_;
  std::vector<int> read_;
  // of the stage being drawn
  const DraftFunc* self_ = nullptr;
  std::vector<Producer> producers_;
  std::vector<std::vector<DimStyle>> styles_;
  std::vector<SymbolRef> frame_;  ///< variables that may stand on the right
  bool in_subscript_ = false;
};

}  // namespace

auto random_pipeline(CounterRandom random, const PipelineShape& shape) -> PipelineRef {
  return Maker(random, shape).make();
}

}  // namespace drawloom::fuzz
