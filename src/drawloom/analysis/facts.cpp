#include "drawloom/analysis/facts.h"

#include <algorithm>

#include "drawloom/analysis/prover.h"

// What follows from facts. Three ways to an answer, the cheap ones first:
//
//   known: 0 <= xi <= 7, n >= 8*xo + 8.    8*xo + xi < n ?   f = n - 8*xo - xi - 1
//     witnesses   at every point where the facts hold f is >= 0: go on. One with f < 0 would end it with no
//     ranges      xo has no upper end, so neither has -8*xo a lower one: nothing
//     search      n >= 8*xo + 8 takes n and xo away, 7 - xi is left, which lies in [0, 7]: yes   (prover.cpp)
//
// A no means only that no proof was found within the budget. Most questions of a compiler have the answer no, so the
// budgets are small: they bound what a failed search costs, and the proofs that tiles and tails ask for are a few steps
// long. Facts form a list that shares its front; adding costs what is added and a copy of the ranges and witnesses.

namespace drawloom {
namespace {

constexpr int kDepth = 8;
constexpr int kBudget = 100;  // forms looked at before a proof is given up
constexpr int kRangeBudget = 24;
constexpr int kRareBudget = 12;  // where the facts hold at no known point

}  // namespace

auto Facts::and_nonnegative(const std::vector<Form>& forms, bool contradiction) const -> Facts {
  auto body = std::make_shared<Body>();
  body->parent = body_;
  if (body_) {
    body->ranges = body_->ranges;
    body->ranged = body_->ranged;
    body->contradiction = body_->contradiction;
    body->witnesses = body_->witnesses;
  }
  body->contradiction = body->contradiction || contradiction;
  body->added = forms;
  body->witnesses.admit(forms);
  // Ranges come first: what a division promises holds only where its divisor is at least 1, which they may tell.
  for (const auto& f : forms) tighten(*body, f);
  for (const auto& f : forms) {
    for (const auto& t : f.terms()) {
      if (!t.atom) continue;
      for (auto& g : implied_by(t.atom, [&](const Form& h) { return Facts(body).constant_range(h); })) {
        body->implied.push_back(std::move(g));
      }
    }
  }
  return Facts(std::move(body));
}

auto Facts::with(const Cond& holds) const -> Facts {
  if (holds.is_always()) return *this;
  return and_nonnegative(holds.terms(), holds.is_never());
}

auto Facts::with_range(const SymbolRef& symbol, const Form& lo, const Form& hi) const -> Facts {
  const Form s(symbol);
  return with(Cond::less_equal(lo, s) && Cond::less_equal(s, hi));
}

auto Facts::witnesses() const -> const Witnesses& {
  static const Witnesses of_nothing;
  return body_ ? body_->witnesses : of_nothing;
}

auto Facts::least_seen(const Form& f, int64_t enough) const -> std::optional<int64_t> {
  return witnesses().least(f, enough);
}

auto Facts::constant_quotient(const Form& f, int64_t divisor) const -> std::optional<int64_t> {
  // Two witnesses with different quotients refute it without any search for bounds.
  if (!witnesses().same_quotient(f, divisor)) return {};
  const Range r = range(f);
  if (!r.bounded()) return {};
  const int64_t lo = forms::floor_divide(*r.lo, divisor);
  return lo == forms::floor_divide(*r.hi, divisor) ? std::optional(lo) : std::nullopt;
}

auto Facts::proves_nonnegative(const Form& f) const -> bool {
  if (const auto c = f.as_constant()) return *c >= 0 || (body_ && body_->contradiction);
  if (body_ && body_->contradiction) return true;
  if (least_seen(f, 0).value_or(0) < 0) return false;
  if (body_) {
    if (const auto answer = body_->answers.find(f)) return *answer;
  }
  int budget = body_ && body_->witnesses.none() ? kRareBudget : kBudget;
  const auto bound = Prover(body_.get(), budget, Prover::Goal::Decide).lower(f, kDepth, 0);
  const bool proven = bound && *bound >= 0;
  if (body_) body_->answers.add(f, proven);
  return proven;
}

auto Facts::proves(const Cond& c) const -> bool {
  if (body_ && body_->contradiction) return true;
  return !c.is_never() &&
         std::all_of(c.terms().begin(), c.terms().end(), [&](const Form& f) { return proves_nonnegative(f); });
}

auto Facts::constant_range(const Form& f) const -> Range {
  int budget = 0;
  return Prover(body_.get(), budget).range(f);
}

auto Facts::range(const Form& f) const -> Range {
  Range r = constant_range(f);
  if (f.is_constant() || r.is_point()) return r;
  const auto lower = [&](const Form& g) {
    int budget = body_ && body_->witnesses.none() ? kRareBudget : kRangeBudget;
    // No bound is above the least value seen at a witness, so one that reaches it ends the search.
    return Prover(body_.get(), budget).lower(g, kDepth, least_seen(g, INT64_MIN).value_or(INT64_MAX));
  };
  r.lo = lower(f);
  if (const auto negated = forms::add_scaled(Form(), f, -1)) {
    const auto low = lower(*negated);
    if (low && *low != INT64_MIN) r.hi = -*low;
  }
  return r;
}

}  // namespace drawloom
