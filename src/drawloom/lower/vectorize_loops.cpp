#include "drawloom/lower/vectorize_loops.h"

#include <algorithm>
#include <unordered_map>

#include "drawloom/ir/build.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/support/fault.h"

// A vector loop becomes straight code on vectors; a lane is an iteration.
//
//   vectorized for x = 0 : 4 {             #1 = ramp(0, 1, 4)
//     if x < n {                           #2 = #1 < broadcast(n, 4)
//       store out[x] = in[x] * k      ->   store out[#1; mask #2] = in[#1; mask #2] * broadcast(k, 4)
//     }
//   }
//
// The loop variable is a ramp. An operation widens when one of its operands did, and then broadcasts the others; what
// does not depend on the variable stays scalar, so uniform subscripts and trip counts are computed once. No lane
// branches: both sides of an If run, each under its mask, and a mask inside a mask is their conjunction. Masks stand on
// loads and stores alone, since arithmetic has no effect and no undefined cases. A mask that reads memory is taken
// once, before both sides, because stores under it may change what it reads.
//
// A loop inside needs one trip count for all lanes. Where it comes out as a vector the widened body is thrown away and
// the loop stays serial: a loop to the longest count under masks would be correct too, and is not made. Each node is
// widened once per mask.

namespace drawloom {
namespace {

auto is_vector(const Expr& e) -> bool { return e && !e.type().is_scalar(); }

/// One vector loop being widened. An expression comes back scalar when it is the same in all lanes.
class Widener {
 public:
  Widener(const SymbolRef& loop, Expr ramp_of_loop, int lanes) : lanes_(lanes) {
    values_[loop.get()] = std::move(ramp_of_loop);
  }

  auto stmt(const Stmt& s) -> Stmt {
    switch (s.kind()) {
      case Kind::Block: {
        StmtList out;
        for (const auto& c : s.to<Block>().stmts) out.push_back(stmt(c));
        return make_block(std::move(out), s.loc());
      }
      case Kind::For: return inner_loop(s.to<For>(), s.loc());
      case Kind::If: return branch(s.to<If>(), s.loc());
      case Kind::LetStmt: {
        const auto& l = s.to<LetStmt>();
        const Expr value = expr(l.value);
        const auto symbol = bind(l.symbol, value);
        return let_stmt(symbol, value, stmt(l.body), s.loc());
      }
      case Kind::Allocate: {
        const auto& a = s.to<Allocate>();
        const auto& b = *a.buffer;
        // Lanes innermost: the slots of one element in all lanes are one dense vector.
        const auto wide = make_buffer(b.name, b.element, b.rank + 1, b.memory, b.loc);
        wide_[a.buffer.get()] = wide;
        ExprList extents{index_imm(lanes_)};
        for (const auto& e : a.extents) extents.push_back(uniform(e));
        return allocate(wide, std::move(extents), stmt(a.body), s.loc());
      }
      case Kind::Store: return wide_store(s.to<Store>(), s.loc());
      case Kind::Stage: return stage(s.to<Stage>().name, stmt(s.to<Stage>().body), s.loc());
      case Kind::Check: {
        const auto& c = s.to<Check>();
        ExprList args;
        for (const auto& a : c.args) args.push_back(uniform(a));
        return check(uniform(c.condition), c.code, c.message, std::move(args), s.loc());
      }
      case Kind::StoreFence: return s;
#define NODE(name, family) case Kind::name:
#include "drawloom/ir/device_nodes.def"
#undef NODE
#include "drawloom/ir/expression_cases.def"
        break;
    }
    DRAWLOOM_CHECK(false, "{} is no statement", kind_name(s.kind()));
    return {};
  }

  /// False when a trip count or size came out different in different lanes: what was made is of no use.
  auto is_uniform() const -> bool { return uniform_; }

 private:
  auto expr(const Expr& e) -> Expr {
    const auto found = memo_.find(e.get());
    if (found != memo_.end()) return found->second.second;
    const Expr out = widened(e);
    memo_.emplace(e.get(), std::make_pair(e, out));
    return out;
  }

  auto list(const ExprList& es) -> ExprList {
    ExprList out;
    for (const auto& e : es) out.push_back(expr(e));
    return out;
  }

  auto lanes_of(const Expr& e) const -> Expr { return is_vector(e) ? e : broadcast(e, lanes_); }

  /// All as vectors if one is.
  auto together(ExprList& es) const -> bool {
    if (std::none_of(es.begin(), es.end(), is_vector)) return false;
    for (auto& e : es) e = lanes_of(e);
    return true;
  }

  /// For what must be one number. The scalar that is given back for a vector only lets the walk end; see is_uniform.
  auto uniform(const Expr& e) -> Expr {
    const Expr out = expr(e);
    if (!is_vector(out)) return out;
    uniform_ = false;
    return e;
  }

  /// A let of a value that is the same in all lanes keeps its symbol, and so its readers stay scalar.
  auto bind(const SymbolRef& old, const Expr& value) -> SymbolRef {
    if (!is_vector(value)) return old;
    const auto wide = make_symbol(old->kind, old->name, value.type(), old->loc);
    values_[old.get()] = var_ref(wide);
    return wide;
  }

  auto widened(const Expr& e) -> Expr {
    const auto loc = e.loc();
    switch (e.kind()) {
      case Kind::IntImm:
      case Kind::FloatImm: return e;
      case Kind::VarRef: {
        const auto it = values_.find(e.to<VarRef>().symbol.get());
        return it == values_.end() ? e : it->second;
      }
      case Kind::Cast: {
        const Expr v = expr(e.to<Cast>().value);
        return cast(e.type().with_lanes(v.type().lanes), v, loc);
      }
      case Kind::Reinterpret: {
        const Expr v = expr(e.to<Reinterpret>().value);
        return reinterpret(e.type().with_lanes(v.type().lanes), v, loc);
      }
      case Kind::Unary: return unary(e.to<Unary>().op, expr(e.to<Unary>().a), loc);
      case Kind::Binary: {
        const auto& b = e.to<Binary>();
        ExprList ops{expr(b.a), expr(b.b)};
        together(ops);
        return binary(b.op, ops[0], ops[1], loc);
      }
      case Kind::Select: {
        const auto& s = e.to<Select>();
        ExprList ops{expr(s.condition), expr(s.yes), expr(s.no)};
        together(ops);
        return select(ops[0], ops[1], ops[2], loc);
      }
      case Kind::Call: {
        ExprList args = list(e.to<Call>().args);
        together(args);
        return call(e.to<Call>().function, std::move(args), loc);
      }
      case Kind::Load: return wide_load(e.to<Load>(), loc);
      case Kind::Let: {
        const auto& l = e.to<Let>();
        const Expr value = expr(l.value);
        const auto symbol = bind(l.symbol, value);
        return let(symbol, value, expr(l.body), loc);
      }
      case Kind::Access:
      case Kind::Ramp:
      case Kind::Broadcast:
      case Kind::Address:
#include "drawloom/ir/statement_cases.def"
        break;
    }
    DRAWLOOM_CHECK(false, "{} inside a vector loop", kind_name(e.kind()));
    return {};
  }

  /// Subscripts of an element: one more for storage that has a slot per lane.
  auto subscripts(const BufferRef& buffer, const ExprList& index, BufferRef& target) -> ExprList {
    ExprList out = list(index);
    const auto it = wide_.find(buffer.get());
    target = it == wide_.end() ? buffer : it->second;
    // each lane has its own slot, whatever the loop variable is
    if (it != wide_.end()) out.insert(out.begin(), ramp(index_imm(0), index_imm(1), lanes_));
    return out;
  }

  auto wide_load(const Load& l, const Loc& loc) -> Expr {
    BufferRef buffer;
    ExprList index = subscripts(l.buffer, l.index, buffer);
    ExprList origin = list(l.origin);
    const Expr own = l.mask ? expr(l.mask) : Expr();
    const Expr around = DRAWLOOM_FAULT(load_mask_dropped) ? Expr() : mask_;
    // One element for all lanes is read under their masks too: with no lane on, it may not exist.
    // So is one whose origin is still written per lane, though its subscript came out the same for all.
    const bool wide =
        together(index) || around || is_vector(own) || std::any_of(origin.begin(), origin.end(), is_vector);
    if (!wide) return load(buffer, index, own, origin, loc);
    for (auto& i : index) i = lanes_of(i);
    for (auto& o : origin) o = lanes_of(o);
    return load(buffer, index, both(own ? lanes_of(own) : Expr(), around), origin, loc);
  }

  auto wide_store(const Store& s, const Loc& loc) -> Stmt {
    BufferRef buffer;
    ExprList index = subscripts(s.buffer, s.index, buffer);
    ExprList origin = list(s.origin);
    Expr value = expr(s.value);
    const Expr own = s.mask ? expr(s.mask) : Expr();
    const bool wide = mask_ || is_vector(value) || is_vector(own) ||
                      std::any_of(index.begin(), index.end(), is_vector) ||
                      std::any_of(origin.begin(), origin.end(), is_vector);
    // Without a mask, one value to one element is one scalar store, however many lanes there are.
    if (!wide) return store(buffer, index, value, own, origin, s.nontemporal, loc);
    for (auto& i : index) i = lanes_of(i);
    for (auto& o : origin) o = lanes_of(o);
    return store(buffer, index, lanes_of(value),
                 both(own ? lanes_of(own) : Expr(), DRAWLOOM_FAULT(store_mask_dropped) ? Expr() : mask_), origin,
                 s.nontemporal, loc);
  }

  static auto both(const Expr& a, const Expr& b) -> Expr {
    if (!a) return b;
    return b ? binary(BinaryOp::And, a, b) : a;
  }

  auto inner_loop(const For& f, const Loc& loc) -> Stmt {
    // `apply` refuses to nest them
    DRAWLOOM_CHECK(f.how != ForKind::Vectorized, "vector loop {} inside a vector loop", f.symbol->name);
    return make_for(f.symbol, uniform(f.min), uniform(f.extent), f.how, stmt(f.body), loc);
  }

  auto branch(const If& i, const Loc& loc) -> Stmt {
    const Expr condition = expr(i.condition);
    // the same in all lanes: still a branch
    if (!is_vector(condition)) return make_if(condition, stmt(i.then), i.otherwise ? stmt(i.otherwise) : Stmt(), loc);
    if (!reads_memory(condition)) return both_sides(condition, i, loc);
    const auto mask = make_symbol(SymbolKind::Let, "mask", condition.type(), loc);
    return let_stmt(mask, condition, both_sides(var_ref(mask), i, loc), loc);
  }

  auto both_sides(const Expr& condition, const If& i, const Loc& loc) -> Stmt {
    const Stmt then = under(condition, i.then);
    if (!i.otherwise) return then;
    return make_block({then, under(unary(UnaryOp::Not, condition), i.otherwise)}, loc);
  }

  static auto reads_memory(const Expr& e) -> bool {
    bool found = false;
    each_node(*e.get(), [&](const Node& n) {
      found |= n.kind == Kind::Load;
      return !found;
    });
    return found;
  }

  auto under(const Expr& condition, const Stmt& s) -> Stmt {
    const Expr outer = mask_;
    mask_ = both(outer, condition);
    memo_.clear();  // loads are read under the mask in force
    const Stmt out = stmt(s);
    mask_ = outer;
    memo_.clear();
    return out;
  }

  int lanes_;
  bool uniform_ = true;
  Expr mask_;
  std::unordered_map<const Symbol*, Expr> values_;
  std::unordered_map<const BufferDecl*, BufferRef> wide_;
  std::unordered_map<const ExprNode*, std::pair<Expr, Expr>> memo_;
};

class Vectorizer : public Rewriter<Vectorizer> {
 public:
  auto on(const For& f, const Stmt& self) -> Stmt {
    if (f.how != ForKind::Vectorized) return rewrite_children(self);
    int64_t lanes = 0;
    DRAWLOOM_CHECK(as_int(f.extent, lanes) && lanes >= 1 && lanes < 65536, "vector loop {} has no usable extent",
                   f.symbol->name);
    // a vector of one lane is a scalar
    if (lanes == 1) return let_stmt(f.symbol, f.min, f.body, self.loc());
    Widener widener(f.symbol, ramp(f.min, index_imm(1), static_cast<int>(lanes)), static_cast<int>(lanes));
    const Stmt wide = widener.stmt(f.body);
    return widener.is_uniform() ? wide : make_for(f.symbol, f.min, f.extent, ForKind::Serial, f.body, self.loc());
  }
};

}  // namespace

auto vectorize_loops(Stmt body, PassContext&) -> Stmt { return Vectorizer().rewrite(body); }

}  // namespace drawloom
