#include <catch2/catch.hpp>

#include "drawloom/analysis/interval.h"
#include "drawloom/ir/text_form.h"
#include "reference.h"

using namespace drawloom;
using namespace drawloom::testing;

namespace {

/// Forms for ends, so that the Form instance runs on symbols and the int64 instance on their values.
struct Box {
  std::vector<std::pair<SymbolRef, Interval<Form>>> ends;

  auto find(const SymbolRef& s) const -> const Interval<Form>* {
    for (const auto& [symbol, interval] : ends) {
      if (symbol == s) return &interval;
    }
    return nullptr;
  }
};

auto symbolic(const Form& f, const Box& box) -> Interval<Form> {
  return interval_of<Form>(
      f, [&](const SymbolRef& s) { return box.find(s); }, [](const SymbolRef& s) { return Form(s); });
}

auto numeric(const Form& f, const Box& box, const Point& at) -> Interval<int64_t> {
  std::vector<std::pair<SymbolRef, Interval<int64_t>>> ends;
  for (const auto& [s, i] : box.ends) {
    Interval<int64_t> n;
    if (i.lo) n.lo = evaluate(*i.lo, env_of(at));
    if (i.hi) n.hi = evaluate(*i.hi, env_of(at));
    ends.emplace_back(s, n);
  }
  const auto find = [&](const SymbolRef& s) -> const Interval<int64_t>* {
    for (const auto& [symbol, interval] : ends) {
      if (symbol == s) return &interval;
    }
    return nullptr;
  };
  return interval_of<int64_t>(f, find, [&](const SymbolRef& s) { return at.at(s.get()); });
}

struct Names {
  SymbolRef n = make_symbol(SymbolKind::BufferExtent, "n"), w = make_symbol(SymbolKind::BufferMin, "w");
  SymbolRef xo = make_symbol(SymbolKind::Loop, "xo"), xi = make_symbol(SymbolKind::Loop, "xi");
  Form fn{n}, fw{w}, fxo{xo}, fxi{xi};
  Box inner{{{xi, {Form(0), Form(7)}}}};
};

}  // namespace

TEST_CASE("ends of linear and monotone forms are exact", "[interval]") {
  Names s;
  const auto tile = symbolic(8 * s.fxo + s.fxi, s.inner);
  CHECK(tile.lo == 8 * s.fxo);
  CHECK(tile.hi == 8 * s.fxo + 7);
  const auto clamped = symbolic(min(8 * s.fxo + s.fxi, s.fn - 1), s.inner);
  CHECK(clamped.lo == min(8 * s.fxo, s.fn - 1));
  CHECK(clamped.hi == min(8 * s.fxo + 7, s.fn - 1));
  const auto half = symbolic(floor_div(s.fxi + 1, 2), s.inner);
  CHECK(half.lo == Form(0));
  CHECK(half.hi == Form(4));
  const auto negative = symbolic(s.fn - 2 * s.fxi, s.inner);
  CHECK(negative.lo == s.fn - 14);
  CHECK(negative.hi == s.fn);
  CHECK(symbolic(s.fn * s.fxi, s.inner).hi == 7 * s.fn);  // extents are >= 0
  CHECK_FALSE(symbolic(s.fw * s.fxi, s.inner).hi.has_value());
  CHECK_FALSE(symbolic(s.fw * s.fxi, s.inner).lo.has_value());
  CHECK(symbolic(s.fn + s.fw, s.inner).lo == s.fn + s.fw);
}

TEST_CASE("a symbol that occurs twice in a monotone form stands still", "[interval]") {
  Names s;
  // base + min(8, rest): the width of a shifted tile.
  const Form end = 8 * s.fxi + min(Form(8), s.fn - 8 * s.fxi);
  CHECK(direction_of(end, s.xi.get()) == Direction::Increasing);
  const auto i = symbolic(end, s.inner);
  CHECK(i.lo == min(Form(8), s.fn));
  CHECK(i.hi == 56 + min(Form(8), s.fn - 56));
}

TEST_CASE("remainders, choices and opaque atoms are enclosed", "[interval]") {
  Names s;
  const auto ring = symbolic(floor_mod(s.fxo + s.fxi, 4), s.inner);
  CHECK(ring.lo == Form(0));
  CHECK(ring.hi == Form(3));
  const Cond moving = Cond::nonnegative(s.fxi - 3), still = Cond::nonnegative(s.fw);
  CHECK(symbolic(choose(moving, 5, 2), s.inner).lo == Form(2));
  CHECK(symbolic(choose(moving, 5, 2), s.inner).hi == Form(5));
  CHECK(symbolic(choose(still, s.fxi, 2 * s.fxi), s.inner).hi == choose(still, 7, 14));
  const Form data = opaque(binary(BinaryOp::BitXor, var_ref(s.xi), index_imm(5)), {0, 15});
  CHECK(symbolic(data, s.inner).hi == Form(15));
  CHECK(symbolic(data, Box{{{s.xo, {Form(0), Form(1)}}}}).hi == data);
}

TEST_CASE("an absent end stays absent, a min bounds it", "[interval]") {
  Names s;
  const Box open{{{s.xi, {Form(0), {}}}}};
  CHECK_FALSE(symbolic(s.fxi + 1, open).hi.has_value());
  CHECK(symbolic(s.fxi + 1, open).lo == Form(1));
  CHECK(symbolic(min(s.fxi, s.fn), open).hi == s.fn);
  CHECK(symbolic(-s.fxi, open).hi == Form(0));
  CHECK_FALSE(symbolic(-s.fxi, open).lo.has_value());
}

TEST_CASE("expressions as ends", "[interval]") {
  Names s;
  const Interval<Expr> range{index_imm(0), binary(BinaryOp::Sub, var_ref(s.n), index_imm(1))};
  const auto i = interval_of<Expr>(
      2 * s.fxi + s.fxo, [&](const SymbolRef& v) { return v == s.xi ? &range : nullptr; },
      [](const SymbolRef& v) { return var_ref(v); });
  const Point at{{s.n.get(), 10}, {s.xo.get(), 3}};
  CHECK(reference_value(*i.lo, at) == 3);
  CHECK(reference_value(*i.hi, at) == 21);
}

TEST_CASE("directions", "[interval]") {
  Names s;
  const Symbol* x = s.xi.get();
  CHECK(direction_of(s.fn, x) == Direction::Constant);
  CHECK(direction_of(8 * s.fxi - s.fn, x) == Direction::Increasing);
  CHECK(direction_of(s.fn - s.fxi, x) == Direction::Decreasing);
  CHECK(direction_of(min(s.fxi, s.fn), x) == Direction::Increasing);
  CHECK(direction_of(-max(s.fxi, s.fn), x) == Direction::Decreasing);
  CHECK(direction_of(floor_div(s.fxi, 2) * s.fn, x) == Direction::Increasing);
  CHECK(direction_of(s.fw * s.fxi, x) == Direction::Unknown);
  CHECK(direction_of(floor_mod(s.fxi, 4), x) == Direction::Unknown);
  CHECK(direction_of(s.fxi - min(s.fxi, s.fn), x) == Direction::Increasing);
  // Inside another atom too, and with quotients that move in steps.
  CHECK(direction_of(max(2 * s.fxi + min(Form(1), s.fn - 2 * s.fxi), s.fw), x) == Direction::Increasing);
  CHECK(direction_of(min(s.fn, s.fxi - floor_div(2 * s.fxi + s.fw, 3)), x) == Direction::Increasing);
  CHECK(direction_of(floor_div(5 * s.fxi, 3) - 2 * s.fxi, x) == Direction::Decreasing);
  CHECK(direction_of(floor_div(5 * s.fxi, 3) - s.fxi, x) == Direction::Increasing);
  CHECK(direction_of(2 * floor_div(5 * s.fxi, 3) - 3 * s.fxi, x) == Direction::Unknown);
}

TEST_CASE("random directions are true at random points", "[interval][random]") {
  int known = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Generator g(seed + 5);
    const Form f = to_form(g.expr(3));
    const Direction d = direction_of(f, g.x.get());
    if (d == Direction::Unknown) continue;
    known += d != Direction::Constant;
    for (int k = 0; k < 10; ++k) {
      Point at = g.point();
      const int64_t before = *evaluate(f, env_of(at));
      ++at[g.x.get()];
      const int64_t after = *evaluate(f, env_of(at));
      INFO("seed " << seed << " " << f.text());
      if (d == Direction::Constant) REQUIRE(before == after);
      if (d == Direction::Increasing) REQUIRE(before <= after);
      if (d == Direction::Decreasing) REQUIRE(before >= after);
    }
  }
  CHECK(known > 200);
}

TEST_CASE("random forms over random boxes stay inside, and the instances agree", "[interval][random]") {
  int bounded = 0, tight = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Generator g(seed + 999);
    const Form f = to_form(g.expr(1 + static_cast<int>(seed % 4)));
    Box box;
    for (const auto& s : {g.x, g.y, g.z}) {
      if (g.random.chance(35)) continue;
      const Form lo = g.random.chance(50) ? Form(g.random.uniform(-9, 9)) : Form(g.p) + g.random.uniform(-3, 3);
      box.ends.push_back({s, {lo, lo + (g.random.chance(50) ? Form(g.random.uniform(0, 9)) : Form(g.n))}});
      if (g.random.chance(10)) box.ends.back().second.hi.reset();
    }
    const auto bounds = symbolic(f, box);
    for (int k = 0; k < 4; ++k) {
      Point at = g.point();
      const auto numbers = numeric(f, box, at);
      INFO("seed " << seed << " " << f.text());
      REQUIRE(bounds.lo.has_value() == numbers.lo.has_value());
      REQUIRE(bounds.hi.has_value() == numbers.hi.has_value());
      if (bounds.lo) REQUIRE(evaluate(*bounds.lo, env_of(at)) == numbers.lo);
      if (bounds.hi) REQUIRE(evaluate(*bounds.hi, env_of(at)) == numbers.hi);
      bounded += bounds.lo && bounds.hi;
      int64_t least = INT64_MAX;
      for (int i = 0; i < 12; ++i) {
        for (const auto& [s, ends] : box.ends) {
          const int64_t lo = *evaluate(*ends.lo, env_of(at));
          const int64_t hi = ends.hi ? *evaluate(*ends.hi, env_of(at)) : lo + 30;
          at[s.get()] = i < 2 ? (i ? hi : lo) : g.random.uniform(lo, hi);
        }
        const int64_t v = *evaluate(f, env_of(at));
        if (numbers.lo) REQUIRE(*numbers.lo <= v);
        if (numbers.hi) REQUIRE(v <= *numbers.hi);
        least = std::min(least, v);
      }
      tight += numbers.lo == least;
    }
  }
  CHECK(bounded > 4000);
  CHECK(tight > 3000);
}
