// Two questions about every kind of node: which type its operands give it, and what they must be.
//
// Both are overloads, one for each kind. `problem` has no default, so a new kind does not compile until its rule is
// written. Example: `%a + 1` with %a: i32 is refused with both types, since 1 is an index; nothing is converted here,
// that is the business of the front end (lang/typing.h).
#include "drawloom/ir/type_rules.h"

#include "drawloom/ir/build.h"
#include "drawloom/ir/device_rules.h"
#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/support/check.h"

namespace drawloom {
namespace {

using Problem = std::optional<Diag>;

auto mismatch(const Node& node, Type a, Type b) -> Problem {
  return Diag(DiagKind::ir_type_mismatch, node.loc, described(node), a, b);
}
auto malformed(const Node& node, std::string_view what) -> Problem {
  return Diag(DiagKind::ir_malformed, node.loc, described(node), what);
}

auto lanes_of(const ExprList& list) -> int { return list.empty() ? 1 : list[0].type().lanes; }

auto call_type(const Call& n) -> Type {
  const Type t = n.args.empty() ? Type() : n.args[0].type();
  if (n.function == Intrinsic::IsNan) return kBool.with_lanes(t.lanes);
  if ((n.function == Intrinsic::Abs || n.function == Intrinsic::Absd) && t.is_int()) {
    return uint_type(t.bits).with_lanes(t.lanes);
  }
  return t;
}

auto type_of(const ExprNode& n) -> Type { return n.type; }
auto type_of(const Cast& n) -> Type { return n.type.with_lanes(n.value.type().lanes); }
auto type_of(const Unary& n) -> Type { return n.a.type(); }
auto type_of(const Binary& n) -> Type {
  return is_compare(n.op) || is_logic(n.op) ? kBool.with_lanes(n.a.type().lanes) : n.a.type();
}
auto type_of(const Select& n) -> Type { return n.yes.type(); }
auto type_of(const Call& n) -> Type { return call_type(n); }
auto type_of(const Access& n) -> Type { return n.type.with_lanes(lanes_of(n.args)); }
auto type_of(const Load& n) -> Type { return n.buffer->element.with_lanes(lanes_of(n.index)); }
auto type_of(const Ramp& n) -> Type { return n.base.type().with_lanes(n.type.lanes); }
auto type_of(const Broadcast& n) -> Type { return n.value.type().with_lanes(n.type.lanes); }
auto type_of(const Let& n) -> Type { return n.body.type(); }
auto type_of(const Address& n) -> Type { return address_type(n); }
auto type_of(const Reinterpret& n) -> Type { return n.type.with_lanes(n.value.type().lanes); }

// --- what may stand where

auto problem(const IntImm& n) -> Problem {
  if (n.type.is_float()) return malformed(n, "an integer constant of a floating type");
  return {};
}
auto problem(const FloatImm& n) -> Problem {
  if (!n.type.is_float()) return malformed(n, "a floating constant of an integer type");
  return {};
}
auto problem(const VarRef&) -> Problem { return {}; }
auto problem(const Cast&) -> Problem { return {}; }

auto problem(const Unary& n) -> Problem {
  const Type t = n.a.type();
  switch (n.op) {
    case UnaryOp::Neg: return t.is_bool() ? malformed(n, "a bool has no negative") : Problem();
    case UnaryOp::Not: return t.is_bool() ? Problem() : malformed(n, "`!` takes a bool");
    case UnaryOp::BitNot: return t.is_float() ? malformed(n, "`~` takes an integer") : Problem();
  }
  return {};
}

auto takes(BinaryOp op, Type t) -> bool {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul:
    case BinaryOp::Div:
    case BinaryOp::Mod:
    case BinaryOp::Min:
    case BinaryOp::Max: return !t.is_bool();
    case BinaryOp::BitAnd:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor: return !t.is_float();
    case BinaryOp::Shl:
    case BinaryOp::Shr: return !t.is_float() && !t.is_bool();
    case BinaryOp::EQ:
    case BinaryOp::NE:
    case BinaryOp::LT:
    case BinaryOp::LE:
    case BinaryOp::GT:
    case BinaryOp::GE: return true;
    case BinaryOp::And:
    case BinaryOp::Or: return t.is_bool();
  }
  return false;
}
auto problem(const Binary& n) -> Problem {
  if (n.a.type() != n.b.type()) return mismatch(n, n.a.type(), n.b.type());
  if (!takes(n.op, n.a.type())) return malformed(n, str("`{}` does not take {}", op_text(n.op), n.a.type()));
  return {};
}

auto problem(const Select& n) -> Problem {
  if (n.yes.type() != n.no.type()) return mismatch(n, n.yes.type(), n.no.type());
  const Type wanted = kBool.with_lanes(n.yes.type().lanes);
  if (n.condition.type() != wanted) return malformed(n, str("the condition is {}, not {}", n.condition.type(), wanted));
  return {};
}

auto takes_integers(Intrinsic f) -> bool {
  return f == Intrinsic::Abs || f == Intrinsic::Absd || f == Intrinsic::WarpUniform;
}
auto problem(const Call& n) -> Problem {
  if (static_cast<int>(n.args.size()) != arity(n.function)) {
    return malformed(n, str("`{}` takes {} arguments, not {}", op_text(n.function), arity(n.function), n.args.size()));
  }
  for (const auto& a : n.args) {
    if (a.type() != n.args[0].type()) return mismatch(n, n.args[0].type(), a.type());
  }
  const Type t = n.args[0].type();
  if (t.is_bool() || (!t.is_float() && !takes_integers(n.function))) {
    return malformed(n, str("`{}` does not take {}", op_text(n.function), t));
  }
  return {};
}

/// All of `list` are index, of `lanes` lanes.
auto index_problem(const Node& n, const ExprList& list, int lanes, std::string_view what) -> Problem {
  const Type wanted = kIndex.with_lanes(lanes);
  for (const auto& e : list) {
    if (e.type() != wanted) return malformed(n, str("{} `{}` is {}, not {}", what, print(e), e.type(), wanted));
  }
  return {};
}

auto problem(const Access& n) -> Problem { return index_problem(n, n.args, n.type.lanes, "argument"); }

/// What Load and Store share.
template <typename T>
auto element_problem(const T& n) -> Problem {
  const int rank = n.buffer->rank, count = static_cast<int>(n.index.size());
  if (count != rank && count != 1) {
    return malformed(n, str("{} subscripts for a buffer of rank {}", count, rank));
  }
  const int lanes = lanes_of(n.index);
  if (auto p = index_problem(n, n.index, lanes, "subscript")) return p;
  if (auto p = index_problem(n, n.origin, lanes, "origin")) return p;
  if (n.mask && n.mask.type() != kBool.with_lanes(lanes)) {
    return malformed(n, str("the mask is {}, not {}", n.mask.type(), kBool.with_lanes(lanes)));
  }
  return {};
}
auto problem(const Load& n) -> Problem { return element_problem(n); }

auto problem(const Ramp& n) -> Problem {
  if (n.base.type() != n.stride.type()) return mismatch(n, n.base.type(), n.stride.type());
  if (!n.base.type().is_scalar() || n.base.type().is_bool())
    return malformed(n, "base and stride are not scalar numbers");
  if (n.type.lanes < 2) return malformed(n, "fewer than 2 lanes");
  return {};
}
auto problem(const Broadcast& n) -> Problem {
  if (!n.value.type().is_scalar()) return malformed(n, "the value is not a scalar");
  if (n.type.lanes < 2) return malformed(n, "fewer than 2 lanes");
  return {};
}

template <typename T>
auto let_problem(const T& n) -> Problem {
  if (n.symbol->type != n.value.type()) return mismatch(n, n.symbol->type, n.value.type());
  return {};
}
auto problem(const Let& n) -> Problem { return let_problem(n); }
auto problem(const LetStmt& n) -> Problem { return let_problem(n); }

auto problem(const Block& n) -> Problem {
  for (const auto& s : n.stmts) {
    if (!s || s.kind() == Kind::Block) return malformed(n, "a block holds a block");
  }
  return n.stmts.size() == 1 ? malformed(n, "a block of one statement") : Problem();
}
auto problem(const For& n) -> Problem {
  if (n.symbol->type != kIndex) return malformed(n, str("the loop variable is {}", n.symbol->type));
  return index_problem(n, {n.min, n.extent}, 1, "bound");
}
auto problem(const If& n) -> Problem {
  if (n.condition.type() != kBool) return malformed(n, str("the condition is {}, not bool", n.condition.type()));
  return {};
}
auto problem(const Allocate& n) -> Problem {
  const int rank = n.buffer->rank, count = static_cast<int>(n.extents.size());
  if (n.buffer->memory == MemoryKind::Argument) return malformed(n, "an argument is not allocated");
  if (count != rank && count != 1) return malformed(n, str("{} extents for a buffer of rank {}", count, rank));
  if (auto p = index_problem(n, n.extents, 1, "extent")) return p;
  if (n.buffer->memory == MemoryKind::Heap) return {};
  const bool misplaced =
      n.buffer->memory == MemoryKind::Shared && (n.buffer->at < 0 || n.buffer->at % n.buffer->element.bytes() != 0);
  if (misplaced)
    return malformed(n, str("byte {} is no place for elements of {} bytes", n.buffer->at, n.buffer->element.bytes()));
  for (const auto& e : n.extents) {
    if (e.kind() != Kind::IntImm)
      return malformed(n, str("extent `{}` of a {} buffer is not constant", print(e), memory_name(n.buffer->memory)));
  }
  return {};
}
auto problem(const Store& n) -> Problem {
  if (auto p = element_problem(n)) return p;
  const Type wanted = n.buffer->element.with_lanes(lanes_of(n.index));
  return n.value.type() == wanted ? Problem() : mismatch(n, wanted, n.value.type());
}
auto problem(const Stage&) -> Problem { return {}; }
auto problem(const Check& n) -> Problem {
  if (n.condition.type() != kBool) return malformed(n, str("the condition is {}, not bool", n.condition.type()));
  size_t holes = 0;
  for (size_t at = n.message.find("{}"); at != std::string::npos; at = n.message.find("{}", at + 2)) ++holes;
  if (holes != n.args.size())
    return malformed(n, str("{} arguments for {} places in the message", n.args.size(), holes));
  for (const auto& a : n.args) {
    if (!a.type().is_scalar()) return malformed(n, "a message argument is a vector");
  }
  return {};
}
auto problem(const StoreFence&) -> Problem { return {}; }

template <typename T>
  requires requires(const T& n) { device_problem(n); }
auto problem(const T& n) -> Problem {
  return device_problem(n);
}

}  // namespace

auto result_type(const ExprNode& node) -> Type {
  return dispatch(node, [](const auto& n) -> Type {
    if constexpr (std::is_base_of_v<ExprNode, std::decay_t<decltype(n)>>) return type_of(n);
    return {};
  });
}

auto operand_problem(const Node& node) -> std::optional<Diag> {
  return dispatch(node, [](const auto& n) { return problem(n); });
}

}  // namespace drawloom
