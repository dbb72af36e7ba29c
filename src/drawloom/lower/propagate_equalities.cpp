#include "drawloom/lower/propagate_equalities.h"

#include "drawloom/ir/build.h"
#include "drawloom/ir/rewrite.h"

namespace drawloom {
namespace {

/// Symbol on the left, literal on the right: the shape in which emit_nest writes its test for dense arguments.
void collect(const Expr& condition, Substitution& known) {
  const auto* b = condition.as<Binary>();
  if (!b) return;
  if (b->op == BinaryOp::And) {
    collect(b->a, known);
    collect(b->b, known);
  } else if (b->op == BinaryOp::EQ) {
    const auto* v = b->a.as<VarRef>();
    if (v && b->b.as<IntImm>()) known[v->symbol.get()] = b->b;
  }
}

class Propagator : public Rewriter<Propagator> {
 public:
  auto on(const If& i, const Stmt& self) -> Stmt {
    Substitution known;
    collect(i.condition, known);
    if (known.empty()) return rewrite_children(self);
    return make_if(i.condition, rewrite(substitute(i.then, known)), i.otherwise ? rewrite(i.otherwise) : Stmt(),
                   self.loc());
  }
};

}  // namespace

auto propagate_equalities(Stmt body, PassContext&) -> Stmt { return Propagator().rewrite(body); }

}  // namespace drawloom
