// Constant bounds of forms, from promises alone: sizes are >= 0, parameters keep to their range.
//
//   n + 3                 [3, ..]       n a size
//   n - min(n, 8) >= 0    bounds give [-8, ..]; but -min(n, 8) >= -n, and n - n is 0
//
// Bounds add up term by term and forget that terms share symbols. For signs alone, known_nonnegative puts an operand in
// the place of a min, max or choose, so that shared parts cancel: one operand is enough where it bounds the atom
// from the side that counts; else, and for choose, each must do.

#include "drawloom/analysis/form_internal.h"

namespace drawloom {
namespace {

auto range_of_term(const Term& t) -> Range {
  Range r = Range::point(t.factor);
  for (size_t i = 0; i < t.symbols.size(); ++i) {
    Range s = promised_range(*t.symbols[i]);
    // A square is not negative.
    if (i + 1 < t.symbols.size() && t.symbols[i] == t.symbols[i + 1]) {
      s = intersection_of(s * s, {0, {}});
      ++i;
    }
    r = r * s;
  }
  return t.atom ? r * t.atom->range : r;
}

}  // namespace

auto range_of(const Form& f) -> Range {
  Range r = Range::point(f.constant());
  for (const auto& t : f.terms()) {
    r = r + range_of_term(t);
    if (!r.lo && !r.hi) break;
  }
  return r;
}

namespace forms {
namespace {

/// f with the atom of term i replaced by one of its operands.
auto with_operand(const Form& f, size_t i, const Form& operand) -> std::optional<Form> {
  return add_scaled(without(f, i), operand, f.terms()[i].factor);
}

/// f >= 0 looked for within a number of sums: what is long is rarely known, and looking everywhere costs its square.
class SignSearch {
 public:
  auto nonnegative(const Form& f, int depth) -> bool {
    if (is_nonnegative(range_of(f)) || by_pairs(f)) return true;
    for (size_t i = 0; depth > 0 && i < f.terms().size(); ++i) {
      if (by_term(f, i, depth)) return true;
    }
    return false;
  }

 private:
  static auto is_nonnegative(const Range& r) -> bool { return r.lo && *r.lo >= 0; }
  static auto is_extreme(const Term& t) -> bool {
    return t.atom && t.symbols.empty() && (t.atom->kind == AtomKind::Min || t.atom->kind == AtomKind::Max);
  }
  static auto are_opposite(const Term& t, const Term& u) -> bool {
    return is_extreme(u) && t.factor == -u.factor && t.atom->kind == u.atom->kind;
  }

  /// min(p0, p1) >= min(q0, q1, q2) where each p is >= some q; max where each q is <= some p. A clamp that is shifted
  /// inside, however deep, is compared operand by operand.
  auto by_pairs(const Form& f) -> bool {
    for (size_t i = 0; i < f.terms().size(); ++i) {
      if (!is_extreme(f.terms()[i]) || f.terms()[i].factor < 0) continue;
      for (size_t j = 0; j < f.terms().size(); ++j) {
        if (are_opposite(f.terms()[i], f.terms()[j])) return pairs_nonnegative(f, i, j);
      }
    }
    return false;
  }
  auto pairs_nonnegative(const Form& f, size_t i, size_t j) -> bool {
    const Term &p = f.terms()[i], &q = f.terms()[j];
    const Form rest = f - form_of(p) - form_of(q);
    const auto &above = p.atom->operands, &below = q.atom->operands;
    const auto is_above = [&](size_t k, size_t l) {
      if (--pairs_ < 0) return false;
      const auto difference = add_scaled(above[k], below[l], -1);
      const auto sum = difference ? add_scaled(rest, *difference, p.factor) : std::nullopt;
      return sum && (is_nonnegative(range_of(*sum)) || by_pairs(*sum));
    };
    const bool is_min = p.atom->kind == AtomKind::Min;
    const size_t each = is_min ? above.size() : below.size(), some = is_min ? below.size() : above.size();
    for (size_t k = 0; k < each; ++k) {
      // Operands are in one order in both, so the partner mostly stands in the same place.
      bool found = k < some && is_above(k, k);
      for (size_t l = 0; l < some && !found; ++l) found = l != k && (is_min ? is_above(k, l) : is_above(l, k));
      if (!found) return false;
    }
    return true;
  }

  auto by_term(const Form& f, size_t i, int depth) -> bool {
    const Term& t = f.terms()[i];
    if (!t.atom || !t.symbols.empty()) return false;
    const AtomKind kind = t.atom->kind;
    if (kind != AtomKind::Min && kind != AtomKind::Max && kind != AtomKind::Choose) return false;
    // max is at least each operand; of min and choose every operand has to do.
    const bool any = (kind == AtomKind::Max) == (t.factor > 0) && kind != AtomKind::Choose;
    for (const auto& operand : t.atom->operands) {
      if (--sums_ < 0) return false;
      const auto g = with_operand(f, i, operand);
      const bool known = g && nonnegative(*g, depth - 1);
      if (known == any) return any;
    }
    return !any;
  }

  int sums_ = 16;
  int pairs_ = 64;
};

}  // namespace

auto known_nonnegative(const Form& f, int depth) -> bool { return SignSearch().nonnegative(f, depth); }

}  // namespace forms
}  // namespace drawloom
