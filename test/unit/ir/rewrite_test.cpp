/// Rewriter, each_child, substitute, uses_symbol.

#include "drawloom/ir/rewrite.h"

#include <catch2/catch.hpp>

#include "drawloom/ir/build.h"
#include "drawloom/ir/node_ops.h"
#include "drawloom/support/check.h"

namespace drawloom {
namespace {

auto loop_var(const char* name) -> SymbolRef { return make_symbol(SymbolKind::Loop, name); }
auto add(Expr a, Expr b) -> Expr { return binary(BinaryOp::Add, std::move(a), std::move(b)); }

struct Doubler : Rewriter<Doubler> {
  int visits = 0;
  auto on(const IntImm& n, const Expr&) -> Expr {
    ++visits;
    return int_imm(n.type, 2 * n.value, n.loc);
  }
};

TEST_CASE("a rewrite changes what it names and keeps the rest", "[ir][rewrite]") {
  const auto x = var_ref(loop_var("x"));
  const auto changed = Doubler().rewrite(add(x, index_imm(3)));
  CHECK(equal(changed, add(x, index_imm(6))));
  const auto same = add(x, x);
  CHECK(Doubler().rewrite(same) == same);
  CHECK_FALSE(Doubler().rewrite(Expr()).defined());
}

TEST_CASE("a shared node is visited once and stays shared", "[ir][rewrite]") {
  auto e = index_imm(1);
  for (int i = 0; i < 40; ++i) e = add(e, e);
  Doubler doubler;
  const auto changed = doubler.rewrite(e);
  CHECK(doubler.visits == 1);
  CHECK(node_count(changed) == 41);
}

TEST_CASE("a rebuilt node keeps its location", "[ir][rewrite]") {
  const Loc loc(make_ref<FileName>("a.ir"), 7, 3);
  const auto changed = Doubler().rewrite(binary(BinaryOp::Add, index_imm(1), index_imm(2), loc));
  CHECK(changed.loc().line() == 7);
}

/// Removes fences; leaves loops that are not serial alone.
struct FenceRemover : Rewriter<FenceRemover> {
  auto on(const StoreFence&, const Stmt&) -> Stmt { return make_block({}); }
  auto on(const For& n, const Stmt& self) -> Stmt { return n.how == ForKind::Serial ? rewrite_children(self) : self; }
};

TEST_CASE("blocks stay flat when their statements change", "[ir][rewrite]") {
  const auto buffer = make_buffer("b", kIndex, 1, MemoryKind::Heap);
  const auto s = store(buffer, {index_imm(0)}, index_imm(1));
  CHECK(FenceRemover().rewrite(make_block({store_fence(), s})) == s);
  const auto loop = [&](ForKind how) {
    return make_for(loop_var("x"), index_imm(0), index_imm(2), how, make_block({s, store_fence()}));
  };
  CHECK(node_count(FenceRemover().rewrite(loop(ForKind::Serial))) < node_count(loop(ForKind::Serial)));
  const auto parallel = loop(ForKind::Parallel);
  CHECK(FenceRemover().rewrite(parallel) == parallel);
}

struct Counter : Rewriter<Counter> {
  int others = 0;
  auto on(const ExprNode&, const Expr& self) -> Expr {
    ++others;
    return rewrite_children(self);
  }
  auto on(const VarRef&, const Expr& self) -> Expr { return self; }
};

TEST_CASE("the closest `on` is taken", "[ir][rewrite]") {
  Counter counter;
  counter.rewrite(add(var_ref(loop_var("x")), index_imm(1)));
  CHECK(counter.others == 2);  // the sum and the constant
}

TEST_CASE("the type of a rebuilt node follows its operands", "[ir][rewrite]") {
  struct Widen : Rewriter<Widen> {
    auto on(const IntImm& n, const Expr& self) -> Expr { return broadcast(self, 4); }
  };
  const auto buffer = make_buffer("b", float_type(32), 1, MemoryKind::Heap);
  const auto wide = Widen().rewrite(load(buffer, {add(index_imm(1), index_imm(2))}));
  CHECK(wide.type() == float_type(32).with_lanes(4));
  // Half a widening is a bug of the pass and is caught where it happens.
  CHECK_THROWS_AS(Widen().rewrite(add(var_ref(loop_var("x")), index_imm(1))), InternalError);
}

TEST_CASE("substitution is at once and leaves binders alone", "[ir][substitute]") {
  const auto x = loop_var("x"), y = loop_var("y");
  const auto swapped = substitute(add(var_ref(x), binary(BinaryOp::Mul, var_ref(y), index_imm(2))),
                                  {{x.get(), var_ref(y)}, {y.get(), var_ref(x)}});
  CHECK(equal(swapped, add(var_ref(y), binary(BinaryOp::Mul, var_ref(x), index_imm(2)))));

  const auto buffer = make_buffer("b", kIndex, 1, MemoryKind::Heap);
  const auto loop = make_for(x, index_imm(0), var_ref(y), ForKind::Serial, store(buffer, {var_ref(x)}, var_ref(y)));
  const auto fixed = substitute(loop, {{y.get(), index_imm(9)}});
  CHECK(fixed.to<For>().symbol == x);
  CHECK_FALSE(uses_symbol(fixed, y.get()));
  CHECK(uses_symbol(fixed, x.get()));
  CHECK(uses_symbol(loop, y.get()));
}

TEST_CASE("each_child gives the children in field order and skips absent ones", "[ir][walk]") {
  const auto buffer = make_buffer("b", kIndex, 2, MemoryKind::Heap);
  const auto i = index_imm(1), j = index_imm(2), v = index_imm(3), m = bool_imm(true);
  struct Collect {
    std::vector<const void*>& out;
    void operator()(const Expr& e) { out.push_back(e.get()); }
    void operator()(const Stmt& s) { out.push_back(s.get()); }
  };
  std::vector<const void*> children;
  each_child(*store(buffer, {i, j}, v).get(), Collect{children});
  CHECK(children == std::vector<const void*>{i.get(), j.get(), v.get()});
  children.clear();
  each_child(*store(buffer, {i, j}, v, m).get(), Collect{children});
  CHECK(children == std::vector<const void*>{i.get(), j.get(), v.get(), m.get()});
}

}  // namespace
}  // namespace drawloom
