// Equality and order of forms. A comparison walks both structures in step and stops at the first difference, so only
// pairs that turned out equal can be met again; once a comparison grows beyond a few hundred steps these pairs are
// remembered, and a DAG costs its size.
//
//   min(x, 1) and min(x, 1), made twice          equal: kind, operands and their terms agree
//   m1 = min(m0, m0/2), m2 = min(m1, m1/2), ..   without the memory, comparing two copies doubles with each level
//
// Symbols are ordered by when they were made: addresses would change from run to run, and names are not unique.

#include <bit>
#include <unordered_set>

#include "drawloom/analysis/form_internal.h"
#include "drawloom/ir/dispatch.h"
#include "drawloom/support/hash.h"

namespace drawloom {
namespace {

struct PairHash {
  auto operator()(const std::pair<const void*, const void*>& p) const -> size_t {
    return hash_combine(reinterpret_cast<uintptr_t>(p.first), reinterpret_cast<uintptr_t>(p.second));
  }
};

auto order(uint64_t a, uint64_t b) -> int { return a < b ? -1 : a > b; }
auto order_signed(int64_t a, int64_t b) -> int { return a < b ? -1 : a > b; }

/// The fields of an expression node: plain values, and children.
struct Fields {
  std::vector<uint64_t> values;
  std::vector<const Expr*> children;

  explicit Fields(const ExprNode& node) {
    values = {static_cast<uint64_t>(node.kind), static_cast<uint64_t>(node.type.code), node.type.bits, node.type.lanes};
    dispatch(node, [&](const auto& n) { n.each_field([&](const char*, const auto& f) { add(f); }); });
  }
  void add(const Expr& e) {
    values.push_back(e.defined());
    if (e) children.push_back(&e);
  }
  void add(const ExprList& list) {
    values.push_back(list.size());
    for (const auto& e : list) add(e);
  }
  void add(const SymbolRef& s) { values.push_back(s->id); }
  void add(const BufferRef& b) { values.push_back(b->id); }
  void add(const FuncDecl* f) { values.push_back(f ? f->id : 0); }
  void add(double v) { values.push_back(std::bit_cast<uint64_t>(v)); }
  void add(const std::string& s) { values.push_back(hash_text(s)); }
  template <typename T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  void add(T v) {
    values.push_back(static_cast<uint64_t>(v));
  }
  // Statements and their fields do not occur below an expression.
  void add(const Stmt&) {}
  void add(const StmtList&) {}
};

class Comparer {
 public:
  auto forms(const Form& a, const Form& b) -> int {
    if (const int c = terms(a, b)) return c;
    return order_signed(a.constant(), b.constant());
  }

  auto terms(const Form& a, const Form& b) -> int {
    if (FormBuilder::terms_of(a) == FormBuilder::terms_of(b)) return 0;
    const auto& x = a.terms();
    const auto& y = b.terms();
    // Constants sort last: `min(n, 8)` reads better than `min(8, n)`.
    if (x.empty() || y.empty()) return order(x.empty(), y.empty());
    for (size_t i = 0; i < x.size() && i < y.size(); ++i) {
      if (const int c = monomials(x[i], y[i])) return c;
      if (const int c = order_signed(x[i].factor, y[i].factor)) return c;
    }
    return order(x.size(), y.size());
  }

  auto monomials(const Term& a, const Term& b) -> int {
    if (const int c = order(static_cast<bool>(a.atom), static_cast<bool>(b.atom))) return c;
    for (size_t i = 0; i < a.symbols.size() && i < b.symbols.size(); ++i) {
      if (const int c = order(a.symbols[i]->id, b.symbols[i]->id)) return c;
    }
    if (const int c = order(a.symbols.size(), b.symbols.size())) return c;
    return a.atom ? atoms(*a.atom, *b.atom) : 0;
  }

  auto conditions(const Cond& a, const Cond& b) -> int {
    if (const int c = order(a.is_never(), b.is_never())) return c;
    if (const int c = order(a.terms().size(), b.terms().size())) return c;
    for (size_t i = 0; i < a.terms().size(); ++i) {
      if (const int c = forms(a.terms()[i], b.terms()[i])) return c;
    }
    return 0;
  }

 private:
  auto atoms(const Atom& a, const Atom& b) -> int {
    if (&a == &b || seen_equal(&a, &b)) return 0;
    if (const int c = order(static_cast<uint64_t>(a.kind), static_cast<uint64_t>(b.kind))) return c;
    if (const int c = order(a.operands.size(), b.operands.size())) return c;
    for (size_t i = 0; i < a.operands.size(); ++i) {
      if (const int c = forms(a.operands[i], b.operands[i])) return c;
    }
    if (const int c = conditions(a.condition, b.condition)) return c;
    if (a.expr) {
      if (const int c = exprs(a.expr, b.expr)) return c;
    }
    remember(&a, &b);
    return 0;
  }

  auto exprs(const Expr& a, const Expr& b) -> int {
    if (a == b || seen_equal(a.get(), b.get())) return 0;
    const Fields x(*a.get()), y(*b.get());
    if (x.values != y.values) return x.values < y.values ? -1 : 1;
    for (size_t i = 0; i < x.children.size(); ++i) {
      if (const int c = exprs(*x.children[i], *y.children[i])) return c;
    }
    remember(a.get(), b.get());
    return 0;
  }

  auto seen_equal(const void* a, const void* b) -> bool { return ++steps_ > kSteps && equal_.count({a, b}) != 0; }
  void remember(const void* a, const void* b) {
    if (steps_ > kSteps) equal_.insert({a, b});
  }

  static constexpr int kSteps = 256;
  int steps_ = 0;
  std::unordered_set<std::pair<const void*, const void*>, PairHash> equal_;
};

}  // namespace

auto compare(const Form& a, const Form& b) -> int { return Comparer().forms(a, b); }
auto compare(const Cond& a, const Cond& b) -> int { return Comparer().conditions(a, b); }

auto FormBuilder::same_terms(const Form& a, const Form& b) -> bool {
  const FormTerms *x = terms_of(a), *y = terms_of(b);
  if (x == y) return true;
  if (!x || !y || x->hash != y->hash) return false;
  return Comparer().terms(a, b) == 0;
}

auto operator==(const Form& a, const Form& b) -> bool {
  return a.constant_ == b.constant_ && FormBuilder::same_terms(a, b);
}

/// Hashes first: nearly all pairs differ.
auto same_monomial(const Term& a, const Term& b) -> bool {
  if (static_cast<bool>(a.atom) != static_cast<bool>(b.atom)) return false;
  if (a.atom && a.atom->hash != b.atom->hash) return false;
  return forms::compare_monomials(a, b) == 0;
}

namespace forms {

auto compare_monomials(const Term& a, const Term& b) -> int {
  // The two common cases need no comparer.
  if (!a.atom && !b.atom && a.symbols.size() == 1 && b.symbols.size() == 1) {
    return order(a.symbols[0]->id, b.symbols[0]->id);
  }
  if (a.atom && a.atom == b.atom && a.symbols.empty() && b.symbols.empty()) return 0;
  return Comparer().monomials(a, b);
}
auto compare_terms(const Form& a, const Form& b) -> int { return Comparer().terms(a, b); }

}  // namespace forms
}  // namespace drawloom
