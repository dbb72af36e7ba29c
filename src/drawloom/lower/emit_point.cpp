#include <unordered_map>

#include "drawloom/ir/node_ops.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/lang/recurrence.h"
#include "drawloom/lower/emit_scope.h"
#include "drawloom/support/fault.h"
#include "drawloom/support/hash.h"

// One point of a stage. Inlining happens here and nowhere else: an access to an inlined Func becomes its expression
// with the subscripts in place of its args. Equal accesses (same Func, equal subscripts) become one shared expression,
// so a chain of Funcs that each use their predecessor twice costs its length, not two to the power of it.
//
//   b(x) = a(x) + a(x + 1), c(x) = b(x) + b(x + 1), b inlined in c at x = 5:
//     #1 = a[6]      c[5] = (a[5] + #1) + (#1 + a[7])
//
// Sharing starts from subscripts of equal structure; x + 1 and 1 + x are two points. The memo lasts for one point.

namespace drawloom {
namespace {

class PointEmitter;

/// Rewrites the expressions of one definition under one assignment of its dimensions.
class Inliner : public Rewriter<Inliner> {
 public:
  Inliner(PointEmitter& point, Substitution at) : point_(point), at_(std::move(at)) {}
  auto on(const VarRef& v, const Expr& self) -> Expr {
    const auto it = at_.find(v.symbol.get());
    return it == at_.end() ? self : it->second;
  }
  auto on(const Access& a, const Expr& self) -> Expr;

 private:
  PointEmitter& point_;
  Substitution at_;
};

class PointEmitter {
 public:
  PointEmitter(const Nest& nest, const EmitScope& scope) : nest_(nest), scope_(scope), fma_(nest.target.has_fma()) {}

  auto rewrite(const ExprList& written, const Substitution& at) -> ExprList {
    return Inliner(*this, at).rewrite(written);
  }

  /// Component `component` of Func `func` at `coords`.
  auto access(const FunctionDef& f, int component, const ExprList& coords, const Loc& loc) -> Expr {
    const int i = nest_.graph->find(f.name);
    const auto found = scope_.storage.find(i);
    if (found == scope_.storage.end()) {
      DRAWLOOM_CHECK(nest_.graph->func(i).is_inlined(), "{} is read where its storage is not in scope", f.name);
      return inlined(f, component, coords);
    }
    const auto& s = found->second;
    // The coordinates go along as the load's origin: the machine checks that a folded slot holds the element meant. The
    // subscripts of an argument are coordinates already.
    return load(s.buffers[static_cast<size_t>(component)], slots(s, coords), {}, s.is_argument ? ExprList{} : coords,
                loc);
  }

  /// Where an element lies: slot 0 holds the origin. Folded slots start at no origin, so that an element stays where it
  /// is while the window moves on.
  auto slots(const StorageHere& s, const ExprList& coords) const -> ExprList {
    if (s.is_argument) return coords;
    ExprList out;
    for (size_t d = 0; d < coords.size(); ++d) {
      const Form here = to_form(coords[d]);  // as forms, so that what coordinate and origin share cancels
      out.push_back(to_expr(s.fold[d] > 0 ? floor_mod(here, Form(s.fold[d])) : here - s.origin[d]));
    }
    return out;
  }

 private:
  struct Key {
    const FunctionDef* func;
    ExprList coords;
  };

  auto inlined(const FunctionDef& f, int component, const ExprList& coords) -> Expr {
    uint64_t h = hash_combine(hash_text(f.name), coords.size());
    for (size_t i = 0; i < coords.size() - (DRAWLOOM_FAULT(inline_confuses_points) ? 1 : 0); ++i)
      h = hash_combine(h, hash(coords[i]));
    auto& bucket = memo_[h];
    for (const auto& [key, values] : bucket)
      if (key.func == &f && same(key.coords, coords)) return values[static_cast<size_t>(component)];
    Substitution at;
    for (size_t d = 0; d < coords.size(); ++d) at[f.args[d].get()] = coords[d];
    const ExprList result = rewrite(f.pure.values_for(fma_), at);
    // looked up anew: inlining what f reads may have filled the table
    memo_[h].emplace_back(Key{&f, coords}, result);
    return result[static_cast<size_t>(component)];
  }

  static auto same(const ExprList& a, const ExprList& b) -> bool {
    for (size_t i = 0; i < a.size() - (DRAWLOOM_FAULT(inline_confuses_points) ? 1 : 0); ++i)
      if (!equal(a[i], b[i])) return false;
    return true;
  }

  const Nest& nest_;
  const EmitScope& scope_;
  bool fma_;
  std::unordered_map<uint64_t, std::vector<std::pair<Key, ExprList>>> memo_;
};

auto Inliner::on(const Access& a, const Expr& self) -> Expr {
  return point_.access(function_of(a), a.component, rewrite(a.args), self.loc());
}

}  // namespace

namespace {

/// A recurrence starts by choices on the step, `t == 0`, whose other sides read steps that do not exist: they become
/// branches. The first one at the root of a value, or nothing.
auto starting_choice(const FunctionDef& f, int stage, const ExprList& values) -> Expr {
  if (f.ordered_dim < 0 || stage != 0) return {};
  const auto is_step = [&](const Expr& e) {
    return offset_from(e, f.args[static_cast<size_t>(f.ordered_dim)].get()).has_value();
  };
  for (const auto& v : values) {
    const auto* s = v.as<Select>();
    const auto* c = s ? s->condition.as<Binary>() : nullptr;
    if (c && (is_step(c->a) || is_step(c->b))) return s->condition;
  }
  return {};
}

/// The values where `condition` holds, or where it does not.
auto decided(const ExprList& values, const Expr& condition, bool holds) -> ExprList {
  ExprList out;
  for (const auto& v : values) {
    const auto* s = v.as<Select>();
    out.push_back(!s || !equal(s->condition, condition) ? v : holds ? s->yes : s->no);
  }
  return out;
}

}  // namespace

auto emit_point(const Nest& nest, const StageLeaf& leaf, const EmitScope& scope,
                const std::map<const Symbol*, Expr>& at) -> Stmt {
  const auto& f = nest.func(leaf.what);
  const auto& def = f.def->stage(leaf.stage);
  const auto stored = scope.storage.find(leaf.what.func);
  DRAWLOOM_CHECK(stored != scope.storage.end(), "{} is computed where its storage is not in scope", f.name());
  const auto& storage = stored->second;
  Substitution map;
  for (const auto& [symbol, value] : at) map[symbol] = value;

  PointEmitter point(nest, scope);
  // the subscripts of an update may read data themselves
  const ExprList coords = point.rewrite(def.lhs, map);
  const ExprList slots = point.slots(storage, coords);
  const ExprList origin = storage.is_argument ? ExprList{} : coords;

  // Several components are assigned at once: all values are computed before the first store.
  const auto assign = [&](const ExprList& written) -> Stmt {
    const ExprList values = point.rewrite(written, map);
    std::vector<SymbolRef> names;
    if (values.size() > 1 && !DRAWLOOM_FAULT(tuple_stores_early))
      for (size_t c = 0; c < values.size(); ++c)
        names.push_back(make_symbol(SymbolKind::Let, str("{}.{}", f.name(), c), values[c].type(), def.loc));
    StmtList stores;
    for (size_t c = 0; c < values.size(); ++c) {
      const Expr value = names.empty() ? values[c] : var_ref(names[c], def.loc);
      stores.push_back(store(storage.buffers[c], slots, value, {}, origin, f.nontemporal, def.loc));
    }
    Stmt out = make_block(std::move(stores), def.loc);
    for (size_t c = names.size(); c-- > 0;) out = let_stmt(names[c], values[c], out, def.loc);
    return out;
  };

  const auto branches = [&](const auto& self, const ExprList& written) -> Stmt {
    const Expr start = starting_choice(*f.def, leaf.stage, written);
    if (!start) return assign(written);
    return make_if(point.rewrite({start}, map)[0], self(self, decided(written, start, true)),
                   self(self, decided(written, start, false)), def.loc);
  };
  return branches(branches, def.values_for(nest.target.has_fma()));
}

}  // namespace drawloom
