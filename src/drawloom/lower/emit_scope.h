#pragma once
/// What emission knows at one point of the nest: how symbols of the nest are spelled there, and which storage holds a Func.

#include <map>

#include "drawloom/ir/build.h"
#include "drawloom/nest/region.h"

namespace drawloom {

/// Storage of a realisation in scope.
struct StorageHere {
  std::vector<BufferRef> buffers;  ///< one per component
  bool is_argument = false;        ///< subscripts are logical coordinates
  std::vector<Form> origin;        ///< logical coordinate of slot 0, in emitted symbols
  std::vector<int64_t> fold;       ///< 0: not folded
};

/// A value: inner scopes are copies with more.
struct EmitScope {
  std::map<const Symbol*, Form> spelled;  ///< loop ids, bases and extents of the nest -> forms over emitted symbols
  std::map<const Symbol*, Form>
      moving;  ///< bases and extents that depend on the stage's own loops, in symbols of the nest
  std::map<int, StorageHere> storage;  ///< by Func index
  std::vector<const Clip*> dropped;    ///< clips that hold here (steady state)
  Facts facts;  ///< ranges of the loops around and what the dropped clips say, in emitted symbols

  auto form(const Form& f) const -> Form { return substitute(f, spelling()); }
  auto expr(const Form& f) const -> Expr { return to_expr(form(f)); }
  auto cond(const Cond& c) const -> Cond { return substitute(c, spelling()); }
  auto when(const When& w) const -> When {
    When out;
    for (const auto& c : w.any) out.any.push_back(cond(c));
    return out;
  }

 private:
  auto spelling() const -> FormMap {
    return [this](const SymbolRef& s) -> std::optional<Form> {
      if (const auto it = moving.find(s.get()); it != moving.end()) return form(it->second);
      const auto it = spelled.find(s.get());
      if (it == spelled.end()) return {};
      return it->second;
    };
  }
};

/// The tests of a call's arguments: regions that inputs and outputs must hold, promised sizes.
auto call_checks(const Nest& nest, QueryCache& cache, const EmitScope& scope) -> StmtList;
/// The statement that computes one point of a stage: values, with inlined Funcs in place and placed ones loaded.
/// `at` gives each dimension symbol of the stage (args and RVars) its index expression.
auto emit_point(const Nest& nest, const StageLeaf& leaf, const EmitScope& scope,
                const std::map<const Symbol*, Expr>& at) -> Stmt;

}  // namespace drawloom
