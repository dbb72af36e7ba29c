#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "drawloom/layout/banks.h"
#include "drawloom/layout/hardware.h"
#include "random_layout.h"

using namespace drawloom;

namespace {

/// 64 x 64 f32 by warps of 32 lanes: each lane reads 4 elements along y for x = 4 * lane' + i (the reads of a transpose
/// in which a thread owns 4 x 4).
auto transposed_read() -> Layout {
  return LayoutBuilder()
      .to("y")
      .to("x")
      .map("register", 4, {{"y", 1}})
      .map("register", 4, {{"x", 1}})
      .map("lane", 16, {{"x", 4}})
      .map("lane", 2, {{"y", 4}})
      .map("warp", 8, {{"y", 8}})
      .build();
}
/// The stores of the same: lanes run along y.
auto coalesced_write() -> Layout {
  return LayoutBuilder()
      .to("y")
      .to("x")
      .map("register", 4, {{"y", 1}})
      .map("lane", 16, {{"y", 4}})
      .map("lane", 2, {{"x", 1}})
      .map("warp", 8, {{"x", 2}})
      .map("register", 4, {{"x", 16}})
      .build();
}

auto report(const Layout& access, const Layout& shared, int64_t width) -> BankReport {
  const auto bytes = compose(access, shared).value();
  const auto vectors = vector_access(bytes, 4, width).value();
  REQUIRE(vectors.width == width);
  return bank_conflicts(vectors.bytes, width).value();
}

/// Rows of 64 f32, the 16-byte chunk XORed with three bits of x from bit `first` on.
auto xor_rows(int64_t first) -> Layout {
  LayoutBuilder builder;
  builder.map("y", 64, {{"byte", 4}});
  for (int64_t bit = 0; bit < 6; ++bit) {
    std::vector<LayoutBuilder::Target> targets = {{"byte", int64_t{256} << bit}};
    if (bit >= first && bit < first + 3) targets.push_back({"byte", int64_t{16} << (bit - first)});
    builder.map("x", 2, targets);
  }
  return builder.build();
}

}  // namespace

TEST_CASE("the transpose of 64 x 64 f32: 8-way, 4-way, 4-way, free") {
  const auto plain = packed({{"y", 64}, {"x", 64}}, "byte", 4);
  const auto padded = LayoutBuilder().map("y", 64, {{"byte", 4}}).map("x", 64, {{"byte", 272}}).build();
  // TMA: two slabs of 32 columns (128 bytes), each swizzled by x bits 0-2.
  const auto slabs =
      LayoutBuilder().map("y", 32, {{"byte", 4}}).map("x", 64, {{"byte", 128}}).map("y", 2, {{"byte", 8192}}).build();
  const auto tma = compose(slabs, swizzle_map(Swizzle::b128, 16384).value()).value();
  CHECK(report(transposed_read(), plain, 16).worst == 8);
  CHECK(report(transposed_read(), tma, 16).worst == 4);
  CHECK(report(transposed_read(), padded, 16).worst == 4);
  CHECK(report(transposed_read(), xor_rows(0), 16).worst == 4);
  const auto best = report(transposed_read(), xor_rows(2), 16);
  CHECK(best.is_free());
  CHECK(best.text() == "16 B x 8 lanes: 1-way (rank 3 of 3)");
  CHECK(best.phases == 8 * 4 * 4);  // 8 warps, 4 instructions, 4 phases
  for (const auto& shared : {plain, tma, padded, xor_rows(2)}) CHECK(report(coalesced_write(), shared, 16).is_free());
}

TEST_CASE("eight rows of one chunk hit eight bank groups under every swizzle") {
  for (const auto swizzle : {Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
    const int64_t span = swizzle_span(swizzle);
    const auto box = tma_box({{"col", span / 2}, {"row", 32}}, 2, swizzle).value();
    const auto place = LayoutBuilder()
                           .from("matrix")
                           .from("row")
                           .from("col")
                           .map("col", 8, {{"col", 1}})
                           .map("row", 8, {{"row", 1}})
                           .map("matrix", 4, {{"row", 8}})
                           .build();
    const auto rows = compose(compose(matrix_rows(4), place).value(), box).value();
    const auto vectors = vector_access(rows, 2, 16).value();
    REQUIRE(vectors.width == 16);
    const auto banks = bank_conflicts(vectors.bytes, 16).value();
    CHECK(banks.is_free());
    CHECK(banks.certificate->degree() == 1);
  }
  // Without swizzle, rows of 128 bytes: all eight in one group.
  const auto rows = LayoutBuilder().map("lane", 8, {{"byte", 128}}).map("lane", 4, {{"byte", 1024}}).build();
  CHECK(bank_conflicts(rows, 16)->worst == 8);
}

TEST_CASE("accesses that every textbook knows") {
  const auto stride = [](int64_t words) {
    return bank_conflicts(LayoutBuilder().map("lane", 32, {{"byte", 4 * words}}).build(), 4).value();
  };
  CHECK(stride(1).worst == 1);
  CHECK(stride(2).worst == 2);
  CHECK(stride(32).worst == 32);
  CHECK(stride(33).worst == 1);
  CHECK(stride(36).worst == 4);  // gcd(36, 32)
  CHECK_FALSE(stride(33).certificate);
  CHECK(stride(32).certificate->degree() == 32);
  CHECK(bank_conflicts(LayoutBuilder().to("byte").map("lane", 32, {}).build(), 4)->worst == 1);  // broadcast
  // Halves of one word are one word; 8-byte accesses go by 16 lanes.
  CHECK(bank_conflicts(LayoutBuilder().map("lane", 32, {{"byte", 2}}).build(), 2)->worst == 1);
  const auto wide = bank_conflicts(LayoutBuilder().map("lane", 32, {{"byte", 16}}).build(), 8).value();
  CHECK(wide.worst == 2);
  CHECK(wide.phases == 2);
  CHECK(wide.wavefronts == 4);
}

TEST_CASE("accesses that are none are refused") {
  CHECK(bank_conflicts(identity("lane", 32, "byte"), 4).why() == "a step of 1 bytes is no multiple of 4");
  CHECK(bank_conflicts(identity("lane", 32, "byte"), 3).why() == "a lane accesses 1, 2, 4, 8 or 16 bytes, not 3");
  CHECK(bank_conflicts(identity("lane", 64, "byte"), 1).why() == "an access needs `lane`, at most 32");
  CHECK(bank_conflicts(identity("lane", 32, "word"), 1).why() == "an access goes to `byte` alone");
}

TEST_CASE("rank and counting agree on random accesses") {
  CounterRandom random(7);
  int conflicts = 0;
  for (int k = 0; k < 800; ++k) {
    const int64_t width = int64_t{1} << random.uniform(0, 4);
    LayoutBuilder builder;
    builder.to("byte");
    const auto target = [&] { return LayoutBuilder::Target{"byte", width << random.uniform(0, 8)}; };
    for (int bit = 0; bit < 5; ++bit) {
      std::vector<LayoutBuilder::Target> targets;
      for (auto n = random.uniform(0, 2); n > 0; --n) targets.push_back(target());
      builder.map("lane", 2, targets);
    }
    for (int bit = 0; bit < 3; ++bit) builder.map("step", 2, {target()});
    if (random.chance(50)) builder.map("warp", 3, {{"byte", width * 512}});
    const auto access = builder.build();
    const auto banks = bank_conflicts(access, width).value();
    REQUIRE(banks.certificate);
    REQUIRE(banks.certificate->degree() == banks.worst);
    REQUIRE(banks.wavefronts == banks.phases * banks.worst);
    conflicts += banks.worst > 1;
    // Counted once more, from the definition: words per bank, phase by phase.
    const int64_t lanes = 32 * 4 / std::max<int64_t>(width, 4);
    std::map<int64_t, std::set<int64_t>> words;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Point at(access.from().size(), 0);
      at[0] = lane;
      const auto byte = access.value_at(at);
      for (int64_t b = 0; b < width; ++b) words[(byte + b) / 4 % 32].insert((byte + b) / 4);
    }
    size_t most = 0;
    for (const auto& [bank, set] : words) most = std::max(most, set.size());
    REQUIRE(static_cast<int64_t>(most) == banks.worst);
  }
  CHECK(conflicts > 200);
}

TEST_CASE("vectors are the registers that run through contiguous bytes") {
  const auto bytes = compose(transposed_read(), xor_rows(2)).value();
  const auto v = vector_access(bytes, 4, 16).value();
  CHECK(v.width == 16);
  CHECK(v.registers.text() == "(vector: register0-1, step: register2-3) -> (register: 2^4)");
  CHECK(vector_access(bytes, 4, 8)->width == 8);
  // Register order does not matter, alignment does.
  const auto turned = LayoutBuilder()
                          .map("register", 2, {{"byte", 64}})
                          .map("register", 2, {{"byte", 4}})
                          .map("lane", 8, {{"byte", 8}})
                          .build();
  const auto t = vector_access(turned, 4, 16).value();
  CHECK(t.width == 8);
  CHECK(t.registers.text() == "(vector: register1, step: register0) -> (register: 2^2)");
  const auto odd = LayoutBuilder().map("register", 4, {{"byte", 4}}).map("lane", 32, {{"byte", 20}}).build();
  CHECK(vector_access(odd, 4, 16)->width == 4);
  // Every element is at its instruction's start + vector * element bytes.
  for (int64_t n = 0; n < point_count(v.bytes.from()); ++n) {
    const auto start = nth_point(v.bytes.from(), n);
    for (int64_t e = 0; e < 4; ++e) {
      auto reg = v.registers.apply({e, start[0]}).value();
      Point at = {reg[0], start[1], start[2]};
      REQUIRE(bytes.value_at(at) == v.bytes.value_at(start) + 4 * e);
    }
  }
}
