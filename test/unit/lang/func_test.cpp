// Definitions: what they record.

#include "drawloom/ir/rewrite.h"
#include "drawloom/ir/text_form.h"
#include "mistake.h"

namespace {

auto value(const Func& f, size_t i = 0) -> std::string { return print(f.definition()->pure.values.at(i)); }
auto reads_itself_without_owning(const Func& f, const ExprList& list) -> bool {
  int reads = 0;
  bool owning = false;
  std::vector<Expr> stack(list);
  while (!stack.empty()) {
    const Expr e = stack.back();
    stack.pop_back();
    if (const auto* a = e.as<Access>(); a && a->func == f.definition().get()) ++reads, owning = owning || a->owner;
    each_child(*e.get(), [&](const auto& child) {
      if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) stack.push_back(child);
    });
  }
  return reads > 0 && !owning;
}

}  // namespace

TEST_CASE("what is stored is data") {
  Var x("x"), y("y");
  Func gradient("gradient"), fixed(UInt(8), 1, "fixed");
  gradient(x, y) = x + y;
  CHECK(gradient.type() == Int(32));
  CHECK(value(gradient) == "cast<i32>(%x + %y)");
  CHECK(gradient.args() == std::vector<std::string>{"x", "y"});
  fixed(x) = 7;
  CHECK(value(fixed) == "7:u8");
}

TEST_CASE("Vars are the same when their names are") {
  Func f("f");
  const Expr e = Var("x") * 2;
  f(Var("x")) = e + Var("x");
  const auto& def = *f.definition();
  REQUIRE(def.args.size() == 1);
  // Two symbols would print as two names.
  CHECK(value(f) == "cast<i32>(%x * 2 + %x)");
  CHECK(uses_symbol(def.pure.values[0], def.args[0].get()));
}

TEST_CASE("subscripts are index; data integers widen") {
  Var x("x");
  ImageParam lut(UInt(16), 1, "lut"), in(UInt(8), 1, "in");
  Func f("f"), g("g");
  f(x) = lut(in(x));
  CHECK(value(f) == "%lut[cast<index>(%in[%x])]");
  g(x) = f(in(x) + 1);
  const auto* read = g.definition()->pure.values[0].as<Access>();
  REQUIRE(read);
  CHECK(read->args[0].type() == kIndex);
  CHECK(print(read->args[0]) == "cast<index>(%in[%x] + 1:u8)");
  CHECK(read->owner.get() == f.definition().get());
}

TEST_CASE("a first += defines the neutral value first") {
  Var x("x");
  RDom r(0, 100);
  ImageParam in(UInt(8), 1, "in");
  Func hist("hist"), prod("prod");
  hist(in(r)) += 1;
  const auto& def = *hist.definition();
  CHECK(def.args[0]->name == "d0");
  CHECK(print(def.pure.values[0]) == "0:i32");
  REQUIRE(def.updates.size() == 1);
  CHECK(print(def.updates[0].lhs[0]) == "cast<index>(%in[%rx])");
  REQUIRE(def.updates[0].rdom);
  REQUIRE(def.updates[0].rdom->dims.size() == 1);
  CHECK(print(def.updates[0].rdom->dims[0].extent) == "100");
  CHECK(reads_itself_without_owning(hist, def.updates[0].values));
  prod(x) *= cast<float>(in(x + r.x));
  CHECK(value(prod) == "1.0:f32");
  CHECK(prod.definition()->args[0]->name == "x");
  CHECK(prod.type() == Float(32));
}

TEST_CASE("a domain runs over all its dimensions, used or not") {
  Var x("x");
  Param<int> n("n");
  RDom r(0, 3, -1, n + 2, "k");
  Func f("f");
  f(x) = 0;
  f(x) += r.y;
  const auto& dims = f.definition()->updates[0].rdom->dims;
  REQUIRE(dims.size() == 2);
  CHECK(dims[0].symbol->name == "kx");
  CHECK(dims[1].symbol->name == "ky");
  CHECK(dims[1].symbol == r.y.symbol());
  CHECK(print(dims[1].min) == "-1");
  CHECK(print(dims[1].extent) == "cast<index>(%n) + 2");
}

TEST_CASE("an update's Vars may have other names") {
  Var x("x"), y("y"), i("i"), j("j");
  Func f("f");
  f(x, y) = x;
  f(j, i) = f(j, i) + i * 10 + j;
  const auto& u = f.definition()->updates[0];
  CHECK(print(u.lhs[0]) == "%x");
  CHECK(print(u.lhs[1]) == "%y");
  f(y, x) = y;  // its first dimension, which is x
  CHECK(print(f.definition()->updates[1].values[0]) == "cast<i32>(%x)");
}

TEST_CASE("an update's value takes the Func's type where that loses nothing") {
  Var x("x");
  ImageParam in(UInt(8), 1, "in");
  Func f("f");
  f(x) = 0;
  f(x) = in(x);
  CHECK(print(f.definition()->updates[0].values[0]) == "cast<i32>(%in[%x])");
}

TEST_CASE("tuples") {
  Var x("x");
  RDom r(0, 9);
  ImageParam in(Int(32), 1, "in");
  Func best("best");
  best() = Tuple(0, in(0));
  const Expr better = in(r) > best()[1];
  best() = Tuple(select(better, r, best()[0]), select(better, in(r), best()[1]));
  const auto& def = *best.definition();
  CHECK(def.rank() == 0);
  CHECK(def.components() == 2);
  REQUIRE(def.updates.size() == 1);
  CHECK(def.updates[0].values[0].type() == Int(32));
  CHECK(reads_itself_without_owning(best, def.updates[0].values));
}

TEST_CASE("Funcs of an expression, an image and a buffer") {
  ImageParam in(UInt(8), 2, "in");
  Func f(in), c(Expr(3));
  CHECK(value(f) == "%in[%d0, %d1]");
  CHECK(c.dimensions() == 0);
  Buffer<float> b(4, 4);
  Func g(b);
  const auto* load = g.definition()->pure.values[0].as<Load>();
  REQUIRE(load);
  CHECK(contents_of(*load->buffer) == b.shared().get());
  Var x("x");
  const Expr e = b(x, 0);
  CHECK(e.to<Load>().buffer.get() == load->buffer.get());  // one declaration for one buffer
}

TEST_CASE("inline reductions are Funcs over the free Vars") {
  Var x("x"), y("y");
  RDom r(-1, 3, "k");
  ImageParam in(UInt(16), 2, "in");
  Func f("f");
  f(x, y) = sum(cast<uint32_t>(in(x + r, y))) / 3;
  const auto* div = f.definition()->pure.values[0].as<Binary>();
  REQUIRE(div);
  const auto* call = div->a.as<Access>();
  REQUIRE(call);
  const auto& s = function_of(*call);
  CHECK(s.auto_named);
  CHECK(s.args.size() == 2);
  CHECK(print(s.pure.values[0]) == "0:u32");
  CHECK(s.updates.size() == 1);
  CHECK(s.updates[0].rdom->dims[0].symbol->name == "kx");

  Func g("g");
  g(x) = maximum(cast<int16_t>(in(x + r, 0)));
  CHECK(print(function_of(g.definition()->pure.values[0].to<Access>()).pure.values[0]) == "-32768:i16");
  Func h("h");
  h(x) = minimum(cast<float>(in(x + r, 0)));
  CHECK(print(function_of(h.definition()->pure.values[0].to<Access>()).pure.values[0]) == "inf:f32");
}

TEST_CASE("a reduction inside an update keeps the outer domain's variables as arguments") {
  RDom r(0, 10, "r"), k(0, 3, "k");
  Var x("x");
  ImageParam in(Int(32), 1, "in");
  Func f("f");
  f(x) = 0;
  f(r) = sum(k, in(r.x + k.x));
  const auto& u = f.definition()->updates[0];
  const auto* call = u.values[0].as<Access>();
  REQUIRE(call);
  CHECK(print(call->args[0]) == "%rx");
  CHECK(function_of(*call).rank() == 1);
  CHECK(u.rdom->dims[0].symbol->name == "rx");
}

TEST_CASE("boundary conditions are plain expressions") {
  Var x("x"), y("y");
  ImageParam in(UInt(8), 2, "in");
  const Func edge = BoundaryConditions::repeat_edge(in);
  const auto* read = edge.definition()->pure.values[0].as<Access>();
  REQUIRE(read);
  CHECK(print(read->args[1]) == "max(min(%d1, min(%in, 1) + extent(%in, 1) - 1), min(%in, 1))");
  Func f("f");
  f(x, y) = in(x, y);
  const Func outside = BoundaryConditions::constant_exterior(f, 0, {{Expr(0), Expr(10)}});
  CHECK(outside.type() == UInt(8));
  CHECK(outside.args() == std::vector<std::string>{"x", "y"});
  const auto* s = outside.definition()->pure.values[0].as<Select>();
  REQUIRE(s);
  CHECK(print(s->condition) == "%x < 0 || %x > 0 + 10 - 1");
  CHECK(print(s->yes) == "0:u8");
  CHECK(print(s->no.to<Access>().args[1]) == "%y");  // unbounded
  const auto d = caught([&] { BoundaryConditions::constant_exterior(f, 256, {{Expr(0), Expr(10)}}); });
  CHECK(d.name() == "type_clash");
}

// --- recurrences

TEST_CASE("a recurrence is ordered along its guarded dimension") {
  Var x("x"), t("t");
  Param<int> t0("t0");
  const auto order = [&](auto&& define) {
    Func u(Float(32), 2, "u");
    define(u);
    const auto& def = *u.definition();
    return str("{} {}", def.ordered_dim, def.ordered_dim < 0 ? "" : print(def.ordered_first));
  };
  CHECK(order([&](Func u) { u(x, t) = select(t == 0, 1.0f, u(x - 1, t - 1) + u(x + 1, t - 1)); }) == "1 0");
  CHECK(order([&](Func u) { u(x, t) = select(t <= 5, 1.0f, u(x, t - 1)); }) == "1 5");
  CHECK(order([&](Func u) { u(x, t) = select(t < 5, 1.0f, u(x, t - 1)); }) == "1 4");
  CHECK(order([&](Func u) { u(x, t) = select(t > 5, u(x, t - 2), 1.0f); }) == "1 4");
  CHECK(order([&](Func u) { u(x, t) = select(6 > t, 1.0f, u(x, t - 3)); }) == "1 3");
  CHECK(order([&](Func u) { u(x, t) = select(t != 2, u(x, -1 + t), 1.0f); }) == "1 2");
  CHECK(order([&](Func u) { u(x, t) = select(t == t0, 1.0f, u(x, t - 1)); }) == "1 cast<index>(%t0)");
  CHECK(order([&](Func u) { u(x, t) = select(x == 0, 1.0f, u(x - 1, t) * 0.5f); }) == "0 0");
  // Fibonacci: two first steps, reach 2.
  CHECK(order([&](Func u) { u(x, t) = select(t == 0, 0.0f, select(t == 1, 1.0f, u(x, t - 1) + u(x, t - 2))); }) ==
        "1 0");
  CHECK(order([&](Func u) { u(x, t) = 1.0f; }) == "-1 ");
  CHECK(caught([&] { order([&](Func u) { u(x, t) = select(t == 0, 1.0f, u(x, t - 2)); }); }).name() ==
        "recurrence_unstarted");
  CHECK(caught([&] { order([&](Func u) { u(x, t) = select(t == 0, u(x, t - 1), 1.0f); }); }).name() ==
        "recurrence_unstarted");
  CHECK(caught([&] { order([&](Func u) { u(x, t) = select(t == 0, 1.0f, u(x, t + 1)); }); }).name() ==
        "recurrence_unordered");
  CHECK(caught([&] { order([&](Func u) { u(x, t) = select(t == 0, 1.0f, u(x, t / 2)); }); }).name() ==
        "recurrence_unordered");
}

TEST_CASE("an update along its RVar is ordered from the RVar's min") {
  Var x("x"), y("y");
  RDom r(1, 99);
  ImageParam in(Float(32), 2, "in");
  Func scan("scan"), total("total"), back("back");
  scan(x, y) = in(x, y);
  scan(r, y) += scan(r - 1, y);
  CHECK(scan.definition()->ordered_dim == 0);
  CHECK(print(scan.definition()->ordered_first) == "1");
  total(y) = 0.0f;
  total(y) += in(r, y);
  CHECK(total.definition()->ordered_dim == -1);
  back(x) = 0.0f;
  back(r) = back(r + 1);
  CHECK(back.definition()->ordered_dim == -1);
}

// --- what a pipeline makes of it

TEST_CASE("names are settled when a pipeline is made, the same each time") {
  const auto build = [] {
    Var x("x");
    ImageParam in(UInt(8), 1), other(UInt(8), 1);
    const auto smooth = [&](Func f) {
      Func g("g"), out;
      g(x) = f(x - 1) + f(x + 1);
      out(x) = g(x);
      return out;
    };
    Func sum("sum"), last("min");
    RDom r(0, 2);
    sum(x) = smooth(smooth(Func(in)))(x) + drawloom::sum(other(x + r));
    last(x) = sum(x);
    return Pipeline(last).definition();
  };
  const auto p = build(), q = build();
  std::vector<std::string> names, again, inputs;
  for (const auto& f : p->funcs) names.push_back(f->name);
  for (const auto& f : q->funcs) again.push_back(f->name);
  for (const auto& b : p->inputs) inputs.push_back(b->name);
  CHECK(names == std::vector<std::string>{"image_im", "g", "f", "g_1", "f_1", "sum_1", "sum", "min_1"});
  CHECK(again == names);
  CHECK(inputs == std::vector<std::string>{"image", "image_1"});
  CHECK(p->name == "min_1");
  CHECK(p->inputs[1]->extent[0]->name == "image_1.extent.0");
}

TEST_CASE("a pipeline lists inputs, params and output buffers") {
  Var x("x");
  ImageParam a(UInt(8), 1, "a"), b(UInt(8), 1, "b");
  Param<int> n("n", 3, 0, 10);
  Func f("f"), g("g");
  f(x) = Tuple(b(x), a(x + n));
  g(x) = f(x)[0] + f(x)[1];
  const Pipeline p({f, g}, "both");
  const auto& def = *p.definition();
  CHECK(def.name == "both");
  REQUIRE(def.inputs.size() == 2);
  CHECK(def.inputs[0] == b.buffer());
  REQUIRE(def.params.size() == 1);
  CHECK(def.params[0]->max == 10);
  REQUIRE(def.output_buffers.size() == 3);
  CHECK(def.output_buffers[1]->name == "f.1");
  CHECK(def.output_buffers[2]->name == "g");
  CHECK(n.get() == 3);
}
