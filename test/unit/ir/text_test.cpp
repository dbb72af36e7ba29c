/// The text form: exact spellings, round trips, errors with their places.

#include <catch2/catch.hpp>

#include "drawloom/ir/build.h"
#include "drawloom/ir/node_ops.h"
#include "drawloom/ir/text_form.h"
#include "random_ir.h"

namespace drawloom {
namespace {

auto loop_var(const char* name) -> SymbolRef { return make_symbol(SymbolKind::Loop, name); }

/// Parses one expression over %x, %y (index), %c (bool), %v (i32), %w (f32x4) and the buffer %b of u8 and rank 2.
struct Words {
  SymbolRef x = loop_var("x"), y = loop_var("y");
  SymbolRef c = make_symbol(SymbolKind::Param, "c", kBool), v = make_symbol(SymbolKind::Param, "v", int_type(32));
  SymbolRef w = make_symbol(SymbolKind::Let, "w", float_type(32).with_lanes(4));
  BufferRef b = make_buffer("b", uint_type(8), 2, MemoryKind::Argument);
  std::vector<Argument> all = {ScalarArgument{x}, ScalarArgument{y}, ScalarArgument{c},
                               ScalarArgument{v}, ScalarArgument{w}, BufferArgument{b}};
  auto parse(std::string_view text) const -> Result<Expr> { return parse_expr(text, "t", all); }
};

TEST_CASE("canonical expressions print as they were written", "[ir][text]") {
  const Words words;
  for (const char* text : {
           "3",
           "-3",
           "3:u16",
           "-128:i8",
           "18446744073709551615:u64",
           "true",
           "false:boolx4",
           "3:indexx8",
           "0.1:f32",
           "0.1:f64",
           "1e+30:f32",
           "-0.0:f32",
           "inf:f64",
           "-inf:f32",
           "nan:f32",
           "2.0:f32x4",
           "%x",
           "%x + %y * 2",
           "(%x + %y) * 2",
           "%x - (%y - 1)",
           "%x - %y - 1",
           "%x - -1",
           "-%x",
           "-(3)",
           "-(-3)",
           "--%x",
           "!(%c && %c)",
           "!%c && %c",
           "~(%v | 1:i32)",
           "%v & 1:i32 | %v ^ 2:i32",
           "%v << 1:i32 >> %v",
           "%x < %y && %y <= 3 || %c",
           "(%x < %y) == %c",
           "min(%x, 3) % max(%y, 2)",
           "select(%c, %x, %y / 2)",
           "cast<u8>(%v)",
           "cast<i32x4>(%w)",
           "abs(%v)",
           "fma(%w, %w, 2.0:f32x4)",
           "ramp(%x, 1, 8)",
           "broadcast(%x * 2, 4)",
           "%b[%x, %y]",
           "%b[ramp(%x, 1, 4), broadcast(%y, 4)]",
           "%b[%x]",
           "%b[%x, %y; mask %c]",
           "%b[%x, %y; origin %y, %x]",
           "%b[%x, %y; mask %c; origin %x]",
           "min(%b, 0) + extent(%b, 1) * stride(%b, 1)",
           "let(%t = %x + 1, %t * %t)",
           "#1 = %x * 2; #1 + #1",
           "#1 = %x * 2; #2 = #1 + #1; #2 * #2",
           "let(%t = %x, #1 = %t + 1, #1 * #1)",
           "#1 = %x + 1; let(%t = #1, #2 = %t + #1, #2 * #2)",
       }) {
    INFO(text);
    const auto parsed = words.parse(text);
    if (!parsed.ok()) FAIL(parsed.diag().text());
    CHECK(print(*parsed) == text);
  }
}

TEST_CASE("operators group as their strengths say", "[ir][text]") {
  const Words words;
  const auto x = var_ref(words.x), y = var_ref(words.y), one = index_imm(1);
  const auto add = [](Expr a, Expr b) { return binary(BinaryOp::Add, a, b); };
  const auto sub = [](Expr a, Expr b) { return binary(BinaryOp::Sub, a, b); };
  CHECK(equal(words.parse("%x - %y - 1").value(), sub(sub(x, y), one)));
  CHECK(equal(words.parse("%x - (%y - 1)").value(), sub(x, sub(y, one))));
  CHECK(equal(words.parse("%x + %y * 1").value(), add(x, binary(BinaryOp::Mul, y, one))));
  CHECK(equal(words.parse("%x<<1+%y").value(), binary(BinaryOp::Shl, x, add(one, y))));
  CHECK(equal(words.parse("-%x % 1").value(), binary(BinaryOp::Mod, unary(UnaryOp::Neg, x), one)));
  const Expr less = binary(BinaryOp::LT, x, y), chain = binary(BinaryOp::EQ, less, var_ref(words.c));
  CHECK(equal(words.parse("%x < %y == %c").value(), chain));
  CHECK(print(chain) == "(%x < %y) == %c");
  CHECK(equal(words.parse("%x -1").value(), sub(x, one)));
  CHECK(equal(words.parse("- 3").value(), unary(UnaryOp::Neg, index_imm(3))));
  CHECK(equal(words.parse("-3").value(), index_imm(-3)));
  CHECK(equal(words.parse("0xff:u8").value(), int_imm(uint_type(8), 255)));
}

TEST_CASE("a shared node prints once and parses to one node", "[ir][text][sharing]") {
  const Words words;
  auto e = var_ref(words.x);
  for (int i = 0; i < 50; ++i) e = binary(BinaryOp::Add, e, e);
  const auto text = print(e);
  CHECK(text.size() < 50 * 20);
  const auto parsed = words.parse(text);
  REQUIRE(parsed.ok());
  // Constants and variables are written out: the innermost sum has two nodes for %x.
  CHECK(node_count(*parsed) == node_count(e) + 1);
  CHECK(equal(*parsed, e));
}

TEST_CASE("a chain too deep for brackets is cut into lines", "[ir][text][depth]") {
  const Words words;
  auto e = var_ref(words.x);
  for (int i = 0; i < 3000; ++i) e = binary(BinaryOp::Sub, index_imm(1), e);
  const auto parsed = words.parse(print(e));
  REQUIRE(parsed.ok());
  CHECK(equal(*parsed, e));
  CHECK(print(*parsed) == print(e));
}

TEST_CASE("text nested too deep is an error, not a crash", "[ir][text][depth]") {
  const Words words;
  const auto nested = [](std::string_view open, std::string_view close) {
    std::string text;
    for (int i = 0; i < 200000; ++i) text += open;
    text += "%x";
    for (int i = 0; i < 200000; ++i) text += close;
    return text;
  };
  for (const auto& text : {nested("(", ")"), nested("-", ""), nested("1 - (", ")"), nested("min(1, ", ")")}) {
    const auto parsed = words.parse(text);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.diag().kind() == DiagKind::parse_too_deep);
  }
  std::string blocks = "drawloom-ir 1\nfunc @f() {";
  for (int i = 0; i < 200000; ++i) blocks += "stage \"s\" {";
  const auto parsed = parse_programs(blocks, "t");
  REQUIRE_FALSE(parsed.ok());
  CHECK(parsed.diag().kind() == DiagKind::parse_too_deep);
}

TEST_CASE("many lets and allocations in one block need no nesting", "[ir][text][depth]") {
  Stmt body = store_fence();
  for (int i = 0; i < 600; ++i) {
    const auto b = make_buffer("b", kIndex, 1, MemoryKind::Heap);
    const auto t = make_symbol(SymbolKind::Let, "t", kIndex);
    body = allocate(b, {index_imm(i)}, let_stmt(t, index_imm(i), make_block({store_fence(), body})));
  }
  const std::vector<Program> program = {{"f", {}, body}};
  const auto parsed = parse_programs(print(program), "t.ir");
  REQUIRE(parsed.ok());
  CHECK(equal(parsed->front(), program.front()));
  CHECK(print(*parsed) == print(program));
}

TEST_CASE("symbols of one hint get names of their own", "[ir][text]") {
  const auto a = loop_var("x"), b = loop_var("x"), c = loop_var("x_1");
  const auto sum = binary(BinaryOp::Add, binary(BinaryOp::Add, var_ref(a), var_ref(b)), var_ref(c));
  CHECK(print(sum) == "%x + %x_1 + %x_1_1");
}

TEST_CASE("statements print as designed", "[ir][text]") {
  const auto in = make_buffer("in", uint_type(16), 2, MemoryKind::Argument);
  const auto out = make_buffer("out", uint_type(16), 2, MemoryKind::Argument);
  auto k = make_ref<Symbol>(SymbolKind::Param, "k", int_type(32));
  k->min = 0, k->max = 7;
  const auto y = loop_var("y"), x = loop_var("x");
  const auto t = make_symbol(SymbolKind::Let, "t", uint_type(16));
  const auto row = make_buffer("row", uint_type(16), 1, MemoryKind::Heap);
  const auto at = [&](const SymbolRef& s) { return var_ref(s); };
  const auto body = let_stmt(t, load(in, {at(x), at(y)}),
                             make_block({store(row, {at(x)}, binary(BinaryOp::Mul, at(t), int_imm(uint_type(16), 3))),
                                         store(out, {at(x), at(y)}, load(row, {at(x)}), {}, {at(x), at(y)}, true)}));
  const auto inner = make_for(x, var_ref(out->min[0]), var_ref(out->extent[0]), ForKind::Serial, body);
  const auto loops =
      make_for(y, index_imm(0), var_ref(out->extent[1]), ForKind::Parallel,
               make_block({allocate(row, {var_ref(out->extent[0])}, stage("blur.update(0)", inner)), store_fence()}));
  const auto small = binary(BinaryOp::LE, var_ref(out->extent[0]), index_imm(9));
  const Program p{
      "blur",
      {BufferArgument{in, ArgumentRole::Input}, BufferArgument{out, ArgumentRole::Output}, ScalarArgument{k}},
      make_block({check(small, "too_big", "has {}", {var_ref(out->extent[0])}), loops})};
  const char* text = R"ir(drawloom-ir 1

func @blur(%in: buffer<u16, 2>, out %out: buffer<u16, 2>, %k: i32 in [0, 7]) {
  check extent(%out, 0) <= 9 "too_big" "has {}"(extent(%out, 0))
  parallel for %y = 0 : extent(%out, 1) {
    allocate %row: u16[extent(%out, 0)] heap {
      stage "blur.update(0)" {
        for %x = min(%out, 0) : extent(%out, 0) {
          let %t = %in[%x, %y]
          store %row[%x] = %t * 3:u16
          store nontemporal %out[%x, %y; origin %x, %y] = %row[%x]
        }
      }
    }
    store_fence
  }
}
)ir";
  CHECK(print(std::vector<Program>{p}) == text);
  const auto parsed = parse_programs(text, "t.ir");
  REQUIRE(parsed.ok());
  REQUIRE(parsed->size() == 1);
  CHECK(equal(parsed->front(), p));
  CHECK(print(*parsed) == text);
}

TEST_CASE("random programs survive printing and parsing", "[ir][text][fuzz]") {
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    const std::vector<Program> original = {random_program(seed)};
    const auto text = print(original);
    const auto parsed = parse_programs(text, "random.ir");
    INFO("seed " << seed << "\n" << text);
    if (!parsed.ok()) FAIL(parsed.diag().text());
    REQUIRE(print(*parsed) == text);
    REQUIRE(equal(parsed->front(), original.front()));
  }
}

TEST_CASE("damaged text is refused or read, never more", "[ir][text][fuzz]") {
  int refused = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    auto text = print(std::vector<Program>{random_program(seed, {2, 2})});
    CounterRandom random(seed);
    for (int64_t edits = random.uniform(1, 3); edits > 0; --edits) {
      const auto at = static_cast<size_t>(random.uniform(0, static_cast<int64_t>(text.size()) - 1));
      const auto from = static_cast<size_t>(random.uniform(0, static_cast<int64_t>(text.size()) - 1));
      random.chance(50) ? text.erase(at, static_cast<size_t>(random.uniform(1, 8)))
                        : text.insert(at, text.substr(from, static_cast<size_t>(random.uniform(1, 8))));
      if (text.empty()) text = " ";
    }
    const auto parsed = parse_programs(text, "damaged.ir");
    if (parsed.ok()) {
      INFO(text);
      const auto again = parse_programs(print(*parsed), "again.ir");
      REQUIRE(again.ok());
      REQUIRE(print(*again) == print(*parsed));
    } else {
      ++refused;
      CHECK(parsed.diag().loc().known());
    }
  }
  CHECK(refused > 100);
}

TEST_CASE("parse errors say where and what was expected", "[ir][text][diag]") {
  struct Row {
    const char* body;
    const char* text;
  };
  const std::string head = "drawloom-ir 1\nfunc @f(%in: buffer<u8, 2>, %k: i32) {\n";
  for (const auto& [body, text] : std::initializer_list<Row>{
           {"store %in[0, 0] = %q\n}", "t.ir:3:19: error: unknown variable `%q` [parse_unknown_name]"},
           {"store %im[0, 0] = 1:u8\n}",
            "t.ir:3:7: error: unknown buffer `%im` [parse_unknown_name]\nhelp: did you mean `%in`?"},
           {"let %k = 1\n}", "t.ir:3:5: error: variable `%k` is defined twice [parse_redefined]"},
           {"store %in[0, 0] = 256:u8\n}", "t.ir:3:19: error: `256` is not a u8 [parse_number]"},
           {"store %in[0, 0] = 1\n}",
            "t.ir:3:1: error: `store %in[0, 0] = 1` has operands of types u8 and index [ir_type_mismatch]"},
           {"let %t = %k + 1\n}", "t.ir:3:13: error: `%k + 1` has operands of types i32 and index [ir_type_mismatch]"},
           {"let %t = 1.5\n}", "t.ir:4:1: error: expected `:` and a type after `1.5`, found `}` [parse_unexpected]"},
           {"let %t = extent(%in, 2)\n}", "t.ir:3:10: error: `extent(%in, 2)`: the buffer has rank 2 [ir_malformed]"},
           {"for %x = 0, 3 {}\n}", "t.ir:3:11: error: expected `:`, found `,` [parse_unexpected]"},
           {"for %x = 0 : 3 {}\n",
            "t.ir:4:1: error: expected a statement or `}`, found the end of the text [parse_unexpected]"},
           {"let %t = f(3)\n}", "t.ir:3:10: error: unknown function `f` [parse_unknown_name]"},
           {"let %t = sqrt(3.0:f32, 1)\n}",
            "t.ir:3:10: error: expected 1 arguments of `sqrt`, found 2 [parse_unexpected]"},
           {"let %t = #1\n}", "t.ir:3:10: error: unknown shared expression `#1` [parse_unknown_name]"},
           {"#1 = %k\n#1 = %k\n}", "t.ir:4:1: error: shared expression `#1` is defined twice [parse_redefined]"},
           {"stage \"f {\n}",
            "t.ir:3:7: error: expected `\"` at the end of the string, found the end of the line "
            "[parse_unexpected]"},
           {"let %t = $\n}", "t.ir:3:10: error: expected a token, found `$` [parse_unexpected]"},
       }) {
    const auto parsed = parse_programs(head + body, "t.ir");
    INFO(body);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.diag().text() == text);
  }
  const auto version = parse_programs("drawloom-ir 2\n", "t.ir");
  REQUIRE_FALSE(version.ok());
  CHECK(version.diag().text() ==
        "t.ir:1:1: error: unknown version `drawloom-ir 2`; this build reads `drawloom-ir 1` [parse_version]");
}

}  // namespace
}  // namespace drawloom
