// The tables of the hardware, each written digit by digit as the PTX manual draws it.
//
// Example, the 128-byte swizzle: address bits 4-6 (which 16 bytes of a line) are XORed with bits 7-9 (which of 8
// lines), that is (byte: byte0-6 byte4^byte7 byte5^byte8 byte6^byte9) -> (byte: 2^10). A tile in shared memory is a
// linear layout composed with that, so nothing below knows more of a swizzle than its map.
//
// Fragments of mma.sync and wgmma are one pattern: what a 32-bit register holds and four lanes run along one side of
// the tile, eight lanes along the other, then come repeats. The tables stay apart all the same, so that each can be
// compared with one figure of the manual.
#include "drawloom/layout/hardware.h"

namespace drawloom {
namespace {

auto swizzle_bits(Swizzle swizzle) -> int {
  switch (swizzle) {
    case Swizzle::none: return 0;
    case Swizzle::b32: return 1;
    case Swizzle::b64: return 2;
    case Swizzle::b128: return 3;
  }
  return 0;
}

auto through_swizzle(const Layout& linear, int64_t bytes, Swizzle swizzle) -> Maybe<Layout> {
  if (swizzle == Swizzle::none) return linear;
  DRAWLOOM_TRY(const auto map, swizzle_map(swizzle, bytes));
  return compose(linear, map);
}

}  // namespace

auto swizzle_span(Swizzle swizzle) -> int64_t { return int64_t{16} << swizzle_bits(swizzle); }
auto swizzle_period(Swizzle swizzle) -> int64_t { return 8 * swizzle_span(swizzle); }

auto swizzle_name(Swizzle swizzle) -> std::string_view {
  switch (swizzle) {
    case Swizzle::none: return "none";
    case Swizzle::b32: return "32B";
    case Swizzle::b64: return "64B";
    case Swizzle::b128: return "128B";
  }
  return "";
}

auto swizzle_map(Swizzle swizzle, int64_t bytes) -> Maybe<Layout> {
  const int64_t period = swizzle_period(swizzle);
  if (bytes < period || bytes % period != 0) {
    return Refusal{
        str("{} bytes are no multiple of {}, the period of the {} swizzle", bytes, period, swizzle_name(swizzle))};
  }
  const int64_t rows = int64_t{1} << swizzle_bits(swizzle);  // as many row bits as chunk bits
  LayoutBuilder builder;
  builder.map("byte", 128, {{"byte", 1}});
  builder.map("byte", rows, {{"byte", 128}, {"byte", 16}});
  return builder.map("byte", bytes / (128 * rows), {{"byte", 128 * rows}}).try_build();
}

auto tma_box(const std::vector<std::pair<std::string, int64_t>>& box, int64_t element_bytes, Swizzle swizzle)
    -> Maybe<Layout> {
  if (box.empty() || box.size() > 5) return Refusal{str("a tensor map has 1 to 5 dimensions, not {}", box.size())};
  int64_t bytes = element_bytes;
  for (const auto& [name, extent] : box) {
    if (extent < 1 || extent > 256) return Refusal{str("a box is at most 256 wide; `{}` has {}", name, extent)};
    bytes *= extent;
  }
  const int64_t inner = box[0].second * element_bytes;
  if (inner % 16 != 0) return Refusal{str("the inner {} bytes of the box are no multiple of 16", inner)};
  if (swizzle != Swizzle::none && inner != swizzle_span(swizzle)) {
    return Refusal{
        str("the {} swizzle wants {} inner bytes, not {}", swizzle_name(swizzle), swizzle_span(swizzle), inner)};
  }
  return through_swizzle(packed(box, "byte", element_bytes), bytes, swizzle);
}

auto wgmma_operand_k_major(int64_t rows, int64_t k, int64_t element_bytes, Swizzle swizzle) -> Maybe<WgmmaOperand> {
  const int64_t span = swizzle_span(swizzle);
  if (rows % 8 != 0) return Refusal{str("{} rows are no multiple of 8", rows)};
  if (k * element_bytes % span != 0)
    return Refusal{str("{} bytes of k are no multiple of {}", k * element_bytes, span)};
  // Without swizzle a slab is 16 bytes wide, so its 8-row groups are the core matrices of 128 contiguous bytes.
  const auto linear = LayoutBuilder()
                          .from("row")
                          .from("k")
                          .map("k", span / element_bytes, {{"byte", element_bytes}})
                          .map("row", rows, {{"byte", span}})
                          .map("k", k * element_bytes / span, {{"byte", rows * span}})
                          .build();
  DRAWLOOM_TRY(const auto layout, through_swizzle(linear, rows * k * element_bytes, swizzle));
  return WgmmaOperand{layout, swizzle == Swizzle::none ? rows * span : 16, 8 * span};
}

auto wgmma_operand_mn_major(int64_t rows, int64_t k) -> Maybe<WgmmaOperand> {
  if (rows % 64 != 0 || k % 8 != 0) return Refusal{str("{} x {} is no multiple of 64 rows x 8 k", rows, k)};
  const auto linear = LayoutBuilder()
                          .map("row", 64, {{"byte", 2}})
                          .map("k", k, {{"byte", 128}})
                          .map("row", rows / 64, {{"byte", 128 * k}})
                          .build();
  DRAWLOOM_TRY(const auto layout, through_swizzle(linear, rows * k * 2, Swizzle::b128));
  return WgmmaOperand{layout, 128 * k, 1024};
}

auto mma_accumulator() -> Layout {
  return LayoutBuilder()
      .to("row")
      .to("col")
      .map("register", 2, {{"col", 1}})
      .map("register", 2, {{"row", 8}})
      .map("lane", 4, {{"col", 2}})
      .map("lane", 8, {{"row", 1}})
      .build();
}

auto mma_a() -> Layout {
  return LayoutBuilder()
      .to("row")
      .to("k")
      .map("register", 2, {{"k", 1}})
      .map("register", 2, {{"row", 8}})
      .map("register", 2, {{"k", 8}})
      .map("lane", 4, {{"k", 2}})
      .map("lane", 8, {{"row", 1}})
      .build();
}

auto mma_b() -> Layout {
  return LayoutBuilder()
      .map("register", 2, {{"k", 1}})
      .map("register", 2, {{"k", 8}})
      .map("lane", 4, {{"k", 2}})
      .map("lane", 8, {{"col", 1}})
      .build();
}

auto wgmma_accumulator(int64_t n) -> Maybe<Layout> {
  if (n < 8 || n > 256 || n % 8 != 0) return Refusal{str("wgmma has n = 8, 16 .. 256, not {}", n)};
  return LayoutBuilder()
      .to("row")
      .to("col")
      .map("register", 2, {{"col", 1}})
      .map("register", 2, {{"row", 8}})
      .map("register", n / 8, {{"col", 8}})
      .map("lane", 4, {{"col", 2}})
      .map("lane", 8, {{"row", 1}})
      .map("warp", 4, {{"row", 16}})
      .try_build();
}

auto wgmma_a_registers(int64_t element_bytes) -> Maybe<Layout> {
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4) {
    return Refusal{str("wgmma has operands of 1, 2 and 4 bytes, not {}", element_bytes)};
  }
  const int64_t packed_elements = 4 / element_bytes;  // in one 32-bit register
  return LayoutBuilder()
      .to("row")
      .to("k")
      .map("register", packed_elements, {{"k", 1}})
      .map("register", 2, {{"row", 8}})
      .map("register", 2, {{"k", 4 * packed_elements}})
      .map("lane", 4, {{"k", packed_elements}})
      .map("lane", 8, {{"row", 1}})
      .map("warp", 4, {{"row", 16}})
      .try_build();
}

auto matrix_fragment(int64_t count, bool transposed) -> Layout {
  const std::string along = transposed ? "row" : "col", across = transposed ? "col" : "row";
  return LayoutBuilder()
      .to("matrix")
      .to("row")
      .to("col")
      .map("register", 2, {{along, 1}})
      .map("register", count, {{"matrix", 1}})
      .map("lane", 4, {{along, 2}})
      .map("lane", 8, {{across, 1}})
      .build();
}

auto matrix_rows(int64_t count) -> Layout {
  return LayoutBuilder()
      .to("matrix")
      .to("row")
      .to("col")
      .map("register", 8, {{"col", 1}})
      .map("lane", 8, {{"row", 1}})
      .map("lane", count, {{"matrix", 1}})
      .map("lane", 4 / count, {})
      .build();
}

}  // namespace drawloom
