// Layouts that one TMA tensor map can write: the box is stored dimension by dimension, so the freedom is how
// coordinates are split into dimensions, in which order these stand, and the swizzle.
//
// Example, 64 x 64 f32 read across: under the 128-byte swizzle the row of 32 elements is XORed with the three lowest
// bits of the row number. Reads that step by 4 in x want x bits 2-4 there: the box {y 32, x/4 16, x 4}, with x = 4 *
// x/4 + x, has them. Some thousand layouts at most, so all are judged and the handiest of the best wins.
#include <algorithm>

#include "drawloom/layout/judge.h"

namespace drawloom {
namespace {

using Part = TensorMapShape::Part;

/// Ways to cut `extent` values of `coord` from `step` on into at most `most` parts, lowest first, between its digits:
/// at powers of two that divide the extent.
void split_ways(const std::string& coord, int64_t step, int64_t extent, size_t most, std::vector<Part>& now,
                std::vector<std::vector<Part>>& out) {
  if (extent == 1) return out.push_back(now);
  if (most == 0) return;
  const auto take = [&](int64_t low) {
    now.push_back({coord, step, low});
    split_ways(coord, step * low, extent / low, most - 1, now, out);
    now.pop_back();
  };
  take(extent);
  for (int64_t low = 2; low < extent && extent % low == 0; low *= 2) take(low);
}

class MapSearch {
 public:
  MapSearch(const Judge& judge, const SharedTile& tile, const SharedRules& rules, Swizzle swizzle, Search& search)
      : judge_(judge), tile_(tile), rules_(rules), swizzle_(swizzle), search_(search) {}

  /// `inner`: elements of the first coordinate in the innermost dimension; more than it has: padding, which TMA loads.
  void run(int64_t inner) {
    const auto& [coord, extent] = tile_.extents[0];
    const bool is_cut = (inner & (inner - 1)) == 0 && extent % inner == 0;
    if (inner < extent && !is_cut) return;
    inner_ = {coord, 1, inner};
    std::vector<Part> now;
    std::vector<std::vector<std::vector<Part>>> ways;
    ways.emplace_back();
    split_ways(coord, inner, std::max<int64_t>(1, extent / inner), 1, now, ways.back());
    for (size_t c = 1; c < tile_.extents.size(); ++c) {
      ways.emplace_back();
      split_ways(tile_.extents[c].first, 1, tile_.extents[c].second, tile_.extents.size() > 2 ? 2 : 3, now,
                 ways.back());
    }
    std::vector<Part> parts;
    pick(ways, 0, parts);
  }

 private:
  void pick(const std::vector<std::vector<std::vector<Part>>>& ways, size_t coord, std::vector<Part>& parts) {
    if (coord == ways.size()) return permute(parts);
    for (const auto& way : ways[coord]) {
      const size_t before = parts.size();
      parts.insert(parts.end(), way.begin(), way.end());
      if (parts.size() <= 5) pick(ways, coord + 1, parts);
      parts.resize(before);
    }
  }

  void permute(const std::vector<Part>& parts) {
    std::vector<size_t> order(parts.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    do {
      std::vector<Part> outer;
      for (const size_t k : order) outer.push_back(parts[k]);
      judge_now(outer);
    } while (std::next_permutation(order.begin(), order.end()));
  }

  void judge_now(const std::vector<Part>& outer) {
    auto map = map_of(outer);
    if (!map) return;
    const auto candidate = candidate_of(outer);
    if (!candidate) return;
    int64_t bytes = inner_.extent * tile_.element_bytes;
    for (const auto& part : outer) bytes *= part.extent;
    if (bytes > rules_.max_bytes) return;
    auto words = map->text();
    search_.offer(
        judge_, {*candidate, judge_.excess(*candidate), bytes, complexity_of(*map), std::move(words), std::move(*map)});
  }

  /// Narrow inner dimensions cost the most (TMA moves whole rows), then padding, demands on the tensor, rank, copies.
  auto complexity_of(const TensorMapShape& map) const -> int64_t {
    int64_t out = static_cast<int64_t>(20 * map.needs.size() + 10 * map.box.size());
    const int64_t whole = std::min<int64_t>(128, tile_.extents[0].second * tile_.element_bytes);
    for (int64_t bytes = map.box[0].extent * tile_.element_bytes; bytes < whole; bytes *= 2) out += 1000;
    if (inner_.extent > tile_.extents[0].second) out += 100;
    for (const auto& part : map.copies) out += part.extent;
    return out;
  }

  /// The topmost part of a split coordinate becomes copies of its own when it is outermost: no tensor needs to be a
  /// multiple of anything then, and the box has a dimension less.
  auto map_of(std::vector<Part> outer) const -> std::optional<TensorMapShape> {
    TensorMapShape map = {{inner_}, swizzle_, {}, {}};
    if (!outer.empty() && outer.back().step > 1 && is_top(outer.back())) {
      map.copies.push_back(outer.back());
      outer.pop_back();
    }
    map.box.insert(map.box.end(), outer.begin(), outer.end());
    if (map.box.size() > 5) return std::nullopt;
    for (const auto& part : map.box) {
      if (part.extent > 256) return std::nullopt;
      if (part.step == 1) continue;
      // Strides of the map are multiples of 16 bytes: true for whole rows, to be checked inside the first coordinate.
      if (part.coord == tile_.extents[0].first && part.step * tile_.element_bytes % 16 != 0) return std::nullopt;
    }
    for (const auto& [coord, extent] : tile_.extents) {
      int64_t multiple = 1;
      for (const auto& part : map.box) {
        if (part.coord == coord) multiple = std::max(multiple, part.step);
      }
      if (multiple > 1) map.needs.push_back(str("the extent of {} is a multiple of {}", coord, multiple));
    }
    return map;
  }

  auto is_top(const Part& part) const -> bool {
    for (const auto& [coord, extent] : tile_.extents) {
      if (coord == part.coord) return part.step * part.extent == extent;
    }
    return false;
  }

  /// Nothing when the swizzle does not act on whole digits (odd parts in its chunks or below its row bits).
  auto candidate_of(const std::vector<Part>& outer) const -> std::optional<Candidate> {
    const auto& digits = judge_.digits();
    Candidate out = {std::vector<int64_t>(digits.size(), 0), std::vector<uint32_t>(digits.size(), 0)};
    int64_t stride = tile_.element_bytes;
    place(inner_, stride, out);
    for (const auto& part : outer) place(part, stride, out);
    // The swizzle XORs address bits, the candidate tile digits: it needs a bit that lies exactly at each row bit.
    const int64_t rows = swizzle_span(swizzle_) / 16;
    for (int64_t row = 1; row < rows; row *= 2) {
      const auto at = std::find(out.stride.begin(), out.stride.end(), 128 * row);
      if (at == out.stride.end()) return std::nullopt;
      const auto t = static_cast<size_t>(at - out.stride.begin());
      if (digits[t].extent != 2 || has_wide_digit_at(16 * row, out)) return std::nullopt;
      out.xored[t] = static_cast<uint32_t>(16 * row);
    }
    if (stride % swizzle_period(swizzle_) != 0 && swizzle_ != Swizzle::none) return std::nullopt;
    return out;
  }

  /// Whether the address bit `bit` is part of a digit that is no bit itself. An address bit of no digit (a row wider
  /// than the tile) may be XORed.
  auto has_wide_digit_at(int64_t bit, const Candidate& candidate) const -> bool {
    for (size_t t = 0; t < judge_.digits().size(); ++t) {
      const int64_t extent = judge_.digits()[t].extent, stride = candidate.stride[t];
      if (extent != 2 && stride <= bit && bit <= stride * (extent - 1)) return true;
    }
    return false;
  }

  void place(const Part& part, int64_t& stride, Candidate& out) const {
    const auto& digits = judge_.digits();
    for (size_t t = 0; t < digits.size(); ++t) {
      if (digits[t].coord != part.coord || digits[t].step < part.step) continue;
      if (digits[t].step >= part.step * part.extent) continue;
      out.stride[t] = stride * (digits[t].step / part.step);
    }
    stride *= part.extent;
  }

  const Judge& judge_;
  const SharedTile& tile_;
  const SharedRules& rules_;
  Swizzle swizzle_;
  Search& search_;
  Part inner_;
};

auto part_text(const Part& part) -> std::string {
  return part.step == 1 ? str("{} {}", part.coord, part.extent) : str("{}/{} {}", part.coord, part.step, part.extent);
}

}  // namespace

auto TensorMapShape::text() const -> std::string {
  std::vector<std::string> parts;
  for (const auto& part : box) parts.push_back(part_text(part));
  auto out = str("box {{{}}, swizzle {}", join(parts, ", "), swizzle_name(swizzle));
  for (const auto& part : copies) out += str(", {} copies along {}", part.extent, part.coord);
  for (const auto& need : needs) out += ", if " + need;
  return out;
}

void search_tensor_maps(const Judge& judge, const SharedTile& tile, int64_t max_width, const SharedRules& rules,
                        Search& search) {
  for (const auto swizzle : {Swizzle::b128, Swizzle::b64, Swizzle::b32}) {
    MapSearch(judge, tile, rules, swizzle, search).run(swizzle_span(swizzle) / tile.element_bytes);
  }
  MapSearch plain(judge, tile, rules, Swizzle::none, search);
  const int64_t extent = tile.extents[0].second, chunk = std::max<int64_t>(1, 16 / tile.element_bytes);
  for (int64_t inner = std::max(chunk, max_width / tile.element_bytes); inner < extent; inner *= 2) plain.run(inner);
  const int64_t whole = (extent + chunk - 1) / chunk * chunk;
  // Wider rows by up to a line of 128 bytes: beyond that banks repeat.
  for (int64_t inner = whole; inner <= whole + 8 * chunk; inner += chunk) plain.run(inner);
}

}  // namespace drawloom
