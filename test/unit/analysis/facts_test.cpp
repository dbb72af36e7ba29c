#include <catch2/catch.hpp>

#include "drawloom/analysis/facts.h"
#include "drawloom/ir/text_form.h"
#include "reference.h"

using namespace drawloom;
using namespace drawloom::testing;

namespace {

auto param(const char* name, std::optional<int64_t> lo) -> SymbolRef {
  auto s = make_ref<Symbol>(SymbolKind::Param, name, kIndex, Loc());
  s->min = lo;
  return s;
}

struct Names {
  SymbolRef n = make_symbol(SymbolKind::BufferExtent, "n"), m = make_symbol(SymbolKind::BufferMin, "m"),
            k = param("k", 1);
  SymbolRef xo = make_symbol(SymbolKind::Loop, "xo"), xi = make_symbol(SymbolKind::Loop, "xi"),
            a = make_symbol(SymbolKind::Var, "a"), b = make_symbol(SymbolKind::Var, "b");
  Form fn{n}, fm{m}, fk{k}, fxo{xo}, fxi{xi}, fa{a}, fb{b};
  Facts none;
  Facts tile = Facts().with_range(xi, 0, 7).with_range(xo, 0, ceil_div(fn, 8) - 1);
};

}  // namespace

TEST_CASE("what promises and structure alone prove", "[facts]") {
  Names s;
  CHECK(s.none.proves_nonnegative(s.fn));
  CHECK_FALSE(s.none.proves_nonnegative(s.fn - 1));
  CHECK(s.none.proves_le(min(8 * s.fxo + 7, s.fn - 1), s.fn - 1));
  CHECK(s.none.proves_le(min(8 * s.fxo + 7, s.fn - 1), 8 * s.fxo + 7));
  CHECK(s.none.proves_le(s.fa, max(s.fa, s.fb)));
  CHECK(s.none.proves_le(min(s.fa, s.fb), max(s.fa, s.fb)));
  CHECK_FALSE(s.none.proves_le(max(s.fa, s.fb), s.fa));
  CHECK(s.none.proves_le(s.fn, 8 * ceil_div(s.fn, 8)));
  CHECK(s.none.proves_le(8 * ceil_div(s.fn, 8), s.fn + 7));
  CHECK_FALSE(s.none.proves_le(8 * ceil_div(s.fn, 8), s.fn + 6));
  CHECK(s.none.proves_le(s.fk * floor_div(s.fn, s.fk), s.fn));
  CHECK(s.none.proves_le(floor_mod(s.fa, s.fk), s.fk - 1));
  CHECK(s.none.proves_le(floor_mod(s.fn, 8), s.fn));
  CHECK(s.none.proves_le(s.fa - 3, s.fa));
  CHECK(s.none.proves_nonnegative(choose(Cond::nonnegative(s.fm), s.fn, 3)));
  CHECK(s.none.proves_nonnegative(choose(Cond::nonnegative(s.fm), s.fm, 3)));
  CHECK_FALSE(s.none.proves_nonnegative(choose(Cond::nonnegative(s.fm), 3, s.fm)));
  CHECK(s.none.proves_nonnegative(choose(Cond::nonnegative(s.fm), 3, -s.fm)));
}

TEST_CASE("what ranges and conditions prove", "[facts]") {
  Names s;
  CHECK(s.tile.proves_le(8 * s.fxo + s.fxi, 8 * s.fxo + 7));
  CHECK(s.tile.proves_le(8 * s.fxo, s.fn - 1));
  CHECK_FALSE(s.tile.proves_le(8 * s.fxo + s.fxi, s.fn - 1));
  CHECK(s.tile.proves_le(8 * s.fxo + s.fxi, s.fn + 6));
  CHECK(s.tile.proves_le(min(8 * s.fxo + s.fxi, s.fn - 1), s.fn - 1));
  CHECK(s.tile.proves_nonnegative(min(8 * s.fxo + 7, s.fn - 1)));
  CHECK(Facts().with(Cond::nonnegative(s.fn - 1)).proves_nonnegative(s.fn - 1));
  CHECK(Cond::nonnegative(floor_div(s.fn + 31, 32) - 1) == Cond::nonnegative(s.fn - 1));  // n + 31 >= 32
  CHECK(Cond::nonnegative(floor_div(s.fn, 8) + 2) == Cond::nonnegative(s.fn + 16));
  CHECK(Facts().with(Cond::less_equal(s.fa, s.fb)).with(Cond::less_equal(s.fb, s.fm)).proves_le(s.fa, s.fm));
  CHECK(
      Facts().with(Cond::less_equal(2 * s.fa, s.fb)).with(Cond::less_equal(3 * s.fb, s.fm)).proves_le(6 * s.fa, s.fm));
  CHECK(Facts().with(Cond::never()).proves_nonnegative(-1));
  CHECK(Facts().with_range(s.xi, 0, 7).range(8 - s.fxi) == (Range{1, 8}));
  CHECK(Facts().with_range(s.xi, 0, 7).proves(Cond::nonnegative(s.fxi) && Cond::nonnegative(7 - s.fxi)));
}

TEST_CASE("levels of a pyramid in a tile are not empty", "[facts]") {
  const SymbolRef min = make_symbol(SymbolKind::BufferMin, "min"), n = make_symbol(SymbolKind::BufferExtent, "n");
  const SymbolRef xo = make_symbol(SymbolKind::Loop, "xo");
  const Form first(min), size(n), tile(xo);
  const Facts facts = Facts().with_range(xo, 0, floor_div(size + 31, 32) - 1);
  // the last element of the tile at half, quarter, .. resolution is not before the first
  for (const int64_t d : {2, 4, 8, 32, 64, 128}) {
    const Form end = first + drawloom::min(size, 32 * tile + 32);
    CHECK(facts.proves_le(floor_div(first + 32 * tile, d), floor_div(end + d - 2, d)));
    CHECK_FALSE(facts.proves_le(floor_div(first + 32 * tile, d) + 32 / d + 1, floor_div(end + d - 2, d)));
  }
  // two elements up and down again, where both tiles of the coarser level end
  const Form coarse = drawloom::min(floor_div(first + drawloom::min(size, 32 * tile + 32) + 62, 64),
                                    floor_div(tile + floor_div(first + 30, 32), 2) + 1);
  CHECK(facts.proves_nonnegative(2 * coarse - 2 * floor_div(tile + floor_div(first, 32), 2) + 3));
}

TEST_CASE("a split by a parameter", "[facts]") {
  Names s;
  const Facts tile = Facts().with_range(s.xi, 0, s.fk - 1).with_range(s.xo, 0, ceil_div(s.fn, s.fk) - 1);
  CHECK(tile.proves_nonnegative(s.fk * s.fxo + s.fxi));
  CHECK(tile.proves_le(s.fk * s.fxo + s.fxi, s.fk * s.fxo + s.fk - 1));
  CHECK(tile.proves_le(s.fk * s.fxo, s.fn - 1));
  CHECK(tile.proves_le(s.fk * s.fxo + s.fxi, s.fk * ceil_div(s.fn, s.fk) - 1));
}

TEST_CASE("constant ranges", "[facts]") {
  Names s;
  CHECK(s.tile.range(s.fxi).hi == 7);
  CHECK(s.tile.range(min(Form(8), s.fn - 8 * s.fxo) + 2).hi == 10);
  CHECK(s.tile.range(min(Form(8), s.fn - 8 * s.fxo) + 2).lo == 3);
  CHECK(s.tile.range(min(8 * s.fxo + 8, s.fn) - 8 * s.fxo).hi == 8);
  CHECK(s.tile.range(floor_div(s.fxi, 2)) == (Range{0, 3}));
  CHECK_FALSE(s.tile.range(s.fxo).hi.has_value());
  CHECK(Facts().with(Cond::less_equal(s.fa, s.fb)).with_range(s.b, 0, 4).range(s.fa).hi == 4);
}

TEST_CASE("facts simplify forms", "[facts]") {
  Names s;
  CHECK(s.tile.simplify(floor_div(8 * s.fxo + s.fxi, 8)) == s.fxo);
  CHECK(s.tile.simplify(floor_mod(8 * s.fxo + s.fxi, 8)) == s.fxi);
  CHECK(s.tile.simplify(min(8 * s.fxo, s.fn - 1)) == 8 * s.fxo);
  CHECK(s.tile.simplify(2 * max(s.fxi, 0) + 1) == 2 * s.fxi + 1);
  CHECK(s.tile.simplify(choose(Cond::nonnegative(s.fxi), s.fa, s.fb)) == s.fa);
  CHECK(s.tile.simplify(choose(Cond::nonnegative(s.fxi - 8), s.fa, s.fb)) == s.fb);
  // The branch knows its condition.
  CHECK(s.none.simplify(choose(Cond::nonnegative(s.fa - s.fb), max(s.fa, s.fb) + s.fn, 0)) ==
        choose(Cond::nonnegative(s.fa - s.fb), s.fa + s.fn, 0));
  const Facts k = Facts().with_range(s.xi, 0, s.fn - 1).with(Cond::nonnegative(s.fn - 1));
  CHECK(k.simplify(floor_div(s.fn * s.fxo + s.fxi, s.fn)) == s.fxo);
  CHECK(k.simplify(floor_mod(s.fn * s.fxo + s.fxi, s.fn)) == s.fxi);
  const Form tail = min(8 * s.fxo + 8, s.fn);
  CHECK(s.tile.simplify(tail) == tail);
}

TEST_CASE("facts simplify conditions", "[facts]") {
  Names s;
  CHECK(s.tile.simplify(Cond::nonnegative(s.fxi)).is_always());
  CHECK(s.tile.simplify(Cond::nonnegative(s.fxi - 8)).is_never());
  const Cond open = Cond::nonnegative(s.fa);
  CHECK(s.tile.simplify(open && Cond::nonnegative(7 - s.fxi)) == open);
  CHECK(s.none.simplify(Cond::nonnegative(s.fa) && Cond::nonnegative(s.fb - s.fa) && Cond::nonnegative(s.fb)) ==
        (Cond::nonnegative(s.fa) && Cond::nonnegative(s.fb - s.fa)));
}

TEST_CASE("facts are values", "[facts]") {
  Names s;
  const Facts base = Facts().with(Cond::nonnegative(s.fa));
  const Facts more = base.with(Cond::nonnegative(s.fb));
  CHECK(more.proves_nonnegative(s.fa + s.fb));
  CHECK_FALSE(base.proves_nonnegative(s.fa + s.fb));
}

namespace {

/// Random facts, and points of which they are true.
struct Case {
  Generator g;
  Facts facts;
  std::vector<Form> known;
  std::vector<Point> points;

  explicit Case(uint64_t seed) : g(seed) {
    const int count = static_cast<int>(g.random.uniform(0, 4));
    for (int i = 0; i < count; ++i) {
      const Form f = to_form(g.expr(g.random.chance(60) ? 1 : 2));
      facts = facts.with(Cond::nonnegative(f));
      known.push_back(f);
    }
    for (int tries = 0; tries < 300 && points.size() < 12; ++tries) {
      const Point at = g.point();
      bool holds = true;
      for (const auto& f : known) holds = holds && *evaluate(f, env_of(at)) >= 0;
      if (holds) points.push_back(at);
    }
  }
};

}  // namespace

TEST_CASE("whatever is proven holds at every point that satisfies the facts", "[facts][random]") {
  int proven = 0, bounds = 0, changed = 0;
  for (uint64_t seed = 0; seed < 2500; ++seed) {
    Case c(seed);
    if (c.points.empty()) continue;
    for (int i = 0; i < 3; ++i) {
      Form f = to_form(c.g.expr(1 + i));
      if (c.g.random.chance(50)) f += c.g.random.uniform(0, 30);
      const bool holds = c.facts.proves_nonnegative(f);
      const Range range = c.facts.range(f);
      const Form simple = c.facts.simplify(f);
      const Cond condition = Cond::nonnegative(f) && Cond::nonnegative(to_form(c.g.expr(1)));
      const Cond shorter = c.facts.simplify(condition);
      proven += holds;
      bounds += range.lo || range.hi;
      changed += !(simple == f);
      for (const auto& at : c.points) {
        INFO("seed " << seed << " " << f.text() << " simple " << simple.text());
        for (const auto& k : c.known) UNSCOPED_INFO("fact " << k.text());
        const int64_t v = *evaluate(f, env_of(at));
        if (holds) REQUIRE(v >= 0);
        REQUIRE(range.contains(v));
        REQUIRE(evaluate(simple, env_of(at)) == v);
        REQUIRE(evaluate(shorter, env_of(at)) == evaluate(condition, env_of(at)));
      }
    }
  }
  CHECK(proven > 500);
  CHECK(bounds > 1000);
  CHECK(changed > 100);
}

TEST_CASE("sums of a few facts are proven", "[facts][random]") {
  int proven = 0, asked = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Generator g(seed);
    Facts facts;
    Form sum(g.random.uniform(0, 3));
    for (int i = 0; i < 3; ++i) {
      const Form f = g.random.uniform(-3, 3) * Form(g.x) + g.random.uniform(-3, 3) * Form(g.y) +
                     g.random.uniform(-3, 3) * Form(g.z) + g.random.uniform(-5, 5);
      facts = facts.with(Cond::nonnegative(f));
      sum += g.random.uniform(0, 2) * f;
    }
    ++asked;
    proven += facts.proves_nonnegative(sum);
  }
  CHECK(proven * 100 >= asked * 80);
}
