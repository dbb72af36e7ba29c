/// Builders, typing, equality, hashing, dropping.

#include <catch2/catch.hpp>

#include "drawloom/ir/build.h"
#include "drawloom/ir/node_ops.h"
#include "drawloom/ir/rewrite.h"
#include "drawloom/support/check.h"

namespace drawloom {
namespace {

const Type kI32 = int_type(32), kU8 = uint_type(8), kF32 = float_type(32);

auto loop_var(const char* name) -> SymbolRef { return make_symbol(SymbolKind::Loop, name); }

TEST_CASE("a type's text reads back", "[ir][type]") {
  const std::pair<const char*, Type> rows[] = {{"i8", int_type(8)},
                                               {"u16", uint_type(16)},
                                               {"f64", float_type(64)},
                                               {"bool", kBool},
                                               {"index", kIndex},
                                               {"bf16", {TypeCode::BFloat, 16, 1}},
                                               {"f32x8", kF32.with_lanes(8)},
                                               {"boolx16", kBool.with_lanes(16)},
                                               {"indexx4", kIndex.with_lanes(4)}};
  for (const auto& [text, type] : rows) {
    Type read;
    CHECK(type.text() == text);
    REQUIRE(parse_type(text, read));
    CHECK(read == type);
  }
  for (const char* bad : {"", "i7", "f32x", "f32x1", "f32x0", "f32x08", "f32x99999", "i32 ", "indexx", "float"}) {
    Type read;
    INFO(bad);
    CHECK_FALSE(parse_type(bad, read));
  }
}

TEST_CASE("integer constants wrap to their width", "[ir][build]") {
  const auto value = [](const Expr& e) { return e.to<IntImm>().value; };
  CHECK(value(int_imm(kU8, 257)) == 1);
  CHECK(value(int_imm(kU8, -1)) == 255);
  CHECK(value(int_imm(int_type(8), 128)) == -128);
  CHECK(value(int_imm(int_type(64), INT64_MIN)) == INT64_MIN);
  CHECK(value(bool_imm(true)) == 1);
  CHECK(value(index_imm(-5)) == -5);
}

TEST_CASE("floating constants round to their type", "[ir][build]") {
  const auto value = [](const Expr& e) { return e.to<FloatImm>().value; };
  CHECK(value(float_imm(kF32, 0.1)) == static_cast<double>(0.1f));
  CHECK(value(float_imm(float_type(64), 0.1)) == 0.1);
  // binary16 has 11 significant bits: 2049 lies between 2048 and 2050 and goes to the even one; 65520 is past the last.
  CHECK(value(float_imm(float_type(16), 2049)) == 2048);
  CHECK(value(float_imm(float_type(16), 2051)) == 2052);
  CHECK(value(float_imm(float_type(16), 65519)) == 65504);
  CHECK(std::isinf(value(float_imm(float_type(16), 65520))));
  CHECK(value(float_imm(float_type(16), 0x1p-24)) == 0x1p-24);
  CHECK(value(float_imm(float_type(16), 0x1p-26)) == 0);
  // bfloat16 has 8.
  const Type bf16{TypeCode::BFloat, 16, 1};
  CHECK(value(float_imm(bf16, 257)) == 256);
  CHECK(value(float_imm(bf16, 259)) == 260);
  CHECK(value(float_imm(bf16, 0x1p-133)) == 0x1p-133);
}

TEST_CASE("operators type their results", "[ir][build]") {
  const auto x = var_ref(loop_var("x"));
  const auto a = int_imm(kI32, 1), b = int_imm(kI32, 2);
  CHECK(binary(BinaryOp::Add, a, b).type() == kI32);
  CHECK(binary(BinaryOp::LT, x, index_imm(2)).type() == kBool);
  CHECK(binary(BinaryOp::EQ, broadcast(a, 4), broadcast(b, 4)).type() == kBool.with_lanes(4));
  CHECK(call(Intrinsic::Abs, {a}).type() == uint_type(32));
  CHECK(call(Intrinsic::Absd, {int_imm(kU8, 1), int_imm(kU8, 2)}).type() == kU8);
  CHECK(call(Intrinsic::IsNan, {float_imm(kF32, 1)}).type() == kBool);
  CHECK(ramp(x, index_imm(1), 8).type() == kIndex.with_lanes(8));
  CHECK(broadcast(a, 1) == a);
  CHECK(cast(kI32, a) == a);
  const auto buffer = make_buffer("b", kU8, 2, MemoryKind::Argument);
  CHECK(load(buffer, {x, x}).type() == kU8);
  CHECK(load(buffer, {ramp(x, index_imm(1), 4)}).type() == kU8.with_lanes(4));
}

TEST_CASE("builders refuse operands that do not fit", "[ir][build]") {
  const auto x = var_ref(loop_var("x"));
  const auto i = int_imm(kI32, 1);
  const auto f = float_imm(kF32, 1);
  const auto yes = bool_imm(true);
  const auto buffer = make_buffer("b", kU8, 2, MemoryKind::Heap);
  CHECK_THROWS_AS(binary(BinaryOp::Add, i, f), InternalError);
  CHECK_THROWS_AS(binary(BinaryOp::Add, yes, yes), InternalError);
  CHECK_THROWS_AS(binary(BinaryOp::BitAnd, f, f), InternalError);
  CHECK_THROWS_AS(binary(BinaryOp::And, i, i), InternalError);
  CHECK_THROWS_AS(unary(UnaryOp::Not, i), InternalError);
  CHECK_THROWS_AS(unary(UnaryOp::BitNot, f), InternalError);
  CHECK_THROWS_AS(unary(UnaryOp::Neg, yes), InternalError);
  CHECK_THROWS_AS(select(i, i, i), InternalError);
  CHECK_THROWS_AS(select(yes, broadcast(i, 2), broadcast(i, 2)), InternalError);
  CHECK_THROWS_AS(call(Intrinsic::Sqrt, {i}), InternalError);
  CHECK_THROWS_AS(call(Intrinsic::Fma, {f, f}), InternalError);
  CHECK_THROWS_AS(load(buffer, {x, x, x}), InternalError);
  CHECK_THROWS_AS(load(buffer, {i, i}), InternalError);
  CHECK_THROWS_AS(load(buffer, {x, x}, i), InternalError);
  CHECK_THROWS_AS(load(buffer, {ramp(x, x, 4), x}), InternalError);
  CHECK_THROWS_AS(store(buffer, {x, x}, i), InternalError);
  CHECK_THROWS_AS(ramp(broadcast(x, 2), x, 2), InternalError);
  CHECK_THROWS_AS(broadcast(broadcast(x, 2), 2), InternalError);
  CHECK_THROWS_AS(let_stmt(loop_var("t"), i, make_block({})), InternalError);
  CHECK_THROWS_AS(make_if(i, make_block({})), InternalError);
  CHECK_THROWS_AS(allocate(make_buffer("s", kU8, 1, MemoryKind::Stack), {x}, make_block({})), InternalError);
  CHECK_THROWS_AS(allocate(make_buffer("a", kU8, 1, MemoryKind::Argument), {x}, make_block({})), InternalError);
  CHECK_THROWS_AS(check(yes, "code", "{} and {}", {i}), InternalError);
}

TEST_CASE("blocks are flat", "[ir][build]") {
  const auto a = store_fence(), b = store_fence(), c = store_fence();
  CHECK(make_block({a}) == a);
  const auto flat = make_block({make_block({a, b}), Stmt(), c});
  REQUIRE(flat.as<Block>());
  CHECK(flat.as<Block>()->stmts == StmtList{a, b, c});
  CHECK(make_block({}).as<Block>()->stmts.empty());
}

TEST_CASE("equality corresponds bound names and no others", "[ir][equal]") {
  const auto x = loop_var("x"), y = loop_var("y"), free = loop_var("z");
  const auto buffer = make_buffer("b", kU8, 1, MemoryKind::Heap);
  const auto loop = [&](const SymbolRef& s, const SymbolRef& used) {
    return make_for(s, index_imm(0), index_imm(4), ForKind::Serial, store(buffer, {var_ref(used)}, int_imm(kU8, 1)));
  };
  CHECK(equal(loop(x, x), loop(y, y)));
  CHECK_FALSE(equal(loop(x, free), loop(y, y)));
  CHECK_FALSE(equal(loop(x, x), loop(y, x)));
  CHECK(equal(loop(x, free), loop(y, free)));
  // The same node below two binders: what it names in one is free in the other.
  const auto shared = store(buffer, {var_ref(x)}, int_imm(kU8, 1));
  const auto under = [&](const SymbolRef& s) {
    return make_for(s, index_imm(0), index_imm(4), ForKind::Serial, shared);
  };
  CHECK_FALSE(equal(under(x), under(y)));
}

TEST_CASE("equality by name", "[ir][equal]") {
  const auto plus_one = [](const SymbolRef& s) { return binary(BinaryOp::Add, var_ref(s), index_imm(1)); };
  const auto x = loop_var("x"), other_x = loop_var("x"), y = loop_var("y");
  CHECK_FALSE(equal(plus_one(x), plus_one(other_x)));
  CHECK(equal_by_name(plus_one(x), plus_one(other_x)));
  CHECK_FALSE(equal_by_name(plus_one(x), plus_one(y)));
  CHECK_FALSE(equal_by_name(var_ref(x), var_ref(make_symbol(SymbolKind::Loop, "x", kI32))));
  // Two symbols of one name are not one symbol.
  const auto sum = [](const SymbolRef& a, const SymbolRef& b) { return binary(BinaryOp::Add, var_ref(a), var_ref(b)); };
  CHECK_FALSE(equal_by_name(sum(x, other_x), sum(x, x)));
}

TEST_CASE("equality of constants is by bits, but for NaN", "[ir][equal]") {
  const auto f = [](double v) { return float_imm(kF32, v); };
  CHECK(equal(f(NAN), f(-NAN)));
  CHECK_FALSE(equal(f(0.0), f(-0.0)));
  CHECK_FALSE(equal(f(1), float_imm(float_type(64), 1)));
  CHECK_FALSE(equal(int_imm(kU8, 1), int_imm(kI32, 1)));
  CHECK(hash(f(NAN)) == hash(f(-NAN)));
  CHECK(hash(f(0.0)) != hash(f(-0.0)));
}

TEST_CASE("hash agrees with equality", "[ir][hash]") {
  const auto x = var_ref(loop_var("x"));
  const auto term = [&](int c) { return binary(BinaryOp::Mul, x, index_imm(c)); };
  CHECK(hash(term(2)) == hash(term(2)));
  CHECK(hash(term(2)) != hash(term(3)));
  const auto twice = [](const char* name) {
    const auto t = make_symbol(SymbolKind::Let, name, kI32);
    return let(t, int_imm(kI32, 3), binary(BinaryOp::Add, var_ref(t), var_ref(t)));
  };
  CHECK(equal(twice("t"), twice("u")));
  CHECK(hash(twice("t")) == hash(twice("u")));
}

/// A DAG of `depth` sums whose both operands are one node: 2^depth paths.
auto doubling(int depth) -> Expr {
  auto e = var_ref(loop_var("x"));
  for (int i = 0; i < depth; ++i) e = binary(BinaryOp::Add, e, e);
  return e;
}

TEST_CASE("a DAG costs its size, not its paths", "[ir][sharing]") {
  const auto a = doubling(60), b = doubling(60);
  CHECK(node_count(a) == 61);
  CHECK(equal_by_name(a, b));
  CHECK(hash(a) == hash(b));
  const auto symbol = make_symbol(SymbolKind::Loop, "y");
  CHECK_FALSE(uses_symbol(a, symbol.get()));
}

TEST_CASE("a deep chain is dropped without deep recursion", "[ir][drop]") {
  auto e = var_ref(loop_var("x"));
  for (int i = 0; i < 1'000'000; ++i) e = unary(UnaryOp::Neg, e);
  const Ref<const Symbol> kept = make_symbol(SymbolKind::Loop, "kept");
  e = binary(BinaryOp::Add, e, var_ref(kept));
  CHECK(kept->ref_count() == 2);
  e = Expr();
  CHECK(kept->ref_count() == 1);
}

}  // namespace
}  // namespace drawloom
