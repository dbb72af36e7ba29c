// Forms of regions: lower and upper ends under choices, and what the facts leave of them.
//
//   lo = choose(c, y + 2, z), hi = choose(c, y + 4, z + w)
//     hi - lo + 1    two atoms in which y and z stand
//     decided        under c it is 3, else w + 1: choose(c, 3, w + 1)
//
// An extent that comes out constant is what storage, vectors and folds are made of, so equal choices are decided on
// both ends at once. Each choice doubles the work, hence the limits on how many and how long; beyond them a form stays
// a plain difference, correct and not constant.

#include <algorithm>
#include <unordered_set>

#include "drawloom/ir/build.h"
#include "drawloom/nest/region_box.h"

namespace drawloom {

auto When::is_always() const -> bool {
  return std::any_of(any.begin(), any.end(), [](const Cond& c) { return c.is_always(); });
}

auto When::text() const -> std::string {
  if (any.empty()) return "never";
  if (is_always()) return "always";
  std::vector<std::string> parts;
  for (const auto& c : any) parts.push_back(c.text());
  return join(parts, " or ");
}

auto to_expr(const When& w) -> Expr {
  if (w.any.empty()) return bool_imm(false);
  Expr out;
  for (const auto& c : w.any) {
    const Expr e = to_expr(c);
    out = out ? binary(BinaryOp::Or, out, e) : e;
  }
  return out;
}

auto RegionDim::extent() const -> Form { return form_extent(lo, hi); }

auto RealisationFacts::slide_of(int dim) const -> const Slide* {
  for (const auto& s : slides)
    if (s.dim == dim) return &s;
  return nullptr;
}

// ---- choices

namespace {

/// Conditions of the choose atoms in f, the first found or nothing.
auto find_choice(const Form& f, std::unordered_set<const Atom*>& seen) -> std::optional<Cond> {
  for (const auto& t : f.terms()) {
    if (!t.atom || !seen.insert(t.atom.get()).second) continue;
    if (t.atom->kind == AtomKind::Choose) return t.atom->condition;
    for (const auto& op : t.atom->operands)
      if (auto c = find_choice(op, seen)) return c;
  }
  return {};
}

}  // namespace

auto decide(const Form& f, const Cond& condition, bool yes) -> Form {
  return replace_atoms(f, [&](const Atom& a, const auto& replaced) -> std::optional<Form> {
    if (a.kind != AtomKind::Choose || a.condition != condition) return {};
    return replaced(a.operands[yes ? 0 : 1]);
  });
}

namespace {

/// Each choice doubles the work and the form: few are decided, what is left stays a difference, and so does what comes
/// out long.
auto extent_deciding(const Form& lo, const Form& hi, int choices) -> Form {
  constexpr int kHopeless = 200;
  const Form plain = hi - lo + 1;
  std::unordered_set<const Atom*> seen;
  const auto choice = choices > 0 && weight(plain, kHopeless) < kHopeless ? find_choice(plain, seen) : std::nullopt;
  if (!choice) return plain;
  const auto side = [&](bool yes) {
    return extent_deciding(decide(lo, *choice, yes), decide(hi, *choice, yes), choices - 1);
  };
  const Form decided = choose(*choice, side(true), side(false));
  return is_long(decided) ? plain : decided;
}

}  // namespace

auto form_extent(const Form& lo, const Form& hi) -> Form {
  constexpr int kChoices = 3;
  return extent_deciding(lo, hi, kChoices);
}

auto cover_of(const Form& extent, const Facts& facts) -> Form {
  if (extent.is_constant()) return extent;
  if (const auto hi = facts.range(extent).hi) return Form(*hi);
  return extent;
}

// ---- under facts

auto simplified(const Form& f, const Facts& facts) -> Form {
  // the number of is_long, counted without conditions
  constexpr int kLarge = 24;
  return weight(f, kLarge) < kLarge ? facts.simplify(f) : f;
}

namespace {

/// hi as lo + c where the facts leave only one distance: the number of elements must be plain to see.
auto at_fixed_distance(const Form& lo, const Form& hi, const Facts& facts) -> Form {
  const Form distance = form_extent(lo, hi);
  if (distance.is_constant() || weight(distance, 12) >= 12) return hi;
  const Range r = facts.range(distance);
  return r.lo && r.hi && *r.lo == *r.hi ? lo + Form(*r.lo - 1) : hi;
}

}  // namespace

void tidy(Region& region, const Facts& facts) {
  for (auto& d : region.dims) {
    d.lo = simplified(d.lo, facts), d.free_hi = simplified(d.free_hi, facts);
    d.hi =
        simplified(min(d.hi, d.free_hi),
                   facts);  // both bound the need, found in different ways: a tail must not make the looser one of hi
    d.hi = at_fixed_distance(d.lo, d.hi, facts), d.free_hi = at_fixed_distance(d.lo, d.free_hi, facts);
    d.cover = cover_of(form_extent(d.lo, d.free_hi), facts);
  }
  std::vector<Cond> kept;
  for (const auto& c : region.when.any) {
    const Cond simple = facts.simplify(c);
    if (!simple.is_never() && std::find(kept.begin(), kept.end(), simple) == kept.end()) kept.push_back(simple);
  }
  region.when.any = std::move(kept);
}

}  // namespace drawloom
