// Forms with what the facts decide taken away.
//
//   known: n >= 8*xo + 8      min(n, 8*xo + 8)  ->  8*xo + 8       the steady state of a split loop
//   known: 0 <= xi <= 7       xi/8  ->  0,   xi%8  ->  xi
//   known: xo >= 0            choose(xo >= 0, xo, n)  ->  xo
//
// Operands first, each shared atom once. Of min and max, operands that another one beats under the facts go, which asks
// for a proof per pair; a quotient becomes a number when both ends of the dividend give the same. The sides of a choice
// know its condition. What is not decided stays as it was.

#include <algorithm>
#include <unordered_map>

#include "drawloom/analysis/facts.h"
#include "drawloom/analysis/form_internal.h"

namespace drawloom {
namespace {

class FactSimplifier {
 public:
  explicit FactSimplifier(const Facts& facts) : facts_(facts) {}

  auto form(const Form& f) -> Form {
    Form out = f;
    for (const auto& t : f.terms()) {
      if (!t.atom) continue;
      const Form& value = atom(t.atom);
      if (as_atom(value) == t.atom.get() && value.constant() == 0) continue;
      out = out - form_of(t) + forms::product(t.factor, t.symbols, {}) * value;
    }
    return out;
  }

  auto condition(const Cond& c) -> Cond {
    std::vector<Form> kept;
    for (const auto& f : c.terms()) {
      if (facts_.proves_nonnegative(f)) continue;
      if (facts_.proves_nonnegative(-f - 1)) return Cond::never();
      kept.push_back(form(f));
    }
    if (c.is_never()) return c;
    // A term that follows from the others goes too.
    for (size_t i = kept.size(); kept.size() > 1 && i-- > 0;) {
      Cond others;
      for (size_t k = 0; k < kept.size(); ++k) {
        if (k != i) others = others && Cond::nonnegative(kept[k]);
      }
      if (facts_.with(others).proves_nonnegative(kept[i])) kept.erase(kept.begin() + static_cast<ptrdiff_t>(i));
    }
    Cond out;
    for (const auto& f : kept) out = out && Cond::nonnegative(f);
    return out;
  }

 private:
  auto atom(const Ref<const Atom>& a) -> const Form& {
    if (const auto hit = memo_.find(a.get()); hit != memo_.end()) return hit->second;
    Form value = compute(a);
    return memo_.emplace(a.get(), std::move(value)).first->second;
  }

  auto compute(const Ref<const Atom>& a) -> Form {
    switch (a->kind) {
      case AtomKind::None:
      case AtomKind::Opaque: return form_of({1, {}, a});
      case AtomKind::FloorDiv: return quotient(form(a->operands[0]), form(a->operands[1]));
      case AtomKind::Mod: return remainder(form(a->operands[0]), form(a->operands[1]));
      case AtomKind::Min: return extreme(1, a->operands);
      case AtomKind::Max: return extreme(-1, a->operands);
      case AtomKind::Choose: return choice(*a);
    }
    return form_of({1, {}, a});
  }

  auto extreme(int sign, const std::vector<Form>& operands) -> Form {
    std::vector<Form> kept;
    for (const auto& o : operands) {
      const Form f = form(o);
      const auto beats = [&](const Form& a, const Form& b) {
        return sign > 0 ? facts_.proves_le(a, b) : facts_.proves_le(b, a);
      };
      if (std::any_of(kept.begin(), kept.end(), [&](const Form& k) { return beats(k, f); })) continue;
      std::erase_if(kept, [&](const Form& k) { return beats(f, k); });
      kept.push_back(f);
    }
    return forms::extreme(sign, std::move(kept));
  }

  auto choice(const Atom& a) -> Form {
    const Cond c = condition(a.condition);
    if (c.is_always()) return form(a.operands[0]);
    if (c.is_never()) return form(a.operands[1]);
    const Form yes = facts_.with(c).simplify(a.operands[0]);
    // the opposite of two inequalities is no conjunction: then the second side learns nothing
    const bool one = c.terms().size() == 1;
    const Form no =
        one ? facts_.with(Cond::nonnegative(-c.terms()[0] - 1)).simplify(a.operands[1]) : form(a.operands[1]);
    return choose(c, yes, no);
  }

  /// Parts of `a` that are whole multiples of a divisor which the facts say is >= 1; the rest stays in `a`.
  static auto split_off(Form& a, const Form& b) -> Form {
    Form whole, rest(a.constant());
    // n*x + r by n: only a divisor of one term can be found inside terms
    if (b.constant() != 0 || b.terms().size() != 1) return whole;
    for (const auto& t : a.terms()) {
      if (const auto q = forms::divisible(t, b.terms()[0])) {
        whole += forms::product(q->factor, q->symbols, q->atom);
      } else {
        rest += form_of(t);
      }
    }
    a = rest;
    return whole;
  }

  auto quotient(Form a, const Form& b) -> Form {
    const auto d = b.as_constant();
    if (d && *d > 0) {
      if (const auto q = facts_.constant_quotient(a, *d)) return Form(*q);
    }
    // n*x/n is x only where n is not 0, which promises alone do not say
    if (d || !facts_.proves_nonnegative(b - 1)) return floor_div(a, b);
    const Form whole = split_off(a, b);
    return whole + (lies_below(a, b) ? Form() : floor_div(a, b));
  }

  auto remainder(Form a, const Form& b) -> Form {
    const auto d = b.as_constant();
    if (!d) split_off(a, b);  // n*x % n is 0, for n = 0 too
    if (d && *d > 0) {
      if (const auto q = facts_.constant_quotient(a, *d)) return a - Form(*q) * b;
    }
    return lies_below(a, b) ? a : floor_mod(a, b);
  }

  auto lies_below(const Form& a, const Form& b) const -> bool {
    return facts_.proves_nonnegative(a) && facts_.proves_nonnegative(b - a - 1);
  }

  const Facts& facts_;
  std::unordered_map<const Atom*, Form> memo_;
};

}  // namespace

auto Facts::simplify(const Form& f) const -> Form {
  const bool plain =
      std::none_of(f.terms().begin(), f.terms().end(), [](const Term& t) { return static_cast<bool>(t.atom); });
  return plain ? f : FactSimplifier(*this).form(f);
}
auto Facts::simplify(const Cond& c) const -> Cond { return FactSimplifier(*this).condition(c); }

}  // namespace drawloom
