#include "drawloom/lower/flatten_storage.h"

#include <unordered_map>

#include "drawloom/ir/build.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/support/fault.h"

// One subscript per dimension becomes one index in elements.
//
//   allocate b: f32[n, m, 3]   ->  let b.stride.1 = max(n, 0)
//                                  let b.stride.2 = b.stride.1 * max(m, 0)
//                                  allocate b: f32[b.stride.2 * 3]
//   b[x, y, 2]                 ->  b[x + y * b.stride.1 + 2 * b.stride.2]
//   in[x, y], an argument      ->  in[(x - min(in, 0)) * stride(in, 0) + (y - min(in, 1)) * stride(in, 1)]
//
// Extents are differences of ends and may come out negative where nothing is computed, hence the max. Arguments keep
// the strides of their caller; where dimension 0 is known to be dense, propagate_equalities puts 1 for stride(in, 0)
// later.

namespace drawloom {
namespace {

/// Flat subscripts are most of the index arithmetic: factors of 1 are not made to begin with.
auto times(const Expr& a, const Expr& b) -> Expr {
  return is_int(a, 1) ? b : is_int(b, 1) ? a : binary(BinaryOp::Mul, a, b);
}

class Flattener : public Rewriter<Flattener> {
 public:
  auto on(const Allocate& a, const Stmt& self) -> Stmt {
    // Strides are named where they are not constants, so that they are computed once.
    std::vector<std::pair<SymbolRef, Expr>> lets;
    ExprList strides;
    Expr size = index_imm(1);
    for (size_t d = 0; d < a.extents.size(); ++d) {
      strides.push_back(DRAWLOOM_FAULT(stride_of_wrong_dimension) && d == 1 ? rewrite(a.extents.back()) : size);
      Expr extent = rewrite(a.extents[d]);
      int64_t constant = 0;
      if (!as_int(extent, constant)) extent = binary(BinaryOp::Max, extent, index_imm(0));
      size = product(size, extent);
      if (!as_int(size, constant) && d + 1 < a.extents.size()) {
        lets.emplace_back(make_symbol(SymbolKind::Let, str("{}.stride.{}", a.buffer->name, d + 1)), size);
        size = var_ref(lets.back().first);
      }
    }
    strides_[a.buffer.get()] = strides;
    Stmt out = allocate(a.buffer, {size}, rewrite(a.body), self.loc());
    for (auto it = lets.rbegin(); it != lets.rend(); ++it) out = let_stmt(it->first, it->second, out, self.loc());
    return out;
  }

  auto on(const Load& l, const Expr& self) -> Expr {
    return load(l.buffer, {flat(l.buffer, rewrite(l.index))}, l.mask ? rewrite(l.mask) : Expr(), rewrite(l.origin),
                self.loc());
  }

  auto on(const Store& s, const Stmt& self) -> Stmt {
    return store(s.buffer, {flat(s.buffer, rewrite(s.index))}, rewrite(s.value), s.mask ? rewrite(s.mask) : Expr(),
                 rewrite(s.origin), s.nontemporal, self.loc());
  }

  auto on(const Address& a, const Expr& self) -> Expr {
    return Expr(Ref<const ExprNode>(
        make_ref<Address>(a.type, a.buffer, ExprList{flat(a.buffer, rewrite(a.index))}, self.loc())));
  }
  auto on(const TensorMap& m, const Stmt& self) -> Stmt {
    TensorMap::Shape shape{{flat(m.buffer, rewrite(m.base))},
                           rewrite(m.dims),
                           rewrite(m.strides),
                           rewrite(m.box),
                           m.swizzle,
                           m.promotion,
                           m.fill};
    return Stmt(
        Ref<const StmtNode>(make_ref<TensorMap>(m.symbol, m.buffer, std::move(shape), rewrite(m.body), self.loc())));
  }
  auto on(const Init& n, const Stmt&) -> Stmt { return at_barrier(n); }
  auto on(const Arrive& n, const Stmt&) -> Stmt { return at_barrier(n); }
  auto on(const Expect& n, const Stmt&) -> Stmt { return at_barrier(n); }
  auto on(const Wait& n, const Stmt&) -> Stmt { return at_barrier(n); }

 private:
  /// A statement about an mbarrier, with one subscript; its other operands have none.
  template <typename T>
  auto at_barrier(const T& n) -> Stmt {
    auto copy = make_ref<T>(n);
    copy->index = {flat(n.barrier, rewrite(n.index))};
    return Stmt(Ref<const StmtNode>(std::move(copy)));
  }

  static auto product(const Expr& a, const Expr& b) -> Expr {
    int64_t x = 0, y = 0, z = 0;
    if (as_int(a, x) && as_int(b, y) && !__builtin_mul_overflow(x, y, &z)) return index_imm(z);
    return times(a, b);
  }

  auto flat(const BufferRef& b, const ExprList& index) const -> Expr {
    Expr sum;
    for (size_t d = 0; d < index.size(); ++d) {
      const int lanes = index[d].type().lanes;
      Expr i = index[d], stride;
      if (b->memory == MemoryKind::Argument) {
        i = binary(BinaryOp::Sub, i, broadcast(var_ref(b->min[d]), lanes));
        stride = var_ref(DRAWLOOM_FAULT(strides_taken_for_dense) && d == 1 ? b->extent[0] : b->stride[d]);
      } else {
        stride = strides_.at(b.get())[d];
      }
      const Expr term = is_int(stride, 1) ? i : binary(BinaryOp::Mul, i, broadcast(stride, lanes));
      sum = sum ? binary(BinaryOp::Add, sum, term) : term;
    }
    return sum ? sum : index_imm(0);
  }

  std::unordered_map<const BufferDecl*, ExprList> strides_;
};

}  // namespace

auto flatten_storage(Stmt body, PassContext& ctx) -> Stmt {
  return ctx.program->flat_storage ? body : Flattener().rewrite(body);
}

}  // namespace drawloom
