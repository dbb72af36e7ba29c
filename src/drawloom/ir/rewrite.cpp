#include "drawloom/ir/rewrite.h"

#include "drawloom/ir/build.h"
#include "drawloom/ir/type_rules.h"
#include "drawloom/support/check.h"

namespace drawloom {
namespace {

struct Substituter : Rewriter<Substituter> {
  explicit Substituter(const Substitution& map) : map_(map) {}
  auto on(const VarRef& n, const Expr& self) -> Expr {
    const auto hit = map_.find(n.symbol.get());
    return hit == map_.end() ? self : hit->second;
  }

 private:
  const Substitution& map_;
};

auto uses(const Node& root, const Symbol* symbol) -> bool {
  bool found = false;
  each_node(root, [&](const Node& n) {
    found = found || (n.kind == Kind::VarRef && static_cast<const VarRef&>(n).symbol.get() == symbol);
    return !found;
  });
  return found;
}

/// Rewrites are made by passes: a node that breaks a rule is a bug there, found where it is made.
template <typename H, typename N>
auto finish(Ref<N> node) -> H {
  const auto problem = operand_problem(*node);
  DRAWLOOM_CHECK(!problem, "a rewrite made {}", problem->text());
  return H(Ref<const N>(node));
}

}  // namespace

auto finish_rebuilt(Ref<ExprNode> node) -> Expr {
  node->type = result_type(*node);
  return finish<Expr>(std::move(node));
}
auto finish_rebuilt(Ref<StmtNode> node) -> Stmt { return finish<Stmt>(std::move(node)); }
auto rebuilt_block(const Block& old, StmtList stmts) -> Stmt { return make_block(std::move(stmts), old.loc); }

auto substitute(const Expr& e, const Substitution& map) -> Expr { return Substituter(map).rewrite(e); }
auto substitute(const Stmt& s, const Substitution& map) -> Stmt { return Substituter(map).rewrite(s); }
auto uses_symbol(const Expr& e, const Symbol* symbol) -> bool { return uses(*e.get(), symbol); }
auto uses_symbol(const Stmt& s, const Symbol* symbol) -> bool { return uses(*s.get(), symbol); }

}  // namespace drawloom
