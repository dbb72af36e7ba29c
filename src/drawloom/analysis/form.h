#pragma once
/// Canonical integer forms over index symbols: the numbers in which bounds, index maps and extents are written.
///
/// A Form is constant + sum of (int64 x monomial). A monomial is a product of symbols (runtime symbols such as sizes and
/// parameters, at most one of them a loop id, Var or RVar) times at most one atom. Atoms: floor-division and modulo by a form known to be positive,
/// min, max, choose(condition, a, b), and an opaque expression with a range. Terms are sorted (by symbol creation order, never by
/// address, so that the same program always gives the same text), equal terms are merged, so differences of equal atoms cancel.
///
///   8*xo + xi - min(8*xo, n - 8)      is a Form; n*xo is one too; (x - 1)/2 + 2*((x - 1)/2) merges to 3*((x - 1)/2)
///
/// Arithmetic is checked: what overflows int64 becomes an opaque atom. Equality: pointer, then hash, then structure; there is no global table.
/// Cost: operations are linear in the number of terms. Source: design section 5; cf. Pugh's omega test normal forms.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "drawloom/ir/nodes.h"

namespace drawloom {

struct FormNode;
class Cond;
/// A closed interval; an absent end is unbounded.
struct Range {
  std::optional<int64_t> lo, hi;
};

class Form {
 public:
  Form() : Form(int64_t{0}) {}
  Form(int64_t constant);
  Form(int constant) : Form(static_cast<int64_t>(constant)) {}
  Form(const SymbolRef& symbol);

  auto is_constant() const -> bool;
  auto as_constant() const -> std::optional<int64_t>;
  auto hash() const -> uint64_t;
  friend auto operator==(const Form& a, const Form& b) -> bool;

  friend auto operator+(const Form& a, const Form& b) -> Form;
  friend auto operator-(const Form& a, const Form& b) -> Form;
  friend auto operator-(const Form& a) -> Form;
  /// Products that leave the shape of a Form (two loop ids, two atoms) become opaque.
  friend auto operator*(const Form& a, const Form& b) -> Form;

  /// Readable and deterministic: `8*xo + xi - 1`, `min(n, 8*xo + 8)`, `(x + 1)/2`.
  auto text() const -> std::string;
  auto node() const -> const FormNode& { return *node_; }

 private:
  friend struct FormBuilder;
  explicit Form(Ref<const FormNode> n);
  Ref<const FormNode> node_;
};

/// Floor division and the non-negative remainder, by a divisor that is positive (x/0 = x%0 = 0 if it is 0 all the same).
/// Exact parts split off: (8*a + b)/8 = a + b/8; (b/2)/4 = b/8; (8*a + b)%8 = b%8.
auto floor_div(const Form& a, const Form& b) -> Form;
auto floor_mod(const Form& a, const Form& b) -> Form;
auto ceil_div(const Form& a, const Form& b) -> Form;  ///< floor_div(a + b - 1, b)
/// Common parts are drawn out where that decides it: min(x + 1, x) = x; min(a, a) = a; operands sorted, nested mins flattened.
auto min(const Form& a, const Form& b) -> Form;
auto max(const Form& a, const Form& b) -> Form;
auto choose(const Cond& condition, const Form& yes, const Form& no) -> Form;
/// An index expression outside the language of forms; equal expressions (ir/node_ops.h) are equal atoms.
auto opaque(const Expr& e, Range range) -> Form;

/// A conjunction of (form >= 0). Empty: true.
class Cond {
 public:
  Cond() = default;
  static auto always() -> Cond { return {}; }
  static auto never() -> Cond;
  static auto nonnegative(const Form& f) -> Cond;                    ///< f >= 0; constants decide at once
  static auto less_equal(const Form& a, const Form& b) -> Cond { return nonnegative(b - a); }
  auto is_always() const -> bool { return !never_ && terms_.empty(); }
  auto is_never() const -> bool { return never_; }
  auto terms() const -> const std::vector<Form>& { return terms_; }   ///< sorted, unique
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
  std::vector<Form> operands;  ///< FloorDiv, Mod: dividend, divisor. Min, Max: two or more, sorted. Choose: yes, no.
  Cond condition;              ///< Choose
  Expr expr;                   ///< Opaque
  Range range;                 ///< Opaque
  uint64_t hash = 0;
};
struct Term {
  int64_t factor;
  std::vector<SymbolRef> symbols;  ///< sorted, may repeat (n*n)
  Ref<const Atom> atom;            ///< null: none
};
struct FormNode : RefCounted {
  int64_t constant = 0;
  std::vector<Term> terms;
  uint64_t hash = 0;
};

/// Replaces symbols (all at once), through atoms too; undefined result of `map` keeps the symbol.
using FormMap = std::function<std::optional<Form>(const SymbolRef&)>;
auto substitute(const Form& f, const FormMap& map) -> Form;
auto substitute(const Cond& c, const FormMap& map) -> Cond;
auto uses_symbol(const Form& f, const Symbol* s) -> bool;
/// Every symbol in f, each once, in order.
auto symbols_of(const Form& f) -> std::vector<SymbolRef>;

/// The expression of type index that computes f; symbols become VarRefs.
auto to_expr(const Form& f) -> Expr;
auto to_expr(const Cond& c) -> Expr;
/// The form of an index expression (type index, or data integers inside casts to index: those become opaque atoms with the range of their type
/// and value_range.h). Never fails.
auto to_form(const Expr& e) -> Form;

/// Value at given symbol values; nothing on overflow or an opaque atom that cannot be evaluated.
using FormEnv = std::function<std::optional<int64_t>(const SymbolRef&)>;
auto evaluate(const Form& f, const FormEnv& env) -> std::optional<int64_t>;
auto evaluate(const Cond& c, const FormEnv& env) -> std::optional<bool>;

}  // namespace drawloom
