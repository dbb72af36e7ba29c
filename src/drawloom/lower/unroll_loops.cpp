#include "drawloom/lower/unroll_loops.h"

#include <unordered_map>

#include "drawloom/ir/build.h"
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
// and their result copied: a nest costs the product of its extents, which is also its result (the step `unroll` refuses
// more than 256 iterations of one loop). Sums such as 0 + 1 are left to the simplifier, which comes next.

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
  auto on(const Let& l, const Expr& self) -> Expr {
    const Expr value = rewrite(l.value);
    const auto s = fresh(l.symbol);
    return let(s, value, rewrite(l.body), self.loc());
  }
  auto on(const LetStmt& l, const Stmt& self) -> Stmt {
    const Expr value = rewrite(l.value);
    const auto s = fresh(l.symbol);
    return let_stmt(s, value, rewrite(l.body), self.loc());
  }
  auto on(const For& f, const Stmt& self) -> Stmt {
    const Expr min = rewrite(f.min), extent = rewrite(f.extent);
    const auto s = fresh(f.symbol);
    return make_for(s, min, extent, f.how, rewrite(f.body), self.loc());
  }
  auto on(const Allocate& a, const Stmt& self) -> Stmt {
    const ExprList extents = rewrite(a.extents);
    const auto& b = *a.buffer;
    // The byte at which shared memory starts is part of the buffer: all copies lie in one place, one after the other in
    // time.
    const bool shared = b.memory == MemoryKind::Shared;
    const auto copy = shared ? make_shared_buffer(b.name, b.element, b.rank, b.at, b.loc)
                             : make_buffer(b.name, b.element, b.rank, b.memory, b.loc);
    buffers_[a.buffer.get()] = copy;
    return allocate(copy, extents, rewrite(a.body), self.loc());
  }
  auto on(const Load& l, const Expr& self) -> Expr {
    const auto it = buffers_.find(l.buffer.get());
    if (it == buffers_.end()) return rewrite_children(self);
    return load(it->second, rewrite(l.index), l.mask ? rewrite(l.mask) : Expr(), rewrite(l.origin), self.loc());
  }
  auto on(const Store& s, const Stmt& self) -> Stmt {
    const auto it = buffers_.find(s.buffer.get());
    if (it == buffers_.end()) return rewrite_children(self);
    return store(it->second, rewrite(s.index), rewrite(s.value), s.mask ? rewrite(s.mask) : Expr(), rewrite(s.origin),
                 s.nontemporal, self.loc());
  }

  auto on(const Address& a, const Expr& self) -> Expr {
    const auto it = buffers_.find(a.buffer.get());
    if (it == buffers_.end()) return rewrite_children(self);
    return Expr(Ref<const ExprNode>(make_ref<Address>(a.type, it->second, rewrite(a.index), self.loc())));
  }
  auto on(const Init& n, const Stmt& self) -> Stmt { return at_barrier(n, self); }
  auto on(const Arrive& n, const Stmt& self) -> Stmt { return at_barrier(n, self); }
  auto on(const Expect& n, const Stmt& self) -> Stmt { return at_barrier(n, self); }
  auto on(const Wait& n, const Stmt& self) -> Stmt { return at_barrier(n, self); }

 private:
  /// A statement about an mbarrier, which may be one of the copy's own.
  template <typename T>
  auto at_barrier(const T& n, const Stmt& self) -> Stmt {
    const Stmt moved = rewrite_children(self);
    const auto it = buffers_.find(n.barrier.get());
    if (it == buffers_.end()) return moved;
    auto copy = make_ref<T>(moved.to<T>());
    copy->barrier = it->second;
    return Stmt(Ref<const StmtNode>(std::move(copy)));
  }
  auto fresh(const SymbolRef& old) -> SymbolRef {
    const auto s = make_symbol(old->kind, old->name, old->type, old->loc);
    values_[old.get()] = var_ref(s);
    return s;
  }
  std::unordered_map<const Symbol*, Expr> values_;
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
