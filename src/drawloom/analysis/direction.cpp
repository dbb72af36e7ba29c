// How forms move with one symbol.
//
//   8*x - min(8*x, n) in x:   8*x grows by 8 per step, min(8*x, n) by [0, 8], the difference by [0, 8]: never down
//   n*x + min(n, m - n*x):    no slope in numbers, but the step f(x + 1) - f(x) is n minus something in 0 .. n
//
// The slope of a form is an interval that contains f(x + 1) - f(x) for all x. Slopes of sums add; of min, max and
// choose any operand's slope may be the one, so they are united; a division by a constant scales them, rounded
// outwards. An atom that many terms share is looked at once. Only where this gives no sign is the difference itself
// formed, which costs a substitution.

#include <algorithm>
#include <unordered_map>

#include "drawloom/analysis/form_internal.h"
#include "drawloom/analysis/interval.h"

namespace drawloom {
namespace {

/// Of floor(f / by), where f has this slope. A divisor of 0 gives 0, and none is negative.
auto divided(const Range& slope, const Form& by) -> Range {
  if (!by.is_constant()) return union_of(slope, Range::point(0));
  const Range d = Range::point(by.constant());
  return {div_of(slope, d).lo, div_of(slope + d - Range::point(1), d).hi};
}

/// By how much forms may grow when the symbol grows by one.
class Slopes {
 public:
  explicit Slopes(const Symbol* s) : symbol_(s) {}

  auto form(const Form& f) -> Range {
    Range out = kStill;
    if ((f.uses() & forms::bit_of(*symbol_)) == 0) return out;
    for (const auto& t : f.terms()) out = out + term(t);
    return out;
  }

 private:
  auto term(const Term& t) -> Range {
    Term rest{t.factor, {}, t.atom};
    int moving = 0;
    for (const auto& s : t.symbols) {
      if (s.get() == symbol_) {
        ++moving;
      } else {
        rest.symbols.insert(s);
      }
    }
    // A product moves like its one moving factor; of two moving ones nothing is said.
    const Range inside = t.atom ? atom(*t.atom) : kStill;
    if (moving == 0 && inside == kStill) return kStill;
    if (moving > 1 || (moving == 1 && inside != kStill)) return {};
    if (moving == 0) rest.atom = {};
    return (moving == 1 ? Range::point(1) : inside) * range_of(forms::product(rest.factor, rest.symbols, rest.atom));
  }

  auto atom(const Atom& a) -> Range {
    if ((a.uses & forms::bit_of(*symbol_)) == 0) return kStill;
    if (const auto hit = memo_.find(&a); hit != memo_.end()) return hit->second;
    const Range s = compute(a);
    memo_.emplace(&a, s);
    return s;
  }

  auto compute(const Atom& a) -> Range {
    switch (a.kind) {
      case AtomKind::None: return kStill;
      case AtomKind::FloorDiv:
        return uses_symbol(a.operands[1], symbol_) ? Range() : divided(form(a.operands[0]), a.operands[1]);
      case AtomKind::Mod: return form(a.operands[0]) == kStill && form(a.operands[1]) == kStill ? kStill : Range();
      case AtomKind::Min:
      case AtomKind::Max: break;
      case AtomKind::Choose:
        if (uses_symbol(a.condition, symbol_)) return {};
        break;
      case AtomKind::Opaque:
        return std::any_of(a.free.begin(), a.free.end(), [this](const auto& s) { return s.get() == symbol_; }) ? Range()
                                                                                                               : kStill;
    }
    Range out = form(a.operands.front());
    for (const auto& f : a.operands) out = union_of(out, form(f));
    return out;
  }

  inline static const Range kStill = Range::point(0);
  const Symbol* symbol_;
  std::unordered_map<const Atom*, Range> memo_;
};

}  // namespace

auto direction_of(const Form& f, const Symbol* s) -> Direction {
  const Range slope = Slopes(s).form(f);
  if (slope == Range::point(0)) return Direction::Constant;
  if (slope.lo && *slope.lo >= 0) return Direction::Increasing;
  if (slope.hi && *slope.hi <= 0) return Direction::Decreasing;
  // n*x + min(n, m - n*x) has no slope in numbers; its step is n - (something in 0..n).
  const Form next = substitute(f, [s](const SymbolRef& v) -> std::optional<Form> {
    return v.get() == s ? std::optional(Form(v) + 1) : std::nullopt;
  });
  // mins, maxes and choices inside each other that the sign of the step may depend on
  constexpr int kDepth = 3;
  const auto step = forms::add_scaled(next, f, -1);
  if (!step) return Direction::Unknown;
  if (forms::known_nonnegative(*step, kDepth)) return Direction::Increasing;
  return forms::known_nonnegative(-*step, kDepth) ? Direction::Decreasing : Direction::Unknown;
}

namespace intervals {
namespace {

/// Occurrences, counted up to 2.
class Counter {
 public:
  explicit Counter(const Symbol* s) : symbol_(s) {}
  auto form(const Form& f) -> int {
    int n = 0;
    if ((f.uses() & forms::bit_of(*symbol_)) == 0) return n;
    for (const auto& t : f.terms()) {
      for (const auto& s : t.symbols) n += s.get() == symbol_;
      if (t.atom) n += atom(*t.atom);
      // more than once is all that matters
      if (n > 1) break;
    }
    return std::min(n, 2);
  }

 private:
  auto atom(const Atom& a) -> int {
    if ((a.uses & forms::bit_of(*symbol_)) == 0) return 0;
    if (const auto hit = memo_.find(&a); hit != memo_.end()) return hit->second;
    int n = 0;
    for (const auto& f : a.operands) n += form(f);
    for (const auto& f : a.condition.terms()) n += form(f);
    for (const auto& s : a.free) n += s.get() == symbol_;
    memo_.emplace(&a, std::min(n, 2));
    return std::min(n, 2);
  }
  const Symbol* symbol_;
  std::unordered_map<const Atom*, int> memo_;
};

}  // namespace

auto occurs_twice(const Form& f, const Symbol* s) -> bool { return Counter(s).form(f) > 1; }

}  // namespace intervals
}  // namespace drawloom
