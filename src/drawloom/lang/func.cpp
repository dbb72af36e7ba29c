#include "drawloom/lang/func.h"

#include <algorithm>

#include "drawloom/ir/build.h"
#include "drawloom/lang/buffer.h"
#include "drawloom/lang/define.h"
#include "drawloom/lang/param.h"
#include "drawloom/lang/typing.h"

namespace drawloom {
namespace {

auto make_def(const std::string& name, const Loc& loc) -> Ref<FunctionDef> {
  auto def = make_ref<FunctionDef>(name.empty() ? std::string("f") : checked_name(name, loc));
  def->auto_named = name.empty();
  def->loc = loc;
  return def;
}

void require(const Status& status) {
  if (!status.ok()) throw Error(status.diag());
}

/// `f(d0, d1, ..) = buffer(d0, d1, ..)`.
void define_as_elements(FunctionDef& def, const BufferRef& buffer, const Loc& loc) {
  def.name = buffer->name + "_im";
  ExprList args;
  for (int d = 0; d < buffer->rank; ++d)
    args.push_back(var_ref(make_symbol(SymbolKind::Var, str("d{}", d), kIndex, loc), loc));
  require(define(def, args, {load(buffer, args, {}, {}, loc)}, loc));
}

/// The left side of the definition that comes before a first `+=`: every subscript that is no plain Var gets one.
auto implicit_args(const ExprList& args, const Loc& loc) -> ExprList {
  ExprList out;
  std::vector<std::string> names;
  const auto taken = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (size_t d = 0; d < args.size(); ++d) {
    const auto* v = args[d].as<VarRef>();
    if (v && v->symbol->kind == SymbolKind::Var && !taken(v->symbol->name)) {
      out.push_back(args[d]);
    } else {
      auto name = str("d{}", d);
      while (taken(name)) name += "_";
      out.push_back(var_ref(make_symbol(SymbolKind::Var, name, kIndex, loc), loc));
    }
    names.push_back(out.back().to<VarRef>().symbol->name);
  }
  return out;
}

}  // namespace

Tuple::Tuple(Arg a, Arg b, Arg c, Arg d, Arg e, Arg f) {
  for (const auto* value : {&a, &b, &c, &d, &e, &f}) {
    if (value->given()) values_.push_back(value->expr());
  }
}

auto FuncComponent::to_expr(const Loc&) const -> Expr { return call_func(def_, component_, args_, loc_).or_throw(); }

auto FuncRef::to_expr(const Loc&) const -> Expr {
  if (def_->components() > 1) {
    throw Error(Diag(DiagKind::func_tuple, loc_, def_->name, def_->components())
                    .with_help(str("{}(..)[0] is its first", def_->name)));
  }
  return call_func(def_, 0, args_, loc_).or_throw();
}

auto FuncRef::operator=(Arg value) -> FuncRef& {
  require(define(*def_, args_, {value.expr()}, loc_));
  return *this;
}
auto FuncRef::operator=(const FuncRef& value) -> FuncRef& { return *this = Arg(value.to_expr({})); }
auto FuncRef::operator=(const Tuple& values) -> FuncRef& {
  require(define(*def_, args_, values.values(), loc_));
  return *this;
}
auto FuncRef::update(BinaryOp op, int identity, const Arg& value) -> FuncRef& {
  if (!value.expr().defined()) throw Error(Diag(DiagKind::expr_undefined, loc_, op_text(op)));
  if (!def_->defined()) {
    const Type type = def_->types.empty() ? as_data(value.expr()).type() : def_->types[0];
    require(define(*def_, implicit_args(args_, loc_), {constant(type, identity, loc_)}, loc_));
  }
  const Expr changed = typed_binary(op, to_expr({}), value.expr(), loc_).or_throw();
  require(define(*def_, args_, {changed}, loc_));
  return *this;
}
auto FuncRef::operator+=(Arg value) -> FuncRef& { return update(BinaryOp::Add, 0, value); }
auto FuncRef::operator-=(Arg value) -> FuncRef& { return update(BinaryOp::Sub, 0, value); }
auto FuncRef::operator*=(Arg value) -> FuncRef& { return update(BinaryOp::Mul, 1, value); }
auto FuncRef::operator/=(Arg value) -> FuncRef& { return update(BinaryOp::Div, 1, value); }

Func::Func(const std::source_location& at) : def_(make_def("", at)) {}
Func::Func(const std::string& name, const std::source_location& at) : def_(make_def(name, at)) {}
Func::Func(Type type, int dimensions, const std::string& name, const std::source_location& at)
    : Func(std::vector<Type>{type}, dimensions, name, at) {}
Func::Func(std::vector<Type> types, int dimensions, const std::string& name, const std::source_location& at)
    : def_(make_def(name, at)) {
  def_->types = std::move(types);
  def_->declared_rank = dimensions;
}
Func::Func(const Expr& value, const std::source_location& at) : def_(make_def("", at)) {
  require(define(*def_, {}, {value}, at));
}
Func::Func(const AnyBuffer& buffer, const std::source_location& at) : def_(make_def("", at)) {
  define_as_elements(*def_, buffer.declaration(), at);
}
Func::Func(const ImageParam& image, const std::source_location& at) : def_(make_def("", at)) {
  define_as_elements(*def_, image.buffer(), at);
}

auto Func::operator()(const std::source_location& at) const -> FuncRef { return (*this)(ExprList(), at); }
auto Func::operator()(Arg a, Arg b, Arg c, Arg d, Arg e, Arg f, Arg g, Arg h) const -> FuncRef {
  ExprList args;
  for (const auto* arg : {&a, &b, &c, &d, &e, &f, &g, &h}) {
    if (!arg->given()) break;
    args.push_back(arg->expr());
  }
  return FuncRef(def_, std::move(args), a.loc());
}
auto Func::operator()(const std::vector<Var>& args, const std::source_location& at) const -> FuncRef {
  ExprList list;
  for (const auto& v : args) list.push_back(v.to_expr(at));
  return FuncRef(def_, std::move(list), at);
}
auto Func::operator()(ExprList args, const std::source_location& at) const -> FuncRef {
  return FuncRef(def_, std::move(args), at);
}

auto Func::args() const -> std::vector<std::string> {
  std::vector<std::string> out;
  for (const auto& a : def_->args) out.push_back(a->name);
  return out;
}

auto Func::update(int i, const std::source_location& at) -> FuncStage {
  const int count = num_update_definitions();
  if (i < 0 || i >= count) {
    throw Error(Diag(DiagKind::name_missing, at, name(), counted(count, "update"), str("update({})", i)));
  }
  return {def_, i};
}

}  // namespace drawloom
