// Example: g(x) = sum(in(x + r)) makes
//     sum(x) = 0
//     sum(x) = sum(x) + in(x + r)     over the domain of r
// and g(x) = sum(x). What is free in the value becomes an argument: Vars, and RVars of other domains, such as the q of
// an update h(q) += sum(r, in(q + r)), where a Var stands for q inside.
#include "drawloom/lang/reduce.h"

#include <limits>

#include "drawloom/ir/build.h"
#include "drawloom/lang/define.h"
#include "drawloom/lang/typing.h"
#include "drawloom/lang/walk.h"

namespace drawloom {
namespace {

auto smallest(Type t) -> Expr {
  if (t.is_float()) return float_imm(t, -std::numeric_limits<double>::infinity());
  if (t.is_uint()) return int_imm(t, 0);
  return int_imm(t, static_cast<int64_t>(uint64_t{1} << (t.bits - 1)));
}
auto largest(Type t) -> Expr {
  if (t.is_float()) return float_imm(t, std::numeric_limits<double>::infinity());
  if (t.is_uint()) return int_imm(t, -1);
  return int_imm(t, static_cast<int64_t>((uint64_t{1} << (t.bits - 1)) - 1));
}

/// The neutral element of a reduction by `op`.
auto neutral(BinaryOp op, Type type) -> Expr {
  if (op == BinaryOp::Max) return smallest(type);
  if (op == BinaryOp::Min) return largest(type);
  return constant(type, op == BinaryOp::Mul);
}

void require(const Status& status) {
  if (!status.ok()) throw Error(status.diag());
}

auto reduce(BinaryOp op, const std::string& name, const DomainBox* box, const Arg& arg) -> Expr {
  const Loc& loc = arg.loc();
  if (!arg.expr().defined()) throw Error(Diag(DiagKind::expr_undefined, loc, name));
  Expr value = as_data(arg.expr());
  if (value.type().is_bool()) throw Error(Diag(DiagKind::type_unsupported, loc, name, value.type()));

  // Free Vars, and RVars of a domain around this one, become arguments.
  ExprList outside, inside;
  Substitution renamed;
  for (const auto& v : symbols_used({value}, SymbolKind::Var)) {
    outside.push_back(var_ref(v, loc));
    inside.push_back(outside.back());
  }
  bool runs = false;
  for (const auto& v : symbols_used({value}, SymbolKind::RVar)) {
    if (!box || &domain_of(*v) == box) {
      runs = true;
      continue;
    }
    outside.push_back(var_ref(v, loc));
    inside.push_back(var_ref(make_symbol(SymbolKind::Var, str("{}_", v->name), kIndex, loc), loc));
    renamed[v.get()] = inside.back();
  }
  if (!runs) {
    throw Error(
        Diag(DiagKind::rdom_missing, loc, str("`{}`", name)).with_help("use a variable of an RDom in its value"));
  }
  if (!renamed.empty()) value = substitute(value, renamed);

  auto def = make_ref<FunctionDef>(name);
  def->auto_named = true;
  def->loc = loc;
  require(define(*def, inside, {neutral(op, value.type())}, loc));
  const Expr before = call_func(def, 0, inside, loc).or_throw();
  require(define(*def, inside, {typed_binary(op, before, value, loc).or_throw()}, loc));
  return call_func(def, 0, outside, loc).or_throw();
}

}  // namespace

auto sum(Arg value) -> Expr { return reduce(BinaryOp::Add, "sum", nullptr, value); }
auto product(Arg value) -> Expr { return reduce(BinaryOp::Mul, "product", nullptr, value); }
auto maximum(Arg value) -> Expr { return reduce(BinaryOp::Max, "maximum", nullptr, value); }
auto minimum(Arg value) -> Expr { return reduce(BinaryOp::Min, "minimum", nullptr, value); }
auto sum(const RDom& domain, Arg value) -> Expr { return reduce(BinaryOp::Add, "sum", domain.box().get(), value); }
auto product(const RDom& domain, Arg value) -> Expr {
  return reduce(BinaryOp::Mul, "product", domain.box().get(), value);
}
auto maximum(const RDom& domain, Arg value) -> Expr {
  return reduce(BinaryOp::Max, "maximum", domain.box().get(), value);
}
auto minimum(const RDom& domain, Arg value) -> Expr {
  return reduce(BinaryOp::Min, "minimum", domain.box().get(), value);
}

}  // namespace drawloom
