// From index expressions to forms. What has no form becomes an opaque atom, never an error.
//
//   v, w u8:  cast<index>(v + w)                         ->  {cast<index>(v + w)} in [0, 255]    the sum may wrap
//             cast<index>(cast<i32>(v) + cast<i32>(w))   ->  v + w                               it cannot
//   select(x < n || xo < xi, x, xo)                      ->  choose(x < n, x, choose(xo < xi, x, xo))
//   x << 3, x & 7                                        ->  8*x, x%8
//
// Index has no overflow, so its operators are those of forms. Data has: an operator on data is looked through only
// where the ranges of its operands show that the exact result fits the type. A condition of a form is a conjunction; ||
// and ! become choices inside choices.

#include <unordered_map>

#include "drawloom/analysis/form_internal.h"
#include "drawloom/analysis/value_range.h"
#include "drawloom/ir/build.h"

namespace drawloom {
namespace {

auto is_index(const Expr& e) -> bool { return e.type() == kIndex; }

/// A symbol whose value an int64 holds.
auto is_form_symbol(const Symbol& s) -> bool {
  const Type t = s.type;
  return t == kIndex || (t.is_scalar() && t.is_data_int() && !t.is_bool() && range_of_type(t).bounded());
}

class Reader {
 public:
  explicit Reader(ValueRanges& ranges) : ranges_(ranges) {}

  auto form(const Expr& e) -> Form {
    // Only what has several parents can be met twice.
    if (e.get()->ref_count() < 2) return compute(e);
    if (const auto hit = forms_.find(e.get()); hit != forms_.end()) return hit->second;
    Form f = compute(e);
    forms_.emplace(e.get(), f);
    return f;
  }

  auto condition(const Expr& e) -> std::optional<Cond> {
    if (e.type() != kBool) return {};
    int64_t value = 0;
    if (as_int(e, value)) return value ? Cond::always() : Cond::never();
    if (const auto* b = e.as<Binary>()) return condition(*b);
    if (const auto* u = e.as<Unary>(); u && u->op == UnaryOp::Not) {
      const auto c = condition(u->a);
      // The opposite of f >= 0 is -f - 1 >= 0; of a longer conjunction it is no conjunction.
      if (!c || c->terms().size() > 1) return {};
      if (c->terms().empty()) return c->is_never() ? Cond::always() : Cond::never();
      return Cond::nonnegative(-c->terms()[0] - 1);
    }
    return {};
  }

 private:
  auto condition(const Binary& b) -> std::optional<Cond> {
    if (b.op == BinaryOp::And) {
      const auto x = condition(b.a), y = condition(b.b);
      return x && y ? std::optional(*x && *y) : std::nullopt;
    }
    if (!is_index(b.a) || !is_compare(b.op) || b.op == BinaryOp::NE) return {};
    const Form x = form(b.a), y = form(b.b);
    if (b.op == BinaryOp::LT) return Cond::less(x, y);
    if (b.op == BinaryOp::LE) return Cond::less_equal(x, y);
    if (b.op == BinaryOp::GT) return Cond::less(y, x);
    if (b.op == BinaryOp::GE) return Cond::less_equal(y, x);
    return Cond::equals(x, y);
  }

  /// The range is all that is left of its meaning.
  auto unknown(const Expr& e) -> Form { return opaque(e, ranges_.of(e)); }

  auto compute(const Expr& e) -> Form {
    if (!is_index(e)) return unknown(e);
    switch (e.kind()) {
      case Kind::IntImm: return Form(e.to<IntImm>().value);
      case Kind::VarRef: return Form(e.to<VarRef>().symbol);
      case Kind::Cast: return conversion(e);
      case Kind::Unary: return e.to<Unary>().op == UnaryOp::Neg ? -form(e.to<Unary>().a) : unknown(e);
      case Kind::Binary: return arithmetic(e);
      case Kind::Select: {
        const auto& s = e.to<Select>();
        const auto f = choice(s.condition, s.yes, s.no);
        return f ? *f : unknown(e);
      }
      case Kind::Let: {
        const auto& let = e.to<Let>();
        if (!is_index(let.value)) return unknown(e);
        const Form value = form(let.value);
        return substitute(form(let.body),
                          [&](const SymbolRef& s) { return s == let.symbol ? std::optional(value) : std::nullopt; });
      }
      case Kind::FloatImm:
      case Kind::Call:
      case Kind::Access:
      case Kind::Load:
      case Kind::Ramp:
      case Kind::Broadcast: return unknown(e);
      case Kind::Address:
      case Kind::Reinterpret:
#include "drawloom/ir/statement_cases.def"
        break;
    }
    return unknown(e);
  }

  auto conversion(const Expr& e) -> Form { return widened(e.to<Cast>().value); }

  /// The value of a data expression as an index. Arithmetic that cannot wrap is looked through.
  auto widened(const Expr& from) -> Form {
    const Type t = from.type();
    const auto whole = [&] {
      return opaque(cast(kIndex, from), t.is_float() ? ranges_.of(cast(kIndex, from)) : ranges_.of(from));
    };
    if (!t.is_scalar() || !t.is_data_int() || t.is_bool()) return is_index(from) ? form(from) : whole();
    if (const auto* imm = from.as<IntImm>(); imm && ranges_.of(from).is_point()) return Form(imm->value);
    if (const auto* var = from.as<VarRef>(); var && is_form_symbol(*var->symbol)) return Form(var->symbol);
    if (const auto* c = from.as<Cast>(); c && !c->value.type().is_float()) {
      const Range inner = ranges_.of(c->value);
      // a conversion that changes no value
      if (inner.bounded() && range_of_type(t).contains(inner)) return widened(c->value);
    }
    const auto* b = from.as<Binary>();
    if (!b || is_compare(b->op)) return whole();
    const Range x = ranges_.of(b->a), y = ranges_.of(b->b), all = range_of_type(t);
    const auto fits = [&](const Range& exact) { return exact.bounded() && all.contains(exact); };
    if (b->op == BinaryOp::Add && fits(x + y)) return widened(b->a) + widened(b->b);
    if (b->op == BinaryOp::Sub && fits(x - y)) return widened(b->a) - widened(b->b);
    if (b->op == BinaryOp::Mul && fits(x * y)) return widened(b->a) * widened(b->b);
    // min and max give one of their operands: nothing to wrap
    if (b->op == BinaryOp::Min && all.bounded()) return min(widened(b->a), widened(b->b));
    if (b->op == BinaryOp::Max && all.bounded()) return max(widened(b->a), widened(b->b));
    return whole();
  }

  auto arithmetic(const Expr& e) -> Form {
    const auto& b = e.to<Binary>();
    const Form x = form(b.a), y = form(b.b);
    const auto c = y.as_constant();
    const Range divisor = range_of(y);
    // Forms divide by what is never negative; constants of either sign are turned around (form_atoms.cpp).
    const bool divides = c || (divisor.lo && *divisor.lo >= 0);
    switch (b.op) {
      case BinaryOp::Add: return x + y;
      case BinaryOp::Sub: return x - y;
      case BinaryOp::Mul: return x * y;
      case BinaryOp::Min: return min(x, y);
      case BinaryOp::Max: return max(x, y);
      case BinaryOp::Div: return divides ? floor_div(x, y) : unknown(e);
      case BinaryOp::Mod: return divides ? floor_mod(x, y) : opaque(e, mod_of(range_of(x), divisor));
      case BinaryOp::Shl: return c && *c >= 0 && *c < 62 ? x * Form(int64_t{1} << *c) : unknown(e);
      case BinaryOp::Shr: return c && *c >= 0 && *c < 62 ? floor_div(x, Form(int64_t{1} << *c)) : unknown(e);
      case BinaryOp::BitAnd: {
        const bool mask = c && *c > 0 && (*c & (*c + 1)) == 0 && *c < INT64_MAX;
        return mask ? floor_mod(x, Form(*c + 1)) : unknown(e);
      }
      case BinaryOp::BitOr:
      case BinaryOp::BitXor:
      case BinaryOp::EQ:
      case BinaryOp::NE:
      case BinaryOp::LT:
      case BinaryOp::LE:
      case BinaryOp::GT:
      case BinaryOp::GE:
      case BinaryOp::And:
      case BinaryOp::Or: break;
    }
    return unknown(e);
  }

  /// select(c, yes, no) for conditions built from index comparisons by &&, || and !.
  auto choice(const Expr& c, const Expr& yes, const Expr& no) -> std::optional<Form> {
    const Form y = form(yes), n = form(no);
    return choice(c, y, n);
  }
  auto choice(const Expr& c, const Form& yes, const Form& no) -> std::optional<Form> {
    if (const auto cond = condition(c)) return choose(*cond, yes, no);
    if (const auto* u = c.as<Unary>(); u && u->op == UnaryOp::Not) return choice(u->a, no, yes);
    const auto* b = c.as<Binary>();
    if (!b) return {};
    if (b->op == BinaryOp::NE && is_index(b->a)) return choose(Cond::equals(form(b->a), form(b->b)), no, yes);
    // a || b ? x : y  =  a ? x : (b ? x : y), and the like for &&
    if (b->op == BinaryOp::Or) {
      const auto second = choice(b->b, yes, no);
      return second ? choice(b->a, yes, *second) : std::nullopt;
    }
    if (b->op == BinaryOp::And) {
      const auto second = choice(b->b, yes, no);
      return second ? choice(b->a, *second, no) : std::nullopt;
    }
    return {};
  }

  ValueRanges& ranges_;
  std::unordered_map<const ExprNode*, Form> forms_;
};

}  // namespace

auto to_form(const Expr& e) -> Form {
  ValueRanges ranges;
  return to_form(e, ranges);
}
auto to_form(const Expr& e, ValueRanges& ranges) -> Form { return Reader(ranges).form(e); }
auto to_cond(const Expr& e) -> std::optional<Cond> {
  ValueRanges ranges;
  return Reader(ranges).condition(e);
}

}  // namespace drawloom
