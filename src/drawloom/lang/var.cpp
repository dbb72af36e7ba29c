#include "drawloom/lang/var.h"

#include <algorithm>
#include <atomic>

#include "drawloom/ir/build.h"
#include "drawloom/lang/typing.h"
#include "drawloom/lang/walk.h"
#include "drawloom/steps/field_text.h"

namespace drawloom {
namespace {

/// Unnamed Vars are apart in messages and schedules; the numbers mean nothing else.
auto fresh_var_name() -> std::string {
  static std::atomic<uint64_t> count{0};
  return str("v{}", count++);
}

auto dim_name(const std::string& base, size_t dim) -> std::string {
  constexpr std::string_view kNames[] = {"x", "y", "z", "w"};
  return dim < std::size(kNames) ? str("{}{}", base, kNames[dim]) : str("{}{}", base, dim);
}

auto ranges_of(const std::vector<Arg>& args) -> std::vector<std::pair<Expr, Expr>> {
  std::vector<std::pair<Expr, Expr>> out;
  for (size_t i = 0; i + 1 < args.size() && args[i].given(); i += 2)
    out.emplace_back(args[i].expr(), args[i + 1].expr());
  return out;
}

}  // namespace

auto domain_bound(const Expr& e, std::string_view which, const std::string& name, const Loc& loc) -> Result<Expr> {
  DRAWLOOM_TRY(const Expr out, subscript(e, str("the domain `{}`", name)));
  Status status = Done{};
  for_each_node(out, [&](const Expr& node) {
    const auto* v = node.as<VarRef>();
    const bool varies = node.as<Access>() || node.as<Load>() || (v && !is_runtime_symbol(*v->symbol));
    if (!varies || !status.ok()) return;
    const auto what = v ? v->symbol->name : std::string("data");
    status = Diag(DiagKind::rdom_bounds, node.loc().known() ? node.loc() : loc, which, name, what);
  });
  if (!status.ok()) return status.diag();
  return out;
}

auto is_language_word(std::string_view word) -> bool {
  constexpr std::string_view kWords[] = {
#define BINARY_OP(name, text, kind) text,
#define INTRINSIC(name, text, arity) text,
#include "drawloom/ir/ops.def"
      "select", "cast", "let", "ramp", "broadcast", "extent", "stride", "over",
  };
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

auto checked_name(const std::string& name, const Loc& loc) -> const std::string& {
  const bool value = name == "true" || name == "false" || name == "inf" || name == "nan";
  if (is_name(name) && !value) return name;
  throw Error(
      Diag(DiagKind::name_malformed, loc, name).with_help("a name is a letter or `_`, then letters, digits and `_`"));
}

Var::Var(const std::source_location& at) : symbol_(make_symbol(SymbolKind::Var, fresh_var_name(), kIndex, at)) {}
Var::Var(const std::string& name, const std::source_location& at)
    : symbol_(make_symbol(SymbolKind::Var, checked_name(name, at), kIndex, at)) {}
auto Var::to_expr(const Loc& loc) const -> Expr { return var_ref(symbol_, loc); }

auto RVar::to_expr(const Loc& loc) const -> Expr {
  if (!symbol_) throw Error(Diag(DiagKind::expr_undefined, loc, "RVar").with_help("the domain has fewer dimensions"));
  return var_ref(symbol_, loc);
}

auto domain_of(const Symbol& rvar) -> const DomainBox& {
  DRAWLOOM_CHECK(rvar.kind == SymbolKind::RVar && rvar.attached, "{} has no domain", rvar.name);
  return static_cast<const DomainBox&>(*rvar.attached);
}

RDom::RDom(Arg min0, Arg extent0, Arg min1, Arg extent1, Arg min2, Arg extent2, Arg min3, Arg extent3) {
  build(ranges_of({min0, extent0, min1, extent1, min2, extent2, min3, extent3}), "r", min0.loc());
}
RDom::RDom(Arg min0, Arg extent0, const std::string& name) { build(ranges_of({min0, extent0}), name, min0.loc()); }
RDom::RDom(Arg min0, Arg extent0, Arg min1, Arg extent1, const std::string& name) {
  build(ranges_of({min0, extent0, min1, extent1}), name, min0.loc());
}
RDom::RDom(const std::vector<std::pair<Expr, Expr>>& ranges, const std::string& name, const std::source_location& at) {
  build(ranges, name, at);
}

void RDom::build(const std::vector<std::pair<Expr, Expr>>& ranges, const std::string& name, const Loc& loc) {
  checked_name(name, loc);
  if (ranges.empty()) throw Error(Diag(DiagKind::rdom_missing, loc, str("the domain `{}`", name)));
  auto box = make_ref<DomainBox>();
  box->loc = loc;
  for (size_t d = 0; d < ranges.size(); ++d) {
    const auto dim = dim_name(name, d);
    box->dims.push_back({dim, domain_bound(ranges[d].first, "the min", dim, loc).or_throw(),
                         domain_bound(ranges[d].second, "the extent", dim, loc).or_throw()});
  }
  box_ = box;
  for (const auto& dim : box->dims) {
    auto symbol = make_ref<Symbol>(SymbolKind::RVar, dim.name, kIndex, loc);
    symbol->attached = Ref<const Attachment>(box);
    vars_.emplace_back(SymbolRef(symbol));
  }
  RVar* const named[] = {&x, &y, &z, &w};
  for (size_t d = 0; d < std::min(vars_.size(), std::size(named)); ++d) *named[d] = vars_[d];
}

}  // namespace drawloom
