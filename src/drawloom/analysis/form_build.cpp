// Sums and products of forms.
//
//   (8*xo + xi) - (8*xo + 3)  ->  xi - 3                  two sorted lists of terms merge; what adds up to 0 goes
//   8*(x/8) + x%8             ->  x
//   (x + 1)*(n + 2)           ->  2*x + x*n + n + 2       n is a size: monomials may hold it
//   x*y, y*x                  ->  {x * y}                 outside the language: one opaque atom for both orders
//
// A sum costs the terms of both sides, a product their product. All arithmetic is checked, and where it overflows the
// whole operation becomes an opaque atom of which nothing is known. Results are made anew and never changed, so that
// forms can share their terms.

#include "drawloom/analysis/form_internal.h"
#include "drawloom/ir/build.h"
#include "drawloom/support/check.h"
#include "drawloom/support/hash.h"

namespace drawloom {

void drop_node(const FormTerms* terms) { delete terms; }

void SymbolList::insert(const SymbolRef& s) {
  size_t at = 0;
  while (at < size_ && begin()[at]->id <= s->id) ++at;
  if (more_.empty() && size_ < 2) {
    if (at == 0) few_[1] = few_[0];
    few_[at] = s;
  } else {
    if (more_.empty()) more_.assign(few_, few_ + size_);
    more_.insert(more_.begin() + static_cast<ptrdiff_t>(at), s);
  }
  ++size_;
}

void SymbolList::erase(size_t i) {
  SymbolList out;
  for (size_t k = 0; k < size_; ++k) {
    if (k != i) out.insert((*this)[k]);
  }
  *this = std::move(out);
}

// ---- making

auto FormBuilder::make(int64_t constant, std::vector<Term> terms) -> Form {
  if (terms.empty()) return Form(constant);
  auto body = make_ref<FormTerms>();
  // Without the constant: forms that differ by one share this, and are compared by their terms.
  uint64_t hash = terms.size(), uses = 0;
  for (const auto& t : terms) {
    hash = hash_combine(hash, static_cast<uint64_t>(t.factor));
    for (const auto& s : t.symbols) {
      hash = hash_combine(hash, s->id);
      uses |= forms::bit_of(*s);
    }
    if (!t.atom) continue;
    hash = hash_combine(hash, t.atom->hash);
    uses |= t.atom->uses;
  }
  body->terms = std::move(terms);
  body->hash = hash;
  body->uses = uses;
  return {constant, std::move(body)};
}

Form::Form(const SymbolRef& symbol) {
  DRAWLOOM_CHECK(symbol->type.is_scalar() && (symbol->type.is_index() || symbol->type.is_data_int()),
                 "the symbol {} of a form is {}", symbol->name, symbol->type);
  Term t{1, {}, {}};
  t.symbols.insert(symbol);
  std::vector<Term> terms;
  terms.push_back(std::move(t));
  *this = FormBuilder::make(0, std::move(terms));
}

auto Form::terms() const -> const std::vector<Term>& {
  static const std::vector<Term> none;
  return terms_ ? terms_->terms : none;
}

auto Form::as_symbol() const -> SymbolRef {
  if (constant_ != 0 || terms().size() != 1) return {};
  const Term& t = terms()[0];
  return t.factor == 1 && !t.atom && t.symbols.size() == 1 ? t.symbols[0] : SymbolRef();
}

auto Form::hash() const -> uint64_t {
  return hash_combine(terms_ ? terms_->hash : 0, static_cast<uint64_t>(constant_));
}

auto form_of(const Term& t) -> Form { return FormBuilder::make(0, {t}); }

auto as_atom(const Form& f) -> const Atom* {
  if (f.terms().size() != 1) return nullptr;
  const Term& t = f.terms()[0];
  return t.factor == 1 && t.symbols.empty() ? t.atom.get() : nullptr;
}

namespace forms {
namespace {

/// Merges two sorted term lists into a + factor * b; false on overflow.
auto merge(const std::vector<Term>& a, const std::vector<Term>& b, int64_t factor, std::vector<Term>& out) -> bool {
  out.reserve(a.size() + b.size());
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const int c = i == a.size() ? 1 : j == b.size() ? -1 : compare_monomials(a[i], b[j]);
    if (c < 0) {
      out.push_back(a[i++]);
      continue;
    }
    int64_t value = 0;
    if (__builtin_mul_overflow(b[j].factor, factor, &value)) return false;
    if (c == 0 && __builtin_add_overflow(value, a[i++].factor, &value)) return false;
    if (value != 0) {
      out.push_back(b[j]);
      out.back().factor = value;
    }
    ++j;
  }
  return true;
}

/// The quotient term that belongs to remainder term `mod` so that c*b*(a/b) + c*(a%b) = c*a, or the size of the list.
auto quotient_of(const std::vector<Term>& terms, const Term& mod) -> size_t {
  const Form& divisor = mod.atom->operands[1];
  const auto size = divisor.as_constant();
  if (!size) return terms.size();  // for a symbolic divisor the identity fails at 0
  int64_t factor = 0;
  if (__builtin_mul_overflow(mod.factor, *size, &factor)) return terms.size();
  for (size_t i = 0; i < terms.size(); ++i) {
    const Term& t = terms[i];
    if (t.factor != factor || !t.atom || t.atom->kind != AtomKind::FloorDiv) continue;
    if (t.atom->operands != mod.atom->operands) continue;
    if (same_monomial({1, t.symbols, {}}, {1, mod.symbols, {}})) return i;
  }
  return terms.size();
}

/// Joins quotients and remainders of one division: 8*(a/8) + a%8 = a.
auto join_divisions(const Form& f) -> Form {
  const auto& terms = f.terms();
  for (size_t i = 0; i < terms.size(); ++i) {
    if (!terms[i].atom || terms[i].atom->kind != AtomKind::Mod) continue;
    const size_t j = quotient_of(terms, terms[i]);
    if (j == terms.size()) continue;
    const Form rest = without(without(f, std::max(i, j)), std::min(i, j));
    return rest + product(terms[i].factor, terms[i].symbols, {}) * terms[i].atom->operands[0];
  }
  return f;
}

}  // namespace

auto without(const Form& f, size_t term) -> Form {
  auto terms = f.terms();
  terms.erase(terms.begin() + static_cast<ptrdiff_t>(term));
  return FormBuilder::make(f.constant(), std::move(terms));
}

auto add_scaled(const Form& a, const Form& b, int64_t factor) -> std::optional<Form> {
  int64_t constant = 0;
  if (__builtin_mul_overflow(b.constant(), factor, &constant)) return {};
  if (__builtin_add_overflow(constant, a.constant(), &constant)) return {};
  if (b.is_constant() || factor == 0) return FormBuilder::with_constant(a, constant);
  if (a.is_constant() && factor == 1) return FormBuilder::with_constant(b, constant);
  std::vector<Term> out;
  if (!merge(a.terms(), b.terms(), factor, out)) return {};
  const auto has = [](const std::vector<Term>& list, AtomKind kind) {
    for (const auto& t : list) {
      if (t.atom && t.atom->kind == kind) return true;
    }
    return false;
  };
  // only then can a quotient and a remainder meet; most sums have neither
  const bool divisions = has(out, AtomKind::Mod) && has(out, AtomKind::FloorDiv);
  const Form sum = FormBuilder::make(constant, std::move(out));
  return divisions ? join_divisions(sum) : sum;
}

auto product(int64_t factor, const SymbolList& symbols, const Ref<const Atom>& atom) -> Form {
  if (factor == 0 || (symbols.empty() && !atom)) return Form(factor);
  return form_of({factor, symbols, atom});
}

/// Whole monomials: 6*n*x by 2*n is 3*x; nothing where a symbol or the atom of `by` is missing.
auto divisible(const Term& t, const Term& by) -> std::optional<Term> {
  if (by.factor == 0 || t.factor % by.factor != 0) return {};
  if (by.factor == -1 && t.factor == INT64_MIN) return {};
  Term out{t.factor / by.factor, t.symbols, t.atom};
  if (by.atom) {
    if (!t.atom || !same_monomial({1, {}, t.atom}, {1, {}, by.atom})) return {};
    out.atom = {};
  }
  for (const auto& s : by.symbols) {
    size_t at = 0;
    while (at < out.symbols.size() && out.symbols[at] != s) ++at;
    if (at == out.symbols.size()) return {};
    out.symbols.erase(at);
  }
  return out;
}

auto factor_gcd(const std::vector<Term>& terms, int64_t with) -> int64_t {
  int64_t g = with;
  for (const auto& t : terms) {
    if (t.factor == INT64_MIN) return 1;
    g = std::gcd(g, t.factor);
  }
  return g;
}

namespace {

/// The part of a term that may stand only once in a monomial, split from what may repeat.
void split_term(const Term& t, SymbolList& free, std::vector<SymbolRef>& varying, std::vector<Ref<const Atom>>& atoms) {
  for (const auto& s : t.symbols) {
    if (is_runtime_symbol(*s)) {
      free.insert(s);
    } else {
      varying.push_back(s);
    }
  }
  if (t.atom) atoms.push_back(t.atom);
}

/// x*y, or atom*atom, as one opaque atom; operands sorted, so that y*x is the same.
auto opaque_product(std::vector<SymbolRef> varying, std::vector<Ref<const Atom>> atoms) -> Form {
  std::vector<Form> parts;
  for (const auto& s : varying) parts.push_back(Form(s));
  for (const auto& a : atoms) parts.push_back(form_of({1, {}, a}));
  for (size_t i = 1; i < parts.size(); ++i) {
    for (size_t k = i; k > 0 && compare(parts[k], parts[k - 1]) < 0; --k) std::swap(parts[k], parts[k - 1]);
  }
  Expr product = to_expr(parts[0]);
  Range range = range_of(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    product = binary(BinaryOp::Mul, product, to_expr(parts[i]));
    range = range * range_of(parts[i]);
  }
  // a square
  if (parts.size() == 2 && parts[0] == parts[1]) range = intersection_of(range, {0, {}});
  return opaque(product, range);
}

auto multiply_terms(const Term& a, const Term& b) -> std::optional<Form> {
  Term out{0, {}, {}};
  if (__builtin_mul_overflow(a.factor, b.factor, &out.factor)) return {};
  std::vector<SymbolRef> varying;
  std::vector<Ref<const Atom>> atoms;
  split_term(a, out.symbols, varying, atoms);
  split_term(b, out.symbols, varying, atoms);
  if (varying.size() > 1 || atoms.size() > 1) {
    // sizes stay outside, where they can cancel and factor
    const Form core = opaque_product(std::move(varying), std::move(atoms));
    out.atom = core.terms()[0].atom;
  } else {
    for (const auto& s : varying) out.symbols.insert(s);
    if (!atoms.empty()) out.atom = atoms[0];
  }
  return form_of(out);
}

auto multiply(const Form& a, const Form& b) -> std::optional<Form> {
  constexpr size_t kMaxTerms = 64;  // beyond it, distributing a product of sums explodes
  if (a.is_constant()) return add_scaled(Form(), b, a.constant());
  if (b.is_constant()) return add_scaled(Form(), a, b.constant());
  if (a.terms().size() * b.terms().size() > kMaxTerms) return {};
  auto sum = add_scaled(Form(), FormBuilder::with_constant(b, 0), a.constant());
  for (const auto& t : a.terms()) {
    if (sum && b.constant() != 0) sum = add_scaled(*sum, form_of(t), b.constant());
    for (const auto& u : b.terms()) {
      const auto product = sum ? multiply_terms(t, u) : std::nullopt;
      if (!product) return {};
      sum = add_scaled(*sum, *product, 1);
    }
  }
  int64_t constant = 0;
  if (!sum || __builtin_mul_overflow(a.constant(), b.constant(), &constant)) return {};
  return add_scaled(*sum, Form(constant), 1);
}

auto opaque_of(BinaryOp op, const Form& a, const Form& b) -> Form {
  return opaque(binary(op, to_expr(a), to_expr(b)), Range::all());
}

}  // namespace
}  // namespace forms

auto operator+(const Form& a, const Form& b) -> Form {
  if (a.is_constant()) {
    if (auto sum = forms::add_scaled(b, a, 1)) return *sum;
  } else if (auto sum = forms::add_scaled(a, b, 1)) {
    return *sum;
  }
  // operands in their order, so that b + a is the same atom
  return compare(a, b) <= 0 ? forms::opaque_of(BinaryOp::Add, a, b) : forms::opaque_of(BinaryOp::Add, b, a);
}
auto operator-(const Form& a, const Form& b) -> Form {
  if (auto difference = forms::add_scaled(a, b, -1)) return *difference;
  return forms::opaque_of(BinaryOp::Sub, a, b);
}
auto operator-(const Form& a) -> Form { return Form() - a; }
auto operator*(const Form& a, const Form& b) -> Form {
  if (auto product = forms::multiply(a, b)) return *product;
  return compare(a, b) <= 0 ? forms::opaque_of(BinaryOp::Mul, a, b) : forms::opaque_of(BinaryOp::Mul, b, a);
}

}  // namespace drawloom
