// Divisions, minima, maxima, choices and opaque atoms: what brings each into its one canonical shape.
//
//   min(x + 1, n)      ->  1 + min(x, n - 1)      the constant of the first operand is drawn out: shifted equals cancel
//   min(x + a, x + b)  ->  x + min(a, b)          so does what all operands share
//   (8*xo + xi + 9)/8  ->  1 + xo + (xi + 1)/8    whole multiples split off; the constant ends in [0, divisor)
//   (6*x + 5)/4        ->  1 + (3*x)/2            what factors and divisor share goes; the constant rounds down
//   (6*x + 4)%8        ->  2*((-x + 2)%4)         factors become the residue nearest to zero
//
// So equal values that were written in different ways mostly become one structure, and cancel in differences. Where a
// rewrite is missing they stay apart and a proof may fail; nothing becomes wrong.

#include <algorithm>
#include <unordered_set>

#include "drawloom/analysis/form_internal.h"
#include "drawloom/ir/build.h"
#include "drawloom/ir/node_ops.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/support/check.h"
#include "drawloom/support/hash.h"

namespace drawloom {
namespace forms {
namespace {

auto range_of_atom(AtomKind kind, const std::vector<Form>& operands) -> Range {
  const Range first = range_of(operands[0]), second = range_of(operands[1]);
  switch (kind) {
    case AtomKind::FloorDiv: return div_of(first, max_of(second, Range::point(0)));
    case AtomKind::Mod: return mod_of(first, max_of(second, Range::point(0)));
    case AtomKind::Choose: return union_of(first, second);
    case AtomKind::Min:
    case AtomKind::Max: break;
    case AtomKind::None:
    case AtomKind::Opaque: return {};
  }
  Range out = first;
  for (size_t i = 1; i < operands.size(); ++i) {
    const Range r = range_of(operands[i]);
    out = kind == AtomKind::Min ? min_of(out, r) : max_of(out, r);
  }
  return out;
}

auto is_multiple(int64_t a, int64_t b) -> bool { return a % b == 0; }

/// f / g for a form whose factors are multiples of g; the constant rounds down.
auto divide_exactly(const Form& f, int64_t g) -> Form {
  auto terms = f.terms();
  for (auto& t : terms) t.factor /= g;
  return FormBuilder::make(floor_divide(f.constant(), g), std::move(terms));
}

/// Splits `a` into `whole` (multiples of the divisor, already divided) and the rest.
struct Split {
  Form whole, rest;
};
auto split_multiples(const Form& a, int64_t d) -> Split {
  std::vector<Term> whole, rest;
  for (const auto& t : a.terms()) {
    auto& list = is_multiple(t.factor, d) ? whole : rest;
    list.push_back(t);
    if (&list == &whole) list.back().factor /= d;
  }
  return {FormBuilder::make(floor_divide(a.constant(), d), std::move(whole)),
          FormBuilder::make(modulo(a.constant(), d), std::move(rest))};
}
auto split_multiples(const Form& a, const Term& by) -> Split {
  std::vector<Term> rest;
  Form whole;
  for (const auto& t : a.terms()) {
    if (const auto q = divisible(t, by)) {
      whole += product(q->factor, q->symbols, q->atom);
    } else {
      rest.push_back(t);
    }
  }
  return {whole, FormBuilder::make(a.constant(), std::move(rest))};
}

/// rest / d after multiples went; d >= 2.
auto divide_rest(Form rest, int64_t d) -> Form {
  if (rest.is_constant()) return Form(floor_divide(rest.constant(), d));
  // floor((g*t + c)/(g*e)) = floor((t + floor(c/g))/e)
  if (const int64_t g = factor_gcd(rest.terms(), d); g > 1) {
    rest = divide_exactly(rest, g);
    d /= g;
  }
  if (const Range r = range_of(rest); r.bounded() && floor_divide(*r.lo, d) == floor_divide(*r.hi, d)) {
    return Form(floor_divide(*r.lo, d));
  }
  // (a/e + c)/d = (a + c*e)/(d*e)
  if (const Atom* inner = as_atom(rest); inner && inner->kind == AtomKind::FloorDiv) {
    const auto e = inner->operands[1].as_constant();
    int64_t product = 0, shift = 0;
    if (e && !__builtin_mul_overflow(*e, d, &product) && !__builtin_mul_overflow(*e, rest.constant(), &shift)) {
      if (const auto sum = add_scaled(inner->operands[0], Form(shift), 1)) return floor_div(*sum, Form(product));
    }
  }
  return atom_form(AtomKind::FloorDiv, {rest, Form(d)});
}

auto divide_by_constant(const Form& a, int64_t d) -> Form {
  if (d == 0) return Form();
  if (d == INT64_MIN) return opaque(binary(BinaryOp::Div, to_expr(a), index_imm(d)), Range::all());
  if (d < 0) return -divide_by_constant(a, -d);  // the remainder is never negative, so x/-d = -(x/d)
  if (d == 1) return a;
  const Split s = split_multiples(a, d);
  return s.whole + divide_rest(s.rest, d);
}

/// The residue of `factor` nearest to zero, the positive one of two.
auto small_residue(int64_t factor, int64_t d) -> int64_t {
  const int64_t r = modulo(factor, d);
  return r > d / 2 ? r - d : r;
}

/// Drops multiples of d from the factors and looks through remainders of multiples of d:
/// (x%16 + 9*y) % 8 = (x + y) % 8.
auto reduce_modulo(const Form& a, int64_t d) -> Form {
  Form out(modulo(a.constant(), d));
  for (const auto& t : a.terms()) {
    const int64_t factor = small_residue(t.factor, d);
    if (factor == 0) continue;
    const bool remainder = t.atom && t.atom->kind == AtomKind::Mod && t.symbols.empty();
    const auto e = remainder ? t.atom->operands[1].as_constant() : std::nullopt;
    out += e && is_multiple(*e, d) ? Form(factor) * t.atom->operands[0] : product(factor, t.symbols, t.atom);
  }
  return out;
}

auto modulo_by_constant(Form a, int64_t d) -> Form {
  if (d == 0) return Form();
  if (d == INT64_MIN) return opaque(binary(BinaryOp::Mod, to_expr(a), index_imm(d)), {0, INT64_MAX});
  if (d < 0) d = -d;
  if (d == 1) return Form();
  for (int rounds = 0; rounds < 4; ++rounds) {  // what a remainder held may bring new multiples
    Form reduced = reduce_modulo(a, d);
    if (reduced == a) break;
    a = std::move(reduced);
  }
  if (a.is_constant()) return Form(modulo(a.constant(), d));
  // (g*t + c) % (g*e) = g*((t + c/g) % e) + c%g
  if (const int64_t g = factor_gcd(a.terms(), d); g > 1) {
    return Form(g) * modulo_by_constant(divide_exactly(a, g), d / g) + Form(modulo(a.constant(), g));
  }
  const Range r = range_of(a);
  if (r.bounded() && floor_divide(*r.lo, d) == floor_divide(*r.hi, d)) {
    if (const auto out = add_scaled(a, Form(floor_divide(*r.lo, d)), -d)) return *out;
  }
  return atom_form(AtomKind::Mod, {a, Form(d)});
}

/// The single term of a divisor without constant.
auto sole_term(const Form& f) -> const Term* {
  return f.constant() == 0 && f.terms().size() == 1 ? &f.terms()[0] : nullptr;
}
auto lies_below(const Form& a, const Form& b) -> bool {
  return known_nonnegative(a, 0) && known_nonnegative(b - a - 1, 0);
}

}  // namespace

auto atom_form(AtomKind kind, std::vector<Form> operands, Cond condition) -> Form {
  auto atom = make_ref<Atom>();
  atom->kind = kind;
  atom->range = range_of_atom(kind, operands);
  atom->uses = uses(condition);
  atom->hash = hash_combine(static_cast<uint64_t>(kind), condition.hash());
  for (const auto& f : operands) {
    atom->hash = hash_combine(atom->hash, f.hash());
    atom->uses |= f.uses();
  }
  atom->operands = std::move(operands);
  atom->condition = std::move(condition);
  return form_of({1, {}, atom});
}

auto with_operands(const Atom& a, std::vector<Form> operands, const Cond& condition) -> Form {
  switch (a.kind) {
    case AtomKind::FloorDiv: return floor_div(operands[0], operands[1]);
    case AtomKind::Mod: return floor_mod(operands[0], operands[1]);
    case AtomKind::Min: return extreme(1, std::move(operands));
    case AtomKind::Max: return extreme(-1, std::move(operands));
    case AtomKind::Choose: return choose(condition, operands[0], operands[1]);
    case AtomKind::None:
    case AtomKind::Opaque: break;
  }
  DRAWLOOM_CHECK(false, "an opaque atom has no operands");
}

}  // namespace forms

auto floor_div(const Form& a, const Form& b) -> Form {
  using namespace forms;
  if (const auto d = b.as_constant()) return divide_by_constant(a, *d);
  if (a.is_constant() && a.constant() == 0) return Form();
  if (lies_below(a, b)) return Form();
  // n*x/n = x needs n >= 1 (x/0 is 0).
  if (const Range r = range_of(b); r.lo && *r.lo >= 1) {
    if (a == b) return Form(1);
    if (const Term* by = sole_term(b)) {
      const Split s = split_multiples(a, *by);
      if (!(s.rest == a)) return s.whole + floor_div(s.rest, b);
    }
  }
  return atom_form(AtomKind::FloorDiv, {a, b});
}

/// Unlike quotients, remainders need no divisor of at least 1: n*x % n is 0 where n is 0 as well.
auto floor_mod(const Form& a, const Form& b) -> Form {
  using namespace forms;
  if (const auto d = b.as_constant()) return modulo_by_constant(a, *d);
  if (a == b || (a.is_constant() && a.constant() == 0)) return Form();
  if (lies_below(a, b)) return a;
  if (const Term* by = sole_term(b)) {
    const Split s = split_multiples(a, *by);
    if (!(s.rest == a)) return floor_mod(s.rest, b);
  }
  return atom_form(AtomKind::Mod, {a, b});
}

auto ceil_div(const Form& a, const Form& b) -> Form { return floor_div(a + b - 1, b); }

auto opaque(const Expr& e, Range range) -> Form {
  auto atom = make_ref<Atom>();
  atom->kind = AtomKind::Opaque;
  atom->expr = e;
  atom->range = range;
  atom->hash = hash(e);
  std::unordered_set<const Symbol*> bound;
  // What a let inside binds is no symbol of the atom: substitution must leave it alone.
  each_node(*e.get(), [&](const Node& n) {
    if (n.kind == Kind::Let) bound.insert(static_cast<const Let&>(n).symbol.get());
    if (n.kind == Kind::VarRef) atom->free.push_back(static_cast<const VarRef&>(n).symbol);
    return true;
  });
  auto& free = atom->free;
  std::erase_if(free, [&](const SymbolRef& s) { return bound.count(s.get()) != 0; });
  std::sort(free.begin(), free.end(), [](const auto& a, const auto& b) { return a->id < b->id; });
  free.erase(std::unique(free.begin(), free.end()), free.end());
  for (const auto& s : free) atom->uses |= forms::bit_of(*s);
  return form_of({1, {}, atom});
}

}  // namespace drawloom
