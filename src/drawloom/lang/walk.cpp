#include "drawloom/lang/walk.h"

namespace drawloom {

auto symbols_used(const ExprList& roots, SymbolKind kind) -> std::vector<SymbolRef> {
  std::vector<SymbolRef> out;
  std::unordered_set<const Symbol*> seen;
  for_each_node(roots, [&](const Expr& e) {
    const auto* v = e.as<VarRef>();
    if (v && v->symbol->kind == kind && seen.insert(v->symbol.get()).second) out.push_back(v->symbol);
  });
  return out;
}

}  // namespace drawloom
