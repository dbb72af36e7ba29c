// Judging candidates: what each costs in wavefronts.
//
// The candidates of one tile differ only in where tile digits lie in memory. So `add` works out once, per access, which
// tile digits each lane touches; judging a candidate replaces digits by its strides and XOR masks.
//
// Example: 8 lanes read 16 bytes each, lane bit k moves digit x(k+2), which candidate A puts at byte bit 8 + k. The
// ranks of (8, 9, 10) over bits 4 up are 3 in all and 0 among the bank bits 4-6: 8-way. Candidate B puts XOR masks 16,
// 32, 64 on those digits: rank 3 of 3, free.
//
// Ranks see one phase, the first; all others differ from it by a shift or an XOR that all lanes have in common, so the
// excess is phases * (degree - 1). That holds for bits with power-of-two strides. For everything else (odd extents,
// padding) every phase is counted, which stops as soon as it is more than the best layout known has.
#include "drawloom/layout/judge.h"

#include <algorithm>
#include <bit>

namespace drawloom {
namespace {

auto phase_lanes(int64_t width) -> int64_t { return kBanks * kBankBytes / std::max(width, kBankBytes); }

constexpr uint32_t kLineBits = kBanks * kBankBytes - 1;

auto digit_values(const std::vector<TileDigit>& digits, const std::vector<Dim>& dims, const Point& point)
    -> std::vector<int64_t> {
  std::vector<int64_t> out;
  for (const auto& digit : digits) {
    int64_t value = 0;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d].name == digit.coord) value = point[d];
    }
    out.push_back(value / digit.step % digit.extent);
  }
  return out;
}

/// Busiest bank of one phase. `words`: one per 4 bytes touched; sorted here.
auto busiest(std::vector<int64_t>& words) -> int64_t {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  int64_t load[kBanks] = {}, most = 0;
  for (const int64_t word : words) most = std::max(most, ++load[word % kBanks]);
  return most;
}

}  // namespace

auto tile_digits(const SharedTile& tile) -> std::vector<TileDigit> {
  std::vector<TileDigit> out;
  for (const auto& [coord, extent] : tile.extents) {
    int64_t step = 1;
    for (int64_t rest = extent; rest > 1;) {
      const int64_t part = rest % 2 == 0 ? 2 : rest;
      out.push_back({coord, part, step});
      step *= part, rest /= part;
    }
  }
  return out;
}

auto Candidate::layout(const std::vector<TileDigit>& digits) const -> Maybe<Layout> {
  LayoutBuilder builder;
  builder.to("byte");
  for (size_t t = 0; t < digits.size(); ++t) {
    std::vector<LayoutBuilder::Target> targets = {{"byte", stride[t]}};
    for (uint32_t rest = xored[t]; rest != 0; rest &= rest - 1) targets.push_back({"byte", rest & -rest});
    builder.map_at(digits[t].coord, digits[t].extent, digits[t].step, targets);
  }
  return builder.try_build();
}

auto in_order(const std::vector<TileDigit>& digits, const std::vector<int>& order, int64_t element_bytes) -> Candidate {
  Candidate out = {std::vector<int64_t>(digits.size()), std::vector<uint32_t>(digits.size(), 0)};
  int64_t stride = element_bytes;
  for (const int t : order) {
    out.stride[static_cast<size_t>(t)] = stride;
    stride *= digits[static_cast<size_t>(t)].extent;
  }
  return out;
}

auto Judge::make(const SharedTile& tile, const std::vector<SharedAccess>& accesses, const std::vector<int>& low)
    -> Maybe<Judge> {
  Judge out;
  out.element_bytes_ = tile.element_bytes;
  out.digits_ = tile_digits(tile);
  auto order = low;
  for (int t = 0; t < static_cast<int>(out.digits_.size()); ++t) {
    if (std::count(low.begin(), low.end(), t) == 0) order.push_back(t);
  }
  const auto base = in_order(out.digits_, order, tile.element_bytes).layout(out.digits_).value();
  for (const auto& access : accesses) {
    if (auto wrong = out.add(tile, access, base)) return *wrong;
  }
  return out;
}

auto Judge::add(const SharedTile& tile, const SharedAccess& access, const Layout& base) -> std::optional<Refusal> {
  const auto failed = [&](const std::string& why) { return Refusal{str("`{}`: {}", access.name, why)}; };
  const auto bytes = compose(access.layout, base);
  if (!bytes.ok()) return failed(bytes.why());
  const auto vectors = vector_access(*bytes, tile.element_bytes, access.width);
  if (!vectors.ok()) return failed(vectors.why());
  if (vectors->width != access.width) {
    return failed(str("no order of elements lets a lane access {} bytes at once", access.width));
  }
  // Only for its refusals: what the certificate at the end could not count is refused here.
  if (const auto counted = bank_conflicts(vectors->bytes, access.width); !counted.ok()) return failed(counted.why());
  std::vector<Dim> others;
  for (const auto& dim : access.layout.from()) {
    if (dim.name != "register") others.push_back(dim);
  }
  const auto starts = product(at_zero(vectors->registers, "vector"), identity(others));
  const auto coords = compose(*starts, access.layout);
  if (!coords.ok()) return failed(coords.why());
  const auto points = arrange(*coords, {"lane"}, {});

  Access out = {access.layout, access.width, {}, true, {}, {}};
  const int64_t lanes = points.from()[0].count(), count = point_count(points.from());
  for (int64_t first = 0; first < count; first += lanes) {
    for (int64_t lane = 0; lane < lanes; lane += phase_lanes(access.width)) {
      out.phases.push_back(std::min(phase_lanes(access.width), lanes - lane));
    }
  }
  for (int64_t n = 0; n < count; ++n) {
    const auto values = digit_values(digits_, points.to(), points.apply(nth_point(points.from(), n)).value());
    out.values.insert(out.values.end(), values.begin(), values.end());
  }
  // A lane that is a power of two shows the column of its bit.
  for (int64_t lane = 1; lane < out.phases[0]; lane *= 2) {
    BitVector moved = 0;
    for (size_t t = 0; t < digits_.size(); ++t) {
      if (out.values[static_cast<size_t>(lane) * digits_.size() + t] == 0) continue;
      moved |= BitVector{1} << t;
      out.linear = out.linear && digits_[t].extent == 2;
    }
    out.lane_bits.push_back(moved);
  }
  out.linear = out.linear && std::has_single_bit(static_cast<uint64_t>(lanes));
  linear_ = linear_ && out.linear;
  accesses_.push_back(std::move(out));
  return std::nullopt;
}

auto Judge::ranks(const Access& access, const Candidate& candidate, uint32_t closed) const -> std::optional<Ranks> {
  if (!access.linear) return std::nullopt;
  BitVector full[8], bank[8];
  const auto keep = ~static_cast<BitVector>(std::max(access.width, kBankBytes) - 1);
  const size_t n = access.lane_bits.size();
  for (size_t k = 0; k < n; ++k) {
    BitVector address = 0;
    for (BitVector rest = access.lane_bits[k]; rest != 0; rest &= rest - 1) {
      const auto t = static_cast<size_t>(std::countr_zero(rest));
      if (!std::has_single_bit(static_cast<uint64_t>(candidate.stride[t]))) return std::nullopt;
      address ^= static_cast<BitVector>(candidate.stride[t]) ^ candidate.xored[t];
    }
    full[k] = address & keep;
    bank[k] = full[k] & closed;
  }
  // In place: this is the inner loop of the search.
  const auto rank_of = [n](BitVector* v) {
    int out = 0;
    for (size_t k = 0; k < n; ++k) {
      if (v[k] == 0) continue;
      ++out;
      const BitVector pivot = v[k] & -v[k];
      for (size_t j = k + 1; j < n; ++j) {
        if (v[j] & pivot) v[j] ^= v[k];
      }
    }
    return out;
  };
  return Ranks{rank_of(full), rank_of(bank)};
}

/// An open bank bit can raise the rank by one at most: too few of them, and no choice of them helps.
auto Judge::may_be_free(const Candidate& candidate, uint32_t open) const -> bool {
  for (const auto& access : accesses_) {
    const auto found = ranks(access, candidate, kLineBits & ~open);
    if (found && found->bank + std::popcount(open) < found->address) return false;
  }
  return true;
}

auto Judge::by_count(const Access& access, const Candidate& candidate, int64_t limit) const -> int64_t {
  const size_t n = digits_.size();
  int64_t excess = 0;
  std::vector<int64_t> words;
  const int64_t* values = access.values.data();
  for (const int64_t lanes : access.phases) {
    if (excess > limit) break;
    words.clear();
    for (int64_t lane = 0; lane < lanes; ++lane, values += n) {
      int64_t address = 0, mask = 0;
      for (size_t t = 0; t < n; ++t) {
        address += values[t] * candidate.stride[t];
        if (values[t] != 0) mask ^= candidate.xored[t];
      }
      address ^= mask;
      for (int64_t at = address; at < address + access.width; at += kBankBytes) words.push_back(at / kBankBytes);
    }
    excess += busiest(words) - 1;
  }
  return excess;
}

auto Judge::excess(const Candidate& candidate, int64_t limit) const -> int64_t {
  int64_t out = 0;
  for (const auto& access : accesses_) {
    if (out > limit) break;
    if (const auto found = ranks(access, candidate, kLineBits)) {
      const int64_t degree = int64_t{1} << (found->address - found->bank);
      out += static_cast<int64_t>(access.phases.size()) * (degree - 1);
    } else {
      out += by_count(access, candidate, limit - out);
    }
  }
  return out;
}

auto Judge::fits(const Candidate& candidate) const -> bool {
  const auto layout = candidate.layout(digits_);
  if (!layout.ok() || !layout->is_injective()) return false;
  return std::all_of(accesses_.begin(), accesses_.end(), [&](const Access& access) {
    const auto bytes = compose(access.layout, *layout);
    if (!bytes.ok()) return false;
    const auto vectors = vector_access(*bytes, element_bytes_, access.width);
    return vectors.ok() && vectors->width == access.width && bank_conflicts(vectors->bytes, access.width).ok();
  });
}

}  // namespace drawloom
