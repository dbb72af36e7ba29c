// From forms to expressions of type index.
//
//   n + 3 - 8*xo - xi         ->  n - xo * 8 - xi + 3
//   n + 3 - 8*xo - xi >= 0    ->  xo * 8 + xi <= n + 3       negative terms change sides, so nothing is negated
//   n - 1 - 8*xo - xi >= 0    ->  xo * 8 + xi < n
//
// The shape is chosen for readers and for code: positive terms first, literals without a sign. Atoms that terms share
// become one shared node.

#include <unordered_map>

#include "drawloom/analysis/form_internal.h"
#include "drawloom/ir/build.h"
#include "drawloom/support/check.h"

namespace drawloom {
namespace {

auto symbol_expr(const SymbolRef& s) -> Expr { return cast(kIndex, var_ref(s)); }

class Converter {
 public:
  auto form(const Form& f) -> Expr {
    Expr sum = part(f, false);
    const Expr minus = part(f, true);
    if (!sum && !minus) return index_imm(f.constant());
    if (!sum) {
      // c - n, or -n: no term is positive.
      return f.constant() == 0 ? unary(UnaryOp::Neg, minus) : binary(BinaryOp::Sub, index_imm(f.constant()), minus);
    }
    for (const auto& t : f.terms()) {
      if (t.factor < 0) sum = binary(BinaryOp::Sub, sum, term(t));
    }
    return plus(sum, f.constant());
  }

  /// sum of positive terms (+ c) >= sum of negative terms.
  auto comparison(const Form& f) -> Expr {
    Expr more = part(f, false), less = part(f, true);
    const int64_t c = f.constant();
    const bool movable = c != INT64_MIN;
    if (!less && movable) return binary(BinaryOp::GE, more, index_imm(-c));
    if (!more) return binary(BinaryOp::LE, less, index_imm(c));
    if (c == -1) return binary(BinaryOp::LT, less, more);
    return binary(BinaryOp::LE, less, plus(more, c));
  }

  auto condition(const Cond& c) -> Expr {
    if (c.terms().empty()) return bool_imm(!c.is_never());
    Expr all;
    for (const auto& f : c.terms()) {
      const Expr e = comparison(f);
      all = all ? binary(BinaryOp::And, all, e) : e;
    }
    return all;
  }

 private:
  static auto plus(const Expr& e, int64_t c) -> Expr {
    if (c == 0) return e;
    if (c < 0 && c != INT64_MIN) return binary(BinaryOp::Sub, e, index_imm(-c));
    return binary(BinaryOp::Add, e, index_imm(c));
  }

  /// The sum of the terms of one sign, by magnitude.
  auto part(const Form& f, bool negative) -> Expr {
    Expr sum;
    for (const auto& t : f.terms()) {
      if ((t.factor < 0) != negative) continue;
      const Expr e = term(t);
      sum = sum ? binary(BinaryOp::Add, sum, e) : e;
    }
    return sum;
  }

  auto term(const Term& t) -> Expr {
    Expr product;
    const auto times = [&](const Expr& e) { product = product ? binary(BinaryOp::Mul, product, e) : e; };
    if (t.atom) times(atom(*t.atom));
    for (const auto& s : t.symbols) times(symbol_expr(s));
    // |INT64_MIN| does not exist; its own negation stands for it, and nothing of that size is in range anyway.
    const int64_t magnitude = t.factor < 0 && t.factor != INT64_MIN ? -t.factor : t.factor;
    return magnitude == 1 ? product : binary(BinaryOp::Mul, product, index_imm(magnitude));
  }

  auto atom(const Atom& a) -> Expr {
    if (const auto hit = atoms_.find(&a); hit != atoms_.end()) return hit->second;
    Expr e = compute(a);
    atoms_.emplace(&a, e);
    return e;
  }

  auto compute(const Atom& a) -> Expr {
    switch (a.kind) {
      case AtomKind::None: break;
      case AtomKind::FloorDiv: return binary(BinaryOp::Div, form(a.operands[0]), form(a.operands[1]));
      case AtomKind::Mod: return binary(BinaryOp::Mod, form(a.operands[0]), form(a.operands[1]));
      case AtomKind::Min: return fold(BinaryOp::Min, a.operands);
      case AtomKind::Max: return fold(BinaryOp::Max, a.operands);
      case AtomKind::Choose: return select(condition(a.condition), form(a.operands[0]), form(a.operands[1]));
      case AtomKind::Opaque: return a.expr;
    }
    DRAWLOOM_CHECK(false, "an atom without kind");
    return {};
  }

  auto fold(BinaryOp op, const std::vector<Form>& operands) -> Expr {
    Expr out = form(operands[0]);
    for (size_t i = 1; i < operands.size(); ++i) out = binary(op, out, form(operands[i]));
    return out;
  }

  std::unordered_map<const Atom*, Expr> atoms_;
};

}  // namespace

auto to_expr(const Form& f) -> Expr { return Converter().form(f); }
auto to_expr(const Cond& c) -> Expr { return Converter().condition(c); }

}  // namespace drawloom
