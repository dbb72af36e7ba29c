// Accesses: which elements of a producer a stage reads.

#include "pipeline_maker.h"

namespace drawloom::fuzz {

auto PipelineMaker::read(size_t p) -> Expr {
  const Producer& from = producers_[p];
  const size_t rank = from.func >= 0 ? funcs_[static_cast<size_t>(from.func)].args.size()
                                     : static_cast<size_t>(inputs_[static_cast<size_t>(from.input)].buffer->rank);
  while (styles_.size() <= p) styles_.emplace_back();
  if (styles_[p].empty())
    for (size_t d = 0; d < rank; ++d) {
      const bool ordered = from.func >= 0 && funcs_[static_cast<size_t>(from.func)].ordered_dim == static_cast<int>(d);
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

auto PipelineMaker::random_style(size_t d) -> DimStyle {
  DimStyle s;
  if (frame_.empty()) {
    s.style = AccessStyle::fixed;
    return s;
  }
  const auto pick = [&] { return frame_[static_cast<size_t>(r_.uniform(0, static_cast<int64_t>(frame_.size()) - 1))]; };
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

auto PipelineMaker::style_from(size_t d, int64_t first) -> DimStyle {
  DimStyle s;
  s.style = AccessStyle::from, s.lo = first, s.hi = first + 2;
  if (!frame_.empty()) s.var = d < frame_.size() && r_.chance(85) ? frame_[d] : frame_.back();
  return s;
}

auto PipelineMaker::subscript(const DimStyle& s) -> Expr {
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

auto PipelineMaker::data_subscript(int64_t lo, int64_t hi) -> Expr {
  if (in_subscript_) return index_imm(lo);
  in_subscript_ = true;
  static const Type kTypes[] = {uint_type(8), int_type(32), uint_type(16)};
  const Type t = kTypes[r_.uniform(0, 2)];
  Expr v = value(t, 1);
  in_subscript_ = false;
  if (r_.chance(70)) v = binary(BinaryOp::Mod, v, int_imm(t, 16));
  return clamp_index(cast(kIndex, v), index_imm(lo), index_imm(hi));
}

}  // namespace drawloom::fuzz
