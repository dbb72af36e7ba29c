// Rewriting of one node by fold and rules.
//
//   (3 + v) + 4    in order  (v + 3) + 4    rule add_add  v + (3 + 4)    fold  v + 7
//
// Until nothing changes: constants are folded and put to the right, conversions of conversions joined, then the first
// rule that fits is applied. Rules are filed by the kind and operator of their root, so a node is held against few of
// them. No rule makes an expression longer, but that does not keep them from going round in circles; the limits do.

#include "drawloom/analysis/rules.h"
#include "drawloom/analysis/simplify.h"
#include "drawloom/analysis/simplify_expr.h"

namespace drawloom {
namespace {

constexpr int kMaxDepth = 24;  // nested right sides; a chain of rules that goes deeper has stopped paying
constexpr int kMaxSteps = 24;

auto tag_of(const Expr& e) -> size_t {
  if (const auto* b = e.as<Binary>()) return static_cast<size_t>(b->op);
  if (const auto* u = e.as<Unary>()) return static_cast<size_t>(u->op);
  if (const auto* c = e.as<Call>()) return static_cast<size_t>(c->function);
  return 0;
}
auto bucket_of(const Expr& e) -> size_t { return static_cast<size_t>(e.kind()) * 32 + tag_of(e); }

using Bucket = std::vector<const Rule*>;
auto rules_for(const Expr& e) -> const Bucket& {
  // Built once from constant tables, never changed.
  static const std::vector<Bucket> buckets = [] {
    std::vector<Bucket> out;
    for (const Rule* rule : all_rules()) {
      const size_t at = bucket_of(rule->left);
      if (out.size() <= at) out.resize(at + 1);
      out[at].push_back(rule);
    }
    return out;
  }();
  static const Bucket none;
  const size_t at = bucket_of(e);
  return at < buckets.size() ? buckets[at] : none;
}

auto is_constant(const Expr& e) -> bool {
  if (const auto* b = e.as<Broadcast>()) return is_constant(b->value);
  return e.kind() == Kind::IntImm || e.kind() == Kind::FloatImm;
}

/// The operator that says the same with its sides exchanged.
auto mirrored(BinaryOp op) -> std::optional<BinaryOp> {
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
    case BinaryOp::Or: return op;
    case BinaryOp::LT: return BinaryOp::GT;
    case BinaryOp::LE: return BinaryOp::GE;
    case BinaryOp::GT: return BinaryOp::LT;
    case BinaryOp::GE: return BinaryOp::LE;
    case BinaryOp::Sub:
    case BinaryOp::Div:
    case BinaryOp::Mod:
    case BinaryOp::Shl:
    case BinaryOp::Shr: break;
  }
  return {};
}

/// Constants stand on the right; without constants an order reads < or <=.
auto in_order(const Expr& e) -> Expr {
  const auto* b = e.as<Binary>();
  const auto op = b ? mirrored(b->op) : std::nullopt;
  if (!op || is_constant(b->b)) return e;
  const bool flips = b->op == BinaryOp::GT || b->op == BinaryOp::GE;
  return is_constant(b->a) || flips ? binary(*op, b->b, b->a, b->loc) : e;
}

/// Every value of `from` is one of `to`.
auto holds_all(Type to, Type from) -> bool {
  if (from.is_float())
    return to.is_float() && (to.bits == 64 || (to.bits == 32 && from.bits == 16) || to.element() == from.element());
  if (to.is_float() || to.is_bool()) return from.is_bool();
  if (from.is_uint()) return to.is_uint() ? from.bits <= to.bits : from.bits < to.bits;
  return !to.is_uint() && from.bits <= to.bits;
}

/// Conversion of a conversion.
auto simplify_cast(const Expr& e) -> Expr {
  const auto* inner = e.to<Cast>().value.as<Cast>();
  if (!inner) return e;
  const Type to = e.type(), middle = inner->type, from = inner->value.type();
  const bool kept = holds_all(middle, from);
  // Integers agree in their low bits.
  const bool low_bits = !to.is_float() && !middle.is_float() && !from.is_float() && !to.is_bool() &&
                        !middle.is_bool() && to.bits <= middle.bits;
  return kept || low_bits ? cast(to, inner->value, e.loc()) : e;
}

auto finish(const Expr& e, int depth) -> Expr;

auto apply_rules(const Expr& e, int depth) -> Expr {
  for (const Rule* rule : rules_for(e)) {
    Bindings b;
    if (!match(*rule, e, b)) continue;
    const Expr out = instantiate(*rule, rule->right, b, [&](const Expr& made) { return finish(made, depth + 1); });
    if (out) return out;
  }
  return e;
}

auto finish(const Expr& given, int depth) -> Expr {
  Expr e = given;
  if (depth > kMaxDepth) return e;
  for (int step = 0; step < kMaxSteps; ++step) {
    Expr next = in_order(fold_constants(e));
    if (next.kind() == Kind::Cast) next = simplify_cast(next);
    if (next == e) next = apply_rules(e, depth);
    if (next == e) return e;
    e = next;
  }
  return e;
}

}  // namespace

auto simplify_node(const Expr& e) -> Expr { return finish(e, 0); }

}  // namespace drawloom
