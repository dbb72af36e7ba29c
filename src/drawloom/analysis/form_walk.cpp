// Substitution and symbols of forms. Each visits a shared atom once.
//
//   8*xo + min(n, xi) with xi = 7, n = 16   ->  8*xo + 7
//
// Terms that no replaced symbol touches are kept as they are, the others are multiplied out anew and added, so a
// substitution brings a form back into canonical shape. A form whose symbols all stay is returned itself, so
// that what was shared stays shared.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "drawloom/analysis/form_internal.h"
#include "drawloom/ir/build.h"
#include "drawloom/ir/rewrite.h"

namespace drawloom {
namespace {

// ---- symbols

class Collector {
 public:
  void form(const Form& f) {
    for (const auto& t : f.terms()) {
      for (const auto& s : t.symbols) add(s);
      if (t.atom && seen_.insert(t.atom.get()).second) atom(*t.atom);
    }
  }
  void condition(const Cond& c) {
    for (const auto& f : c.terms()) form(f);
  }
  auto take() -> std::vector<SymbolRef> {
    std::sort(out_.begin(), out_.end(), [](const auto& a, const auto& b) { return a->id < b->id; });
    out_.erase(std::unique(out_.begin(), out_.end()), out_.end());
    return std::move(out_);
  }

 private:
  void add(const SymbolRef& s) {
    // most repetitions are neighbours; take() drops the others
    if (out_.empty() || out_.back() != s) out_.push_back(s);
  }
  void atom(const Atom& a) {
    for (const auto& f : a.operands) form(f);
    condition(a.condition);
    for (const auto& s : a.free) add(s);
  }
  std::unordered_set<const Atom*> seen_;
  std::vector<SymbolRef> out_;
};

auto atom_uses(const Atom& a, const Symbol* s, std::unordered_set<const Atom*>& seen) -> bool;
auto form_uses(const Form& f, const Symbol* s, std::unordered_set<const Atom*>& seen) -> bool {
  if ((f.uses() & forms::bit_of(*s)) == 0) return false;
  for (const auto& t : f.terms()) {
    for (const auto& u : t.symbols) {
      if (u.get() == s) return true;
    }
    if (t.atom && atom_uses(*t.atom, s, seen)) return true;
  }
  return false;
}
auto atom_uses(const Atom& a, const Symbol* s, std::unordered_set<const Atom*>& seen) -> bool {
  if ((a.uses & forms::bit_of(*s)) == 0 || !seen.insert(&a).second) return false;
  const auto in = [&](const Form& f) { return form_uses(f, s, seen); };
  const auto is = [&](const SymbolRef& u) { return u.get() == s; };
  return std::any_of(a.operands.begin(), a.operands.end(), in) ||
         std::any_of(a.condition.terms().begin(), a.condition.terms().end(), in) ||
         std::any_of(a.free.begin(), a.free.end(), is);
}

// ---- substitution

class Substituter {
 public:
  explicit Substituter(const FormMap& map) : map_(map) {}

  auto form(const Form& f) -> Form {
    if (f.is_constant()) return f;
    std::vector<Term> kept;
    Form changed;
    for (const auto& t : f.terms()) {
      if (auto g = term(t)) {
        changed += *g;
      } else {
        kept.push_back(t);
      }
    }
    if (kept.size() == f.terms().size()) return f;
    return FormBuilder::make(f.constant(), std::move(kept)) + changed;
  }

  auto condition(const Cond& c) -> Cond {
    Cond out;
    for (const auto& f : c.terms()) {
      const Form g = form(f);
      out = out && Cond::nonnegative(g);
    }
    return c.is_never() ? c : out;
  }

 private:
  /// The new value of a term, or nothing where it stays.
  auto term(const Term& t) -> std::optional<Form> {
    SymbolList kept;
    std::optional<Form> factor;
    const auto times = [&](const Form& f) { factor = factor ? *factor * f : f; };
    for (const auto& s : t.symbols) {
      if (auto to = symbol(s)) {
        times(*to);
      } else {
        kept.insert(s);
      }
    }
    Ref<const Atom> atom = t.atom;
    if (atom) {
      if (const auto& to = atom_value(atom)) {
        times(*to);
        atom = {};
      }
    }
    if (!factor) return {};
    return forms::product(t.factor, kept, atom) * *factor;
  }

  auto symbol(const SymbolRef& s) -> std::optional<Form> {
    auto to = map_(s);
    // replaced by itself: nothing has to be rebuilt
    if (to && to->as_symbol() == s) return {};
    return to;
  }

  auto atom_value(const Ref<const Atom>& a) -> const std::optional<Form>& {
    if (const auto hit = memo_.find(a.get()); hit != memo_.end()) return hit->second;
    auto value = compute(*a);
    return memo_.emplace(a.get(), std::move(value)).first->second;
  }

  auto compute(const Atom& a) -> std::optional<Form> {
    if (a.kind == AtomKind::Opaque) return expression(a);
    std::vector<Form> operands;
    bool same = true;
    for (const auto& f : a.operands) {
      operands.push_back(form(f));
      same = same && FormBuilder::terms_of(operands.back()) == FormBuilder::terms_of(f);
    }
    const Cond c = condition(a.condition);
    if (same && c == a.condition) return {};
    return forms::with_operands(a, std::move(operands), c);
  }

  /// An opaque expression with symbols replaced is read again: with constants inside it may be opaque no longer.
  auto expression(const Atom& a) -> std::optional<Form> {
    Substitution map;
    for (const auto& s : a.free) {
      const bool whole = s->type.is_index() || s->type.is_data_int();
      const auto to = whole && s->type.is_scalar() ? symbol(s) : std::nullopt;
      if (to) map.emplace(s.get(), cast(s->type, to_expr(*to)));
    }
    if (map.empty()) return {};
    const Form again = to_form(drawloom::substitute(a.expr, map));
    // The promised range of an opaque atom holds whatever its symbols are.
    const Atom* atom = again.constant() == 0 ? as_atom(again) : nullptr;
    if (!atom || atom->kind != AtomKind::Opaque) return again;
    return opaque(atom->expr, intersection_of(atom->range, a.range));
  }

  const FormMap& map_;
  std::unordered_map<const Atom*, std::optional<Form>> memo_;
};

}  // namespace

auto uses_symbol(const Form& f, const Symbol* s) -> bool {
  if ((f.uses() & forms::bit_of(*s)) == 0) return false;
  std::unordered_set<const Atom*> seen;
  return form_uses(f, s, seen);
}
auto uses_symbol(const Cond& c, const Symbol* s) -> bool {
  return std::any_of(c.terms().begin(), c.terms().end(), [&](const Form& f) { return uses_symbol(f, s); });
}
auto symbols_of(const Form& f) -> std::vector<SymbolRef> {
  Collector c;
  c.form(f);
  return c.take();
}
auto symbols_of(const Cond& c) -> std::vector<SymbolRef> {
  Collector collector;
  collector.condition(c);
  return collector.take();
}

auto substitute(const Form& f, const FormMap& map) -> Form { return Substituter(map).form(f); }
auto substitute(const Cond& c, const FormMap& map) -> Cond { return Substituter(map).condition(c); }

}  // namespace drawloom
