// Matching and filling in of rules.
//
//   row    min(x + z, y + z) = min(x, y) + z, on indices
//   node   min(a + 4, b + 4)           binds x = a, z = 4, y = b; the second z must be equal to the first
//   made   min(a, b) + 4               node by node from below, each simplified before the next
//
// Row and node are walked together. The first leaf that is no bool fixes the element type, which all others then have.
// Operands of a commutative operator are tried in both orders, but the order chosen inside one operand is not tried
// again when the other one fails: a*b + a*c finds no x*z + y*z. A match costs little more than the row is long;
// searching all orders would cost two to the power of its operators, on every node of a program, for few more matches.

#include "drawloom/analysis/rules.h"

#include <cmath>

#include "drawloom/analysis/fold.h"
#include "drawloom/analysis/row_build.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/support/check.h"

namespace drawloom {

auto in_set(TypeSet set, Type t) -> bool {
  if (t.is_bool()) return set & kBools;
  if (t.is_index()) return set & kIndices;
  if (t.is_float()) return set & kFloats;
  return set & (t.is_int() ? kSigned : kUnsigned);
}

namespace rows {

auto wildcards(Type t) -> Wildcards {
  static constexpr const char* names[] = {"x", "y", "z", "p", "q", "c0", "c1", "c2"};
  const auto wild = [&](Wildcard w) -> Row {
    const bool truth_value = w == Wildcard::p || w == Wildcard::q;
    auto s = make_ref<Symbol>(SymbolKind::Let, names[static_cast<int>(w)], truth_value ? kBool : t, Loc());
    // which wildcard a symbol is: wildcard_of reads it back
    s->min = static_cast<int64_t>(w);
    return {var_ref(s)};
  };
  return {wild(Wildcard::x), wild(Wildcard::y),  wild(Wildcard::z),  wild(Wildcard::p),
          wild(Wildcard::q), wild(Wildcard::c0), wild(Wildcard::c1), wild(Wildcard::c2)};
}

}  // namespace rows

// ---- guards

auto Constants::least() const -> int64_t {
  return type.is_uint() ? 0 : static_cast<int64_t>(~uint64_t{0} << (type.bits - 1));
}
auto Constants::greatest() const -> int64_t { return wrap_int(type, type.is_uint() ? -1 : ~least()); }
auto Constants::below(int64_t a, int64_t b) const -> bool {
  return type.is_uint() ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}
auto Constants::divides(int64_t c, int64_t a) const -> bool {
  if (!positive(c)) return false;
  return type.is_uint() ? static_cast<uint64_t>(a) % static_cast<uint64_t>(c) == 0 : a % c == 0;
}
auto Constants::product_fits(int64_t a, int64_t b) const -> bool {
  int64_t out = 0;
  return a > 0 && b > 0 && !__builtin_mul_overflow(a, b, &out) && wrap_int(type, out) == out;
}

auto constants_of(const Bindings& b) -> Constants {
  Constants c{b.type};
  int64_t* ints[] = {&c.c0, &c.c1, &c.c2};
  double* floats[] = {&c.f0, &c.f1, &c.f2};
  for (int i = 0; i < 3; ++i) {
    const Expr& e = b.bound[static_cast<int>(Wildcard::c0) + i];
    if (e && !as_int(e, *ints[i])) as_float(e, *floats[i]);
  }
  return c;
}

// ---- matching

namespace {

auto is_commutative(BinaryOp op) -> bool {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Mul:
    case BinaryOp::Min:
    case BinaryOp::Max:
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
    case BinaryOp::EQ:
    case BinaryOp::NE:
    case BinaryOp::And:
    case BinaryOp::Or: return true;
    case BinaryOp::Sub:
    case BinaryOp::Div:
    case BinaryOp::Mod:
    case BinaryOp::Shl:
    case BinaryOp::Shr:
    case BinaryOp::LT:
    case BinaryOp::LE:
    case BinaryOp::GT:
    case BinaryOp::GE: return false;
  }
  return false;
}

/// What distinguishes two nodes of one kind and type besides their operands.
auto tag_of(const Expr& e) -> int64_t {
  if (const auto* b = e.as<Binary>()) return static_cast<int64_t>(b->op);
  if (const auto* u = e.as<Unary>()) return static_cast<int64_t>(u->op);
  if (const auto* c = e.as<Call>()) return static_cast<int64_t>(c->function);
  return 0;
}

/// Equal structure, found within `budget` nodes: a rule that misses its chance is harmless, a comparison per node of a
/// large expression is not.
auto same(const Expr& a, const Expr& b, int& budget) -> bool {
  if (a == b) return true;
  if (--budget < 0 || a.kind() != b.kind() || a.type() != b.type() || tag_of(a) != tag_of(b)) return false;
  if (const auto* i = a.as<IntImm>()) return i->value == b.to<IntImm>().value;
  if (const auto* f = a.as<FloatImm>()) {
    return f->value == b.to<FloatImm>().value && std::signbit(f->value) == std::signbit(b.to<FloatImm>().value);
  }
  if (const auto* v = a.as<VarRef>()) return v->symbol == b.to<VarRef>().symbol;
  if (const auto* l = a.as<Load>()) {
    const auto& m = b.to<Load>();
    if (l->buffer != m.buffer || l->mask.defined() != m.mask.defined() || l->origin.size() != m.origin.size())
      return false;
  } else if (rules::operands_of(a).empty()) {
    return false;
  }
  ExprList x, y;
  each_child(*a.get(), [&](const auto& child) {
    if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) x.push_back(child);
  });
  each_child(*b.get(), [&](const auto& child) {
    if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) y.push_back(child);
  });
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!same(x[i], y[i], budget)) return false;
  }
  return true;
}

class Matcher {
 public:
  Matcher(const Rule& rule, Bindings& b) : rule_(rule), b_(b), vectors_(rules::has_vectors(rule)) {}

  auto expr(const Expr& row, const Expr& e) -> bool {
    if (const auto* var = row.as<VarRef>()) return wildcard(wildcard_of(*var->symbol), row.type(), e);
    if (const auto* imm = row.as<IntImm>()) {
      int64_t v = 0;
      return has_type(row.type(), e) && as_int(e, v) && v == wrap_int(e.type(), imm->value);
    }
    if (const auto* imm = row.as<FloatImm>()) {
      double v = 0;
      return has_type(row.type(), e) && as_float(e, v) && v == imm->value &&
             std::signbit(v) == std::signbit(imm->value);
    }
    // an integer constant of a vector type has no Broadcast node of its own
    if (row.kind() == Kind::Broadcast && e.kind() == Kind::IntImm) {
      return lanes_fit(row.type(), e) &&
             expr(row.to<Broadcast>().value, int_imm(e.type().element(), e.to<IntImm>().value));
    }
    if (row.kind() != e.kind() || tag_of(row) != tag_of(e) || !lanes_fit(row.type(), e)) return false;
    const auto* b = row.as<Binary>();
    if (!b) return operands(row, e);
    const unsigned before = bound_;
    const auto& n = e.to<Binary>();
    if (expr(b->a, n.a) && expr(b->b, n.b)) return true;
    undo(before);
    if (!is_commutative(b->op)) return false;
    if (expr(b->a, n.b) && expr(b->b, n.a)) return true;
    undo(before);
    return false;
  }

 private:
  auto operands(const Expr& row, const Expr& e) -> bool {
    const ExprList x = rules::operands_of(row), y = rules::operands_of(e);
    for (size_t i = 0; i < x.size(); ++i) {
      if (!expr(x[i], y[i])) return false;
    }
    return true;
  }

  auto lanes_fit(Type row, const Expr& e) const -> bool {
    return e.type().lanes == (vectors_ && row.lanes == 1 ? 1 : b_.lanes);
  }

  auto has_type(Type row, const Expr& e) -> bool {
    if (!lanes_fit(row, e)) return false;
    const Type t = e.type().element();
    if (row.is_bool()) return t.is_bool();
    if (bound_ & kTypeBit) return t == b_.type;
    if (!in_set(rule_.types, t)) return false;
    b_.type = t;
    bound_ |= kTypeBit;
    return true;
  }

  auto wildcard(Wildcard w, Type row, const Expr& e) -> bool {
    if (!has_type(row, e)) return false;
    int64_t i = 0;
    double f = 0;
    if (is_constant_wildcard(w) && !as_int(e, i) && !as_float(e, f)) return false;
    const unsigned bit = 1u << static_cast<unsigned>(w);
    Expr& slot = b_.bound[static_cast<int>(w)];
    // met before: the two places must be equal
    if (bound_ & bit) {
      int budget = kSameBudget;
      return same(slot, e, budget);
    }
    slot = e;
    bound_ |= bit;
    return true;
  }

  /// What was bound since stays in its slot; without its bit nobody reads it.
  void undo(unsigned before) { bound_ = before; }

  static constexpr unsigned kTypeBit = 1u << 31;
  static constexpr int kSameBudget = 40;
  const Rule& rule_;
  Bindings& b_;
  bool vectors_;
  unsigned bound_ = 0;
};

}  // namespace

auto match(const Rule& rule, const Expr& e, Bindings& out) -> bool {
  out.lanes = e.type().lanes;
  out.loc = e.loc();
  // lanes of a row with vectors stand for two or more
  if (rules::has_vectors(rule) && out.lanes == 1) return false;
  if (!Matcher(rule, out).expr(rule.left, e)) return false;
  return !rule.guard || rule.guard(constants_of(out));
}

// ---- filling in

namespace rules {

auto has_vectors(const Rule& rule) -> bool { return rule.left.type().lanes > 1; }

auto actual_type(Type row, const Bindings& b, bool vectors) -> Type {
  const int lanes = vectors && row.lanes == 1 ? 1 : b.lanes;
  return (row.is_bool() ? kBool : b.type).with_lanes(lanes);
}

auto operands_of(const Expr& e) -> ExprList {
  if (const auto* b = e.as<Binary>()) return {b->a, b->b};
  if (const auto* u = e.as<Unary>()) return {u->a};
  if (const auto* s = e.as<Select>()) return {s->condition, s->yes, s->no};
  if (const auto* c = e.as<Call>()) return c->args;
  if (const auto* r = e.as<Ramp>()) return {r->base, r->stride};
  if (const auto* s = e.as<Broadcast>()) return {s->value};
  if (const auto* c = e.as<Cast>()) return {c->value};
  return {};
}

auto is_constant_side(const Expr& side) -> bool {
  if (const auto* var = side.as<VarRef>()) return is_constant_wildcard(wildcard_of(*var->symbol));
  const ExprList operands = operands_of(side);
  if (operands.empty()) return true;
  for (const auto& o : operands) {
    if (!is_constant_side(o)) return false;
  }
  return true;
}

auto literal(const Expr& side, Type t) -> Expr {
  if (const auto* imm = side.as<IntImm>()) return int_imm(t, imm->value);
  return float_constant(t, side.to<FloatImm>().value);
}

auto with_operands(const Expr& side, Type t, const ExprList& operands, const Loc& loc) -> Expr {
  switch (side.kind()) {
    case Kind::Binary: return binary(side.to<Binary>().op, operands[0], operands[1], loc);
    case Kind::Unary: return unary(side.to<Unary>().op, operands[0], loc);
    case Kind::Select: return select(operands[0], operands[1], operands[2], loc);
    case Kind::Call: return call(side.to<Call>().function, operands, loc);
    case Kind::Ramp: return ramp(operands[0], operands[1], t.lanes, loc);
    case Kind::Broadcast: return broadcast(operands[0], t.lanes, loc);
    case Kind::IntImm:
    case Kind::FloatImm:
    case Kind::VarRef:
    case Kind::Cast:
    case Kind::Access:
    case Kind::Load:
    case Kind::Let:
    case Kind::Address:
    case Kind::Reinterpret:
#include "drawloom/ir/statement_cases.def"
      break;
  }
  DRAWLOOM_CHECK(false, "a {} in a rule", kind_name(side.kind()));
  return {};
}

}  // namespace rules

auto all_rules() -> std::vector<const Rule*> {
  std::vector<const Rule*> out;
  for (const auto table :
       {int_rules(), divide_rules(), compare_rules(), bool_rules(), float_rules(), select_rules(), vector_rules()}) {
    for (const auto& rule : table) out.push_back(&rule);
  }
  return out;
}

}  // namespace drawloom
