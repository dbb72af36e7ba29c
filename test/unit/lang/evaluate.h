#pragma once
/// Values of expressions without calls of Funcs or loads, for tests of what the front end builds.

#include <unordered_map>

#include "drawloom/interp/scalar/value.h"
#include "drawloom/ir/nodes.h"

using Bindings = std::unordered_map<const drawloom::Symbol*, drawloom::Value>;

inline auto evaluate(const drawloom::Expr& e, const Bindings& bound) -> drawloom::Value {
  using namespace drawloom;
  bool open = false;
  if (const auto* n = e.as<IntImm>()) return int_value(n->type, n->value);
  if (const auto* n = e.as<FloatImm>()) return float_value(n->type, n->value);
  if (const auto* n = e.as<VarRef>()) return bound.at(n->symbol.get());
  if (const auto* n = e.as<Cast>()) return eval_cast(n->type, evaluate(n->value, bound), open);
  if (const auto* n = e.as<Unary>()) return eval_unary(n->op, evaluate(n->a, bound));
  if (const auto* n = e.as<Binary>()) return eval_binary(n->op, evaluate(n->a, bound), evaluate(n->b, bound), open);
  if (const auto* n = e.as<Select>()) return evaluate(evaluate(n->condition, bound).i ? n->yes : n->no, bound);
  const auto& n = e.to<Call>();
  std::vector<Value> args;
  for (const auto& a : n.args) args.push_back(evaluate(a, bound));
  return eval_call(n.function, args.data());
}
