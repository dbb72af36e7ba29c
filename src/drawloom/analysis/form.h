#pragma once
/// Canonical integer forms over index symbols: the numbers in which bounds, index maps and extents are written.
///
/// A Form is constant + sum of (int64 x monomial). A monomial is a product of symbols (runtime symbols such as sizes and
/// parameters, at most one of them a loop id, Var, RVar or Let) times at most one atom. Atoms: floor-division and modulo by a form known to be positive,
/// min, max, choose(condition, a, b), and an opaque expression with a range. Terms are sorted (by symbol creation order, never by
/// address, so that the same program always gives the same text), equal terms are merged, so differences of equal atoms cancel.
///
///   8*xo + xi - min(8*xo, n - 8)      is a Form; n*xo is one too; x/2 + 2*((x + 2)/2) merges to 3*(x/2) + 2
///
/// Arithmetic is checked: what overflows int64 becomes an opaque atom. Equality: pointer, then hash, then structure; there is no global table.
/// Cost: operations are linear in the number of terms; forms that differ by a constant share their terms. Source: design section 5; cf. Pugh's
/// omega test normal forms.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "drawloom/analysis/range.h"
#include "drawloom/ir/nodes.h"

namespace drawloom {

class ValueRanges;
struct FormTerms;
struct FormNode;
struct Term;
class Cond;

/// Deletes the terms of a form when no other form shares them any more (form_build.cpp).
void drop_node(const FormTerms* terms);

class Form {
 public:
  Form() = default;
  Form(int64_t constant) : constant_(constant) {}
  Form(int constant) : constant_(constant) {}
  /// The value of a symbol of type index, or of a data integer that fits int64 (widened).
  Form(const SymbolRef& symbol);

  auto is_constant() const -> bool { return !terms_; }
  auto as_constant() const -> std::optional<int64_t> { return is_constant() ? std::optional(constant_) : std::nullopt; }
  /// The symbol when the form is just that.
  auto as_symbol() const -> SymbolRef;
  auto hash() const -> uint64_t;
  friend auto operator==(const Form& a, const Form& b) -> bool;

  friend auto operator+(const Form& a, const Form& b) -> Form;
  friend auto operator-(const Form& a, const Form& b) -> Form;
  friend auto operator-(const Form& a) -> Form;
  /// Products that leave the shape of a Form (two loop ids, two atoms) become opaque.
  friend auto operator*(const Form& a, const Form& b) -> Form;
  auto operator+=(const Form& b) -> Form& { return *this = *this + b; }
  auto operator-=(const Form& b) -> Form& { return *this = *this - b; }

  /// Readable and deterministic: `8*xo + xi - 1`, `min(n, 8*xo + 8)`, `(x + 1)/2`. Cut with `..` when very long.
  auto text() const -> std::string;

  auto uses() const -> uint64_t;  ///< bit (id % 64) of each symbol inside: a quick no
  auto constant() const -> int64_t { return constant_; }
  auto terms() const -> const std::vector<Term>&;  ///< sorted; empty for constants
  auto node() const -> FormNode;                   ///< both, for structured bindings

 private:
  friend struct FormBuilder;
  Form(int64_t constant, Ref<const FormTerms> terms) : constant_(constant), terms_(std::move(terms)) {}
  int64_t constant_ = 0;
  Ref<const FormTerms> terms_;
};

/// Floor division and the non-negative remainder, by a divisor that is positive (x/0 = x%0 = 0 if it is 0 all the same).
/// Exact parts split off: (8*a + b)/8 = a + b/8; (b/2)/4 = b/8; (8*a + b)%8 = b%8; 8*(a/8) + a%8 = a.
auto floor_div(const Form& a, const Form& b) -> Form;
auto floor_mod(const Form& a, const Form& b) -> Form;
auto ceil_div(const Form& a, const Form& b) -> Form;  ///< floor_div(a + b - 1, b)
/// Common parts and the constant of the first operand are drawn out: min(x + 1, n) = min(x, n - 1) + 1, one of the two being canonical;
/// min(x + 1, x) = x; min(a, a) = a; operands sorted, nested mins flattened.
auto min(const Form& a, const Form& b) -> Form;
auto max(const Form& a, const Form& b) -> Form;
/// choose(a <= b, a, b) = min(a, b) and the like; common parts are drawn out.
auto choose(const Cond& condition, const Form& yes, const Form& no) -> Form;
/// An index expression outside the language of forms; expressions of one structure are equal atoms. `range` must hold whatever the symbols are.
auto opaque(const Expr& e, Range range) -> Form;

/// A conjunction of (form >= 0). Empty: true.
class Cond {
 public:
  Cond() = default;
  static auto always() -> Cond { return {}; }
  static auto never() -> Cond;
  /// f >= 0, in lowest terms (2*x + 1 >= 0 is x >= 0); constants and promised ranges decide at once.
  static auto nonnegative(const Form& f) -> Cond;
  static auto less_equal(const Form& a, const Form& b) -> Cond { return nonnegative(b - a); }
  static auto less(const Form& a, const Form& b) -> Cond { return nonnegative(b - a - 1); }
  static auto equals(const Form& a, const Form& b) -> Cond;
  auto is_always() const -> bool { return !never_ && terms_.empty(); }
  auto is_never() const -> bool { return never_; }
  auto terms() const -> const std::vector<Form>& { return terms_; }  ///< sorted, unique
  friend auto operator&&(const Cond& a, const Cond& b) -> Cond;
  friend auto operator==(const Cond& a, const Cond& b) -> bool = default;
  auto hash() const -> uint64_t;
  auto text() const -> std::string;  ///< `n - 1 >= 0 && m >= 0`, `true`, `false`
 private:
  std::vector<Form> terms_;
  bool never_ = false;
};

// ---- structure, for the few who look inside (interval evaluation, conversion)

enum class AtomKind : uint8_t { None, FloorDiv, Mod, Min, Max, Choose, Opaque };
struct Atom : RefCounted {
  AtomKind kind = AtomKind::None;
  std::vector<Form> operands;   ///< FloorDiv, Mod: dividend, divisor. Min, Max: two or more, sorted. Choose: yes, no.
  Cond condition;               ///< Choose
  Expr expr;                    ///< Opaque
  std::vector<SymbolRef> free;  ///< Opaque: free symbols of expr, by creation order
  Range range;                  ///< constant bounds that follow from structure and promises alone
  uint64_t hash = 0;
  uint64_t uses = 0;  ///< bit (id % 64) of each symbol inside
};

/// One or two symbols in place, more on the heap; sorted by creation order, may repeat (n*n).
class SymbolList {
 public:
  auto begin() const -> const SymbolRef* { return more_.empty() ? few_ : more_.data(); }
  auto end() const -> const SymbolRef* { return begin() + size_; }
  auto size() const -> size_t { return size_; }
  auto empty() const -> bool { return size_ == 0; }
  auto operator[](size_t i) const -> const SymbolRef& { return begin()[i]; }
  void insert(const SymbolRef& s);  ///< at its place
  void erase(size_t i);

 private:
  SymbolRef few_[2];
  std::vector<SymbolRef> more_;
  uint32_t size_ = 0;
};

struct Term {
  int64_t factor;
  SymbolList symbols;
  Ref<const Atom> atom;  ///< null: none
};
struct FormTerms : RefCounted {
  std::vector<Term> terms;
  uint64_t hash = 0;
  uint64_t uses = 0;  ///< as in Atom
};
/// A view; lives as long as the form.
struct FormNode {
  int64_t constant;
  const std::vector<Term>& terms;
};
inline auto Form::uses() const -> uint64_t { return terms_ ? terms_->uses : 0; }
inline auto Form::node() const -> FormNode { return {constant_, terms()}; }

/// The position of forms and atoms in sorted lists: the same in every run of the same program. 0 exactly when equal.
auto compare(const Form& a, const Form& b) -> int;
auto compare(const Cond& a, const Cond& b) -> int;
auto same_monomial(const Term& a, const Term& b) -> bool;
/// factor * symbols * atom as a form.
auto form_of(const Term& t) -> Form;
/// The form is 1 * atom + constant: its atom, else null.
auto as_atom(const Form& f) -> const Atom*;

/// Constant bounds that hold whatever the symbols are, but for their promises (promised_range).
auto range_of(const Form& f) -> Range;

/// Replaces symbols (all at once), through atoms too; undefined result of `map` keeps the symbol.
using FormMap = std::function<std::optional<Form>(const SymbolRef&)>;
auto substitute(const Form& f, const FormMap& map) -> Form;
auto substitute(const Cond& c, const FormMap& map) -> Cond;
/// Replaces atoms, outermost first; where `map` gives nothing the atom is rebuilt from its replaced operands (conditions
/// of choices stay). `map` is asked once for each atom, however many terms share it; what it gives is not looked into:
/// its second argument does so for an operand.
using AtomMap = std::function<std::optional<Form>(const Atom&, const std::function<Form(const Form&)>& replaced)>;
auto replace_atoms(const Form& f, const AtomMap& map) -> Form;
auto uses_symbol(const Form& f, const Symbol* s) -> bool;
auto uses_symbol(const Cond& c, const Symbol* s) -> bool;
/// Every symbol in f, each once, in order of creation.
auto symbols_of(const Form& f) -> std::vector<SymbolRef>;
auto symbols_of(const Cond& c) -> std::vector<SymbolRef>;

/// The expression of type index that computes f; symbols become VarRefs. A shared atom becomes one shared node.
auto to_expr(const Form& f) -> Expr;
auto to_expr(const Cond& c) -> Expr;
/// The form of an index expression (type index, or data integers inside casts to index: those become opaque atoms with the range of their type
/// and value_range.h). Never fails.
auto to_form(const Expr& e) -> Form;
/// As above, with ranges of data from `ranges`, whose hooks must hold for every value of the symbols in e.
auto to_form(const Expr& e, ValueRanges& ranges) -> Form;
/// The conjunction that a scalar bool over index comparisons says, if it is one.
auto to_cond(const Expr& e) -> std::optional<Cond>;

/// Value at given symbol values; nothing on overflow or an opaque atom that cannot be evaluated.
using FormEnv = std::function<std::optional<int64_t>(const SymbolRef&)>;
auto evaluate(const Form& f, const FormEnv& env) -> std::optional<int64_t>;
auto evaluate(const Cond& c, const FormEnv& env) -> std::optional<bool>;

}  // namespace drawloom
