#include "drawloom/lang/param.h"

#include "drawloom/ir/build.h"
#include "drawloom/lang/define.h"
#include "drawloom/lang/typing.h"
#include "drawloom/lang/var.h"

namespace drawloom {

auto value_of(const Symbol& param) -> const ParamValue* {
  return dynamic_cast<const ParamValue*>(param.attached.get());
}

AnyParam::AnyParam(Type type, const std::string& name, const Loc& loc)
    : symbol_(make_ref<Symbol>(SymbolKind::Param, checked_name(name, loc), type, loc)) {
  auto value = make_ref<ParamValue>();
  value->integer = 0;
  symbol_->attached = Ref<const Attachment>(value);
}
auto AnyParam::to_expr(const Loc& loc) const -> Expr { return var_ref(symbol_, loc); }
void AnyParam::set_integer(int64_t value) {
  auto& slot = const_cast<ParamValue&>(*value_of(*symbol_));
  slot.is_set = true;
  slot.integer = value;
}
void AnyParam::set_real(double value) {
  auto& slot = const_cast<ParamValue&>(*value_of(*symbol_));
  slot.is_set = true;
  slot.real = value;
}

ImageParam::ImageParam(Type type, int dimensions, const std::string& name, const std::source_location& at)
    : contents_(make_ref<BufferContents>()) {
  auto decl = make_ref<BufferDecl>(checked_name(name, at), type, dimensions, MemoryKind::Argument, at);
  decl->attached = Ref<const Attachment>(contents_);
  buffer_ = decl;
}
auto ImageParam::operator()(Arg a, Arg b, Arg c, Arg d, Arg e, Arg f) const -> Expr {
  ExprList args;
  for (const auto* arg : {&a, &b, &c, &d, &e, &f}) {
    if (arg->given()) args.push_back(arg->expr());
  }
  if (static_cast<int>(args.size()) != dimensions()) {
    throw Error(Diag(DiagKind::func_arity, a.loc(), name(), counted(dimensions(), "dimension"), args.size()));
  }
  for (auto& arg : args) arg = subscript(arg, name()).or_throw();
  return load(buffer_, std::move(args), {}, {}, a.loc());
}
auto ImageParam::operator()(ExprList args, const std::source_location& at) const -> Expr {
  if (static_cast<int>(args.size()) != dimensions()) {
    throw Error(Diag(DiagKind::func_arity, at, name(), counted(dimensions(), "dimension"), args.size()));
  }
  for (auto& arg : args) arg = subscript(arg, name()).or_throw();
  return load(buffer_, std::move(args), {}, {}, at);
}
void ImageParam::set(const AnyBuffer& contents) {
  if (contents.type() != type()) throw Error(Diag(DiagKind::buffer_type, {}, contents.name(), contents.type(), type()));
  if (contents.dimensions() != dimensions()) {
    throw Error(
        Diag(DiagKind::buffer_shape, {}, contents.name(), counted(contents.dimensions(), "dimension"), dimensions()));
  }
  contents_->storage = contents.shared();
}
void ImageParam::reset() { contents_->storage = {}; }

}  // namespace drawloom
