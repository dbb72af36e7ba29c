/// The verifier: what it accepts, and each rule broken once.

#include "drawloom/ir/verify.h"

#include <catch2/catch.hpp>

#include "drawloom/ir/build.h"
#include "drawloom/ir/text_form.h"
#include "random_ir.h"

namespace drawloom {
namespace {

auto loop_var(const char* name) -> SymbolRef { return make_symbol(SymbolKind::Loop, name); }

struct Setting {
  BufferRef in = make_buffer("in", kIndex, 2, MemoryKind::Argument);
  BufferRef out = make_buffer("out", kIndex, 2, MemoryKind::Argument);
  SymbolRef x = loop_var("x"), y = loop_var("y");

  auto program(Stmt body) const -> Program {
    return {"f", {BufferArgument{in, ArgumentRole::Input}, BufferArgument{out, ArgumentRole::Output}}, body};
  }
  auto put(Expr value) const -> Stmt { return store(out, {index_imm(0), index_imm(0)}, value); }
  auto loop(const SymbolRef& s, Stmt body, ForKind how = ForKind::Serial, Expr extent = index_imm(4)) const -> Stmt {
    return make_for(s, index_imm(0), extent, how, body);
  }
};

auto messages(const Program& p, InvariantSet claims = 0) -> std::vector<std::string> {
  std::vector<std::string> out;
  for (const auto& d : verify(p, claims)) out.push_back(d.message());
  return out;
}
using Messages = std::vector<std::string>;

TEST_CASE("every random program is well formed", "[ir][verify]") {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    for (const auto& message : messages(random_program(seed))) {
      // The generator knows nothing of roles and of constant extents.
      const bool expected = message.find("a store to an input") != std::string::npos ||
                            message.find("loop is not constant") != std::string::npos;
      if (!expected) FAIL(message);
    }
  }
}

TEST_CASE("names must be in scope", "[ir][verify]") {
  const Setting s;
  CHECK(messages(s.program(s.loop(s.x, s.put(var_ref(s.x))))).empty());
  CHECK(messages(s.program(s.put(var_ref(s.in->extent[1])))).empty());
  CHECK(messages(s.program(s.put(var_ref(s.x)))) == Messages{"`%x`: the variable is not in scope"});
  // In scope in the first statement, not beside it; one node, so one message.
  const auto use = s.put(var_ref(s.x));
  CHECK(messages(s.program(make_block({s.loop(s.x, use), use, s.loop(s.y, use)}))) ==
        Messages{"`%x`: the variable is not in scope"});
  const auto local = make_buffer("b", kIndex, 1, MemoryKind::Heap);
  const auto read = s.put(load(local, {index_imm(0)}));
  CHECK(messages(s.program(allocate(local, {index_imm(1)}, read))).empty());
  CHECK(messages(s.program(read)) == Messages{"`%b[0]`: the buffer is not in scope"});
  const auto t = make_symbol(SymbolKind::Let, "t", kIndex);
  CHECK(messages(s.program(s.put(let(t, index_imm(1), var_ref(t))))).empty());
  CHECK(messages(s.program(s.put(binary(BinaryOp::Add, let(t, index_imm(1), var_ref(t)), var_ref(t))))).size() == 1);
}

TEST_CASE("what never stands in a lowered program", "[ir][verify]") {
  const Setting s;
  CHECK(messages(s.program(store(s.in, {index_imm(0), index_imm(0)}, index_imm(1)))) ==
        Messages{"`store %in[0, 0] = 1`: a store to an input"});
  const auto f = make_ref<const FuncDecl>("f");
  CHECK(messages(s.program(s.put(access(kIndex, f.get(), f, 0, {index_imm(3)})))) ==
        Messages{"`f(3)`: an access to a Func in a lowered program"});
  const auto extent = var_ref(s.out->extent[0]);
  CHECK(messages(s.program(s.loop(s.x, store_fence(), ForKind::Vectorized, extent))) ==
        Messages{"`vectorized for %x = 0 : extent(%out, 0) {`: the extent of a vectorized loop is not constant"});
  CHECK(messages(s.program(s.loop(s.x, store_fence(), ForKind::Unrolled, extent))).size() == 1);
  CHECK(messages(s.program(s.loop(s.x, store_fence(), ForKind::Parallel, extent))).empty());
  CHECK(messages({"g", {}, Stmt()}) == Messages{"`@g`: the function has no body"});
}

TEST_CASE("ill-typed and incomplete nodes made behind the builders' back", "[ir][verify]") {
  const Setting s;
  const Expr bad(
      Ref<const ExprNode>(make_ref<Binary>(kIndex, BinaryOp::Add, index_imm(1), int_imm(int_type(32), 2), Loc())));
  const Expr half(Ref<const ExprNode>(make_ref<Binary>(kIndex, BinaryOp::Add, index_imm(1), Expr(), Loc())));
  CHECK(messages(s.program(make_block({s.put(bad), s.put(half)}))) ==
        Messages{"`1 + 2:i32` has operands of types index and i32", "Binary: `b` is undefined"});
}

TEST_CASE("claims are checked only when claimed", "[ir][verify]") {
  const Setting s;
  const auto only = [&](const Program& p, Invariant claim, const char* message) {
    CHECK(messages(p).empty());
    CHECK(messages(p, static_cast<InvariantSet>(claim)) == Messages{message});
    InvariantSet others = 0;
    for (const auto i : kInvariants) others = i == claim ? others : others | i;
    // The program breaks nothing else, but for storage that is not flat.
    others &= ~static_cast<InvariantSet>(Invariant::FlatStorage);
    CHECK(messages(p, others).empty());
  };
  only(s.program(s.put(index_imm(1))), Invariant::FlatStorage, "`@f`: storage is not flat");
  only(s.program(make_block({s.loop(s.x, store_fence()), s.loop(s.x, store_fence())})), Invariant::UniqueNames,
       "`for %x = 0 : 4 {`: another binder binds the same name");
  only(s.program(s.loop(s.x, store_fence(), ForKind::Vectorized)), Invariant::NoVectorLoops,
       "`vectorized for %x = 0 : 4 {`: a vectorized loop is left");
  only(s.program(s.loop(s.x, store_fence(), ForKind::Unrolled)), Invariant::NoUnrolledLoops,
       "`unrolled for %x = 0 : 4 {`: an unrolled loop is left");
  const auto r = make_buffer("r", kIndex, 1, MemoryKind::Register);
  const auto put = [&](Expr at) { return store(r, {at}, index_imm(1)); };
  only(s.program(allocate(r, {index_imm(4)}, s.loop(s.x, make_block({put(var_ref(s.x)), put(index_imm(0))})))),
       Invariant::RegistersConstant, "`store %r[%x] = 1`: subscript `%x` of a register is not constant");
}

TEST_CASE("subscripts count elements where storage is flat, else dimensions", "[ir][verify]") {
  const Setting s;
  auto flat = s.program(s.put(index_imm(1)));
  flat.flat_storage = true;
  CHECK(messages(flat) == Messages{"`store %out[0, 0] = 1`: 2 subscripts, not 1, as the program says flat_storage"});
  const auto text = [](std::string_view facts, std::string_view index) {
    const auto programs = parse_programs(
        str("drawloom-ir 1\n\nfunc @p(out %out: buffer<index, 2>){} {{\nstore %out[{}] = 1\n}}\n", facts, index),
        "p.ir");
    return messages(programs.value().at(0));
  };
  CHECK(text(" flat_storage", "3").empty());
  CHECK(text("", "3, 0").empty());
  CHECK(text("", "3") ==
        Messages{"`store %out[3] = 1`: 1 subscripts, not 2, as the program does not say flat_storage"});
}

TEST_CASE("verifying costs the size of the DAG", "[ir][verify]") {
  const Setting s;
  auto e = var_ref(s.x);
  for (int i = 0; i < 60; ++i) e = binary(BinaryOp::Add, e, e);
  auto body = s.put(e);
  for (int i = 0; i < 60; ++i) body = s.loop(loop_var("i"), make_block({body, body}));
  CHECK(messages(s.program(s.loop(s.x, body))).empty());
}

/// What is said of three roles of one warpgroup each, whose threads start with 168 registers.
auto role_messages(const std::string& a, const std::string& b, const std::string& c) -> Messages {
  std::string text =
      "drawloom-ir 1\n\nfunc @k(out %out: buffer<f32, 1>) {\nlaunch \"k\" {\nblock for %b = 0 : 1 {\n"
      "thread for %t = 0 : 384 {\nroles {\n";
  for (const auto& body : {a, b, c}) text += "role \"r\" warps 4 as %r {\n" + body + "}\n";
  return messages(parse_programs(text + "}\n}\n}\n}\n}\n", "k.ir").or_throw()[0]);
}

TEST_CASE("roles may hold the most they ever ask for, all at one time", "[ir][verify]") {
  const std::string keep = "set_registers 168\n", down = "set_registers 24\n", up = "set_registers 240\n";
  const auto too_many = [](int registers) {
    return Messages{str("the roles of kernel k need {}: {} > 65536, the register file of a multiprocessor",
                        str("{} registers", registers), registers)};
  };
  CHECK(role_messages(down, up, up).empty());  // (24 + 240 + 240) * 128 = 64512
  CHECK(role_messages(down, up + down + up, up).empty());
  CHECK(role_messages(down, down + up, down + up).empty());  // two raise at the same time
  CHECK(role_messages(down + up, down + up, down + up) == too_many(3 * 240 * 128));
  // The first may hold its 240 while the others wait for theirs, and wait for them in turn.
  CHECK(role_messages(up + down, up, up) == too_many(3 * 240 * 128));
  // What is set is held, also where it is what a thread has at entry.
  CHECK(role_messages(keep + down, up, up) == too_many((168 + 240 + 240) * 128));
  CHECK(role_messages(down + keep, up, up) == too_many((168 + 240 + 240) * 128));
  CHECK(role_messages("", up, up) == too_many((168 + 240 + 240) * 128));
}

TEST_CASE("a set_registers in a loop is refused: it may raise in one turn and lower in the next", "[ir][verify]") {
  CHECK(role_messages("for %i = 0 : 3 {\nset_registers 24\n}\n", "", "") ==
        Messages{"`set_registers 24`: it stands in a loop, where whether it raises or lowers may change"});
}

}  // namespace
}  // namespace drawloom
