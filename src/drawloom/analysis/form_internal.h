#pragma once
/// What the files that make, read and compare forms share; nobody outside analysis/ includes it.

#include <numeric>

#include "drawloom/analysis/form.h"

namespace drawloom {

struct FormBuilder {
  /// Sorted terms with distinct monomials and non-zero factors.
  static auto make(int64_t constant, std::vector<Term> terms) -> Form;
  /// `f` with another constant; shares the terms.
  static auto with_constant(const Form& f, int64_t constant) -> Form { return {constant, f.terms_}; }
  static auto terms_of(const Form& f) -> const FormTerms* { return f.terms_.get(); }
  static auto same_terms(const Form& a, const Form& b) -> bool;
};

namespace forms {

inline auto bit_of(const Symbol& s) -> uint64_t { return uint64_t{1} << (s.id % 64); }
auto uses(const Cond& c) -> uint64_t;

/// Order of monomials: bare symbols first, then by symbols, then by atoms.
auto compare_monomials(const Term& a, const Term& b) -> int;
/// Order of forms without their constants.
auto compare_terms(const Form& a, const Form& b) -> int;

inline auto floor_divide(int64_t a, int64_t b) -> int64_t { return a / b - (a % b < 0 ? 1 : 0); }  // b > 0
inline auto modulo(int64_t a, int64_t b) -> int64_t { return a % b < 0 ? a % b + b : a % b; }      // b > 0

/// a + factor * b, or nothing on overflow.
auto add_scaled(const Form& a, const Form& b, int64_t factor) -> std::optional<Form>;
auto divisible(const Term& t, const Term& by) -> std::optional<Term>;
auto atom_form(AtomKind kind, std::vector<Form> operands, Cond condition = {}) -> Form;
/// The form of an atom like `a`, which is not opaque, over other operands and another condition.
auto with_operands(const Atom& a, std::vector<Form> operands, const Cond& condition) -> Form;
/// min for sign = 1, max for sign = -1.
auto extreme(int sign, std::vector<Form> operands) -> Form;
/// rest + min(a, b) as operands of a min: rest + a, rest + b; what is no min of this kind is one operand.
void flatten(AtomKind kind, const Form& f, std::vector<Form>& out);
/// factor * symbols * atom, any of which may be missing.
auto product(int64_t factor, const SymbolList& symbols, const Ref<const Atom>& atom) -> Form;
/// The greatest common divisor of the factors and `with`.
auto factor_gcd(const std::vector<Term>& terms, int64_t with) -> int64_t;
/// f >= 0 by constant bounds and, `depth` times, by looking into a min, max or choose.
auto known_nonnegative(const Form& f, int depth) -> bool;
/// `f` without one of its terms.
auto without(const Form& f, size_t term) -> Form;

}  // namespace forms
}  // namespace drawloom
