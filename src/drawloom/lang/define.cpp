// One definition, checked and brought into the form that the rest of the compiler sees.
//
// Example: after f(x, y) = 0, the update f(u, 3) = f(u, 3) + u is stored as f(x, 3) = f(x, 3) + x. Vars are labels:
// those of an update are renamed to the arguments, so that all stages speak of the same dimensions, and a dimension
// with a plain Var is pure. RVars bring their domain with them.
//
// An attempt works on its own copy and touches the Func last, so that a refused definition leaves no trace. Reads of
// the Func itself give up their ownership of it: a definition that owns itself would never be freed.
#include "drawloom/lang/define.h"

#include <algorithm>

#include "drawloom/ir/build.h"
#include "drawloom/ir/node_ops.h"
#include "drawloom/lang/contraction.h"
#include "drawloom/lang/recurrence.h"
#include "drawloom/lang/typing.h"
#include "drawloom/lang/var.h"
#include "drawloom/lang/walk.h"

namespace drawloom {
namespace {

auto plain_var(const Expr& e) -> SymbolRef {
  const auto* v = e.as<VarRef>();
  return v && v->symbol->kind == SymbolKind::Var ? v->symbol : SymbolRef();
}

/// Reads of the Func that is being defined must not own it.
struct Disowner : Rewriter<Disowner> {
  explicit Disowner(const FunctionDef& f) : self(&f) {}
  auto on(const Access& n, const Expr& e) -> Expr {
    if (n.func != self || !n.owner) return rewrite_children(e);
    return access(n.type, n.func, {}, n.component, rewrite(n.args), n.loc);
  }
  const FunctionDef* self;
};

/// One definition on its way into `f`.
class Attempt {
 public:
  Attempt(FunctionDef& f, const ExprList& lhs, const ExprList& values, const Loc& loc) : f_(f) {
    def_.lhs = lhs;
    def_.values = values;
    def_.loc = loc;
  }

  auto pure() -> Status {
    DRAWLOOM_REQUIRE(check_open());
    DRAWLOOM_REQUIRE(check_values());
    if (f_.declared_rank >= 0) DRAWLOOM_REQUIRE(check_rank(f_.declared_rank));
    DRAWLOOM_REQUIRE(take_args());
    DRAWLOOM_REQUIRE(no_rvars(def_.values, str("the pure definition of {}", f_.name)));
    DRAWLOOM_REQUIRE(bind_vars(def_.values, args_));
    DRAWLOOM_REQUIRE(give_types());
    DRAWLOOM_REQUIRE(check_calls(def_.values));
    disown();
    const auto old_args = std::exchange(f_.args, args_);
    auto order = order_of_pure(f_, def_);
    if (!order.ok()) {
      f_.args = old_args;
      return order.diag();
    }
    f_.types = types_;
    f_.ordered_dim = order->dim;
    f_.ordered_first = order->first;
    finish();
    f_.pure = std::move(def_);
    return Done{};
  }

  auto update() -> Status {
    DRAWLOOM_REQUIRE(check_open());
    DRAWLOOM_REQUIRE(check_values());
    DRAWLOOM_REQUIRE(check_rank(f_.rank()));
    for (auto& e : def_.lhs) {
      DRAWLOOM_TRY(e, subscript(e, f_.name));
    }
    DRAWLOOM_REQUIRE(take_pure_vars());
    DRAWLOOM_REQUIRE(bind_vars(def_.lhs, pure_vars_));
    DRAWLOOM_REQUIRE(bind_vars(def_.values, pure_vars_));
    DRAWLOOM_REQUIRE(take_domain());
    DRAWLOOM_REQUIRE(keep_types());
    DRAWLOOM_REQUIRE(check_calls(all()));
    disown();
    DRAWLOOM_REQUIRE(check_self_reads());
    if (def_.rdom) join_order(order_of_update(f_, def_));
    finish();
    f_.updates.push_back(std::move(def_));
    return Done{};
  }

 private:
  auto all() const -> ExprList {
    ExprList out = def_.lhs;
    out.insert(out.end(), def_.values.begin(), def_.values.end());
    return out;
  }

  auto check_open() -> Status {
    if (!f_.frozen) return Done{};
    return Diag(DiagKind::func_frozen, def_.loc, f_.name)
        .with_note(f_.frozen_at, str("{} is used here", f_.name))
        .with_help("make all its definitions before the first use");
  }
  auto check_values() -> Status {
    for (const auto& e : all()) {
      if (!e.defined()) return Diag(DiagKind::expr_undefined, def_.loc, f_.name);
    }
    return Done{};
  }
  auto check_rank(int rank) -> Status {
    const int given = static_cast<int>(def_.lhs.size());
    if (given == rank) return Done{};
    return Diag(DiagKind::func_arity, def_.loc, f_.name, counted(rank, "dimension"), given);
  }

  /// Pure: the left side is the list of arguments.
  auto take_args() -> Status {
    for (const auto& e : def_.lhs) {
      const auto symbol = plain_var(e);
      if (!symbol) {
        DRAWLOOM_REQUIRE(no_rvars({e}, str("the pure definition of {}", f_.name)));
        return bad_argument("an expression");
      }
      if (find(args_, symbol->name)) return bad_argument(str("`{}` twice", symbol->name));
      args_.push_back(symbol);
    }
    return Done{};
  }
  auto bad_argument(std::string_view what) -> Status {
    return Diag(DiagKind::definition_argument, def_.loc, f_.name, what);
  }
  static auto find(const std::vector<SymbolRef>& list, const std::string& name) -> SymbolRef {
    for (const auto& s : list) {
      if (s->name == name) return s;
    }
    return {};
  }
  auto no_rvars(const ExprList& list, std::string_view where) -> Status {
    const auto rvars = symbols_used(list, SymbolKind::RVar);
    if (rvars.empty()) return Done{};
    return Diag(DiagKind::rvar_misplaced, def_.loc, where, rvars[0]->name)
        .with_help(str("define {} first, then update it over the domain; or use sum, maximum or minimum", f_.name));
  }

  /// Update: a dimension whose subscript is a lone Var is pure, whatever the Var's name.
  auto take_pure_vars() -> Status {
    Substitution renamed;
    std::vector<SymbolRef> written;
    for (size_t d = 0; d < def_.lhs.size(); ++d) {
      const auto symbol = plain_var(def_.lhs[d]);
      if (!symbol) continue;
      if (find(written, symbol->name)) return bad_argument(str("`{}` twice", symbol->name));
      written.push_back(symbol);
      pure_vars_.push_back(f_.args[d]);
      if (symbol->name != f_.args[d]->name) renamed[symbol.get()] = var_ref(f_.args[d], def_.lhs[d].loc());
    }
    if (renamed.empty()) return Done{};
    for (auto* list : {&def_.lhs, &def_.values}) {
      for (auto& e : *list) e = substitute(e, renamed);
    }
    return Done{};
  }

  /// Vars are the same when their names are.
  auto bind_vars(ExprList& list, const std::vector<SymbolRef>& known) -> Status {
    Substitution map;
    for (const auto& used : symbols_used(list, SymbolKind::Var)) {
      const auto bound = find(known, used->name);
      if (!bound) return unknown_var(*used, known);
      if (bound != used) map[used.get()] = var_ref(bound);
    }
    if (map.empty()) return Done{};
    for (auto& e : list) e = substitute(e, map);
    return Done{};
  }
  auto unknown_var(const Symbol& var, const std::vector<SymbolRef>& known) -> Diag {
    std::vector<std::string> names;
    for (const auto& s : known) names.push_back(s->name);
    const Diag diag(DiagKind::var_unknown, def_.loc, f_.name, var.name);
    return diag.with_help(names.empty() ? std::string("nothing on the left is a plain Var")
                                        : str("the Vars on the left are {}", join(names, ", ")));
  }

  auto take_domain() -> Status {
    const auto used = symbols_used(all(), SymbolKind::RVar);
    if (used.empty()) return Done{};
    const auto& box = domain_of(*used[0]);
    for (const auto& symbol : used) {
      if (&domain_of(*symbol) != &box) {
        return Diag(DiagKind::rdom_mixed, def_.loc, str("an update of {}", f_.name), used[0]->name, symbol->name)
            .with_help("make one RDom of both, with more dimensions");
      }
    }
    auto domain = make_ref<ReductionDomain>();
    domain->loc = box.loc;
    for (const auto& dim : box.dims) {
      if (find(pure_vars_, dim.name))
        return Diag(DiagKind::name_clash, def_.loc, str("loops of an update of {}", f_.name), dim.name);
      auto symbol = find(used, dim.name);
      if (!symbol) symbol = make_symbol(SymbolKind::RVar, dim.name, kIndex, box.loc);
      domain->dims.push_back({symbol, dim.min, dim.extent});
    }
    def_.rdom = domain;
    return Done{};
  }

  auto give_types() -> Status {
    if (!f_.types.empty() && f_.types.size() != def_.values.size()) {
      return Diag(DiagKind::func_type, def_.loc, f_.name, counted(f_.components(), "component"), def_.values.size());
    }
    for (size_t i = 0; i < def_.values.size(); ++i) {
      Expr& value = def_.values[i];
      const Type written = value.type();
      value = f_.types.empty() ? as_data(value) : lossless(f_.types[i], value);
      if (!value.defined()) {
        return Diag(DiagKind::func_type, def_.loc, f_.name, f_.types[i], written)
            .with_help(str("cast the value to {}", f_.types[i]));
      }
      types_.push_back(value.type());
    }
    return Done{};
  }
  auto keep_types() -> Status {
    if (def_.values.size() != f_.types.size()) {
      return Diag(DiagKind::update_type, def_.loc, f_.name, counted(f_.components(), "component"), def_.values.size());
    }
    for (size_t i = 0; i < def_.values.size(); ++i) {
      Expr& value = def_.values[i];
      const Type written = value.type();
      value = lossless(f_.types[i], value);
      if (value.defined()) continue;
      return Diag(DiagKind::update_type, def_.loc, f_.name, f_.types[i], as_data_type(written))
          .with_help(str("cast the value to {}, or define {} with the wider type", f_.types[i], f_.name));
    }
    return Done{};
  }
  static auto as_data_type(Type t) -> Type { return t.is_index() ? int_type(32) : t; }

  /// Whatever is called has a definition by now, and the self-reads have as many subscripts as the left side.
  auto check_calls(const ExprList& list) -> Status {
    Status out = Done{};
    for_each_node(list, [&](const Expr& e) {
      const auto* a = e.as<Access>();
      if (!a || !out.ok()) return;
      const auto& callee = function_of(*a);
      if (&callee == &f_) {
        if (a->args.size() != def_.lhs.size()) {
          out = Diag(DiagKind::func_arity, e.loc(), f_.name, counted(static_cast<int>(def_.lhs.size()), "dimension"),
                     a->args.size());
        }
      } else if (!callee.defined()) {
        out = Diag(DiagKind::func_undefined, e.loc(), callee.name)
                  .with_help(str("define {} before {} uses it", callee.name, f_.name));
      }
    });
    return out;
  }

  /// Where the left side has a plain Var, a read of the old values has the same one: else the order of points would
  /// show.
  auto check_self_reads() -> Status {
    Status out = Done{};
    for_each_node(all(), [&](const Expr& e) {
      const auto* a = e.as<Access>();
      if (!a || a->func != &f_ || !out.ok()) return;
      for (size_t d = 0; d < def_.lhs.size(); ++d) {
        if (!plain_var(def_.lhs[d]) || equal(a->args[d], def_.lhs[d])) continue;
        out = Diag(DiagKind::update_self_read, e.loc(), f_.name, f_.args[d]->name)
                  .with_help(str("let a variable of an RDom run along {}, or read another Func", f_.args[d]->name));
      }
    });
    return out;
  }

  /// The first ordered stage decides; a later one along another dimension is an ordinary update.
  void join_order(const Order& order) {
    if (order.dim < 0) return;
    if (f_.ordered_dim < 0) f_.ordered_dim = order.dim, f_.ordered_first = order.first;
  }

  void disown() {
    Disowner disowner(f_);
    def_.lhs = disowner.rewrite(def_.lhs);
    def_.values = disowner.rewrite(def_.values);
  }

  void finish() {
    def_.contracted = contract(def_.lhs, def_.values);
    for_each_node(all(), [&](const Expr& e) {
      const auto* a = e.as<Access>();
      if (a && a->func != &f_) freeze(function_of(*a), e.loc());
    });
  }

  FunctionDef& f_;
  Definition def_;
  std::vector<SymbolRef> args_, pure_vars_;
  std::vector<Type> types_;
};

}  // namespace

auto counted(int n, std::string_view what) -> std::string { return str("{} {}{}", n, what, n == 1 ? "" : "s"); }

void freeze(const FunctionDef& f, const Loc& loc) {
  if (f.frozen) return;
  // Definitions see each other as const; being used is the one thing that happens to a definition from outside.
  auto& open = const_cast<FunctionDef&>(f);
  open.frozen = true;
  open.frozen_at = loc;
}

auto define(FunctionDef& f, const ExprList& lhs, const ExprList& values, const Loc& loc) -> Status {
  Attempt attempt(f, lhs, values, loc);
  return f.defined() ? attempt.update() : attempt.pure();
}

auto call_func(const Ref<FunctionDef>& f, int component, const ExprList& args, const Loc& loc) -> Result<Expr> {
  if (f->types.empty()) {
    return Diag(DiagKind::func_undefined, loc, f->name)
        .with_help(str("define it first; a recurrence declares its type, as in Func {}(Float(32), {}, \"{}\")", f->name,
                       args.size(), f->name));
  }
  const int rank = f->defined() ? f->rank() : f->declared_rank;
  if (rank >= 0 && static_cast<int>(args.size()) != rank) {
    return Diag(DiagKind::func_arity, loc, f->name, counted(rank, "dimension"), args.size())
        .with_note(f->pure.loc.known() ? f->pure.loc : f->loc, str("{} is defined here", f->name));
  }
  if (component < 0 || component >= f->components()) {
    return Diag(DiagKind::name_missing, loc, f->name, counted(f->components(), "component"),
                str("component {}", component));
  }
  ExprList index;
  for (const auto& e : args) {
    DRAWLOOM_TRY(auto i, subscript(e, f->name));
    index.push_back(std::move(i));
  }
  return access(f->types[static_cast<size_t>(component)], f.get(), f, component, std::move(index), loc);
}

}  // namespace drawloom
