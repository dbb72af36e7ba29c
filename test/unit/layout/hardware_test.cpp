#include <catch2/catch.hpp>

#include "drawloom/layout/hardware.h"

using namespace drawloom;

namespace {

/// Calls `visit(input, output)` for every input point.
template <typename Visit>
void for_each(const Layout& layout, Visit&& visit) {
  for (int64_t n = 0; n < point_count(layout.from()); ++n) {
    const auto point = nth_point(layout.from(), n);
    visit(point, layout.apply(point).value());
  }
}

const std::vector<std::pair<Swizzle, int64_t>> kSwizzles = {
    {Swizzle::none, 0}, {Swizzle::b32, 1}, {Swizzle::b64, 2}, {Swizzle::b128, 3}};

/// By the words of the manual: address bits 4 .. 4+b-1 are XORed with bits 7 .. 7+b-1.
auto swizzled(int64_t byte, int64_t bits) -> int64_t { return byte ^ ((byte >> 7 & ((1 << bits) - 1)) << 4); }

}  // namespace

TEST_CASE("swizzles move every byte as the manual says") {
  for (const auto& [swizzle, bits] : kSwizzles) {
    for_each(swizzle_map(swizzle, 3072).value(),
             [&, bits = bits](const Point& from, const Point& to) { REQUIRE(to[0] == swizzled(from[0], bits)); });
  }
  CHECK(swizzle_map(Swizzle::b128, 1536).why() == "1536 bytes are no multiple of 1024, the period of the 128B swizzle");
}

TEST_CASE("in rows of the span, chunk c of row r goes where the field's tables say") {
  const auto check = [](Swizzle swizzle, int64_t shift, int64_t mask) {
    const int64_t span = swizzle_span(swizzle);
    const auto box = tma_box({{"col", span / 2}, {"row", 24}}, 2, swizzle).value();
    for_each(box, [&](const Point& at, const Point& byte) {
      const auto col = at[0], r = at[1], c = col * 2 / 16;
      REQUIRE(byte[0] == r * span + ((c ^ ((r >> shift) & mask)) * 16) + col * 2 % 16);
    });
  };
  check(Swizzle::b128, 0, 7);
  check(Swizzle::b64, 1, 3);
  check(Swizzle::b32, 2, 1);
}

TEST_CASE("boxes that no tensor map has are refused") {
  const auto why = [](const std::vector<std::pair<std::string, int64_t>>& box, Swizzle s) {
    return tma_box(box, 4, s).why();
  };
  CHECK(why({}, Swizzle::none) == "a tensor map has 1 to 5 dimensions, not 0");
  CHECK(why({{"x", 4}, {"y", 257}}, Swizzle::none) == "a box is at most 256 wide; `y` has 257");
  CHECK(why({{"x", 34}, {"y", 34}}, Swizzle::none) == "the inner 136 bytes of the box are no multiple of 16");
  CHECK(why({{"x", 36}, {"y", 34}}, Swizzle::b128) == "the 128B swizzle wants 128 inner bytes, not 144");
  CHECK(why({{"x", 32}, {"y", 34}}, Swizzle::b128) ==
        "4352 bytes are no multiple of 1024, the period of the 128B swizzle");
  // The halo tile of 34 x 34 f32, its rows rounded up to 144 bytes.
  const auto halo = tma_box({{"x", 36}, {"y", 34}}, 4, Swizzle::none).value();
  for_each(halo, [](const Point& at, const Point& byte) { REQUIRE(byte[0] == at[0] * 4 + at[1] * 144); });
  const auto rows40 = tma_box({{"x", 32}, {"y", 40}}, 4, Swizzle::b128).value();
  for_each(rows40,
           [](const Point& at, const Point& byte) { REQUIRE(byte[0] == swizzled(at[0] * 4 + at[1] * 128, 3)); });
}

TEST_CASE("K-major wgmma operands: slabs of one span, descriptor offsets that find them") {
  const auto a = wgmma_operand_k_major(128, 128, 2, Swizzle::b128).value();
  CHECK(a.stride_bytes == 1024);
  for_each(a.layout, [](const Point& at, const Point& byte) {
    const auto r = at[0], k = at[1], slab = k / 64, c = k % 64 / 8;
    REQUIRE(byte[0] == slab * 128 * 128 + r * 128 + ((c ^ (r & 7)) << 4) + k % 8 * 2);
  });
  // Unswizzled, by the descriptor: core matrices of 8 rows x 16 bytes, LBO along k, SBO along rows.
  for (const int64_t bytes : {1, 2, 4}) {
    const auto plain = wgmma_operand_k_major(64, 32, bytes, Swizzle::none).value();
    for_each(plain.layout, [&](const Point& at, const Point& byte) {
      const auto r = at[0], k = at[1] * bytes;
      REQUIRE(byte[0] == k / 16 * plain.leading_bytes + r / 8 * plain.stride_bytes + r % 8 * 16 + k % 16);
    });
  }
  CHECK(wgmma_operand_k_major(64, 16, 2, Swizzle::b64).why() == "32 bytes of k are no multiple of 64");
  CHECK(wgmma_operand_k_major(60, 64, 2, Swizzle::b128).why() == "60 rows are no multiple of 8");
  CHECK(wgmma_operand_k_major(64, 32, 2, Swizzle::b64)->stride_bytes == 512);
  CHECK(wgmma_operand_k_major(64, 16, 2, Swizzle::b32)->stride_bytes == 256);
}

TEST_CASE("MN-major wgmma operands: atoms of 64 x 8") {
  const auto b = wgmma_operand_mn_major(256, 64).value();
  CHECK(b.stride_bytes == 1024);
  CHECK(b.leading_bytes == 8192);
  for_each(b.layout, [](const Point& at, const Point& byte) {
    const auto mn = at[0], k = at[1];
    const auto atom = mn / 64 * 8192 + k / 8 * 1024, c = mn % 64 / 8;
    REQUIRE(byte[0] == atom + k % 8 * 128 + ((c ^ (k % 8)) << 4) + mn % 8 * 2);
  });
  CHECK(wgmma_operand_mn_major(32, 64).why() == "32 x 64 is no multiple of 64 rows x 8 k");
}

TEST_CASE("fragments of mma.sync m16n8k16 are those of the manual") {
  for_each(mma_accumulator(), [](const Point& at, const Point& place) {
    const auto i = at[0], lane = at[1];
    REQUIRE(place == Point{lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)});
  });
  for_each(mma_a(), [](const Point& at, const Point& place) {
    const auto i = at[0], lane = at[1];
    const bool low_row = i < 2 || (i >= 4 && i < 6);
    REQUIRE(place == Point{lane / 4 + (low_row ? 0 : 8), lane % 4 * 2 + (i & 1) + (i < 4 ? 0 : 8)});
  });
  for_each(mma_b(), [](const Point& at, const Point& place) {
    const auto i = at[0], lane = at[1];
    REQUIRE(place == Point{lane % 4 * 2 + (i & 1) + (i < 2 ? 0 : 8), lane / 4});
  });
  for (const auto& layout : {mma_accumulator(), mma_a(), mma_b()}) {
    CHECK(layout.is_injective());
    CHECK(layout.is_onto());
  }
}

TEST_CASE("wgmma accumulators of every width") {
  for (int64_t n = 8; n <= 256; n += 8) {
    const auto acc = wgmma_accumulator(n).value();
    REQUIRE(acc.from_extent("register") == n / 2);
    REQUIRE(acc.is_injective());
    REQUIRE(acc.is_onto());
    for_each(acc, [](const Point& at, const Point& place) {
      const auto i = at[0], t = at[1] + 32 * at[2];
      REQUIRE(place[0] == 16 * (t / 32) + t % 32 / 4 + 8 * ((i >> 1) & 1));
      REQUIRE(place[1] == 8 * (i >> 2) + 2 * (t % 4) + (i & 1));
    });
  }
  CHECK(wgmma_accumulator(12).why() == "wgmma has n = 8, 16 .. 256, not 12");
}

TEST_CASE("wgmma A from registers for 2, 1 and 4 bytes") {
  // 16-bit: registers a0..a3 of two elements are columns (c0 c1)(c2 c3)(c4 c5)(c6 c7) of a 16-wide accumulator.
  CHECK(rename(wgmma_a_registers(2).value(), {{"k", "col"}}) == wgmma_accumulator(16).value());
  for_each(wgmma_a_registers(1).value(), [](const Point& at, const Point& place) {
    const auto j = at[0] / 4, byte = at[0] % 4, lane = at[1];
    REQUIRE(place[0] == 16 * at[2] + lane / 4 + 8 * (j & 1));
    REQUIRE(place[1] == 4 * (lane & 3) + 16 * (j >> 1) + byte);
  });
  for_each(wgmma_a_registers(4).value(), [](const Point& at, const Point& place) {
    const auto j = at[0], lane = at[1];
    REQUIRE(place[0] == 16 * at[2] + lane / 4 + 8 * (j & 1));
    REQUIRE(place[1] == (lane & 3) + 4 * (j >> 1));
  });
  CHECK(wgmma_a_registers(8).why() == "wgmma has operands of 1, 2 and 4 bytes, not 8");
}

TEST_CASE("ldmatrix distributes rows of eight to four lanes each") {
  for (const int64_t count : {1, 2, 4}) {
    for_each(matrix_fragment(count, false), [](const Point& at, const Point& place) {
      REQUIRE(place == Point{at[0] / 2, at[1] / 4, at[1] % 4 * 2 + at[0] % 2});
    });
    for_each(matrix_fragment(count, true), [](const Point& at, const Point& place) {
      REQUIRE(place == Point{at[0] / 2, at[1] % 4 * 2 + at[0] % 2, at[1] / 4});
    });
    for_each(matrix_rows(count), [&](const Point& at, const Point& place) {
      REQUIRE(place == Point{at[1] / 8 % count, at[1] % 8, at[0]});
    });
  }
}

TEST_CASE("ldmatrix.x4 over a 16 x 16 tile gives the A fragment of mma.sync") {
  // Matrices in the order rows 0-7, rows 8-15, then the right half: matrix bit 0 is row bit 3, bit 1 is k bit 3.
  const auto tile = LayoutBuilder()
                        .from("matrix")
                        .from("row")
                        .from("col")
                        .to("row")
                        .to("k")
                        .map("row", 8, {{"row", 1}})
                        .map("col", 8, {{"k", 1}})
                        .map("matrix", 2, {{"row", 8}})
                        .map("matrix", 2, {{"k", 8}})
                        .build();
  CHECK(compose(matrix_fragment(4, false), tile).value() == mma_a());
}
