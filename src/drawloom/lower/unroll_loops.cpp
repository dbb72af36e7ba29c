#include "drawloom/lower/unroll_loops.h"

#include <unordered_map>

#include "drawloom/ir/build.h"
#include "drawloom/ir/dispatch.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/support/fault.h"

// Loops of constant extent written out.
//
//   unrolled for i = 0 : 2 {            allocate t: i32[1] { store t[0] = in[2*x + (0 + 0)] .. }
//     allocate t: i32[1]           ->   allocate t: i32[1] { store t[0] = in[2*x + (0 + 1)] .. }
//     store t[0] = in[2*x + i] ..       two buffers, both called t
//   }
//
// Later passes know a symbol or buffer by its identity, so each copy binds its own. Inner loops are written out first
// and their result copied: a nest costs the product of its extents, which is also its result (a schedule makes a few
// thousand copies of one statement at most). Sums such as 0 + 1 are left to the simplifier, which comes next.

namespace drawloom {
namespace {

/// One copy of a loop body: fresh symbols and buffers for all it binds, and a value for the loop variable.
class Copier : public Rewriter<Copier> {
 public:
  Copier(const SymbolRef& loop, Expr value) { values_[loop.get()] = std::move(value); }

  auto on(const VarRef& v, const Expr& self) -> Expr {
    const auto it = values_.find(v.symbol.get());
    return it == values_.end() ? self : it->second;
  }
  auto on(const ExprNode&, const Expr& self) -> Expr { return copy_of(self); }
  auto on(const StmtNode&, const Stmt& self) -> Stmt { return copy_of(self); }

 private:
  /// Field by field, whatever the node: kBinds knows what binds a name, and the type of a field what uses one.
  template <typename H>
  auto copy_of(const H& self) -> H {
    return dispatch(*self.get(), [&](const auto& n) -> H {
      using T = std::decay_t<decltype(n)>;
      if constexpr (std::is_same_v<H, rewriting::HandleOf<T>>) {
        if constexpr (kBinds<T>) rename_bound(n);
        const auto copy = make_ref<T>(n);
        bool differs = false;
        copy->each_field([&](const char*, const auto& field) { differs |= replace(field); });
        if (!differs) return self;
        if constexpr (std::is_same_v<T, Block>)
          return rebuilt_block(n, copy->stmts);
        else
          return finish_rebuilt(copy);
      }
      return self;
    });
  }

  /// Names are unique, so that the new one may hold in the node's own operands too, which do not use it.
  template <typename T>
  void rename_bound(const T& n) {
    if constexpr (requires { n.symbol; }) {
      const SymbolRef& old = n.symbol;
      const auto fresh = make_symbol(old->kind, old->name, old->type, old->loc);
      symbols_[old.get()] = fresh;
      values_[old.get()] = var_ref(fresh);
    } else {
      const BufferDecl& b = *n.buffer;
      // The byte at which shared memory starts is part of the buffer: all copies lie in one place, one after the other
      // in time.
      const bool shared = b.memory == MemoryKind::Shared;
      buffers_[&b] = shared ? make_shared_buffer(b.name, b.element, b.rank, b.at, b.loc)
                            : make_buffer(b.name, b.element, b.rank, b.memory, b.loc);
    }
  }

  /// One field of a node under construction, which nobody else holds; each_field shows its fields as const.
  template <typename F>
  auto replace(const F& field) -> bool {
    if constexpr (std::is_same_v<F, SymbolRef>)
      return replace_name(const_cast<F&>(field), symbols_);
    else if constexpr (std::is_same_v<F, BufferRef>)
      return replace_name(const_cast<F&>(field), buffers_);
    else
      return rewriting::rewrite_field(*this, field);
  }
  template <typename N, typename Names>
  static auto replace_name(N& name, const Names& fresh) -> bool {
    const auto it = fresh.find(name.get());
    if (it == fresh.end()) return false;
    name = it->second;
    return true;
  }

  std::unordered_map<const Symbol*, Expr> values_;
  std::unordered_map<const Symbol*, SymbolRef> symbols_;
  std::unordered_map<const BufferDecl*, BufferRef> buffers_;
};

class Unroller : public Rewriter<Unroller> {
 public:
  auto on(const For& f, const Stmt& self) -> Stmt {
    if (f.how != ForKind::Unrolled) return rewrite_children(self);
    int64_t extent = 0;
    DRAWLOOM_CHECK(as_int(f.extent, extent), "unrolled loop {} has no constant extent", f.symbol->name);
    const Stmt body = rewrite(f.body);
    StmtList copies;
    for (int64_t i = 0; i < extent - (DRAWLOOM_FAULT(unroll_loses_last) && extent > 1 ? 1 : 0); ++i)
      copies.push_back(Copier(f.symbol, binary(BinaryOp::Add, f.min, index_imm(i))).rewrite(body));
    return make_block(std::move(copies), self.loc());
  }
};

}  // namespace

auto unroll_loops(Stmt body, PassContext&) -> Stmt { return Unroller().rewrite(body); }

}  // namespace drawloom
