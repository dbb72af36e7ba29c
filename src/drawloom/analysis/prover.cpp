// Lower bounds of forms from inequalities that hold.
//
//   known: xi <= 7, n >= 8*xo + 1.   8*xo + xi <= n + 6?   f = n + 6 - 8*xo - xi
//   the unbounded term -8*xo is cancelled by the second fact: f - (n - 8*xo - 1) = 7 - xi, whose range [0, ..] ends
//   the search.
//
// A step cancels one monomial of k*f with one fact g (f >= c follows from k*f - m*g >= k*c, m > 0). Facts are those
// given and those that atoms carry: min(a, b) <= a, b*(a/b) <= a <= b*(a/b) + b - 1, 0 <= a%b < b. Where a min, max or
// choose stands the wrong way round, each of its values is tried. This is Fourier-Motzkin walked depth first under a
// budget: sound whatever it finds, complete for the chains of a few steps that tiles, clamps and tails make.

#include "drawloom/analysis/prover.h"

#include <algorithm>

namespace drawloom {
namespace {

auto better(std::optional<int64_t>& best, const std::optional<int64_t>& found) -> void {
  if (found && (!best || *found > *best)) best = found;
}
auto is_enough(const std::optional<int64_t>& bound, int64_t enough) -> bool { return bound && *bound >= enough; }

/// The factor of the monomial of `t` in f, or 0.
auto factor_of(const Form& f, const Term& t) -> int64_t {
  for (const auto& u : f.terms()) {
    if (same_monomial(u, t)) return u.factor;
  }
  return 0;
}

}  // namespace

// ---- ranges

void tighten(Facts::Body& body, const Form& f) {
  if (f.terms().size() != 1) return;
  const Term& t = f.terms()[0];
  if (t.atom || t.symbols.size() != 1 || t.factor == INT64_MIN) return;
  Range r;
  if (t.factor > 0) {
    r.lo = -forms::floor_divide(std::max(f.constant(), -INT64_MAX), t.factor);  // t*s + c >= 0: s >= ceil(-c/t)
  } else {
    r.hi = forms::floor_divide(f.constant(), -t.factor);
  }
  const SymbolRef& s = t.symbols[0];
  for (auto& [symbol, range] : body.ranges) {
    if (symbol == s) {
      range = intersection_of(range, r);
      return;
    }
  }
  body.ranges.emplace_back(s, intersection_of(promised_range(*s), r));
  body.ranged |= forms::bit_of(*s);
}

auto Prover::symbol_range(const Symbol& s) const -> Range {
  if (facts_ && (facts_->ranged & forms::bit_of(s))) {
    for (const auto& [symbol, range] : facts_->ranges) {
      if (symbol.get() == &s) return range;
    }
  }
  return promised_range(s);
}

auto Prover::range_of_term(const Term& t) -> Range {
  Range r = Range::point(t.factor);
  for (size_t i = 0; i < t.symbols.size(); ++i) {
    Range s = symbol_range(*t.symbols[i]);
    if (i + 1 < t.symbols.size() && t.symbols[i] == t.symbols[i + 1]) {
      s = intersection_of(s * s, {0, {}});
      ++i;
    }
    r = r * s;
  }
  return t.atom ? r * range_of_atom(*t.atom) : r;
}

auto Prover::range_of_atom(const Atom& a) -> Range {
  if (!facts_ || (a.uses & facts_->ranged) == 0 || a.kind == AtomKind::Opaque) return a.range;
  if (const auto hit = ranges_.find(&a); hit != ranges_.end()) return hit->second;
  const Range r = intersection_of(a.range, compute_range(a));
  ranges_.emplace(&a, r);
  return r;
}

auto Prover::compute_range(const Atom& a) -> Range {
  const Range first = range(a.operands[0]), second = range(a.operands[1]);
  switch (a.kind) {
    case AtomKind::FloorDiv: return div_of(first, max_of(second, Range::point(0)));
    case AtomKind::Mod: return mod_of(first, max_of(second, Range::point(0)));
    case AtomKind::Choose: return union_of(first, second);
    case AtomKind::Min:
    case AtomKind::Max: break;
    case AtomKind::None:
    case AtomKind::Opaque: return {};
  }
  Range out = first;
  for (size_t i = 1; i < a.operands.size(); ++i) {
    const Range r = range(a.operands[i]);
    out = a.kind == AtomKind::Min ? min_of(out, r) : max_of(out, r);
  }
  return out;
}

auto Prover::range(const Form& f) -> Range {
  Range r = Range::point(f.constant());
  for (const auto& t : f.terms()) {
    r = r + range_of_term(t);
    if (!r.lo && !r.hi) break;
  }
  return r;
}

// ---- search

/// Cheapest first: constant bounds, a visit remembered, a common factor, a fact that cancels a term, values of an atom.
auto Prover::lower(const Form& f, int depth, int64_t enough) -> Bound {
  Bound best = range(f).lo;
  if (is_enough(best, enough) || f.is_constant()) return best;
  if (depth <= 0 || --budget_ < 0) return best;
  const size_t visit = find_visit(f, depth, enough);
  if (visit < visits_.size()) return visits_[visit].best;
  visits_.push_back({f.hash(), depth, enough, best});
  kept_.push_back(f);
  factor_out(f, depth, best);

  // An unbounded term has to go by any proof; bounded ones may. A quotient goes first: only once it has gone can what
  // stands inside be seen, and terms beside it may go together with that.
  const auto& terms = f.terms();
  size_t unbounded = terms.size();
  for (size_t i = 0; i < terms.size(); ++i) {
    if (range_of_term(terms[i]).lo) continue;
    const bool quotient = terms[i].atom && terms[i].atom->kind == AtomKind::FloorDiv;
    if (unbounded == terms.size() || quotient) unbounded = i;
    if (quotient) break;
  }
  if (unbounded < terms.size()) {
    eliminate(f, unbounded, depth, enough, best);
  } else {
    for (size_t i = 0; i < terms.size() && !is_enough(best, enough); ++i) eliminate(f, i, depth, enough, best);
  }
  for (size_t i = 0; i < terms.size() && !is_enough(best, enough); ++i) better(best, split(f, i, depth, enough));
  visits_[visit].best = best;
  return best;
}

auto Prover::least(const Form& f, int64_t enough) const -> Bound {
  static const Witnesses of_nothing;
  return (facts_ ? facts_->witnesses : of_nothing).least(f, enough);
}

/// An earlier look at f that went as deep and wanted as much: it need not be repeated, whatever it found. Forms are
/// told apart by their hash alone.
auto Prover::find_visit(const Form& f, int depth, int64_t enough) -> size_t {
  size_t i = 0;
  const auto covers = [&](const Visit& v) { return v.hash == f.hash() && v.depth >= depth && v.enough >= enough; };
  while (i < visits_.size() && !covers(visits_[i])) ++i;
  return i;
}

/// s*(...) + c >= c when s >= 0 and (...) >= 0.
void Prover::factor_out(const Form& f, int depth, Bound& best) {
  if (is_enough(best, f.constant())) return;
  for (const auto& s : f.terms()[0].symbols) {
    const Range r = symbol_range(*s);
    if (!r.lo || *r.lo < 0) continue;
    Form quotient;
    bool all = true;
    Term by{1, {}, {}};
    by.symbols.insert(s);
    for (const auto& t : f.terms()) {
      const auto q = forms::divisible(t, by);
      all = all && q;
      if (!all) break;
      quotient += forms::product(q->factor, q->symbols, q->atom);
    }
    if (all && least(quotient, 0).value_or(0) >= 0 && is_enough(lower(quotient, depth - 1, 0), 0))
      return better(best, f.constant());
  }
}

/// Facts that mention all symbols of the pivot are the only ones that can hold its monomial.
void Prover::eliminate(const Form& f, size_t pivot, int depth, int64_t enough, Bound& best) {
  const Term& t = f.terms()[pivot];
  uint64_t bits = t.atom ? t.atom->uses : 0;
  for (const auto& s : t.symbols) bits |= forms::bit_of(*s);
  const auto try_fact = [&](const Form& g) {
    if (is_enough(best, enough) || (g.uses() & bits) != bits) return;
    eliminate_with(f, t, g, depth, enough, best);
  };
  for (const auto& u : f.terms()) {
    if (!u.atom) continue;
    for (const auto& g : implied(u.atom)) try_fact(g);
  }
  for (const Facts::Body* b = facts_; b; b = b->parent.get()) {
    for (const auto& g : b->added) try_fact(g);
    for (const auto& g : b->implied) try_fact(g);
  }
  if (t.symbols.size() + (t.atom ? 1 : 0) < 2) return;
  // n*xo: a fact about xo, times n >= 0.
  for (const auto& s : t.symbols) {
    const Range r = symbol_range(*s);
    if (!r.lo || *r.lo < 0) continue;
    for (const Facts::Body* b = facts_; b; b = b->parent.get()) {
      for (const auto& g : b->added) {
        if (!is_enough(best, enough) && ((g.uses() | forms::bit_of(*s)) & bits) == bits) {
          eliminate_with(f, t, g * Form(s), depth, enough, best);
        }
      }
    }
  }
}

void Prover::eliminate_with(const Form& f, const Term& pivot, const Form& fact, int depth, int64_t enough,
                            Bound& best) {
  const int64_t in_fact = factor_of(fact, pivot);
  // facts are only subtracted, so the monomial must have one sign in both
  if (in_fact == 0 || (in_fact > 0) != (pivot.factor > 0)) return;
  if (in_fact == INT64_MIN || pivot.factor == INT64_MIN) return;
  const int64_t g = std::gcd(in_fact, pivot.factor);
  const int64_t k = std::abs(in_fact) / g, m = std::abs(pivot.factor) / g;
  subtract(f, k, fact, m, depth, enough, best);
  // A sum of facts that share the monomial needs each of them once.
  if (m > k && !is_enough(best, enough)) subtract(f, 1, fact, 1, depth, enough, best);
}

/// A bound of f by way of k*f - m*fact.
void Prover::subtract(const Form& f, int64_t k, const Form& fact, int64_t m, int depth, int64_t enough, Bound& best) {
  const auto scaled = forms::add_scaled(Form(), f, k);
  const auto rest = scaled ? forms::add_scaled(*scaled, fact, -m) : std::nullopt;
  // f >= enough when k*f > k*(enough - 1).
  if (!rest || enough == INT64_MIN) return;
  int64_t target = 0;
  if (__builtin_mul_overflow(enough - 1, k, &target)) target = enough > 0 ? INT64_MAX - 1 : INT64_MIN;
  // A witness bounds what any proof can find. Where that is not enough, the whole subtree is left out.
  const Bound least_rest = least(*rest, goal_ == Goal::Decide ? target + 1 : INT64_MIN);
  if (least_rest) {
    const int64_t most = -forms::floor_divide(-std::max(*least_rest, -INT64_MAX), k);
    if ((best && most <= *best) || (goal_ == Goal::Decide && most < enough)) return;
  }
  // k*f >= bound and f an integer: f >= ceil(bound/k)
  const Bound bound = lower(*rest, depth - 1, target + 1);
  if (bound) better(best, -forms::floor_divide(-std::max(*bound, -INT64_MAX), k));
}

auto Prover::lower_given(const Cond& holds, const Form& f, int depth, int64_t enough) -> Bound {
  // an impossible case asks for nothing
  if (holds.is_never()) return enough;
  Facts::Body body;
  // not owned: the case is over before the facts are
  body.parent = std::shared_ptr<const Facts::Body>(std::shared_ptr<void>(), facts_);
  if (facts_) body.ranges = facts_->ranges, body.ranged = facts_->ranged;
  body.added = holds.terms();
  for (const auto& g : body.added) tighten(body, g);
  if (facts_) body.witnesses = facts_->witnesses;
  body.witnesses.admit(body.added);
  Prover prover(&body, budget_, goal_);
  const Bound seen = prover.least(f, enough);
  if (goal_ == Goal::Decide && seen && *seen < enough) return {};
  return prover.lower(f, depth, enough);
}

/// min(a, b)/8 as the min of a/8 and b/8, and what is no such quotient as it is.
struct Alternatives {
  AtomKind kind;
  std::vector<Form> values;
};
static auto alternatives_of(const Atom& a) -> Alternatives {
  const auto divisor = a.kind == AtomKind::FloorDiv ? a.operands[1].as_constant() : std::nullopt;
  if (!divisor || *divisor <= 0) return {a.kind, a.operands};
  for (const auto kind : {AtomKind::Min, AtomKind::Max}) {
    std::vector<Form> parts;
    forms::flatten(kind, a.operands[0], parts);
    if (parts.size() < 2) continue;
    for (auto& p : parts) p = floor_div(p, *divisor);
    return {kind, std::move(parts)};
  }
  return {a.kind, a.operands};
}

/// min, max and choose are one of their operands: the worst of them counts.
auto Prover::split(const Form& f, size_t term, int depth, int64_t enough) -> Bound {
  const Term& t = f.terms()[term];
  if (!t.atom || !t.symbols.empty()) return {};
  const auto [kind, values] = alternatives_of(*t.atom);
  const bool wrong_way =
      kind == AtomKind::Choose || (kind == AtomKind::Min && t.factor > 0) || (kind == AtomKind::Max && t.factor < 0);
  if (!wrong_way) return {};
  const Form rest = forms::without(f, term);
  Bound worst;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto here = forms::add_scaled(rest, values[i], t.factor);
    if (!here) return {};
    Cond given;
    const auto& condition = t.atom->condition;
    if (kind == AtomKind::Choose && i == 0) given = condition;
    if (kind == AtomKind::Choose && i == 1 && condition.terms().size() == 1) {
      given = Cond::nonnegative(-condition.terms()[0] - 1);
    }
    // where min(a, b) is a, a <= b holds besides
    for (size_t j = 0; j < values.size(); ++j) {
      if (i == j || kind == AtomKind::Choose) continue;
      const Form& low = values[kind == AtomKind::Min ? i : j];
      const Form& high = values[kind == AtomKind::Min ? j : i];
      given = given && Cond::less_equal(low, high);
    }
    const Bound b = lower_given(given, *here, depth - 1, enough);
    if (!b) return {};
    if (!worst || *b < *worst) worst = b;
  }
  return worst;
}

auto implied_by(const Ref<const Atom>& a, const std::function<Range(const Form&)>& range) -> std::vector<Form> {
  std::vector<Form> out;
  const Form self = form_of({1, {}, a});
  const auto& ops = a->operands;
  switch (a->kind) {
    case AtomKind::Min:
      for (const auto& f : ops) out.push_back(f - self);
      break;
    case AtomKind::Max:
      for (const auto& f : ops) out.push_back(self - f);
      break;
    case AtomKind::FloorDiv:
      if (const Range by = range(ops[1]); by.lo && *by.lo >= 1) {
        const Form multiple = ops[1] * self;
        out = {ops[0] - multiple, multiple + ops[1] - 1 - ops[0]};
      }
      break;
    case AtomKind::Mod:
      if (const Range by = range(ops[1]); by.lo && *by.lo >= 1) {
        out = {self, ops[1] - 1 - self};
        if (const Range r = range(ops[0]); r.lo && *r.lo >= 0) out.push_back(ops[0] - self);
      }
      break;
    case AtomKind::None:
    case AtomKind::Choose:
    case AtomKind::Opaque: break;
  }
  return out;
}

auto Prover::implied(const Ref<const Atom>& a) -> const std::vector<Form>& {
  if (const auto hit = implied_.find(a.get()); hit != implied_.end()) return hit->second;
  kept_.push_back(form_of({1, {}, a}));
  return implied_.emplace(a.get(), implied_by(a, [this](const Form& f) { return range(f); })).first->second;
}

}  // namespace drawloom
