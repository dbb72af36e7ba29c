#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "random_layout.h"

using namespace drawloom;

namespace {

/// Every input point with where it goes.
auto table(const Layout& layout) -> std::map<Point, Point> {
  std::map<Point, Point> out;
  for (int64_t n = 0; n < point_count(layout.from()); ++n) {
    const auto point = nth_point(layout.from(), n);
    out[point] = layout.apply(point).value();
  }
  return out;
}

auto image_size(const Layout& layout) -> int64_t {
  std::set<Point> images;
  for (const auto& [point, image] : table(layout)) images.insert(image);
  return static_cast<int64_t>(images.size());
}

auto accumulator_88() -> Layout {
  return LayoutBuilder()
      .to("row")
      .to("col")
      .map("register", 2, {{"col", 1}})
      .map("register", 2, {{"row", 8}})
      .map("register", 22, {{"col", 8}})
      .map("lane", 4, {{"col", 2}})
      .map("lane", 8, {{"row", 1}})
      .map("warp", 4, {{"row", 16}})
      .build();
}

}  // namespace

TEST_CASE("the worked example: 88 registers of a 64 x 176 tile") {
  const auto acc = accumulator_88();
  CHECK(acc.text() == "(register: col0 row3 col3-4, lane: col1-2 row0-2, warp: row4-5) -> (row: 2^6, col: 2^4 11)");
  CHECK(acc.from_extent("register") == 88);
  CHECK(acc.to_extent("col") == 176);
  CHECK(*acc.apply({71, 5, 2}) == Point{41, 139});
  // The formula of the instruction's description, for every register of every thread.
  for (const auto& [at, place] : table(acc)) {
    const auto i = at[0], lane = at[1], warp = at[2];
    CHECK(place == Point{16 * warp + lane / 4 + 8 * ((i >> 1) & 1), 8 * (i >> 2) + 2 * (lane & 3) + (i & 1)});
  }
  CHECK(acc.is_injective());
  CHECK(acc.is_onto());
  CHECK_FALSE(acc.is_linear());
}

TEST_CASE("points outside and points in gaps go nowhere") {
  const auto padded = LayoutBuilder().map("row", 3, {{"word", 36}}).map("col", 32, {{"word", 1}}).build();
  CHECK(*padded.apply({2, 31}) == Point{103});
  CHECK_FALSE(padded.apply({3, 0}));
  CHECK_FALSE(padded.apply({0, -1}));
  const auto back = invert(padded);
  CHECK(*back.apply({71 - 4}) == Point{1, 31});
  CHECK_FALSE(back.apply({35}));
  CHECK(back.text() == "(word: col0-4 row0*36) -> (row: 3, col: 2^5)");
}

TEST_CASE("equal maps are equal values, however they were said") {
  const auto once = LayoutBuilder().map("i", 22, {{"x", 3}}).build();
  const auto split = LayoutBuilder().map("i", 2, {{"x", 3}}).map("i", 11, {{"x", 6}}).build();
  const auto other = LayoutBuilder().map("i", 11, {{"x", 3}}).map("i", 2, {{"x", 33}}).build();
  CHECK(once == split);
  CHECK(once == other);
  CHECK_FALSE(once == LayoutBuilder().map("i", 22, {{"x", 4}}).build());
  CHECK(same_map(packed({{"a", 4}, {"b", 6}}, "x", 1),
                 LayoutBuilder().from("b").from("a").map("a", 4, {{"x", 1}}).map("b", 6, {{"x", 4}}).build()));
}

TEST_CASE("maps that are no layouts are refused with the reason") {
  const auto why = [](const LayoutBuilder& b) { return b.try_build().why(); };
  CHECK(why(LayoutBuilder().map("i", 4, {{"x", 1}}).map("j", 3, {{"x", 3}})) ==
        "in `x` a digit of stride 3 overlaps what lies below, 0 .. 3");
  CHECK(why(LayoutBuilder().map("i", 3, {{"x", 1}, {"y", 1}})) ==
        "a digit of 3 values in `i` moves 2 digits; only bits can be added up by XOR");
  CHECK(why(LayoutBuilder().map("i", 3, {{"x", 1}}).map("j", 3, {{"x", 1}})) ==
        "two digits move the same digit of 3 values in `x`; only bits can be added up by XOR");
  CHECK(why(LayoutBuilder().map("r2", 2, {})) == "`r2` is no name of a coordinate: letters and `_`");
  LayoutBuilder many;
  for (int k = 0; k < 62; ++k) many.map("i", 2, {});
  CHECK(many.try_build().ok());
  CHECK(why(many.map("j", 8, {})) == "a layout has at most 64 digits on a side, this one has 65");
}

TEST_CASE("text round-trips for random layouts") {
  CounterRandom random(1);
  for (int k = 0; k < 2000; ++k) {
    const auto layout = random_layout(random, {"a", "b", "c"}, {"x", "y"});
    const auto again = parse_layout(layout.text(), "t");
    REQUIRE(again.ok());
    REQUIRE(*again == layout);
    REQUIRE(again->text() == layout.text());
  }
}

TEST_CASE("text with mistakes is refused where the mistake is") {
  const auto message = [](std::string_view text) { return parse_layout(text, "l").diag().text(); };
  CHECK(message("(a: x0) (x: 2)") == "l:1:9: error: expected `->`, found `(` [parse_unexpected]");
  CHECK(message("(a: x1) -> (x: 2)") == "l:1:5: error: unknown output digit `x1` [parse_unknown_name]");
  CHECK(message("(a: x) -> (x: 2)") ==
        "l:1:5: error: expected an output digit like `row3`, found `x` [parse_unexpected]");
  CHECK(message("(a: x0) -> (x: 0)") == "l:1:16: error: `0` is not a positive number [parse_number]");
  CHECK(message("(a: x0-99999999999) -> (x: 2)").find("`99999999999` is not a number of at most 63") !=
        std::string::npos);
  CHECK(message("(a: x0) -> (x: 9999999999999)").find("is not a number of at most") != std::string::npos);
  CHECK(message("(a: x0) -> (x: 2^63)").find("is not a stride of at most") != std::string::npos);
  CHECK(message("(a: 0:1000000007 0:1000000007) -> (x: 1)").find("is not a stride of at most") != std::string::npos);
  CHECK(parse_layout("(a: x0-1) -> (x: 2^2 2*3)", "l").diag().message().find("overlaps") != std::string::npos);
}

TEST_CASE("injective and onto agree with counting") {
  CounterRandom random(2);
  int injective = 0, onto = 0;
  for (int k = 0; k < 500; ++k) {
    const auto layout = random_layout(random, {"a", "b"}, {"x", "y"});
    const auto images = image_size(layout);
    REQUIRE(layout.is_injective() == (images == point_count(layout.from())));
    REQUIRE(layout.is_onto() == (images == point_count(layout.to())));
    injective += layout.is_injective(), onto += layout.is_onto();
  }
  CHECK(injective > 100);
  CHECK(injective < 450);
  CHECK(onto > 100);
}

TEST_CASE("compose equals doing one after the other") {
  CounterRandom random(3);
  int defined = 0, answered = 0;
  for (int k = 0; k < 1500; ++k) {
    RandomShape shape;
    shape.percent_gaps = 5;
    const auto first = random_layout(random, {"a", "b"}, {"x", "y"}, shape);
    shape.max_digits = 12;
    const auto second = random_layout(random, {"x", "y"}, {"u", "v"}, shape);
    bool inside = true;
    std::map<Point, Point> expected;
    for (const auto& [point, mid] : table(first)) {
      const auto end = second.apply(mid);
      if (!(inside = inside && end)) break;
      expected[point] = *end;
    }
    const auto both = compose(first, second);
    defined += inside, answered += both.ok();
    if (!both.ok()) continue;
    REQUIRE(inside);  // never an answer for a map that leaves the second's inputs
    REQUIRE(table(*both) == expected);
  }
  // The rest are maps whose digits do not line up: 3 values of one digit spread over two bits of the other.
  CHECK(answered > 300);
  CHECK(answered > defined / 2);
}

TEST_CASE("compose never refuses maps over bits that fit") {
  CounterRandom random(4);
  RandomShape shape;
  shape.percent_bits = 100, shape.percent_gaps = 0;
  for (int k = 0; k < 1000; ++k) {
    const auto first = random_layout(random, {"a", "b"}, {"x"}, shape);
    auto second = random_layout(random, {"x"}, {"u", "v"}, shape);
    if (second.from_extent("x") < first.to_extent("x")) continue;
    const auto both = compose(first, second);
    REQUIRE(both.ok());
    for (const auto& [point, mid] : table(first)) REQUIRE(*both->apply(point) == *second.apply(mid));
  }
}

TEST_CASE("compose cuts wide digits where the other map asks for it") {
  const auto tile = packed({{"row", 12}, {"col", 6}}, "x", 1);
  const auto columns = LayoutBuilder().map("x", 24, {{"u", 1}}).map("x", 3, {{"v", 1}}).build();
  CHECK(compose(tile, columns)->text() == "(row: u0-2, col: u3 v0) -> (u: 2^2 3 2, v: 3)");
  // Half of a gap: 0 .. 2 of the five values between 0 and the next digit.
  const auto part = LayoutBuilder().map("i", 3, {{"x", 1}}).map("i", 4, {{"x", 5}}).build();
  CHECK(compose(part, identity("x", 20, "y"))->text() == "(i: y0-2) -> (y: 3 2^2*5)");
  CHECK(compose(identity("i", 6, "x"), LayoutBuilder().map("x", 3, {{"u", 1}}).map("x", 4, {{"v", 1}}).build()).ok());
  CHECK(compose(identity("i", 7, "x"), identity("x", 6)).why() ==
        "the digits of `x` do not line up: 7 values of stride 1 against 6 of stride 1");
  CHECK(compose(identity("i", 8, "x"), identity("x", 4)).why() == "`x` goes to 4 or beyond, outside the second map");
}

TEST_CASE("the inverse leads back, and picks one of the replicas") {
  CounterRandom random(5);
  int injective = 0;
  for (int k = 0; k < 500; ++k) {
    const auto layout = random_layout(random, {"a", "b"}, {"x", "y"});
    const auto back = invert(layout);
    for (const auto& [point, image] : table(layout)) {
      const auto found = back.apply(image);
      REQUIRE(found);
      REQUIRE(*layout.apply(*found) == image);
      if (layout.is_injective()) REQUIRE(*found == point);
    }
    if (layout.is_injective() && layout.is_onto()) {
      ++injective;
      REQUIRE(invert(back) == layout);
    }
  }
  CHECK(injective > 30);
}

TEST_CASE("product puts copies above, divide takes them away") {
  CounterRandom random(6);
  RandomShape shape;
  shape.max_digits = 4;
  for (int k = 0; k < 300; ++k) {
    const auto tile = random_layout(random, {"a", "b"}, {"x", "y"}, shape);
    const auto outer = random_layout(random, {"a", "b"}, {"x", "y"}, shape);
    const auto whole = product(tile, outer);
    REQUIRE(whole.ok());
    for (const auto& [low, low_image] : table(tile)) {
      for (const auto& [high, high_image] : table(outer)) {
        Point at = low, image = low_image;
        for (size_t d = 0; d < 2; ++d) {
          at[d] += high[d] * tile.from()[d].extent();
          image[d] += high_image[d] * tile.to()[d].extent();
        }
        REQUIRE(*whole->apply(at) == image);
      }
    }
    const auto quotient = divide(*whole, tile);
    REQUIRE(quotient.ok());
    REQUIRE(same_map(*quotient, outer));
  }
}

TEST_CASE("22 copies of an 8-column core are the 176-column accumulator") {
  const auto core = LayoutBuilder()
                        .to("row")
                        .to("col")
                        .map("register", 2, {{"col", 1}})
                        .map("register", 2, {{"row", 8}})
                        .map("lane", 4, {{"col", 2}})
                        .map("lane", 8, {{"row", 1}})
                        .map("warp", 4, {{"row", 16}})
                        .build();
  const auto copies = LayoutBuilder().map("register", 22, {{"col", 1}}).build();
  CHECK(product(core, copies).value() == accumulator_88());
  CHECK(same_map(*divide(accumulator_88(), core), copies));
  CHECK(repeat(core, "register", 22, "col", 8).value() == accumulator_88());
  CHECK_FALSE(divide(accumulator_88(), identity("lane", 4, "row")).ok());
  CHECK(divide(core, identity("lane", 4, "row")).why() ==
        core.text() + " is no multiple of (lane: row0-1) -> (row: 2^2)");
}

TEST_CASE("names change, the map stays") {
  const auto renamed = rename(accumulator_88(), {{"row", "m"}, {"warp", "w"}});
  CHECK(renamed.text() == "(register: col0 m3 col3-4, lane: col1-2 m0-2, w: m4-5) -> (m: 2^6, col: 2^4 11)");
  const auto turned = arrange(renamed, {"w"}, {"col", "depth"});
  CHECK(*turned.apply({2, 71, 5}) == Point{139, 0, 41});
}
