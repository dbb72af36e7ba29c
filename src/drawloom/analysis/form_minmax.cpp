// Minima, maxima and choices.
//
//   min(min(x, y) + 1, x + 3)
//     flatten    x + 1, y + 1, x + 3
//     dominated  x + 3 is never below x + 1        ->  x + 1, y + 1
//     draw out   the constant of the first         ->  1 + min(x, y)
//
//   max(a, min(b, max(a, v) + 1))          a clamped value, plus 1, clamped again
//     pull out   max(a, v) + 1 is never below a      ->  min(max(a, v) + 1, max(a, b))
//     clamped and shifted again, this is               min(max(a, v) + 2, max(a, b)): it no longer grows
//
// min and max are one algorithm with a sign. Drawing out what operands share is what lets min(8*xo, n - 8) + 8 and
// min(n, 8*xo + 8) come out equal. Flattening stops at 8 operands, as domination looks at every pair; it is
// decided without facts, which come in later (facts_simplify.cpp).

#include <algorithm>

#include "drawloom/analysis/form_internal.h"

namespace drawloom {
namespace forms {
namespace {

constexpr size_t kMaxOperands = 8;

auto kind_of(int sign) -> AtomKind { return sign > 0 ? AtomKind::Min : AtomKind::Max; }

/// Terms besides one: with a second atom, flattening would copy it into every operand.
auto has_atom(const Form& f, size_t but) -> bool {
  for (size_t i = 0; i < f.terms().size(); ++i) {
    if (i != but && f.terms()[i].atom) return true;
  }
  return false;
}

/// The term of f that is an atom of this kind, where no other term has an atom.
auto lone_atom(const Form& f, AtomKind kind) -> std::optional<size_t> {
  for (size_t i = 0; i < f.terms().size(); ++i) {
    const Term& t = f.terms()[i];
    if (!t.atom || t.atom->kind != kind || t.factor != 1 || !t.symbols.empty()) continue;
    return has_atom(f, i) ? std::nullopt : std::optional(i);
  }
  return {};
}

}  // namespace

void flatten(AtomKind kind, const Form& f, std::vector<Form>& out) {
  const auto at = lone_atom(f, kind);
  const auto* operands = at ? &f.terms()[*at].atom->operands : nullptr;
  if (!operands || out.size() + operands->size() > kMaxOperands) return out.push_back(f);
  const Form rest = without(f, *at);
  std::vector<Form> parts;
  for (const auto& operand : *operands) {
    const auto sum = add_scaled(rest, operand, 1);
    if (!sum) return out.push_back(f);
    parts.push_back(*sum);
  }
  out.insert(out.end(), parts.begin(), parts.end());
}

namespace {

/// a <= b for min, a >= b for max.
auto dominates(int sign, const Form& a, const Form& b) -> bool {
  if (FormBuilder::same_terms(a, b)) return sign > 0 ? a.constant() <= b.constant() : a.constant() >= b.constant();
  const auto difference = sign > 0 ? add_scaled(b, a, -1) : add_scaled(a, b, -1);
  return difference && known_nonnegative(*difference, 2);
}

/// Of equals the first stays.
void drop_dominated(int sign, std::vector<Form>& operands) {
  std::vector<Form> kept;
  for (const auto& f : operands) {
    const auto beats_f = [&](const Form& k) { return dominates(sign, k, f); };
    if (std::any_of(kept.begin(), kept.end(), beats_f)) continue;
    std::erase_if(kept, [&](const Form& k) { return dominates(sign, f, k); });
    kept.push_back(f);
  }
  operands = std::move(kept);
}

auto holds_term(const Form& f, const Term& t) -> bool {
  for (const auto& u : f.terms()) {
    if (u.factor == t.factor && same_monomial(u, t)) return true;
  }
  return false;
}

/// What all operands have in common, taken out of them; zero when that would overflow.
auto draw_out_terms(std::vector<Form>& operands) -> Form {
  Form common;
  for (const auto& t : operands[0].terms()) {
    const auto has = [&](const Form& f) { return holds_term(f, t); };
    if (std::all_of(operands.begin() + 1, operands.end(), has)) common += form_of(t);
  }
  if (common.is_constant()) return common;
  for (auto& f : operands) f -= common;
  return common;
}

/// All or none: an operand that overflows leaves them as they are.
auto draw_out_constant(std::vector<Form>& operands, int64_t constant) -> Form {
  std::vector<Form> moved;
  for (const auto& f : operands) {
    auto m = add_scaled(f, Form(constant), -1);
    if (!m) return Form();
    moved.push_back(*m);
  }
  operands = std::move(moved);
  return Form(constant);
}

/// max(a, min(b, g)) is min(g, max(a, b)) where g >= a, and min(a, max(b, g)) alike. For a g that is a max itself: it
/// holds what was clamped before, and stands beside the bounds then instead of below them. Not where another operand is
/// a min, which the rule for min would pull out again.
auto pulled_out(int sign, const std::vector<Form>& operands) -> std::optional<Form> {
  const auto is_opposite = [&](const Form& f) { return lone_atom(f, kind_of(-sign)).has_value(); };
  const auto inner = std::find_if(operands.begin(), operands.end(), is_opposite);
  if (inner == operands.end() || std::any_of(inner + 1, operands.end(), is_opposite)) return {};
  std::vector<Form> parts, out, left;
  flatten(kind_of(-sign), *inner, parts);
  std::vector<Form> bounds(operands.begin(), inner);
  bounds.insert(bounds.end(), inner + 1, operands.end());
  for (const auto& g : parts) {
    const auto beats = [&](const Form& bound) { return dominates(sign, g, bound); };
    const bool goes = lone_atom(g, kind_of(sign)) && std::all_of(bounds.begin(), bounds.end(), beats);
    (goes ? out : left).push_back(g);
  }
  if (out.empty() || left.empty()) return {};
  bounds.push_back(extreme(-sign, left));
  out.push_back(extreme(sign, bounds));
  return extreme(-sign, out);
}

}  // namespace

auto extreme(int sign, std::vector<Form> given) -> Form {
  std::vector<Form> operands;
  for (const auto& f : given) flatten(kind_of(sign), f, operands);
  drop_dominated(sign, operands);
  if (operands.size() == 1) return operands[0];
  if (auto pulled = pulled_out(sign, operands)) return *std::move(pulled);
  Form common = draw_out_terms(operands);
  std::sort(operands.begin(), operands.end(), [](const Form& a, const Form& b) { return compare_terms(a, b) < 0; });
  common += draw_out_constant(operands, operands[0].constant());
  return common + atom_form(kind_of(sign), std::move(operands));
}

namespace {

/// `f` where the condition is known: choices by the same condition are decided.
auto under(const Form& f, const Cond& condition, bool holds) -> Form {
  Form out = f;
  for (size_t i = 0; i < f.terms().size(); ++i) {
    const Term& t = f.terms()[i];
    if (!t.atom || t.atom->kind != AtomKind::Choose || !(t.atom->condition == condition)) continue;
    out = out - form_of(t) + product(t.factor, t.symbols, {}) * t.atom->operands[holds ? 0 : 1];
  }
  return out;
}

/// choose(a <= b, a, b) and its kin are min and max.
auto as_extreme(const Cond& condition, const Form& yes, const Form& no) -> std::optional<Form> {
  if (condition.terms().size() != 1) return {};
  // a <= b and a < b choose differently only where a = b, and there both sides are equal
  const auto up = add_scaled(no, yes, -1);
  const auto down = add_scaled(yes, no, -1);
  if (!up || !down) return {};
  const auto is = [&](const Form& f) { return condition == Cond::nonnegative(f); };
  if (is(*up) || is(*up - 1)) return extreme(1, {yes, no});
  if (is(*down) || is(*down - 1)) return extreme(-1, {yes, no});
  return {};
}

}  // namespace
}  // namespace forms

auto min(const Form& a, const Form& b) -> Form { return forms::extreme(1, {a, b}); }
auto max(const Form& a, const Form& b) -> Form { return forms::extreme(-1, {a, b}); }

auto choose(const Cond& condition, const Form& if_yes, const Form& if_no) -> Form {
  if (condition.is_always()) return if_yes;
  if (condition.is_never()) return if_no;
  const Form yes = forms::under(if_yes, condition, true), no = forms::under(if_no, condition, false);
  if (yes == no) return yes;
  if (const auto m = forms::as_extreme(condition, yes, no)) return *m;
  std::vector<Form> sides = {yes, no};
  Form common = forms::draw_out_terms(sides);
  common += forms::draw_out_constant(sides, std::min(sides[0].constant(), sides[1].constant()));
  return common + forms::atom_form(AtomKind::Choose, std::move(sides), condition);
}

}  // namespace drawloom
