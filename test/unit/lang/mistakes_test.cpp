// Typical mistakes of users: one message each, with the line of the mistake, the words they wrote and what would be legal.

#include "mistake.h"

TEST_CASE("mistake: a Func is called before it is defined") {
  Var x("x");
  Func f("f"), g("g");
  const auto d = mistake([&] { g(x) = f(x) + 1; }, __LINE__);
  CHECK(d.name() == "func_undefined");
  CHECK(d.message() == "f is called, but has no definition");
  CHECK(d.help() == "define it first; a recurrence declares its type, as in Func f(Float(32), 1, \"f\")");
  CHECK_FALSE(g.defined());
}

TEST_CASE("mistake: a Func is called with the wrong number of subscripts") {
  Var x("x"), y("y");
  Func f("f"), g("g");
  f(x, y) = x + y;
  const int defined = __LINE__ - 1;
  const auto d = mistake([&] { g(x) = f(x, x, x); }, __LINE__);
  CHECK(d.name() == "func_arity");
  CHECK(d.message() == "f has 2 dimensions, but is called with 3");
  CHECK_THAT(d.text(),
             Catch::Contains("mistakes_test.cpp:" + std::to_string(defined)) && Catch::Contains("f is defined here"));
}

TEST_CASE("mistake: types clash") {
  Var x("x");
  Func f("f");
  const auto d = mistake([&] { f(x) = (x < 3) + 1; }, __LINE__);
  CHECK(d.name() == "type_clash");
  CHECK(d.message() == "`+` does not take bool and i32");
  CHECK(d.help() == "a bool becomes a number by cast<int32_t>(..) or select(.., 1, 0)");
}

TEST_CASE("mistake: a pure definition reads itself, but not at smaller values") {
  Var x("x"), t("t");
  Func u(Float(32), 2, "u");
  const auto d = mistake([&] { u(x, t) = select(t == 0, 0.0f, u(x - 1, t) + u(x + 1, t - 1)); }, __LINE__);
  CHECK(d.name() == "recurrence_unordered");
  CHECK(d.message() == "u reads itself, but along no dimension only at smaller values");
  CHECK(d.help() ==
        "read it at v - 1 for one dimension v, under select(v == 0, .., ..); or make it an update over an RDom");
  CHECK_FALSE(u.defined());
}

TEST_CASE("mistake: a recurrence has no first step") {
  Var t("t");
  Func u(Float(32), 1, "u");
  const auto d = mistake([&] { u(t) = u(t - 1) * 0.5f; }, __LINE__);
  CHECK(d.name() == "recurrence_unstarted");
  CHECK(d.message() == "u is a recurrence along t without a first step");
  CHECK(d.help() == "define the first step outermost, as in select(t == 0, .., ..)");
}

TEST_CASE("mistake: a literal does not fit") {
  Var x("x");
  ImageParam in(UInt(8), 1, "in");
  Func f("f");
  const auto d = mistake([&] { f(x) = in(x) + 256; }, __LINE__);
  CHECK(d.name() == "literal_range");
  CHECK(d.message() == "256 is not a value of u8");
}

TEST_CASE("mistake: a subscript is no integer") {
  Var x("x");
  ImageParam in(Float(32), 1, "in");
  Func f("f"), g("g");
  f(x) = in(x);
  const auto d = mistake([&] { g(x) = f(in(x) * 2.0f); }, __LINE__);
  CHECK(d.name() == "subscript_type");
  CHECK(d.message() == "a subscript of f is f32, not an integer");
  CHECK(d.help() == "cast<int32_t>(..) makes an integer of it");
}

TEST_CASE("mistake: a Var on the right is not on the left") {
  Var x("x"), y("y");
  Func f("f");
  const auto d = mistake([&] { f(x) = x + y; }, __LINE__);
  CHECK(d.name() == "var_unknown");
  CHECK(d.message() == "y stands on the right of f, but not on its left");
  CHECK(d.help() == "the Vars on the left are x");
}

TEST_CASE("mistake: the left side of a definition is not a list of Vars") {
  Var x("x");
  Func f("f");
  CHECK(words(mistake([&] { f(x, x) = x; }, __LINE__)) ==
        "definition_argument: the definition of f needs plain, different Vars on its left, not `x` twice");
  CHECK(mistake([&] { f(x + 1) = x; }, __LINE__).name() == "definition_argument");
}

TEST_CASE("mistake: an RVar in a pure definition") {
  Var x("x");
  RDom r(0, 10);
  Func f("f"), g("g");
  f(x) = x;
  const auto d = mistake([&] { g(x) = f(x + r.x); }, __LINE__);
  CHECK(d.name() == "rvar_misplaced");
  CHECK(d.message() == "rx belongs to a reduction domain: it cannot stand in the pure definition of g");
  CHECK(d.help() == "define g first, then update it over the domain; or use sum, maximum or minimum");
  CHECK(mistake([&] { g(r.x) = 0; }, __LINE__).name() == "rvar_misplaced");
}

TEST_CASE("mistake: an update computes another type") {
  Var x("x");
  RDom r(0, 10);
  Func f("f");
  f(x) = cast<uint8_t>(0);
  const auto d = mistake([&] { f(x) += 0.5f * r.x; }, __LINE__);
  CHECK(d.name() == "update_type");
  CHECK(d.message() == "f holds u8, but its update computes f32");
  CHECK(d.help() == "cast the value to u8, or define f with the wider type");
}

TEST_CASE("mistake: an update mixes two domains") {
  Var x("x");
  RDom r(0, 10, "r"), s(0, 10, "s");
  Func f("f");
  f(x) = 0;
  const auto d = mistake([&] { f(r) = r.x + s.x; }, __LINE__);
  CHECK(d.name() == "rdom_mixed");
  CHECK(d.message() == "an update of f uses two reduction domains, those of rx and sx");
}

TEST_CASE("mistake: an update reads itself at another value of a pure Var") {
  Var x("x");
  Func f("f");
  f(x) = x;
  const auto d = mistake([&] { f(x) = f(x - 1) + 1; }, __LINE__);
  CHECK(d.name() == "update_self_read");
  CHECK(d.message() == "an update of f reads f at another x, though x is no reduction variable");
  CHECK(f.num_update_definitions() == 0);
}

TEST_CASE("mistake: a Func gets a definition after it was used") {
  Var x("x");
  RDom r(0, 4);
  Func f("f"), g("g");
  f(x) = x;
  g(x) = f(x);
  const int used = __LINE__ - 1;
  const auto d = mistake([&] { f(r) += 1; }, __LINE__);
  CHECK(d.name() == "func_frozen");
  CHECK_THAT(d.text(),
             Catch::Contains("mistakes_test.cpp:" + std::to_string(used)) && Catch::Contains("f is used here"));
}

TEST_CASE("mistake: a declared type is not kept") {
  Var x("x");
  Func f(UInt(8), 1, "f");
  const auto d = mistake([&] { f(x) = x * 0.5f; }, __LINE__);
  CHECK(d.name() == "func_type");
  CHECK(d.message() == "f is declared as u8, but defined as f32");
  CHECK(mistake([&] { f(x, x) = 0; }, __LINE__).name() == "func_arity");
}

TEST_CASE("mistake: a tuple is used as a value, or a component that it lacks") {
  Var x("x");
  Func f("f"), g("g");
  f(x) = Tuple(x, 0.5f);
  CHECK(words(mistake([&] { g(x) = f(x) + 1; }, __LINE__)) ==
        "func_tuple: f has 2 components: as a value it needs `[i]`");
  CHECK(words(mistake([&] { g(x) = f(x)[2]; }, __LINE__)) ==
        "name_missing: f has 2 components: there is no component 2");
}

TEST_CASE("mistake: undefined expressions") {
  Var x("x");
  Func f("f");
  Expr nothing;
  CHECK(mistake([&] { f(x) = nothing; }, __LINE__).name() == "expr_undefined");
  CHECK(words(mistake([&] { f(x) = x + nothing; }, __LINE__)) ==
        "expr_undefined: an operand of `+` is an undefined expression");
}

TEST_CASE("mistake: conditions are bool") {
  Var x("x");
  ImageParam in(UInt(8), 1, "in");
  CHECK(words(mistake([&] { select(in(x), 1, 2); }, __LINE__)) ==
        "type_unsupported: `the condition of select` does not take u8");
  CHECK(words(mistake([&] { (in(x) && (x < 3)); }, __LINE__)) == "type_clash: `&&` does not take u8 and bool");
  CHECK(words(mistake([&] { !(in(x) + 1); }, __LINE__)) == "type_unsupported: `!` does not take u8");
  CHECK(mistake([&] { (in(x) * 0.5f) & 1; }, __LINE__).name() == "type_clash");
}

TEST_CASE("mistake: bounds of a domain vary") {
  Var x("x");
  ImageParam in(UInt(8), 1, "in");
  CHECK(words(mistake([&] { RDom r(0, x + 1); }, __LINE__)) ==
        "rdom_bounds: the extent of rx depends on x: the bounds of a reduction domain may use parameters and buffer "
        "sizes only");
  CHECK(mistake([&] { RDom r(0, in(3)); }, __LINE__).name() == "rdom_bounds");
}

TEST_CASE("mistake: a reduction without a domain") {
  Var x("x");
  const auto d = mistake([&] { sum(x * 2); }, __LINE__);
  CHECK(words(d) == "rdom_missing: `sum` has no reduction domain to run over");
  CHECK(d.help() == "use a variable of an RDom in its value");
}

TEST_CASE("mistake: names that are none, and names said twice") {
  CHECK(words(mistake([&] { Func f("blur y"); }, __LINE__)) == "name_malformed: `blur y` cannot be a name");
  CHECK(mistake([&] { Var v("3d"); }, __LINE__).name() == "name_malformed");
  Var x("x");
  Param<int> p("n"), q("n");
  Func f("f");
  f(x) = x + p * q;
  CHECK(words(caught([&] { Pipeline pipe(f); })) == "name_clash: two arguments of one pipeline are named `n`");
}

TEST_CASE("mistake: pipelines of nothing") {
  CHECK(mistake([&] { Pipeline p(std::vector<Func>{}); }, __LINE__).name() == "pipeline_empty");
  Func f("f");
  CHECK(words(mistake([&] { Pipeline p(f); }, __LINE__)) == "func_undefined: f is called, but has no definition");
}

TEST_CASE("mistake: an image's size is used, but not the image") {
  Var x("x");
  ImageParam in(UInt(8), 1, "in");
  Func f("f");
  f(x) = x + in.width();
  CHECK(words(caught([&] { Pipeline p(f); })) ==
        "symbol_unbound: in.extent.0 is not known at the call: no Func reads its buffer");
}

TEST_CASE("mistake: schedule calls that cannot be written down") {
  Var x("x"), xo("xo"), xi("xi");
  ImageParam in(UInt(8), 1, "in");
  Func f("f"), g("g"), h("h");
  f(x) = x;
  g(x) = f(x);
  h(x) = x;
  CHECK(words(mistake([&] { f.split(x, xo, xi, in(x)); }, __LINE__)) ==
        "schedule_amount: `split` takes an integer or an integer Param, not an expression");
  CHECK(words(mistake([&] { f.update(0).unroll(x); }, __LINE__)) ==
        "name_missing: f has 0 updates: there is no update(0)");
  const int line = __LINE__ + 1;
  f.compute_at(h, x);
  const auto d = caught([&] { Pipeline(g).schedule(); });
  CHECK(words(d) == "schedule_target: f is placed at a loop of h, which is not in the pipeline");
  CHECK(d.loc().line() == static_cast<uint32_t>(line));
}

TEST_CASE("mistake: buffers of another type or shape") {
  ImageParam in(UInt(8), 2, "in");
  CHECK(words(caught([&] { in.set(Buffer<float>(4, 4)); })) == "buffer_type: buffer holds f32, not u8");
  CHECK(words(caught([&] { in.set(Buffer<uint8_t>(4)); })) == "buffer_shape: buffer has 1 dimension, not 2");
  CHECK(caught([&] { Buffer<uint16_t> b = AnyBuffer(Float(32), std::vector<int64_t>{2}); }).name() == "buffer_type");
  const Buffer<uint8_t> b(4, 4);
  CHECK(words(caught([&] { b(4, 0) = 1; })) == "buffer_index: buffer has no coordinate 4 in dimension 0");
  CHECK(caught([&] { b(0) = 1; }).name() == "buffer_shape");
}
