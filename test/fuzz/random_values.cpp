// Values: random expressions over what a stage may read.

#include <algorithm>

#include "pipeline_maker.h"

namespace drawloom::fuzz {

auto random_type(CounterRandom& r) -> Type {
  static const Type kTypes[] = {uint_type(8),   uint_type(8),   uint_type(16), uint_type(16),  int_type(16),
                                int_type(32),   int_type(32),   uint_type(32), float_type(32), float_type(32),
                                float_type(32), float_type(64), int_type(64),  int_type(8),    uint_type(64)};
  if (r.chance(2)) return kBool;
  return kTypes[r.uniform(0, static_cast<int64_t>(std::size(kTypes)) - 1)];
}

auto PipelineMaker::stage_value(Type t) -> Expr {
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

auto PipelineMaker::value(Type t, int depth) -> Expr {
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

auto PipelineMaker::function(Type t, int depth) -> Expr {
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

auto PipelineMaker::condition(int depth) -> Expr {
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

auto PipelineMaker::data_type() -> Type {
  Type t = random_type(r_);
  while (t.is_bool()) t = random_type(r_);
  return t;
}

auto PipelineMaker::leaf(Type t) -> Expr {
  const int64_t k = r_.uniform(0, 99);
  if (k < 45 && !producers_.empty())
    return convert(t, read(static_cast<size_t>(r_.uniform(0, static_cast<int64_t>(producers_.size()) - 1))));
  if (k < 70 && !frame_.empty())
    return convert(t,
                   cast(int_type(32),
                        var_ref(frame_[static_cast<size_t>(r_.uniform(0, static_cast<int64_t>(frame_.size()) - 1))])));
  if (k < 78 && !params_.empty())
    return convert(t, var_ref(params_[static_cast<size_t>(r_.uniform(0, static_cast<int64_t>(params_.size()) - 1))]));
  if (t.is_bool()) return bool_imm(r_.chance(50));
  if (t.is_float()) return float_imm(t, static_cast<double>(r_.uniform(-20, 20)) / 8);
  return int_imm(t, r_.uniform(t.is_int() ? -9 : 0, 9));
}

auto PipelineMaker::convert(Type t, const Expr& e) -> Expr { return cast(t, e); }

auto PipelineMaker::combine(Type t, const Expr& a, const Expr& b) -> Expr {
  if (t.is_bool()) return binary(r_.chance(50) ? BinaryOp::And : BinaryOp::Or, a, b);
  static const BinaryOp kCommon[] = {BinaryOp::Add, BinaryOp::Add, BinaryOp::Add, BinaryOp::Sub,
                                     BinaryOp::Mul, BinaryOp::Min, BinaryOp::Max};
  static const BinaryOp kInt[] = {BinaryOp::BitAnd, BinaryOp::BitOr, BinaryOp::BitXor, BinaryOp::Shl,
                                  BinaryOp::Shr,    BinaryOp::Div,   BinaryOp::Mod};
  if (!t.is_float() && r_.chance(12)) return binary(kInt[r_.uniform(0, 6)], a, b);
  if (t.is_float() && r_.chance(4)) return binary(BinaryOp::Div, a, b);
  return binary(kCommon[r_.uniform(0, 6)], a, b);
}

}  // namespace drawloom::fuzz
