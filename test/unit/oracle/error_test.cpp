/// Each error of the oracle, and what it says of inputs.

#include "drawloom/ir/build.h"
#include "evaluated.h"

using namespace drawloom;

namespace {

void check_error(const Result<OracleOutputs>& r, DiagKind kind, const std::string& message) {
  REQUIRE_FALSE(r.ok());
  CHECK(r.diag().kind() == kind);
  CHECK(r.diag().message() == message);
}

}  // namespace

TEST_CASE("a read outside of an input names access and line", "[oracle]") {
  Var x("x"), y("y");
  ImageParam in(Int(32), 2, "in");
  const auto image = hashed(int_type(32), box_of({{0, 4}, {1, 3}}));
  Func f("f");
  const auto line = __LINE__ + 1;
  f(x, y) = in(x, y) + in(x + 1, y);
  const auto r = oracle_result({f}, {box_of({{0, 4}, {1, 3}})}, {{in, &image}});
  check_error(r, DiagKind::oracle_out_of_input, "f(3, 1) reads `in`(4, 1), outside [0, 3] x [1, 3]");
  CHECK(static_cast<int>(r.diag().loc().line()) == line);

  RDom k(0, 5);
  Func g("g");
  g(x) = 0;
  g(x) += in(x, k);
  check_error(oracle_result({g}, {box_of({{2, 1}})}, {{in, &image}}), DiagKind::oracle_out_of_input,
              str("g.update(0) (x = 2, {} = 0) reads `in`(2, 0), outside [0, 3] x [1, 3]", k[0].name()));
}

TEST_CASE("the elements read are told exactly", "[oracle]") {
  Var x("x");
  ImageParam in(Int(32), 1, "in"), unused(Int(32), 1, "unused");
  const auto image = hashed(int_type(32), box_of({{-100, 300}}));
  Func f("f");
  f(x) = select(x < 5, in(3 * x - 1), unused(x));
  const auto out = outcome({f}, {box_of({{0, 5}})}, {{in, &image}, {unused, &image}});
  REQUIRE(out.reads.size() == 2);
  CHECK(out.reads[0].buffer == in.buffer().get());
  CHECK(out.reads[0].box == box_of({{-1, 13}}));
  CHECK(out.reads[1].box[0].extent == 0);
}

TEST_CASE("a chain longer than the stack is an error, not a crash", "[oracle]") {
  Var t("t");
  Func f(Int(32), 1, "f");
  f(t) = select(t == 0, 1, f(t - 1) + 1);
  const Pipeline p(f);
  OracleInputs in;
  in.output_boxes = {box_of({{100'000, 1}})};
  in.stack_bytes = size_t{1} << 22;
  const auto r = evaluate(*p.definition(), in, false);
  REQUIRE_FALSE(r.ok());
  CHECK(r.diag().kind() == DiagKind::oracle_too_deep);
  in.output_boxes = {box_of({{500, 1}})};
  CHECK(evaluate(*p.definition(), in, false).or_throw().arrays[0].at({500}).i == 501);
}

TEST_CASE("a point that depends on itself is an error", "[oracle]") {
  auto f = make_ref<FunctionDef>("f");
  const auto x = make_symbol(SymbolKind::Var, "x");
  const Expr flip = binary(BinaryOp::Sub, index_imm(1), var_ref(x));
  const ExprList values = {access(int_type(32), f.get(), {}, 0, {flip})};
  f->args = {x};
  f->types = {int_type(32)};
  f->pure = {.lhs = {var_ref(x)}, .values = values, .contracted = values, .rdom = {}, .loc = {}};
  PipelineDef pipeline;
  pipeline.funcs = pipeline.outputs = {f};
  OracleInputs in;
  in.output_boxes = {box_of({{0, 1}})};
  check_error(evaluate(pipeline, in, false), DiagKind::oracle_cycle, "f(0) depends on itself");
}

TEST_CASE("a budget ends an evaluation", "[oracle]") {
  Var x("x");
  RDom r(0, 1'000'000);
  Func f("f"), g("g");
  f(x) = 0;
  f(x) += cast<int32_t>(r);
  g(x) = f(x);
  const Pipeline p(g);
  OracleInputs in;
  in.output_boxes = {box_of({{0, 1}})};
  in.max_steps = 1000;
  const auto result = evaluate(*p.definition(), in, false);
  REQUIRE_FALSE(result.ok());
  CHECK(result.diag().kind() == DiagKind::oracle_budget);
}

TEST_CASE("inputs that do not fit are refused", "[oracle]") {
  Var x("x");
  Param<int32_t> k("k");
  ImageParam in(Int(32), 1, "in");
  const auto good = hashed(int_type(32), box_of({{0, 4}})), rank = hashed(int_type(32), box_of({{0, 4}, {0, 1}})),
             type = hashed(float_type(32), box_of({{0, 4}}));
  const Value three = int_value(int_type(32), 3);
  Func f("f");
  f(x) = in(x)*k;
  const auto box = box_of({{0, 4}});
  CHECK(oracle_result({f}, {box}, {{in, &good}}, {{k.symbol(), three}}).ok());
  const auto kind = DiagKind::oracle_argument;
  check_error(oracle_result({f}, {box}, {}, {{k.symbol(), three}}), kind, "in: no array is given");
  check_error(oracle_result({f}, {box}, {{in, &rank}}, {{k.symbol(), three}}), kind, "in: rank 2, not 1");
  check_error(oracle_result({f}, {box}, {{in, &type}}, {{k.symbol(), three}}), kind, "in: elements are f32, not i32");
  check_error(oracle_result({f}, {box}, {{in, &good}}), kind, "f: `k` has no value here");
  check_error(oracle_result({f}, {}, {{in, &good}}, {{k.symbol(), three}}), kind, "f: 0 output boxes for 1 outputs");
  check_error(oracle_result({f}, {{}}, {{in, &good}}, {{k.symbol(), three}}), kind,
              "f: an output box of rank 0, not 1");
}
