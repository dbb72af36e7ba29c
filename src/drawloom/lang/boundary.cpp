#include "drawloom/lang/boundary.h"

#include "drawloom/ir/build.h"
#include "drawloom/lang/define.h"
#include "drawloom/lang/typing.h"

namespace drawloom::BoundaryConditions {
namespace {

auto whole(const BufferRef& buffer) -> Bounds {
  Bounds out;
  for (int d = 0; d < buffer->rank; ++d) out.emplace_back(BufferDim(buffer, d).min(), BufferDim(buffer, d).extent());
  return out;
}

/// One bounded dimension.
struct Limits {
  Expr min, max;
};

class Border {
 public:
  Border(const Func& source, const Bounds& bounds, const Loc& loc, const std::string& name) : loc_(loc) {
    const auto& def = *source.definition();
    if (!def.defined()) throw Error(Diag(DiagKind::func_undefined, loc, def.name));
    if (static_cast<int>(bounds.size()) > def.rank()) {
      throw Error(Diag(DiagKind::func_arity, loc, def.name, counted(def.rank(), "dimension"), bounds.size()));
    }
    for (size_t d = 0; d < def.args.size(); ++d) {
      args_.push_back(var_ref(make_symbol(SymbolKind::Var, def.args[d]->name, kIndex, loc), loc));
      const bool bounded = d < bounds.size() && bounds[d].first.defined() && bounds[d].second.defined();
      limits_.push_back(bounded ? limits(bounds[d], def.name) : Limits{});
    }
    def_ = make_ref<FunctionDef>(name);
    def_->auto_named = true;
    def_->loc = loc;
  }

  /// The coordinates of the nearest point inside.
  auto inside() const -> ExprList {
    ExprList out;
    for (size_t d = 0; d < args_.size(); ++d) {
      if (!limits_[d].min.defined()) {
        out.push_back(args_[d]);
        continue;
      }
      const Expr below = binary(BinaryOp::Min, args_[d], limits_[d].max, loc_);
      out.push_back(binary(BinaryOp::Max, below, limits_[d].min, loc_));
    }
    return out;
  }
  /// Whether the point is outside; undefined when nothing is bounded.
  auto is_outside() const -> Expr {
    Expr any;
    for (size_t d = 0; d < args_.size(); ++d) {
      if (!limits_[d].min.defined()) continue;
      const Expr below = binary(BinaryOp::LT, args_[d], limits_[d].min, loc_);
      const Expr here = binary(BinaryOp::Or, below, binary(BinaryOp::GT, args_[d], limits_[d].max, loc_), loc_);
      any = any.defined() ? binary(BinaryOp::Or, any, here, loc_) : here;
    }
    return any;
  }
  auto result(const ExprList& values) -> Func {
    const auto status = define(*def_, args_, values, loc_);
    if (!status.ok()) throw Error(status.diag());
    return Func(def_);
  }

 private:
  auto limits(const std::pair<Expr, Expr>& bounds, const std::string& name) const -> Limits {
    const Expr min = subscript(bounds.first, name).or_throw();
    const Expr past = binary(BinaryOp::Add, min, subscript(bounds.second, name).or_throw(), loc_);
    return {min, binary(BinaryOp::Sub, past, index_imm(1, loc_), loc_)};
  }
  Loc loc_;
  ExprList args_;
  std::vector<Limits> limits_;
  Ref<FunctionDef> def_;
};

auto component(const Func& source, int i, const ExprList& args, const Loc& loc) -> Expr {
  return call_func(source.definition(), i, args, loc).or_throw();
}

auto repeat(const Func& source, const Bounds& bounds, const Loc& loc) -> Func {
  Border border(source, bounds, loc, "repeat_edge");
  ExprList values;
  for (int i = 0; i < source.definition()->components(); ++i)
    values.push_back(component(source, i, border.inside(), loc));
  return border.result(values);
}

auto constant_outside(const Func& source, const Arg& value, const Bounds& bounds) -> Func {
  const Loc& loc = value.loc();
  Border border(source, bounds, loc, "constant_exterior");
  const Expr outside = border.is_outside();
  ExprList values;
  for (int i = 0; i < source.definition()->components(); ++i) {
    // Clamped here too, though the select hides what is outside: regions are found from subscripts, whatever is
    // selected.
    const Expr inner = component(source, i, border.inside(), loc);
    if (!value.expr().defined()) throw Error(Diag(DiagKind::expr_undefined, loc, "constant_exterior"));
    const Expr outer = lossless(inner.type(), value.expr());
    if (!outer.defined()) {
      throw Error(Diag(DiagKind::type_clash, loc, "constant_exterior", inner.type(), value.expr().type())
                      .with_help(str("cast the value to {}", inner.type())));
    }
    values.push_back(outside.defined() ? select(outside, outer, inner, loc) : inner);
  }
  return border.result(values);
}

}  // namespace

auto constant_exterior(const Func& source, Arg value, const Bounds& bounds) -> Func {
  return constant_outside(source, value, bounds);
}
auto constant_exterior(const ImageParam& source, Arg value) -> Func {
  return constant_outside(Func(source), value, whole(source.buffer()));
}
auto constant_exterior(const AnyBuffer& source, Arg value) -> Func {
  return constant_outside(Func(source), value, whole(source.declaration()));
}
auto repeat_edge(const Func& source, const Bounds& bounds, const std::source_location& at) -> Func {
  return repeat(source, bounds, at);
}
auto repeat_edge(const ImageParam& source, const std::source_location& at) -> Func {
  return repeat(Func(source), whole(source.buffer()), at);
}
auto repeat_edge(const AnyBuffer& source, const std::source_location& at) -> Func {
  return repeat(Func(source), whole(source.declaration()), at);
}

}  // namespace drawloom::BoundaryConditions
