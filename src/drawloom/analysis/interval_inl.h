#pragma once
/// interval_of, as one template over its number. Every decision is taken on the form, never on the numbers, so all instances take the same ones.

#include <algorithm>

#include "drawloom/analysis/interval.h"
#include "drawloom/analysis/number.h"

namespace drawloom {
namespace intervals {

/// s occurs at two places of f, shared atoms counted at each of their places.
auto occurs_twice(const Form& f, const Symbol* s) -> bool;

template <typename N, typename Env, typename Fixed>
class Evaluator {
 public:
  using I = Interval<N>;
  using End = std::optional<N>;
  using Ops = Number<N>;

  Evaluator(const Form& f, const Env& env, const Fixed& fixed) : fixed_(fixed) {
    for (const auto& s : symbols_of(f)) {
      if (const I* interval = env(s)) {
        varying_.push_back({s.get(), interval, Direction::Unknown});
        mask_ |= uint64_t{1} << (s->id % 64);
      }
    }
  }

  auto run(const Form& f) -> I {
    // What occurs once is exact as it comes. A symbol that occurs twice would be let vary twice, unless f is monotone in it: then it
    // stands still at the end that gives the bound.
    bool pinned = false;
    for (auto& v : varying_) {
      if (!occurs_twice(f, v.symbol)) continue;
      v.direction = direction_of(f, v.symbol);
      pinned = pinned || v.direction != Direction::Unknown;
    }
    if (!pinned) return form(f);
    upper_ = false;
    I out = form(f);
    upper_ = true;
    out.hi = form(f).hi;
    return out;
  }

 private:
  struct Varying {
    const Symbol* symbol;
    const I* interval;
    Direction direction;  ///< known: stands still at one end
  };

  auto find(const Symbol* s) const -> const Varying* {
    for (const auto& v : varying_) {
      if (v.symbol == s) return &v;
    }
    return nullptr;
  }
  auto varies(const Form& f) const -> bool {
    if ((f.uses() & mask_) == 0) return false;
    return std::any_of(varying_.begin(), varying_.end(), [&](const Varying& v) { return uses_symbol(f, v.symbol); });
  }
  auto varies(const Cond& c) const -> bool {
    return std::any_of(c.terms().begin(), c.terms().end(), [&](const Form& f) { return varies(f); });
  }

  auto symbol(const Varying& v) const -> I {
    if (v.direction == Direction::Unknown) return *v.interval;
    const End& end = upper_ == (v.direction == Direction::Decreasing) ? v.interval->lo : v.interval->hi;
    return end ? I{end, end} : *v.interval;
  }

  static auto add(const End& a, const End& b) -> End { return a && b ? Ops::add(*a, *b) : End(); }
  static auto add(const I& a, const I& b) -> I { return {add(a.lo, b.lo), add(a.hi, b.hi)}; }
  static auto times(const End& a, const End& b) -> End { return a && b ? Ops::multiply(*a, *b) : End(); }

  auto form(const Form& f) -> I {
    if (!varies(f)) {
      const End v = Ops::value(f, fixed_);
      return {v, v};
    }
    // The terms that stand still are valued together, as one form.
    Form still(f.constant());
    std::optional<I> moving;
    for (const auto& t : f.terms()) {
      const Form single = form_of(t);
      if (!varies(single)) {
        still += single;
        continue;
      }
      const I part = term(t);
      moving = moving ? add(*moving, part) : part;
    }
    const End v = Ops::value(still, fixed_);
    if (!moving) return {v, v};
    return still.is_constant() && still.constant() == 0 ? *moving : add(*moving, {v, v});
  }

  /// factor * symbols * atom where something varies.
  auto term(const Term& t) -> I {
    Form scale(t.factor);
    std::optional<I> value;
    int moving = 0;
    for (const auto& s : t.symbols) {
      if (const Varying* v = find(s.get())) {
        value = symbol(*v);
        ++moving;
      } else {
        scale = scale * Form(s);
      }
    }
    if (t.atom) {
      const Form single = form_of({1, {}, t.atom});
      if (varies(single)) {
        value = atom(t.atom);
        ++moving;
      } else {
        scale = scale * single;
      }
    }
    if (moving != 1) return constant_bounds(form_of(t));
    return scaled(*value, scale);
  }

  auto scaled(const I& v, const Form& scale) -> I {
    if (scale.is_constant() && scale.constant() == 1) return v;
    const Range sign = range_of(scale);
    const End by = Ops::value(scale, fixed_);
    if (sign.lo && *sign.lo >= 0) return {times(v.lo, by), times(v.hi, by)};
    if (sign.hi && *sign.hi <= 0) return {times(v.hi, by), times(v.lo, by)};
    return {};
  }

  auto constant_bounds(const Form& f) -> I {
    const Range r = range_of(f);
    I out;
    if (r.lo) out.lo = Ops::constant(*r.lo);
    if (r.hi) out.hi = Ops::constant(*r.hi);
    return out;
  }

  auto atom(const Ref<const Atom>& a) -> I {
    for (const auto& [known, value] : memo_) {
      if (known == a.get() && value.second == upper_) return value.first;
    }
    I out = compute(*a);
    memo_.push_back({a.get(), {out, upper_}});
    return out;
  }

  auto compute(const Atom& a) -> I {
    switch (a.kind) {
      case AtomKind::None: break;
      case AtomKind::FloorDiv: return quotient(a);
      case AtomKind::Mod: return remainder(a);
      case AtomKind::Min: return extreme(a, true);
      case AtomKind::Max: return extreme(a, false);
      case AtomKind::Choose: return choice(a);
      case AtomKind::Opaque: break;
    }
    return {a.range.lo ? End(Ops::constant(*a.range.lo)) : End(), a.range.hi ? End(Ops::constant(*a.range.hi)) : End()};
  }

  auto quotient(const Atom& a) -> I {
    if (varies(a.operands[1])) return constant_bounds(form_of({1, {}, Ref<const Atom>(&a)}));
    const I x = form(a.operands[0]);
    const End by = Ops::value(a.operands[1], fixed_);
    const auto divided = [&](const End& e) { return e && by ? Ops::divide(*e, *by) : End(); };
    return {divided(x.lo), divided(x.hi)};
  }

  auto remainder(const Atom& a) -> I {
    const I by = form(a.operands[1]);
    I out{Ops::constant(0), {}};
    // A divisor of 0 gives 0.
    if (by.hi) out.hi = Ops::add(*by.hi, Ops::constant(-1));
    const Range r = range_of(a.operands[1]);
    if (out.hi && !(r.lo && *r.lo >= 1)) out.hi = Ops::max(*out.hi, Ops::constant(0));
    return out;
  }

  auto extreme(const Atom& a, bool least) -> I {
    std::optional<I> out;
    for (const auto& f : a.operands) {
      const I x = form(f);
      if (!out) {
        out = x;
      } else if (least) {
        out = I{both(out->lo, x.lo, least), either(out->hi, x.hi, least)};
      } else {
        out = I{either(out->lo, x.lo, least), both(out->hi, x.hi, least)};
      }
    }
    return *out;
  }
  /// The smaller (or larger) end, of which both must exist, or one is enough.
  static auto both(const End& a, const End& b, bool least) -> End {
    if (!a || !b) return {};
    return least ? Ops::min(*a, *b) : Ops::max(*a, *b);
  }
  static auto either(const End& a, const End& b, bool least) -> End {
    if (!a || !b) return a ? a : b;
    return both(a, b, least);
  }

  auto choice(const Atom& a) -> I {
    const I yes = form(a.operands[0]), no = form(a.operands[1]);
    if (varies(a.condition)) return {both(yes.lo, no.lo, true), both(yes.hi, no.hi, false)};
    const auto pick = [&](const End& y, const End& n) {
      return y && n ? Ops::pick(a.condition, *y, *n, fixed_) : End();
    };
    return {pick(yes.lo, no.lo), pick(yes.hi, no.hi)};
  }

  const Fixed& fixed_;
  std::vector<Varying> varying_;
  uint64_t mask_ = 0;
  bool upper_ = false;  ///< which bound is asked for, where symbols stand still
  std::vector<std::pair<const Atom*, std::pair<I, bool>>> memo_;
};

}  // namespace intervals

template <typename N, typename Env, typename Fixed>
auto interval_of(const Form& f, const Env& env, const Fixed& fixed) -> Interval<N> {
  if constexpr (std::is_same_v<N, Expr>) {
    // By way of forms: their ends are the canonical expressions.
    std::vector<std::pair<SymbolRef, Interval<Form>>> ends;
    for (const auto& s : symbols_of(f)) {
      const Interval<Expr>* i = env(s);
      if (!i) continue;
      ends.push_back({s, {}});
      if (i->lo) ends.back().second.lo = to_form(*i->lo);
      if (i->hi) ends.back().second.hi = to_form(*i->hi);
    }
    const auto find = [&](const SymbolRef& s) -> const Interval<Form>* {
      for (const auto& [symbol, interval] : ends) {
        if (symbol == s) return &interval;
      }
      return nullptr;
    };
    const auto i = interval_of<Form>(f, find, [&](const SymbolRef& s) { return to_form(fixed(s)); });
    Interval<Expr> out;
    if (i.lo) out.lo = to_expr(*i.lo);
    if (i.hi) out.hi = to_expr(*i.hi);
    return out;
  } else {
    return intervals::Evaluator<N, Env, Fixed>(f, env, fixed).run(f);
  }
}

}  // namespace drawloom
