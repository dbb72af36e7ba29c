#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "drawloom/layout/convert.h"
#include "drawloom/layout/hardware.h"
#include "drawloom/support/hash.h"

using namespace drawloom;

namespace {

using Registers = std::map<std::pair<int64_t, int64_t>, Point>;  // (thread, register) -> the element in it

/// Threads of `threads` (lane first), as numbered by a Conversion.
auto thread_points(const std::vector<Dim>& threads) -> std::vector<Point> {
  std::vector<Point> out;
  for (int64_t n = 0; n < point_count(threads); ++n) out.push_back(nth_point(threads, n));
  return out;
}

/// What `layout` says every thread holds, element by element.
auto held_by(const Layout& layout, const std::vector<Dim>& threads) -> Registers {
  Registers out;
  const auto points = thread_points(threads);
  for (size_t thread = 0; thread < points.size(); ++thread) {
    for (int64_t reg = 0; reg < layout.from_extent("register"); ++reg) {
      Point at;
      bool exists = true;
      for (const auto& dim : layout.from()) {
        int64_t value = dim.name == "register" ? reg : 0;
        for (size_t d = 0; d < threads.size(); ++d) {
          if (threads[d].name == dim.name) value = points[thread][d];
        }
        at.push_back(value);
      }
      for (size_t d = 0; d < threads.size(); ++d) {  // a Dim the layout lacks must be 0
        exists = exists && (layout.from_index(threads[d].name) >= 0 || points[thread][d] == 0);
      }
      const auto place = exists ? layout.apply(at) : std::nullopt;
      if (place) out[{static_cast<int64_t>(thread), reg}] = *place;
    }
  }
  return out;
}

/// A machine that knows registers, shfl.sync.idx and bytes of shared memory, and nothing of layouts but the plan's own
/// statements.
auto execute(const Conversion& plan, const Registers& before, int64_t element_bytes) -> Registers {
  Registers after;
  const int64_t unit = plan.unit_elements;
  const auto move = [&](int64_t from_thread, int64_t from, int64_t to_thread, int64_t to) {
    for (int64_t e = 0; e < unit; ++e) after[{to_thread, to * unit + e}] = before.at({from_thread, from * unit + e});
  };
  switch (plan.kind) {
    case ConversionKind::nothing: return before;
    case ConversionKind::rename:
      for (int64_t thread = 0; thread < point_count(plan.threads); ++thread) {
        for (size_t to = 0; to < plan.renamed.size(); ++to) {
          if (before.count({thread, plan.renamed[to] * unit}) > 0) {
            move(thread, plan.renamed[to], thread, static_cast<int64_t>(to));
          }
        }
      }
      return after;
    case ConversionKind::shuffle:
      for (const auto& round : plan.rounds) {
        for (size_t thread = 0; thread < round.source.size(); ++thread) {
          if (round.received[thread] < 0) continue;
          const auto from = thread / 32 * 32 + static_cast<size_t>(round.source[thread]);
          REQUIRE(round.source[thread] >= 0);
          REQUIRE(round.source[thread] < 32);
          REQUIRE(round.offered[from] >= 0);
          move(static_cast<int64_t>(from), round.offered[from], static_cast<int64_t>(thread), round.received[thread]);
        }
      }
      return after;
    case ConversionKind::shared: break;
  }
  std::map<int64_t, Point> memory;
  const auto access = [&](const VectorAccess& vectors, auto&& visit) {
    const auto points = thread_points(plan.threads);
    for (size_t thread = 0; thread < points.size(); ++thread) {
      for (int64_t step = 0; step < vectors.bytes.from_extent("step"); ++step) {
        Point at;
        bool exists = true;
        for (const auto& dim : vectors.bytes.from()) {
          int64_t value = dim.name == "step" ? step : 0;
          for (size_t d = 0; d < plan.threads.size(); ++d) {
            if (plan.threads[d].name == dim.name) value = points[thread][d];
          }
          at.push_back(value);
        }
        for (size_t d = 0; d < plan.threads.size(); ++d) {
          exists = exists && (vectors.bytes.from_index(plan.threads[d].name) >= 0 || points[thread][d] == 0);
        }
        const auto start = exists ? vectors.bytes.apply(at) : std::nullopt;
        if (!start) continue;
        REQUIRE((*start)[0] % vectors.width == 0);
        for (int64_t e = 0; e < vectors.width / element_bytes; ++e) {
          visit(static_cast<int64_t>(thread), vectors.registers.value_at({e, step}), (*start)[0] + e * element_bytes);
        }
      }
    }
  };
  access(plan.shared->store, [&](int64_t thread, int64_t reg, int64_t byte) {
    REQUIRE(byte + element_bytes <= plan.shared->tile.bytes);
    const auto element = before.at({thread, reg});
    REQUIRE((memory.count(byte) == 0 || memory[byte] == element));
    memory[byte] = element;
  });
  access(plan.shared->load, [&](int64_t thread, int64_t reg, int64_t byte) { after[{thread, reg}] = memory.at(byte); });
  return after;
}

/// Plans, executes, and compares every element of every thread of the destination.
auto converted(const Layout& source, const Layout& destination, int64_t element_bytes = 4) -> Conversion {
  const auto plan = plan_conversion(source, destination, element_bytes).value();
  const auto after = execute(plan, held_by(source, plan.threads), element_bytes);
  for (const auto& [at, element] : held_by(destination, plan.threads)) {
    REQUIRE(after.count(at) == 1);
    REQUIRE(after.at(at) == element);
  }
  return plan;
}

/// The least kind, from the words of the definition.
auto least_kind(const Layout& source, const Layout& destination, const std::vector<Dim>& threads) -> ConversionKind {
  const auto have = held_by(source, threads), want = held_by(destination, threads);
  std::map<std::pair<int64_t, Point>, int> in_warp;
  for (const auto& [at, element] : have) in_warp[{at.first / 32, element}] = 1;
  bool same = true, near = true, renamed = true;
  std::map<int64_t, std::set<int64_t>> candidates;
  for (const auto& [at, element] : want) {
    same = same && have.count(at) > 0 && have.at(at) == element;
    near = near && in_warp.count({at.first / 32, element}) > 0;
    std::set<int64_t> here;
    for (int64_t reg = 0; reg < source.from_extent("register"); ++reg) {
      if (have.count({at.first, reg}) > 0 && have.at({at.first, reg}) == element) here.insert(reg);
    }
    auto& all = candidates.emplace(at.second, here).first->second;
    std::set<int64_t> both;
    std::set_intersection(all.begin(), all.end(), here.begin(), here.end(), std::inserter(both, both.end()));
    all = both;
  }
  for (const auto& [reg, from] : candidates) renamed = renamed && !from.empty();
  return same      ? ConversionKind::nothing
         : renamed ? ConversionKind::rename
         : near    ? ConversionKind::shuffle
                   : ConversionKind::shared;
}

/// A lane holds `columns` neighbouring columns of a row; warps as the accumulator has them.
auto row_contiguous(int64_t n, int64_t columns) -> Layout {
  return LayoutBuilder()
      .to("row")
      .to("col")
      .map("register", columns, {{"col", 1}})
      .map("register", 2, {{"row", 8}})
      .map("lane", 4, {{"col", columns}})
      .map("lane", 8, {{"row", 1}})
      .map("register", n / (4 * columns), {{"col", 4 * columns}})
      .map("warp", 4, {{"row", 16}})
      .build();
}

}  // namespace

TEST_CASE("accumulator to A operand is nothing") {
  // 16-bit A of m64k16 takes columns 16 s .. 16 s + 15 of the accumulator: registers 8 s .. 8 s + 7.
  const auto acc = wgmma_accumulator(64).value();
  const auto a = product(rename(wgmma_a_registers(2).value(), {{"k", "col"}}),
                         LayoutBuilder().map("register", 4, {{"col", 1}}).build())
                     .value();
  const auto plan = converted(acc, a, 2);
  CHECK(plan.kind == ConversionKind::nothing);
  CHECK(plan.text() == "nothing");
  CHECK(plan.unit_elements == 2);
  // The same with 22 blocks of 8 columns: 11 operands.
  const auto wide = product(rename(wgmma_a_registers(2).value(), {{"k", "col"}}),
                            LayoutBuilder().map("register", 11, {{"col", 1}}).build())
                        .value();
  CHECK(converted(wgmma_accumulator(176).value(), wide, 2).kind == ConversionKind::nothing);
  // mma.sync: two neighbouring m16n8 accumulators are one A operand.
  const auto two = product(mma_accumulator(), LayoutBuilder().map("register", 2, {{"col", 1}}).build()).value();
  CHECK(converted(two, rename(mma_a(), {{"k", "col"}}), 2).kind == ConversionKind::nothing);
  // 8-bit operands want four neighbouring columns in a lane: not what it has.
  const auto bytes = rename(wgmma_a_registers(1).value(), {{"k", "col"}});
  CHECK(converted(wgmma_accumulator(32).value(), bytes, 1).kind == ConversionKind::shuffle);
}

TEST_CASE("accumulator to rows is shuffles: butterflies 1, 2, 3") {
  // Two column bits change places between lane and register: 3/4 of the registers cross, the others stay.
  const auto plan = converted(wgmma_accumulator(32).value(), row_contiguous(32, 8));
  CHECK(plan.kind == ConversionKind::shuffle);
  CHECK(plan.rounds.size() == 16);
  CHECK(plan.shuffles() == 12);
  for (const auto& round : plan.rounds) CHECK(round.butterfly().value_or(99) <= 3);
  // f16: pairs of columns travel together, half as many.
  const auto halves = converted(wgmma_accumulator(32).value(), row_contiguous(32, 8), 2);
  CHECK(halves.unit_elements == 2);
  CHECK(halves.shuffles() == 6);
  CHECK(converted(wgmma_accumulator(32).value(), row_contiguous(32, 8), 8).shuffles() == 24);
  // One column bit moves across, the lane bits rotate: every round crosses.
  CHECK(converted(wgmma_accumulator(64).value(), row_contiguous(64, 4)).kind == ConversionKind::shuffle);
  CHECK(converted(wgmma_accumulator(256).value(), row_contiguous(256, 8)).shuffles() == 96);
}

TEST_CASE("repeats of odd number pass through a shuffle") {
  const auto plan = converted(wgmma_accumulator(176).value(), row_contiguous(176, 4));
  CHECK(plan.kind == ConversionKind::shuffle);
  CHECK(plan.rounds.size() == 88);
}

TEST_CASE("accumulator to another split over warpgroups goes through shared memory") {
  const auto by_rows =
      product(wgmma_accumulator(64).value(), LayoutBuilder().map("warpgroup", 2, {{"row", 1}}).build()).value();
  const auto by_columns =
      product(product(wgmma_accumulator(32).value(), LayoutBuilder().map("warpgroup", 2, {{"col", 1}}).build()).value(),
              LayoutBuilder().map("register", 2, {{"row", 1}}).build())
          .value();
  REQUIRE(by_rows.to_extent("row") == 128);
  REQUIRE(by_columns.to_extent("row") == 128);
  for (const int64_t bytes : {2, 4}) {
    const auto plan = converted(by_rows, by_columns, bytes);
    CHECK(plan.kind == ConversionKind::shared);
    INFO(plan.text());
    CHECK(plan.shared->tile.is_free());
    // A lane holds two neighbouring columns, 8 or 4 bytes; with the row 8 further down next to them it moves 16.
    CHECK(plan.shared->store.width == 16);
    CHECK(plan.shared->load.width == 16);
  }
  // To rows of 16 columns per lane, over all warps: wide loads.
  const auto rows = LayoutBuilder()
                        .to("row")
                        .to("col")
                        .map("register", 4, {{"col", 1}})
                        .map("lane", 16, {{"col", 4}})
                        .map("lane", 2, {{"row", 1}})
                        .map("warp", 4, {{"row", 2}})
                        .map("warpgroup", 2, {{"row", 8}})
                        .map("register", 8, {{"row", 16}})
                        .build();
  const auto plan = converted(by_rows, rows);
  CHECK(plan.kind == ConversionKind::shared);
  INFO(plan.text());
  CHECK(plan.shared->tile.is_free());
}

TEST_CASE("other registers in all lanes alike is a rename") {
  const auto turned = LayoutBuilder()
                          .to("row")
                          .to("col")
                          .map("register", 2, {{"row", 8}})
                          .map("register", 2, {{"col", 1}})
                          .map("lane", 4, {{"col", 2}})
                          .map("lane", 8, {{"row", 1}})
                          .build();
  const auto plan = converted(mma_accumulator(), turned);
  CHECK(plan.kind == ConversionKind::rename);
  CHECK(plan.text() == "rename 0<-0 1<-2 2<-1 3<-3");
  // 22 registers as 2 * 11 and as 11 * 2: no bit matches, the registers do.
  const auto lane = LayoutBuilder().map("lane", 32, {{"row", 1}}).build();
  const auto a =
      product(lane, LayoutBuilder().map("register", 2, {{"col", 11}}).map("register", 11, {{"col", 1}}).build());
  const auto b = product(lane, LayoutBuilder().map("register", 22, {{"col", 1}}).build());
  const auto odd = converted(*a, *b);
  CHECK(odd.kind == ConversionKind::rename);
  CHECK(odd.renamed[12] == 3);  // column 12 = 1 + 11: second digit 1, first digit 1
  // Part of the registers is enough.
  CHECK(converted(*b, product(lane, LayoutBuilder().map("register", 5, {{"col", 1}}).build()).value()).kind ==
        ConversionKind::nothing);
}

TEST_CASE("replicas are used, and made") {
  // Row sums: the four lanes of a row all hold them; the destination wants row l in lane l of the first 16.
  const auto sums = LayoutBuilder()
                        .to("row")
                        .map("register", 2, {{"row", 8}})
                        .map("lane", 4, {})
                        .map("lane", 8, {{"row", 1}})
                        .build();
  const auto one_each = LayoutBuilder().to("row").map("lane", 16, {{"row", 1}}).map("lane", 2, {}).build();
  const auto plan = converted(sums, one_each);
  CHECK(plan.kind == ConversionKind::shuffle);
  CHECK(plan.shuffles() <= 2);
  // And back: every lane of a row group gets its rows; one lane is read by many.
  CHECK(converted(one_each, sums).shuffles() <= 2);
  // A register replica is a plain copy.
  const auto twice = LayoutBuilder().to("row").map("register", 2, {}).map("lane", 32, {{"row", 1}}).build();
  const auto once = LayoutBuilder().to("row").map("lane", 32, {{"row", 1}}).build();
  CHECK(converted(once, twice).text() == "rename 0<-0 1<-0");
  CHECK(converted(twice, once).kind == ConversionKind::nothing);
  // One warp holds, all warps want.
  const auto spread = LayoutBuilder().to("row").map("lane", 32, {{"row", 1}}).map("warp", 4, {}).build();
  CHECK(converted(once, spread).kind == ConversionKind::shared);
  CHECK(converted(spread, once).kind == ConversionKind::nothing);
}

TEST_CASE("shuffles that no linear plan does still get every element home") {
  // Eight lanes hold 32 rows in four registers each; 32 lanes want one each: a lane serves four, so four rounds.
  const auto eight = LayoutBuilder().to("row").map("lane", 8, {{"row", 1}}).map("register", 4, {{"row", 8}}).build();
  const auto all = LayoutBuilder().to("row").map("lane", 32, {{"row", 1}}).build();
  const auto spread = converted(eight, all);
  CHECK(spread.kind == ConversionKind::shuffle);
  CHECK(spread.rounds.size() == 4);
  // 22 columns as 2 * 11 and as 11 * 2, and the lanes in another order: no bits to solve for.
  const auto source =
      product(LayoutBuilder().map("lane", 32, {{"row", 1}}).build(),
              LayoutBuilder().map("register", 2, {{"col", 11}}).map("register", 11, {{"col", 1}}).build());
  const auto destination = product(LayoutBuilder().map("lane", 2, {{"row", 16}}).map("lane", 16, {{"row", 1}}).build(),
                                   LayoutBuilder().map("register", 22, {{"col", 1}}).build());
  const auto turned = converted(*source, *destination);
  CHECK(turned.kind == ConversionKind::shuffle);
  CHECK(turned.rounds.size() == 22);
  for (const auto& round : turned.rounds) CHECK(round.is_uniform());
  // A quarter of the warp in use on both sides.
  const auto back = LayoutBuilder().to("row").map("register", 2, {{"row", 1}}).map("lane", 8, {{"row", 2}}).build();
  const auto forth = LayoutBuilder().to("row").map("lane", 8, {{"row", 1}}).map("register", 2, {{"row", 8}}).build();
  CHECK(converted(back, forth).kind == ConversionKind::shuffle);
}

TEST_CASE("random register layouts: the least kind is found and every plan moves every element") {
  CounterRandom random(21);
  std::map<ConversionKind, int> kinds;
  for (int k = 0; k < 250; ++k) {
    // 3 register bits, 5 lane bits, 1 warp bit over 9 bits of a tile; how much is mixed varies.
    const auto mixed = random.uniform(0, 3);
    const auto build = [&](bool plain) {
      std::vector<LayoutBuilder::Target> bits;
      for (int b = 0; b < 4; ++b) bits.push_back({"row", int64_t{1} << b});
      for (int b = 0; b < 5; ++b) bits.push_back({"col", int64_t{1} << b});
      const auto shuffle = [&](size_t first, size_t last) {
        for (size_t b = last; b > first + 1; --b) {
          std::swap(bits[b - 1],
                    bits[first + static_cast<size_t>(random.uniform(0, static_cast<int64_t>(b - 1 - first)))]);
        }
      };
      if (!plain && mixed >= 1) shuffle(0, 3);
      if (!plain && mixed >= 2) shuffle(0, 8);
      if (!plain && mixed >= 3) shuffle(0, 9);
      LayoutBuilder builder;
      builder.from("register").from("lane").from("warp").to("row").to("col");
      for (size_t b = 0; b < 9; ++b) {
        std::vector<LayoutBuilder::Target> targets = {bits[b]};
        // XOR of bits further down keeps the map one-to-one.
        if (!plain && mixed >= 2 && b > 0 && random.chance(25)) {
          targets.push_back(bits[static_cast<size_t>(random.uniform(0, static_cast<int64_t>(b) - 1))]);
        }
        builder.map(b < 3 ? "register" : b < 8 ? "lane" : "warp", 2, targets);
      }
      return builder.build();
    };
    const auto source = build(true), destination = build(false);
    const auto bytes = int64_t{1} << random.uniform(0, 3);
    INFO(source.text() << "\n" << destination.text() << "\n" << bytes);
    const auto plan = converted(source, destination, bytes);
    REQUIRE(plan.kind == least_kind(source, destination, plan.threads));
    if (plan.kind == ConversionKind::shuffle) {
      // One-to-one maps over bits: never more rounds than registers.
      REQUIRE(static_cast<int64_t>(plan.rounds.size()) == 8 / plan.unit_elements);
    }
    ++kinds[plan.kind];
  }
  for (const auto kind :
       {ConversionKind::nothing, ConversionKind::rename, ConversionKind::shuffle, ConversionKind::shared}) {
    CHECK(kinds[kind] > 8);
  }
}

TEST_CASE("conversions that cannot be are refused with the reason") {
  const auto acc = wgmma_accumulator(16).value();
  CHECK(plan_conversion(acc, rename(acc, {{"col", "k"}}), 4).why() == "only one of the layouts has the coordinate `k`");
  CHECK(plan_conversion(acc, wgmma_accumulator(32).value(), 4).why().find("does not hold element") !=
        std::string::npos);
  SharedRules rules;
  rules.max_bytes = 1000;
  const auto swapped = LayoutBuilder()
                           .to("row")
                           .to("col")
                           .map("register", 8, {{"col", 1}})
                           .map("warp", 2, {{"col", 8}})
                           .map("warp", 2, {{"row", 1}})
                           .map("lane", 32, {{"row", 2}})
                           .build();
  CHECK(plan_conversion(acc, swapped, 4, rules).why() == "the tile has 4096 bytes, more than 1000");
  CHECK(converted(acc, swapped).kind == ConversionKind::shared);
}
