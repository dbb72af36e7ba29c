// Shuffle rounds inside a warp.
//
// Over bits, the place where destination (register d, lane l) finds its element in the source is linear:
// (register, lane) = C (d, l) + a constant of the warp. In one shfl a lane offers one register and gets one value, so
// in round t lane l takes care of its destination register d = t ^ A l, with A chosen once for all such that two lanes
// that read the same lane want the same register of it. Example, lane bit 0 against register bit 0 (a 2 x 2 transpose
// by pairs of lanes): for A = 0 all read lanes 0 and 1 alike in a round and want both registers, impossible; with A l =
// l lane l gets register t ^ l from lane l ^ t: round 0 stays in the lane, round 1 is a butterfly. k exchanged bits
// need R (1 - 2^-k) shuffles for R registers; exchanging bit by bit needs R k / 2.
//
// Wide register digits (11 repeats of a fragment) are the same in both layouts and only shift the registers.
#include <algorithm>
#include <bit>
#include <map>

#include "drawloom/layout/draft.h"
#include "drawloom/layout/f2.h"
#include "drawloom/layout/holdings.h"

namespace drawloom {
namespace {

/// A place in the source over bits: which register bits, which lane bits.
struct Bits {
  BitVector reg = 0, lane = 0;
  void operator^=(const Bits& other) { reg ^= other.reg, lane ^= other.lane; }
};

/// The bits of one side: per bit its stride in `register`, `lane` or another Dim, and the elements' digits it moves.
struct SideBits {
  struct Bit {
    int64_t stride;
    std::string dim;
    BitVector column;
  };
  std::vector<Bit> registers, lanes, others;
};

/// Numbers for digits of the tile's coordinates, shared by both sides.
using DigitNumbers = std::map<std::pair<std::string, int64_t>, int>;

/// False when something is not a bit, save register digits.
auto side_bits(const Layout& layout, DigitNumbers& numbers, SideBits& out) -> bool {
  const Draft draft(layout);
  for (size_t i = 0; i < draft.from.size(); ++i) {
    const auto& place = draft.from[i];
    const auto& dim = draft.from_dims[static_cast<size_t>(place.dim)];
    if (place.extent != 2) {
      if (dim != "register") return false;
      continue;
    }
    SideBits::Bit bit = {place.stride, dim, 0};
    for (const int t : draft.feeds[i]) {
      const auto& target = draft.to[static_cast<size_t>(t)];
      const auto key = std::pair(draft.to_dims[static_cast<size_t>(target.dim)], target.stride);
      bit.column |= BitVector{1} << numbers.emplace(key, static_cast<int>(numbers.size())).first->second;
    }
    (dim == "register" ? out.registers : dim == "lane" ? out.lanes : out.others).push_back(bit);
  }
  return true;
}

class LinearRounds {
 public:
  /// False when the sides are not linear, or a bit crosses warps.
  auto solve(const Layout& source, const Layout& destination) -> bool {
    DigitNumbers numbers;
    if (!side_bits(source, numbers, from_) || !side_bits(destination, numbers, to_)) return false;
    for (const auto& bit : from_.registers) registers_.add(bit.column);
    for (const auto& bit : from_.registers) both_.add(bit.column);
    for (const auto& bit : from_.lanes) both_.add(bit.column);
    for (const auto& bit : to_.registers) {
      if (!place_of(bit.column, nullptr, of_register_)) return false;
    }
    for (const auto& bit : to_.lanes) {
      if (!place_of(bit.column, &bit, of_lane_)) return false;
    }
    // Small: 2^(register bits) ways per lane bit.
    if (of_register_.size() > 8) return false;
    shift_.assign(of_lane_.size(), 0);
    return choose(0);
  }

  /// Destination register that lane `lane` takes care of in round `t`, both over the bits of the register index.
  auto destination(int64_t t, int64_t lane) const -> int64_t {
    for (size_t k = 0; k < to_.lanes.size(); ++k) {
      if ((lane & to_.lanes[k].stride) == 0) continue;
      for (size_t r = 0; r < to_.registers.size(); ++r) {
        const int64_t stride = to_.registers[r].stride;
        if (shift_[k] >> r & 1) t += t / stride % 2 == 0 ? stride : -stride;
      }
    }
    return t;
  }

 private:
  /// Where in the source an element that differs by `column` lies, staying in the lane if it can. `lane`: the
  /// destination lane bit that makes the difference.
  auto place_of(BitVector column, const SideBits::Bit* lane, std::vector<Bits>& out) const -> bool {
    for (size_t k = 0; lane != nullptr && k < from_.lanes.size(); ++k) {
      if (from_.lanes[k].stride != lane->stride) continue;
      if (const auto here = registers_.combination(column ^ from_.lanes[k].column)) {
        out.push_back({*here, static_cast<BitVector>(lane->stride)});
        return true;
      }
    }
    if (const auto here = registers_.combination(column)) {
      out.push_back({*here, 0});
      return true;
    }
    const auto anywhere = both_.combination(column);
    if (!anywhere) return false;
    Bits place;
    const size_t n = from_.registers.size();
    place.reg = *anywhere & ((BitVector{1} << n) - 1);
    for (size_t k = 0; k < from_.lanes.size(); ++k) {
      if (*anywhere >> (n + k) & 1) place.lane ^= static_cast<BitVector>(from_.lanes[k].stride);
    }
    out.push_back(place);
    return true;
  }

  /// Chooses the shift of lane bit `k` and all later ones: what the lanes read must determine the register they want.
  auto choose(size_t k) -> bool {
    if (k == of_lane_.size()) return true;
    const auto own = static_cast<BitVector>(to_.lanes[k].stride);
    std::vector<std::pair<int, BitVector>> options;  // how far from "own lane", which shift
    for (BitVector shift = 0; shift < (BitVector{1} << of_register_.size()); ++shift) {
      const auto lane = shifted(k, shift).lane;
      options.push_back({lane == own ? 0 : 1 + std::popcount(lane ^ own), shift});
    }
    std::stable_sort(options.begin(), options.end(), [](auto& a, auto& b) { return a.first < b.first; });
    for (const auto& [distance, shift] : options) {
      if (--tries_ < 0) return false;
      shift_[k] = shift;
      if (is_consistent(k + 1) && choose(k + 1)) return true;
    }
    return false;
  }

  auto shifted(size_t k, BitVector shift) const -> Bits {
    Bits out = of_lane_[k];
    for (size_t r = 0; r < of_register_.size(); ++r) {
      if (shift >> r & 1) out ^= of_register_[r];
    }
    return out;
  }

  /// Lanes that read the same lane want the same register, for the first `count` lane bits.
  auto is_consistent(size_t count) const -> bool {
    std::vector<BitVector> lanes, whole;
    for (size_t k = 0; k < count; ++k) {
      const auto place = shifted(k, shift_[k]);
      lanes.push_back(place.lane);
      whole.push_back(place.lane | place.reg << 8);
    }
    return rank(lanes) == rank(whole);
  }

  SideBits from_, to_;
  BitSpan registers_, both_;
  std::vector<Bits> of_register_, of_lane_;
  std::vector<BitVector> shift_;
  int tries_ = 100000;
};

/// The source place of (thread, destination register): in the same lane if there is one, else the first in the warp.
auto nearest_place(const Holdings& h, int64_t thread, int64_t reg) -> Holdings::Place {
  const Holdings::Place* found = nullptr;
  for (const auto& place : h.places[static_cast<size_t>(h.wanted(thread, reg))]) {
    if (place.thread == thread) return place;
    if (found == nullptr && place.thread / kWarpLanes == thread / kWarpLanes) found = &place;
  }
  DRAWLOOM_CHECK(found != nullptr, "thread {} finds nothing in its warp", thread);
  return *found;
}

auto empty_round(const Holdings& h) -> ShuffleRound {
  const auto n = static_cast<size_t>(h.thread_count);
  ShuffleRound out = {std::vector<int>(n, -1), std::vector<int>(n), std::vector<int>(n, -1)};
  for (size_t thread = 0; thread < n; ++thread) out.source[thread] = static_cast<int>(thread % kWarpLanes);
  return out;
}

/// Lets `thread` get destination register `reg` from a place whose lane offers that register in this round, or nothing
/// yet; its own lane first, then one that offers it anyway. False: there is none.
auto receive(const Holdings& h, int64_t thread, int64_t reg, ShuffleRound& round) -> bool {
  const Holdings::Place* chosen = nullptr;
  int best = 0;
  for (const auto& place : h.places[static_cast<size_t>(h.wanted(thread, reg))]) {
    if (place.thread / kWarpLanes != thread / kWarpLanes) continue;
    const int offered = round.offered[static_cast<size_t>(place.thread)];
    if (offered >= 0 && offered != place.reg) continue;
    const int rating = place.thread == thread ? 3 : offered >= 0 ? 2 : 1;
    if (rating > best) best = rating, chosen = &place;
  }
  if (chosen == nullptr) return false;
  round.offered[static_cast<size_t>(chosen->thread)] = chosen->reg;
  round.source[static_cast<size_t>(thread)] = chosen->thread % static_cast<int>(kWarpLanes);
  round.received[static_cast<size_t>(thread)] = static_cast<int>(reg);
  return true;
}

}  // namespace

auto linear_rounds(const Layout& source, const Layout& destination, const Holdings& h)
    -> std::optional<std::vector<ShuffleRound>> {
  LinearRounds plan;
  if (!plan.solve(source, destination)) return std::nullopt;
  std::vector<ShuffleRound> out;
  for (int64_t t = 0; t < h.destination_registers; ++t) {
    auto round = empty_round(h);
    for (int64_t thread = 0; thread < h.thread_count; ++thread) {
      const int64_t reg = plan.destination(t, thread % kWarpLanes);
      if (reg >= h.destination_registers) return std::nullopt;
      if (h.wanted(thread, reg) >= 0 && !receive(h, thread, reg, round)) return std::nullopt;
    }
    out.push_back(std::move(round));
  }
  return out;
}

auto pairwise_rounds(const Holdings& h) -> std::vector<ShuffleRound> {
  std::vector<ShuffleRound> out;
  for (int64_t reg = 0; reg < h.destination_registers; ++reg) {
    std::map<int, ShuffleRound> by_source;
    for (int64_t thread = 0; thread < h.thread_count; ++thread) {
      if (h.wanted(thread, reg) < 0) continue;
      const auto place = nearest_place(h, thread, reg);
      auto& round = by_source.emplace(place.reg, empty_round(h)).first->second;
      round.offered[static_cast<size_t>(place.thread)] = place.reg;
      round.source[static_cast<size_t>(thread)] = place.thread % static_cast<int>(kWarpLanes);
      round.received[static_cast<size_t>(thread)] = static_cast<int>(reg);
    }
    for (auto& [from, round] : by_source) out.push_back(std::move(round));
  }
  return out;
}

}  // namespace drawloom
