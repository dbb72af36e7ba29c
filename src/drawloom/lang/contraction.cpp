// Counting uses by value numbers, then one rewrite from the top.
//
// Whether the C++ program wrote `a*b` twice or shared one Expr must not matter, so nodes that are structurally equal
// get one number, and uses are counted between numbers. Example, with numbers in brackets:
//     a*b + a*b                a [0], b [1], a*b [2], the sum [3]: two places of [3] refer to [2], so no fma
//     (a*b + c) * (a*b + c)    the sum is one number and refers to a*b once: fma(a, b, c), squared
// A product that something else needs as well would be computed anyway, rounded; fusing it too would save nothing and
// make the two disagree.
//
// Cost: the size of the DAG, with one map look-up for each node.
#include "drawloom/lang/contraction.h"

#include <bit>
#include <map>
#include <unordered_map>

#include "drawloom/ir/build.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/support/hash.h"

namespace drawloom {
namespace {

auto is_product(const Expr& e) -> bool {
  const auto* n = e.as<Binary>();
  return n && n->op == BinaryOp::Mul && n->type.code == TypeCode::Float && n->type.bits >= 32;
}

/// Numbers structurally equal nodes alike, and counts the operand places that refer to each number.
class UseCounts {
 public:
  auto number(const Expr& e) -> int {
    if (const auto hit = numbers_.find(e.get()); hit != numbers_.end()) return hit->second;
    std::vector<int> operands;
    std::vector<uint64_t> key = {static_cast<uint64_t>(e.kind()), std::bit_cast<uint32_t>(e.type())};
    dispatch(*e.get(), [&](const auto& n) {
      n.each_field([&](const char*, const auto& field) { add_field(field, key, operands); });
    });
    const auto [at, fresh] = known_.emplace(std::move(key), static_cast<int>(uses_.size()));
    if (fresh) {
      uses_.push_back(0);
      for (const int operand : operands) ++uses_[static_cast<size_t>(operand)];
    }
    numbers_.emplace(e.get(), at->second);
    return at->second;
  }
  void add_root(const Expr& e) { ++uses_[static_cast<size_t>(number(e))]; }
  auto is_single(const Expr& e) -> bool { return uses_[static_cast<size_t>(number(e))] == 1; }

 private:
  template <typename F>
  void add_field(const F& field, std::vector<uint64_t>& key, std::vector<int>& operands) {
    const auto add_operand = [&](const Expr& e) {
      operands.push_back(e.defined() ? number(e) : -1);
      key.push_back(static_cast<uint64_t>(operands.back()));
      if (operands.back() < 0) operands.pop_back();
    };
    if constexpr (std::is_same_v<F, Expr>) {
      add_operand(field);
    } else if constexpr (std::is_same_v<F, ExprList>) {
      key.push_back(field.size());
      for (const auto& e : field) add_operand(e);
    } else if constexpr (std::is_same_v<F, double>) {
      key.push_back(std::bit_cast<uint64_t>(field));
    } else if constexpr (std::is_same_v<F, SymbolRef> || std::is_same_v<F, BufferRef>) {
      key.push_back(reinterpret_cast<uintptr_t>(field.get()));
    } else if constexpr (std::is_pointer_v<F>) {
      key.push_back(reinterpret_cast<uintptr_t>(field));
    } else if constexpr (std::is_enum_v<F> || std::is_integral_v<F>) {
      key.push_back(static_cast<uint64_t>(field));
    }  // statements and their fields do not occur in definitions
  }

  std::unordered_map<const Node*, int> numbers_;
  std::map<std::vector<uint64_t>, int> known_;
  std::vector<int> uses_;
};

struct Contractor : Rewriter<Contractor> {
  explicit Contractor(UseCounts& counts) : counts(counts) {}

  auto on(const Binary& n, const Expr& self) -> Expr {
    const bool sums = n.op == BinaryOp::Add || n.op == BinaryOp::Sub;
    if (sums && takes(n.a)) return fuse(n.a, n.op == BinaryOp::Add ? rewrite(n.b) : minus(rewrite(n.b)), false, n.loc);
    if (sums && takes(n.b)) return fuse(n.b, rewrite(n.a), n.op == BinaryOp::Sub, n.loc);
    return rewrite_children(self);
  }

  auto takes(const Expr& e) -> bool { return is_product(e) && counts.is_single(e); }
  static auto minus(const Expr& e) -> Expr { return unary(UnaryOp::Neg, e, e.loc()); }
  auto fuse(const Expr& product, Expr addend, bool negate, const Loc& loc) -> Expr {
    const auto& n = product.to<Binary>();
    const Expr a = rewrite(n.a);
    return call(Intrinsic::Fma, {negate ? minus(a) : a, rewrite(n.b), std::move(addend)}, loc);
  }
  UseCounts& counts;
};

}  // namespace

auto contract(const ExprList& lhs, const ExprList& values) -> ExprList {
  UseCounts counts;
  for (const auto& e : lhs) counts.add_root(e);
  for (const auto& e : values) counts.add_root(e);
  return Contractor(counts).rewrite(values);
}

}  // namespace drawloom
