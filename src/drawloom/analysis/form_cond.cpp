// Conjunctions of (form >= 0).
//
//   2*x + 1 >= 0     ->  x >= 0            divided by what the factors share; the constant rounds down
//   x/4 - 2 >= 0     ->  x - 8 >= 0
//   x < 5 && x < 3   ->  -x + 2 >= 0       of two bounds that differ by a constant the tighter stays
//   x < 3 && x >= 3  ->  false
//
// Equal conditions should be equal structures: branches, choices and parts of regions are merged by comparing them.
// Only pairs of terms are looked at; what takes three is left to Facts.

#include <algorithm>

#include "drawloom/analysis/form_internal.h"
#include "drawloom/support/hash.h"

namespace drawloom {

auto Cond::never() -> Cond {
  Cond c;
  c.never_ = true;
  return c;
}

auto Cond::nonnegative(const Form& f) -> Cond {
  const Range r = range_of(f);
  if (r.lo && *r.lo >= 0) return always();
  if (r.hi && *r.hi < 0) return never();
  Form g = f;
  if (const int64_t d = forms::factor_gcd(f.terms(), 0); d > 1) {
    auto terms = f.terms();
    for (auto& t : terms) t.factor /= d;
    g = FormBuilder::make(forms::floor_divide(f.constant(), d), std::move(terms));
  }
  if (const Atom* a = as_atom(g); a && a->kind == AtomKind::FloorDiv && a->operands[1].is_constant())
    return nonnegative(a->operands[0] + Form(g.constant()) * a->operands[1]);  // a/k + c >= 0 is a + c*k >= 0
  Cond c;
  c.terms_.push_back(std::move(g));
  return c;
}

auto Cond::equals(const Form& a, const Form& b) -> Cond { return less_equal(a, b) && less_equal(b, a); }

auto operator&&(const Cond& a, const Cond& b) -> Cond {
  if (a.never_ || b.never_) return Cond::never();
  if (b.terms_.empty()) return a;
  Cond out = a;
  for (const auto& f : b.terms_) {
    const auto same = std::find_if(out.terms_.begin(), out.terms_.end(),
                                   [&](const Form& g) { return FormBuilder::same_terms(f, g); });
    if (same != out.terms_.end()) {
      if (f.constant() < same->constant()) *same = f;
    } else {
      const auto place = std::find_if(out.terms_.begin(), out.terms_.end(),
                                      [&](const Form& g) { return forms::compare_terms(f, g) < 0; });
      out.terms_.insert(place, f);
    }
  }
  // f >= 0 and -f - c >= 0, c > 0, exclude each other.
  for (size_t i = 0; i < out.terms_.size(); ++i) {
    for (size_t k = i + 1; k < out.terms_.size(); ++k) {
      const Form &f = out.terms_[i], &g = out.terms_[k];
      if (f.terms().size() != g.terms().size() || f.uses() != g.uses()) continue;
      const auto sum = forms::add_scaled(f, g, 1);
      if (sum && sum->is_constant() && sum->constant() < 0) return Cond::never();
    }
  }
  return out;
}

auto Cond::hash() const -> uint64_t {
  uint64_t h = never_ ? 1 : 2;
  for (const auto& f : terms_) h = hash_combine(h, f.hash());
  return h;
}

namespace forms {
auto uses(const Cond& c) -> uint64_t {
  uint64_t bits = 0;
  for (const auto& f : c.terms()) bits |= f.uses();
  return bits;
}
}  // namespace forms
}  // namespace drawloom
