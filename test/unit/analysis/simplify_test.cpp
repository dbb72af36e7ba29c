#include <catch2/catch.hpp>

#include "data_reference.h"
#include "drawloom/analysis/form.h"
#include "drawloom/analysis/simplify.h"
#include "drawloom/analysis/value_range.h"
#include "drawloom/ir/node_ops.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/ir/text_form.h"

using namespace drawloom;
using namespace drawloom::testing;

namespace {

auto add(const Expr& a, const Expr& b) -> Expr { return binary(BinaryOp::Add, a, b); }
auto sub(const Expr& a, const Expr& b) -> Expr { return binary(BinaryOp::Sub, a, b); }
auto mul(const Expr& a, const Expr& b) -> Expr { return binary(BinaryOp::Mul, a, b); }
auto least(const Expr& a, const Expr& b) -> Expr { return binary(BinaryOp::Min, a, b); }

/// Random data expressions over a few symbols of each type.
struct DataGenerator {
  CounterRandom random;
  DataPoint at;
  std::vector<SymbolRef> symbols;
  int lanes;

  DataGenerator(uint64_t seed, int n) : random(seed), lanes(n) {}

  auto leaf(Type t) -> Expr {
    if (random.chance(30))
      return constant_of(t, t.is_index() ? Lane{random.uniform(-5, 9), 0} : interesting(random, t));
    if (random.chance(60)) {
      for (const auto& s : symbols) {
        if (s->type == t && random.chance(60)) return var_ref(s);
      }
    }
    const SymbolRef s = make_symbol(SymbolKind::Let, str("v{}", symbols.size()), t);
    symbols.push_back(s);
    at[s.get()] = interesting_lanes(random, t);
    return var_ref(s);
  }

  void again() {
    for (const auto& s : symbols) at[s.get()] = interesting_lanes(random, s->type);
  }

  auto type() -> Type {
    static const Type types[] = {int_type(8),    int_type(32), uint_type(8), uint_type(16),
                                 float_type(32), int_type(64), uint_type(64)};
    return types[random.uniform(0, 6)].with_lanes(lanes);
  }

  auto condition(int depth) -> Expr {
    if (depth > 0 && random.chance(20)) return unary(UnaryOp::Not, condition(depth - 1));
    if (depth > 0 && random.chance(30)) {
      return binary(random.chance(50) ? BinaryOp::And : BinaryOp::Or, condition(depth - 1), condition(depth - 1));
    }
    constexpr BinaryOp ops[] = {BinaryOp::EQ, BinaryOp::NE, BinaryOp::LT, BinaryOp::LE, BinaryOp::GT, BinaryOp::GE};
    const Type t = type();
    return binary(ops[random.uniform(0, 5)], expr(t, depth - 1), expr(t, depth - 1));
  }

  auto expr(Type t, int depth) -> Expr {
    if (depth <= 0 || random.chance(10)) return leaf(t);
    const auto two = [&](BinaryOp op) { return binary(op, expr(t, depth - 1), expr(t, depth - 1)); };
    constexpr BinaryOp floats[] = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div};
    constexpr BinaryOp ints[] = {BinaryOp::Add,   BinaryOp::Sub,    BinaryOp::Mul, BinaryOp::Div,
                                 BinaryOp::Mod,   BinaryOp::Min,    BinaryOp::Max, BinaryOp::BitAnd,
                                 BinaryOp::BitOr, BinaryOp::BitXor, BinaryOp::Shl, BinaryOp::Shr};
    switch (random.uniform(0, 9)) {
      case 0: return unary(UnaryOp::Neg, expr(t, depth - 1));
      case 1: return drawloom::select(condition(depth - 1), expr(t, depth - 1), expr(t, depth - 1));
      case 2: return cast(t, expr(type(), depth - 1));
      case 3:
        if (!t.is_float()) return unary(UnaryOp::BitNot, expr(t, depth - 1));
        return call(Intrinsic::Abs, {expr(t, depth - 1)});
      case 4:
        return binary(random.chance(50) ? BinaryOp::Add : BinaryOp::Mul, expr(t, depth - 1),
                      constant_of(t, interesting(random, t)));
      default: return t.is_float() ? two(floats[random.uniform(0, 3)]) : two(ints[random.uniform(0, 11)]);
    }
  }
};

}  // namespace

TEST_CASE("constants fold by the semantics of the operators", "[simplify]") {
  const auto i8 = [](int64_t v) { return int_imm(int_type(8), v); };
  CHECK(is_int(fold_constants(binary(BinaryOp::Div, i8(-128), i8(-1))), -128));
  CHECK(is_int(fold_constants(binary(BinaryOp::Div, i8(-7), i8(2))), -4));
  CHECK(is_int(fold_constants(binary(BinaryOp::Div, i8(-7), i8(-2))), 4));
  CHECK(is_int(fold_constants(binary(BinaryOp::Mod, i8(-7), i8(-2))), 1));
  CHECK(is_int(fold_constants(binary(BinaryOp::Mod, i8(5), i8(0))), 0));
  CHECK(is_int(fold_constants(binary(BinaryOp::Shl, i8(1), i8(-1))), 0));
  CHECK(is_int(fold_constants(binary(BinaryOp::Shr, i8(-3), i8(100))), -1));
  CHECK(is_int(fold_constants(cast(uint_type(8), float_imm(float_type(32), 300))), 255));
  CHECK(is_int(fold_constants(cast(int_type(8), float_imm(float_type(32), -1.9))), -1));
  const Expr overflow = binary(BinaryOp::Add, index_imm(INT64_MAX), index_imm(1));
  CHECK(fold_constants(overflow) == overflow);
}

TEST_CASE("folding agrees with the reference on all operators and types", "[simplify][random]") {
  const std::vector<Type> types = {int_type(8),   int_type(16),   int_type(64),  uint_type(8),
                                   uint_type(64), float_type(32), float_type(64)};
  int folded = 0;
  CounterRandom random(3);
  const DataPoint empty;
  for (const Type t : types) {
    for (int op = 0; op <= static_cast<int>(BinaryOp::GE); ++op) {
      const auto which = static_cast<BinaryOp>(op);
      const bool bits = which >= BinaryOp::BitAnd && which <= BinaryOp::Shr;
      if (t.is_float() && bits) continue;
      for (int k = 0; k < 200; ++k) {
        const Expr e = binary(which, constant_of(t, interesting(random, t)), constant_of(t, interesting(random, t)));
        const Expr value = fold_constants(e);
        DataReference reference{empty};
        const Lanes want = reference.value(e);
        if (reference.open) continue;
        INFO(print(e) << " -> " << print(value));
        REQUIRE(same_bits(e.type(), want, reference.value(value)));
        folded += value != e;
      }
    }
    for (const Type to : types) {
      for (int k = 0; k < 200; ++k) {
        const Expr e = cast(to, constant_of(t, interesting(random, t)));
        DataReference reference{empty};
        const Lanes want = reference.value(e);
        if (reference.open) continue;
        INFO(print(e));
        REQUIRE(same_bits(to, want, reference.value(fold_constants(e))));
      }
    }
  }
  CHECK(folded > 10000);
}

TEST_CASE("random data expressions keep their value", "[simplify][random]") {
  int shorter = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    DataGenerator g(seed, seed % 3 == 0 ? 4 : 1);
    const Expr e = seed % 5 == 0 ? g.condition(3) : g.expr(g.type(), 3);
    const Expr s = simplify(e);
    shorter += node_count(s) < node_count(e);
    REQUIRE(s.type() == e.type());
    REQUIRE(operation_count(s) <= operation_count(e));
    for (int k = 0; k < 6; ++k) {
      g.again();
      DataReference reference{g.at};
      const Lanes want = reference.value(e), got = reference.value(s);
      if (reference.open) continue;
      INFO("seed " << seed << "\n" << print(e) << "\n" << print(s));
      REQUIRE(same_bits(e.type(), want, got));
    }
  }
  CHECK(shorter > 800);
}

TEST_CASE("random ranges hold", "[range][random]") {
  int narrow = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    DataGenerator g(seed + 31, seed % 4 == 0 ? 4 : 1);
    const Expr e = g.expr(g.type(), 3);
    if (e.type().is_float()) continue;
    const Range r = value_range(e);
    narrow += !(r == range_of_type(e.type()));
    for (int k = 0; k < 6; ++k) {
      g.again();
      DataReference reference{g.at};
      for (const Lane& v : reference.value(e)) {
        if (reference.open) break;
        INFO("seed " << seed << " " << print(e) << " " << r.text());
        REQUIRE((!r.lo || v.i >= *r.lo));
        REQUIRE((!r.hi || v.i <= *r.hi));
      }
    }
  }
  CHECK(narrow > 300);
}

TEST_CASE("ranges of data by structure", "[range]") {
  const SymbolRef u = make_symbol(SymbolKind::Param, "u", uint_type(8)),
                  f = make_symbol(SymbolKind::Param, "f", float_type(32));
  const Type i32 = int_type(32);
  const auto c = [&](int v) { return int_imm(i32, v); };
  const Expr wide = cast(i32, var_ref(u));
  CHECK(value_range(wide) == (Range{0, 255}));
  CHECK(value_range(add(wide, c(3))) == (Range{3, 258}));
  CHECK(value_range(add(var_ref(u), int_imm(uint_type(8), 3))) == (Range{0, 255}));  // wraps
  CHECK(value_range(binary(BinaryOp::Div, wide, c(16))) == (Range{0, 15}));
  CHECK(value_range(binary(BinaryOp::Mod, wide, c(10))) == (Range{0, 9}));
  CHECK(value_range(binary(BinaryOp::BitAnd, sub(wide, c(9)), c(7))) == (Range{0, 7}));
  CHECK(value_range(binary(BinaryOp::Shr, wide, c(4))) == (Range{0, 15}));
  CHECK(value_range(least(wide, c(7))) == (Range{0, 7}));
  CHECK(value_range(call(Intrinsic::Absd, {wide, c(100)})) == (Range{0, 155}));
  const auto real = [](double v) { return float_imm(float_type(32), v); };
  const Expr unit = least(binary(BinaryOp::Max, var_ref(f), real(0)), real(1));
  CHECK(value_range(cast(i32, add(mul(unit, real(10)), real(0.5)))) == (Range{0, 10}));
  CHECK(value_range(cast(i32, var_ref(f))) == range_of_type(i32));
  const BufferRef b = make_buffer("b", uint_type(16), 1, MemoryKind::Argument);
  const Expr element = load(b, {index_imm(0)});
  CHECK(value_range(element) == (Range{0, 65535}));
  CHECK(value_range(element, {{}, [](const Expr&) { return std::optional<Range>({2, 5}); }}) == (Range{2, 5}));
  // Data that cannot wrap is looked through.
  const Form index = to_form(cast(kIndex, add(wide, c(3))));
  CHECK(index == to_form(cast(kIndex, var_ref(u))) + 3);
}

TEST_CASE("the ends of a wide integer that becomes a float bound what one rounding gives", "[range]") {
  const Type i64 = int_type(64);
  const SymbolRef k = make_symbol(SymbolKind::Param, "k", i64);
  const auto through = [&](Type t, int64_t end) {
    const BinaryOp op = end > 0 ? BinaryOp::Min : BinaryOp::Max;
    return value_range(cast(i64, cast(t, binary(op, var_ref(k), int_imm(i64, end)))));
  };
  // Floats of 24 bits lie 2^37 apart there. The end is just above the middle of two; over double it would fall on the
  // middle, and from there to the even one below.
  const int64_t one = int64_t{1} << 60, single = one + (int64_t{1} << 36) + 1, brief = one + (int64_t{1} << 52) + 1;
  CHECK(through(float_type(32), single).hi == one + (int64_t{1} << 37));
  CHECK(through(float_type(32), -single).lo == -one - (int64_t{1} << 37));
  CHECK(through(Type{TypeCode::BFloat, 16, 1}, brief).hi == one + (int64_t{1} << 53));
  CHECK(through(float_type(32), 1000).hi == 1000);
  CHECK(through(float_type(64), one).hi == one);
}

TEST_CASE("index arithmetic takes its canonical form where that is shorter", "[simplify]") {
  const SymbolRef x = make_symbol(SymbolKind::Loop, "x"), n = make_symbol(SymbolKind::BufferExtent, "n");
  const Expr ex = var_ref(x), en = var_ref(n);
  CHECK(print(simplify(sub(add(ex, index_imm(3)), ex))) == "3");
  CHECK(print(simplify(add(least(add(ex, index_imm(1)), en), index_imm(-1)))) ==
        print(least(ex, sub(en, index_imm(1)))));
  CHECK(print(simplify(binary(BinaryOp::GE, en, index_imm(0)))) == "true");
  CHECK(print(simplify(binary(BinaryOp::LT, least(ex, sub(en, index_imm(1))), en))) == "true");
  CHECK(print(simplify(sub(binary(BinaryOp::Div, add(mul(ex, index_imm(8)), index_imm(5)), index_imm(8)), ex))) == "0");
}

TEST_CASE("a shared expression costs its size", "[simplify]") {
  const SymbolRef v = make_symbol(SymbolKind::Param, "v", int_type(32));
  Expr e = var_ref(v);
  for (int i = 0; i < 400; ++i)
    e = i % 2 ? binary(BinaryOp::BitXor, e, add(e, int_imm(int_type(32), 1))) : mul(e, add(e, e));
  const Expr s = simplify(e);
  CHECK(operation_count(s) <= 2 * operation_count(e));
  Expr index = var_ref(make_symbol(SymbolKind::Loop, "x"));
  for (int i = 0; i < 400; ++i) index = least(mul(index, index), add(index, index));
  CHECK(operation_count(simplify(index)) <= 2 * operation_count(index));
}

TEST_CASE("statements lose what does nothing", "[simplify]") {
  const BufferRef b = make_buffer("b", int_type(32), 1, MemoryKind::Argument);
  const SymbolRef x = make_symbol(SymbolKind::Loop, "x"), y = make_symbol(SymbolKind::Loop, "y"),
                  t = make_symbol(SymbolKind::Let, "t");
  const Expr ex = var_ref(x), n = var_ref(b->extent[0]);
  const auto put = [&](const Expr& at) { return store(b, {at}, int_imm(int_type(32), 1)); };
  const auto loop = [&](const Expr& extent, const Stmt& body) {
    return make_for(x, index_imm(0), extent, ForKind::Serial, body);
  };

  CHECK(print(simplify(loop(index_imm(0), put(ex)))) == print(make_block({})));
  CHECK(print(simplify(loop(index_imm(1), put(ex)))) == print(put(index_imm(0))));
  CHECK(print(simplify(let_stmt(t, n, put(ex)))) == print(put(ex)));
  CHECK(print(simplify(let_stmt(t, add(n, index_imm(1)), put(ex)))) == print(put(ex)));
  CHECK(print(simplify(make_if(binary(BinaryOp::GE, n, index_imm(0)), put(ex), put(n)))) == print(put(ex)));
  CHECK(print(simplify(store(b, {ex}, int_imm(int_type(32), 1), bool_imm(true)))) == print(put(ex)));
  CHECK(print(simplify(store(b, {ex}, int_imm(int_type(32), 1), bool_imm(false)))) == print(make_block({})));
  CHECK(print(simplify(stage("s", loop(index_imm(0), put(ex))))) == print(make_block({})));

  // The range of the loop decides the test and the clamp.
  const Expr at = binary(BinaryOp::Max, least(ex, sub(n, index_imm(1))), index_imm(0));
  CHECK(print(simplify(loop(n, put(at)))) == print(loop(n, put(ex))));
  CHECK(print(simplify(loop(n, make_if(binary(BinaryOp::LT, ex, n), put(ex))))) == print(loop(n, put(ex))));
  // Outside of it nothing is known.
  const Stmt both = make_block({loop(n, put(at)), put(substitute(at, {{x.get(), var_ref(y)}}))});
  CHECK(print(simplify(both)) != print(make_block({loop(n, put(ex)), put(var_ref(y))})));
  // A tail that cannot be decided stays.
  const Expr tail = least(add(mul(ex, index_imm(8)), index_imm(8)), n);
  const Stmt tiles = loop(binary(BinaryOp::Div, add(n, index_imm(7)), index_imm(8)), put(tail));
  CHECK(print(simplify(tiles)) == print(tiles));
  // A branch knows its condition.
  const Expr small = binary(BinaryOp::LT, var_ref(y), n);
  CHECK(print(simplify(make_if(small, put(least(var_ref(y), n)), put(var_ref(y))))) ==
        print(make_if(small, put(var_ref(y)), put(var_ref(y)))));
}
