#include <catch2/catch.hpp>

#include "drawloom/ir/text_form.h"
#include "reference.h"

using namespace drawloom;
using namespace drawloom::testing;

namespace {

struct Names {
  SymbolRef n = make_symbol(SymbolKind::BufferExtent, "n");
  SymbolRef m = make_symbol(SymbolKind::Param, "m");
  SymbolRef xo = make_symbol(SymbolKind::Loop, "xo");
  SymbolRef xi = make_symbol(SymbolKind::Loop, "xi");
  SymbolRef x = make_symbol(SymbolKind::Var, "x");
  Form fn{n}, fm{m}, fxo{xo}, fxi{xi}, fx{x};
};

}  // namespace

TEST_CASE("forms print as people write them", "[form]") {
  Names s;
  CHECK(Form(0).text() == "0");
  CHECK((8 * s.fxo + s.fxi - 1).text() == "8*xo + xi - 1");
  CHECK((s.fn - s.fxo).text() == "n - xo");
  CHECK((-s.fx).text() == "-x");
  CHECK((-s.fx - 3).text() == "-x - 3");
  CHECK((s.fn * s.fxo + s.fxi).text() == "n*xo + xi");
  CHECK(min(s.fn, 8 * s.fxo + 8).text() == "min(n, 8*xo + 8)");
  CHECK(floor_div(s.fx + 1, 2).text() == "(x + 1)/2");
  CHECK((3 * floor_div(s.fx + 1, 2)).text() == "3*((x + 1)/2)");
  CHECK(floor_mod(s.fx, s.fn + 1).text() == "x%(n + 1)");
  CHECK(choose(Cond::nonnegative(s.fm - 1), s.fx, 0).text() == "choose(m - 1 >= 0, x, 0)");
  CHECK((Cond::nonnegative(s.fm) && Cond::nonnegative(s.fn - 1)).text() == "n - 1 >= 0 && m >= 0");
  CHECK(Cond::always().text() == "true");
  CHECK(Cond::never().text() == "false");
}

TEST_CASE("equal sums are one form however they were built", "[form]") {
  Names s;
  CHECK(s.fx + s.fn == s.fn + s.fx);
  CHECK((s.fx + 1) * (s.fn - 2) == s.fn * s.fx - 2 * s.fx + s.fn - 2);
  CHECK(s.fx - s.fx == Form(0));
  CHECK(s.fn * s.fm == s.fm * s.fn);
  CHECK(s.fn * s.fm * s.fxo == s.fm * (s.fxo * s.fn));
  CHECK(s.fxo * s.fxi == s.fxi * s.fxo);
  CHECK_FALSE(s.fx + 1 == s.fx);
  CHECK((s.fx + 1).hash() == (1 + s.fx).hash());
  const SymbolRef twin = make_symbol(SymbolKind::Var, "x");
  CHECK_FALSE(Form(twin) == s.fx);
}

TEST_CASE("differences of equal atoms cancel", "[form]") {
  Names s;
  const Form tile = min(8 * s.fxo, s.fn - 8);
  CHECK(tile + 7 - min(s.fn - 8, 8 * s.fxo) == Form(7));
  CHECK(min(s.fx + 1, s.fn) == min(s.fx, s.fn - 1) + 1);
  CHECK(max(s.fx + s.fm, s.fx + s.fn) - s.fx == max(s.fm, s.fn));
  CHECK(min(min(s.fx, s.fn), s.fm) == min(s.fx, min(s.fm, s.fn)));
  CHECK(floor_div(s.fx - 1, 2) + 2 * floor_div(s.fx + 1, 2) == 3 * floor_div(s.fx + 1, 2) - 1);
}

TEST_CASE("minima and maxima are decided where the difference is known", "[form]") {
  Names s;
  CHECK(min(s.fx + 1, s.fx) == s.fx);
  CHECK(max(s.fx + 1, s.fx) == s.fx + 1);
  CHECK(min(s.fx, s.fx) == s.fx);
  CHECK(max(s.fn, -1) == s.fn);  // extents are >= 0
  CHECK(max(s.fn, 0) == s.fn);
  CHECK(min(s.fx, max(s.fx, s.fm)) == s.fx);
  CHECK(max(s.fx, min(s.fx, s.fm)) == s.fx);
  CHECK(min(s.fx + s.fn, s.fx) == s.fx);
}

TEST_CASE("a clamped value that is shifted and clamped again stays short", "[form]") {
  Names s;
  const Form lo = s.fm, hi = s.fm + s.fn - 1;  // below lo where n is 0
  for (const int shift : {-1, 1}) {
    Form max_outside = s.fx, min_outside = s.fx;
    for (int i = 0; i < 3; ++i) {
      max_outside = max(lo, min(hi, max_outside + shift));
      min_outside = min(hi, max(lo, min_outside + shift));
    }
    const Form longer_max = max(lo, min(hi, max_outside + shift));
    const Form longer_min = min(hi, max(lo, min_outside + shift));
    CHECK(longer_max.text().size() == max_outside.text().size());
    CHECK(longer_min.text().size() == min_outside.text().size());
  }
}

TEST_CASE("of minima over different operands the lower one is known", "[form]") {
  Names s;
  CHECK(min(min(s.fx, s.fxo), min(s.fx + 1, min(s.fm, s.fxo + 2))) == min(s.fx, min(s.fm, s.fxo)));
  const Form a = max(s.fm, min(s.fx, s.fxo) - 1), b = max(s.fm, min(s.fx, min(s.fxo, s.fn)) - 1);
  CHECK(min(a, b) == b);
  CHECK(max(a, b) == a);
  CHECK(min(b, a) == b);
}

TEST_CASE("divisions split off exact parts", "[form]") {
  Names s;
  CHECK(floor_div(8 * s.fxo + s.fxi, 8) == s.fxo + floor_div(s.fxi, 8));
  CHECK(floor_div(floor_div(s.fx, 2), 4) == floor_div(s.fx, 8));
  CHECK(floor_div(floor_div(s.fx, 2) + 1, 4) == floor_div(s.fx + 2, 8));
  CHECK(floor_mod(8 * s.fxo + s.fxi, 8) == floor_mod(s.fxi, 8));
  CHECK(floor_mod(9 * s.fx + 17, 8) == floor_mod(s.fx + 1, 8));
  CHECK(floor_mod(floor_mod(s.fx, 16), 8) == floor_mod(s.fx, 8));
  CHECK(floor_mod(floor_mod(s.fx, 8), 16) == floor_mod(s.fx, 8));
  CHECK(floor_div(floor_mod(s.fx, 8), 8) == Form(0));
  CHECK(8 * floor_div(s.fx, 8) + floor_mod(s.fx, 8) == s.fx);
  CHECK(floor_div(2 * s.fx + 1, 2) == s.fx);
  CHECK(floor_div(-7, 2) == Form(-4));
  CHECK(floor_mod(-7, 2) == Form(1));
  CHECK(floor_div(s.fx, 0) == Form(0));
  CHECK(floor_mod(s.fx, 0) == Form(0));
  CHECK(floor_mod(s.fn * s.fxo + s.fxi, s.fn) == floor_mod(s.fxi, s.fn));
  // n may be 0, and x/0 is 0: n*x/n is not x.
  CHECK_FALSE(floor_div(s.fn * s.fx, s.fn) == s.fx);
  auto positive = make_ref<Symbol>(SymbolKind::Param, "k", kIndex, Loc());
  positive->min = 1;
  const Form k{SymbolRef(positive)};
  CHECK(floor_div(k * s.fx + k, k) == s.fx + 1);
}

TEST_CASE("choices by a comparison of their sides are minima", "[form]") {
  Names s;
  CHECK(choose(Cond::less_equal(s.fx, s.fm), s.fx, s.fm) == min(s.fx, s.fm));
  CHECK(choose(Cond::less(s.fx, s.fm), s.fm, s.fx) == max(s.fx, s.fm));
  CHECK(choose(Cond::always(), s.fx, s.fm) == s.fx);
  CHECK(choose(Cond::never(), s.fx, s.fm) == s.fm);
  const Cond c = Cond::nonnegative(s.fm);
  CHECK(choose(c, s.fx + 2, s.fx + 1) == s.fx + choose(c, 2, 1));
  CHECK(choose(c, choose(c, s.fx, 3), 4) == choose(c, s.fx, 4));
}

TEST_CASE("conditions are kept in lowest terms", "[form]") {
  Names s;
  CHECK(Cond::nonnegative(2 * s.fx + 1) == Cond::nonnegative(s.fx));
  CHECK(Cond::nonnegative(s.fn).is_always());
  CHECK(Cond::nonnegative(-s.fn - 1).is_never());
  CHECK((Cond::nonnegative(s.fx) && Cond::nonnegative(-s.fx - 1)).is_never());
  CHECK((Cond::nonnegative(s.fx) && Cond::nonnegative(s.fx + 1)) == Cond::nonnegative(s.fx));
  CHECK((Cond::nonnegative(s.fx) && Cond::nonnegative(s.fm)) == (Cond::nonnegative(s.fm) && Cond::nonnegative(s.fx)));
  CHECK(Cond::equals(2 * s.fx, 1).is_never());
  CHECK((Cond::never() && Cond::nonnegative(s.fx)).is_never());
}

TEST_CASE("arithmetic that overflows becomes opaque", "[form]") {
  Names s;
  const Form big(INT64_MAX);
  CHECK_FALSE((big + 1).is_constant());
  CHECK((big + 1) == (big + 1));
  CHECK_FALSE((big * s.fx * 2).is_constant());
  CHECK_FALSE((Form(INT64_MIN) - 1).is_constant());
  CHECK_FALSE((-Form(INT64_MIN)).is_constant());
  const Point at{{s.x.get(), 1}};
  CHECK_FALSE(evaluate(big + 1, env_of(at)).has_value());
  CHECK(evaluate(big * s.fx, env_of(at)) == INT64_MAX);
}

TEST_CASE("symbols of a form, through its atoms", "[form]") {
  Names s;
  const Form f = min(s.fxo * s.fn, floor_div(s.fxi, 4)) + choose(Cond::nonnegative(s.fm), 1, 0);
  CHECK(symbols_of(f) == std::vector<SymbolRef>{s.n, s.m, s.xo, s.xi});
  CHECK(uses_symbol(f, s.m.get()));
  CHECK_FALSE(uses_symbol(f, s.x.get()));
  CHECK(uses_symbol(s.fxo * s.fxi, s.xi.get()));
}

TEST_CASE("substitution reaches into atoms and settles them", "[form]") {
  Names s;
  const auto map = [&](const SymbolRef& v) -> std::optional<Form> {
    if (v == s.xo) return Form(2);
    if (v == s.x) return s.fxi + 8;
    return {};
  };
  CHECK(substitute(s.fxo * s.fn, map) == 2 * s.fn);
  CHECK(substitute(floor_div(s.fx, 8), map) == floor_div(s.fxi, 8) + 1);
  CHECK(substitute(min(8 * s.fxo, 12), map) == Form(12));
  CHECK(substitute(s.fxo * s.fxi, map) == 2 * s.fxi);  // an opaque product opens again
  CHECK(substitute(Cond::nonnegative(s.fxo - 3), map).is_never());
  const Form same = min(s.fm, s.fn);
  CHECK(substitute(same, map) == same);
}

TEST_CASE("a form through shared atoms costs its size", "[form]") {
  Names s;
  const auto deep = [&](const SymbolRef& v) {
    Form f{v};
    for (int i = 0; i < 60; ++i) f = floor_div(f * 3 + min(f, s.fm), 2) + max(f, s.fn);
    return f;
  };
  const Form f = deep(s.x), g = deep(s.x);
  CHECK(f == g);
  CHECK(uses_symbol(f, s.n.get()));
  CHECK_FALSE(uses_symbol(f, s.xi.get()));
  const Form h = substitute(f, [&](const SymbolRef& v) { return v == s.x ? std::optional(s.fxo) : std::nullopt; });
  CHECK(h == deep(s.xo));
  CHECK(to_form(to_expr(f)) == f);
  int asked = 0;
  CHECK(replace_atoms(f, [&](const Atom&, const auto&) { return ++asked, std::optional<Form>(); }) == f);
  CHECK(asked == 180);
  const Form least = replace_atoms(f, [&](const Atom& a, const auto& replaced) {
    return a.kind == AtomKind::Min ? std::optional(replaced(a.operands[0])) : std::nullopt;
  });
  CHECK(evaluate(least, env_of({{s.x.get(), 0}, {s.n.get(), 0}, {s.m.get(), 0}})) == 0);
  int minima = 0;
  (void)replace_atoms(
      least, [&](const Atom& a, const auto&) { return minima += a.kind == AtomKind::Min, std::optional<Form>(); });
  CHECK(minima == 0);
  const Point zero{{s.x.get(), 0}, {s.n.get(), 0}, {s.m.get(), 0}};
  CHECK(evaluate(f, env_of(zero)) == 0);
  CHECK(f.text().size() < 20000);
}

TEST_CASE("random expressions and their forms have the same value", "[form][random]") {
  int atoms = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Generator g(seed);
    const Expr e = g.expr(static_cast<int>(seed % 5));
    const Form f = to_form(e);
    const Expr back = to_expr(f);
    const Form again = to_form(back);
    atoms += !f.terms().empty() && f.terms().back().atom;
    for (int k = 0; k < 12; ++k) {
      const Point at = g.point();
      const int64_t want = reference_value(e, at);
      INFO("seed " << seed << "\n" << print(e) << "\n" << f.text() << "\n" << print(back));
      REQUIRE(reference_value(back, at) == want);
      REQUIRE(evaluate(f, env_of(at)) == want);
      REQUIRE(evaluate(again, env_of(at)) == want);
      REQUIRE(range_of(f).contains(want));
    }
  }
  CHECK(atoms > 1000);  // the cases are not trivial
}

TEST_CASE("random nests of clamps have the value of their steps", "[form][random]") {
  Generator g(31);
  const auto bound = [&] {
    const auto one = [&] {
      Form f(g.random.uniform(-6, 6));
      if (g.random.uniform(0, 3) > 0) f += Form(g.all[static_cast<size_t>(g.random.uniform(0, 5))]);
      return f;
    };
    switch (g.random.uniform(0, 5)) {
      case 0: return min(one(), one());
      case 1: return max(one(), one());
      default: return one();
    }
  };
  for (int i = 0; i < 4000; ++i) {
    const std::vector<Form> bounds = {bound(), bound(), bound()};
    const Point at = g.point();
    const FormEnv env = [&](const SymbolRef& s) -> std::optional<int64_t> { return at.at(s.get()); };
    Form f(g.x);
    int64_t value = at.at(g.x.get());
    for (int64_t steps = g.random.uniform(2, 12); steps > 0; --steps) {
      const Form& b = bounds[static_cast<size_t>(g.random.uniform(0, 2))];
      const int64_t other = *evaluate(b, env), shift = g.random.uniform(-2, 2);
      const bool lower = g.random.uniform(0, 1) == 0;
      f = (lower ? min(f, b) : max(f, b)) + shift;
      value = (lower ? std::min(value, other) : std::max(value, other)) + shift;
      REQUIRE(evaluate(f, env) == value);
    }
  }
}

TEST_CASE("random conditions and their expressions agree", "[form][random]") {
  int decided = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Generator g(seed + 77777);
    const Expr e = g.comparison(2);
    const auto c = to_cond(e);
    if (!c) continue;
    ++decided;
    for (int k = 0; k < 12; ++k) {
      const Point at = g.point();
      INFO("seed " << seed << "\n" << print(e) << "\n" << c->text());
      REQUIRE(evaluate(*c, env_of(at)) == (reference_value(e, at) != 0));
      REQUIRE(reference_value(to_expr(*c), at) == reference_value(e, at));
    }
  }
  CHECK(decided > 1000);
}

TEST_CASE("random substitution commutes with evaluation", "[form][random]") {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Generator g(seed + 12345);
    const Form f = to_form(g.expr(3));
    const Form for_x = to_form(g.expr(2)), for_p = to_form(g.expr(1));
    const Form replaced = substitute(f, [&](const SymbolRef& s) -> std::optional<Form> {
      if (s == g.x) return for_x;
      if (s == g.p) return for_p;
      return {};
    });
    for (int k = 0; k < 8; ++k) {
      const Point at = g.point();
      Point moved = at;
      moved[g.x.get()] = *evaluate(for_x, env_of(at));
      moved[g.p.get()] = *evaluate(for_p, env_of(at));
      INFO("seed " << seed << "\n" << f.text() << "\nx: " << for_x.text() << "\np: " << for_p.text());
      REQUIRE(evaluate(replaced, env_of(at)) == evaluate(f, env_of(moved)));
    }
  }
}

TEST_CASE("linear forms are equal exactly when their coefficients are", "[form][random]") {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Generator g(seed);
    std::vector<std::pair<int64_t, SymbolRef>> parts;
    for (int i = 0; i < 6; ++i)
      parts.emplace_back(g.random.uniform(-3, 3), g.all[static_cast<size_t>(g.random.uniform(0, 5))]);
    Form up, down;
    for (size_t i = 0; i < parts.size(); ++i) up += parts[i].first * Form(parts[i].second) + 1;
    for (size_t i = parts.size(); i-- > 0;) down = down - parts[i].first * Form(parts[i].second) - 1;
    REQUIRE(up == -down);
    REQUIRE(up.hash() == (-down).hash());
    REQUIRE_FALSE(up == -down + Form(g.x));
  }
}
