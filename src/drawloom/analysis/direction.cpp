// How forms move with one symbol.

#include <unordered_map>

#include "drawloom/analysis/form_internal.h"
#include "drawloom/analysis/interval.h"

namespace drawloom {
namespace {

auto reversed(Direction d) -> Direction {
  if (d == Direction::Increasing) return Direction::Decreasing;
  return d == Direction::Decreasing ? Direction::Increasing : d;
}
auto joined(Direction a, Direction b) -> Direction {
  if (a == Direction::Constant) return b;
  return b == Direction::Constant || a == b ? a : Direction::Unknown;
}

class Directions {
 public:
  explicit Directions(const Symbol* s) : symbol_(s) {}

  auto form(const Form& f) -> Direction {
    Direction out = Direction::Constant;
    if ((f.uses() & forms::bit_of(*symbol_)) == 0) return out;
    for (const auto& t : f.terms()) out = joined(out, term(t));
    return out;
  }

 private:
  auto term(const Term& t) -> Direction {
    Term rest{t.factor, {}, t.atom};
    int times = 0;
    for (const auto& s : t.symbols) {
      if (s.get() == symbol_) {
        ++times;
      } else {
        rest.symbols.insert(s);
      }
    }
    const Direction inside = t.atom ? atom(*t.atom) : Direction::Constant;
    if (times == 0 && inside == Direction::Constant) return Direction::Constant;
    if (times > 1 || (times == 1 && inside != Direction::Constant)) return Direction::Unknown;
    if (times == 0) rest.atom = {};
    const Direction moves = times == 1 ? Direction::Increasing : inside;
    const Range sign = range_of(forms::product(rest.factor, rest.symbols, rest.atom));
    if (sign.lo && *sign.lo >= 0) return moves;
    return sign.hi && *sign.hi <= 0 ? reversed(moves) : Direction::Unknown;
  }

  auto atom(const Atom& a) -> Direction {
    if ((a.uses & forms::bit_of(*symbol_)) == 0) return Direction::Constant;
    if (const auto hit = memo_.find(&a); hit != memo_.end()) return hit->second;
    const Direction d = compute(a);
    memo_.emplace(&a, d);
    return d;
  }

  auto compute(const Atom& a) -> Direction {
    switch (a.kind) {
      case AtomKind::None: return Direction::Constant;
      case AtomKind::FloorDiv:
        return uses_symbol(a.operands[1], symbol_) ? Direction::Unknown : form(a.operands[0]);
      case AtomKind::Mod: {
        const bool still = form(a.operands[0]) == Direction::Constant && form(a.operands[1]) == Direction::Constant;
        return still ? Direction::Constant : Direction::Unknown;
      }
      case AtomKind::Min:
      case AtomKind::Max: break;
      case AtomKind::Choose:
        if (uses_symbol(a.condition, symbol_)) return Direction::Unknown;
        break;
      case AtomKind::Opaque: {
        for (const auto& s : a.free) {
          if (s.get() == symbol_) return Direction::Unknown;
        }
        return Direction::Constant;
      }
    }
    Direction out = Direction::Constant;
    for (const auto& f : a.operands) out = joined(out, form(f));
    return out;
  }

  const Symbol* symbol_;
  std::unordered_map<const Atom*, Direction> memo_;
};

}  // namespace

auto direction_of(const Form& f, const Symbol* s) -> Direction {
  const Direction plain = Directions(s).form(f);
  if (plain != Direction::Unknown) return plain;
  // 8*x + min(8, n - 8*x) does not look monotone; its step is 8 - (something in 0..8).
  const Form next = substitute(f, [s](const SymbolRef& v) -> std::optional<Form> {
    return v.get() == s ? std::optional(Form(v) + 1) : std::nullopt;
  });
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
