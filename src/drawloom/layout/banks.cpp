// Bank conflicts by counting and by ranks, and the cut of an access into instructions.
//
// Example: 32 lanes read 4 bytes each down a column of 32 rows of 128 bytes. Lane bit k moves address bit 7 + k; bank
// bits are 2 to 6. Address rank 5, bank rank 0: 2^5 wavefronts, all words in one bank. With rows XORed, lane bit k
// moves byte bits 7 + k and 2 + k: rank 5 of 5, one wavefront.
//
// The count is a set of words per phase, so it holds for every layout, padding and odd extents as well; the ranks hold
// where addresses are linear, and say why. Neither is derived from the other, so synthesis checks one against the
// other.
#include "drawloom/layout/banks.h"

#include <algorithm>
#include <bit>
#include <set>

#include "drawloom/layout/draft.h"
#include "drawloom/layout/f2.h"

namespace drawloom {
namespace {

/// A wavefront delivers 128 bytes: that many lanes fill it. Widths below a word are served as words.
auto phase_lanes(int64_t width) -> int64_t { return kBanks * kBankBytes / std::max(width, kBankBytes); }

/// Wavefronts of one phase, by counting.
auto degree_of(const std::vector<int64_t>& addresses, int64_t width) -> int64_t {
  std::set<int64_t> words;
  for (const int64_t address : addresses) {
    for (int64_t at = address; at < address + width; at += kBankBytes) words.insert(at / kBankBytes);
  }
  int64_t load[kBanks] = {}, most = 0;
  for (const int64_t word : words) most = std::max(most, ++load[word % kBanks]);
  return most;
}

/// Address bits that the lanes of one phase move, one vector per lane bit; nothing where that is not linear.
auto lane_columns(const Layout& access, int64_t lanes) -> std::optional<std::vector<BitVector>> {
  std::vector<BitVector> out;
  size_t first = 0;
  for (int d = 0; d < access.from_index("lane"); ++d) first += access.from()[static_cast<size_t>(d)].digits.size();
  const auto& lane = access.from()[static_cast<size_t>(access.from_index("lane"))];
  const auto& bytes = access.to()[0].digits;
  for (size_t k = 0; k < lane.digits.size(); ++k) {
    const auto& digit = lane.digits[k];
    // An odd number of lanes, or a gap between them: no matrix.
    if (digit.extent != 2 || digit.stride != int64_t{1} << k) return std::nullopt;
    if (digit.stride >= lanes) break;
    BitVector address = 0;
    for (uint64_t rest = access.columns()[first + k]; rest != 0; rest &= rest - 1) {
      const auto& moved = bytes[static_cast<size_t>(std::countr_zero(rest))];
      if (moved.extent != 2 || !std::has_single_bit(static_cast<uint64_t>(moved.stride))) return std::nullopt;
      address |= static_cast<BitVector>(moved.stride);
    }
    out.push_back(address);
  }
  return out;
}

auto certificate_of(const Layout& access, int64_t width) -> std::optional<BankCertificate> {
  auto columns = lane_columns(access, phase_lanes(width));
  if (!columns) return std::nullopt;
  // Bytes of one word go together, and so do the words of one wide access.
  for (auto& c : *columns) c &= ~static_cast<BitVector>(std::max(width, kBankBytes) - 1);
  const int address_rank = rank(*columns);
  for (auto& c : *columns) c &= kBanks * kBankBytes - 1;
  return BankCertificate{address_rank, rank(*columns)};
}

/// All points with `lane` as the fastest Dim.
auto lane_first(const Layout& access) -> Layout { return arrange(access, {"lane"}, {"byte"}); }

auto check_access(const Layout& access, int64_t width) -> std::optional<Refusal> {
  if (width < 1 || width > 16 || !std::has_single_bit(static_cast<uint64_t>(width))) {
    return Refusal{str("a lane accesses 1, 2, 4, 8 or 16 bytes, not {}", width)};
  }
  if (access.from_index("lane") < 0 || access.from_extent("lane") > kWarpLanes) {
    return Refusal{str("an access needs `lane`, at most {}", kWarpLanes)};
  }
  if (access.to().size() != 1 || access.to_index("byte") != 0) return Refusal{"an access goes to `byte` alone"};
  uint64_t moved = 0;
  for (const uint64_t column : access.columns()) moved |= column;
  for (size_t t = 0; t < access.to()[0].digits.size(); ++t) {
    const int64_t step = access.to()[0].digits[t].stride;
    if ((moved >> t & 1) != 0 && step % width != 0) {
      return Refusal{str("a step of {} bytes is no multiple of {}", step, width)};
    }
  }
  return std::nullopt;
}

auto is_register(const Draft& draft, size_t i) -> bool {
  return draft.from_dims[static_cast<size_t>(draft.from[i].dim)] == "register";
}

/// Register bits that alone move the byte bits from one element up, as far as they go and everything else stays
/// aligned.
auto vector_registers(const Draft& draft, int64_t element_bytes, int64_t max_width) -> std::vector<int> {
  std::vector<int> out;
  int64_t width = element_bytes;
  for (; width < max_width; width *= 2) {
    const int t = draft.find_to(0, width);
    const auto feeders = t < 0 ? std::vector<int>() : draft.fed_by(t);
    if (feeders.size() != 1 || draft.to[static_cast<size_t>(t)].extent != 2) break;
    const auto i = static_cast<size_t>(feeders[0]);
    if (!is_register(draft, i) || draft.feeds[i].size() != 1) break;
    out.push_back(feeders[0]);
  }
  // A row pitch of 36 words still allows 16 bytes at once, one of 34 words only 8: every step must be whole vectors.
  const auto is_aligned = [&](const Draft::Place& p) { return p.stride < width || p.stride % width == 0; };
  for (; !out.empty() && !std::all_of(draft.to.begin(), draft.to.end(), is_aligned); width /= 2) out.pop_back();
  return out;
}

/// (vector, step) -> (register): those bits, then all other register digits.
auto vector_first(const Draft& draft, const std::vector<int>& vector) -> Layout {
  LayoutBuilder order;
  order.from("vector").from("step").to("register");
  for (const int i : vector) order.map("vector", 2, {{"register", draft.from[static_cast<size_t>(i)].stride}});
  for (size_t i = 0; i < draft.from.size(); ++i) {
    if (!is_register(draft, i) || std::count(vector.begin(), vector.end(), static_cast<int>(i)) > 0) continue;
    order.map("step", draft.from[i].extent, {{"register", draft.from[i].stride}});
  }
  return order.build();
}

}  // namespace

auto BankReport::text() const -> std::string {
  auto out = str("{} B x {} lanes: {}-way", width, phase_lanes(width), worst);
  if (wavefronts != phases * worst) out += str(" at worst, {} wavefronts for {}", wavefronts, phases);
  if (certificate) out += str(" (rank {} of {})", certificate->bank_rank, certificate->address_rank);
  return out;
}

auto bank_conflicts(const Layout& access, int64_t width) -> Maybe<BankReport> {
  if (const auto wrong = check_access(access, width)) return *wrong;
  const auto ordered = lane_first(access);
  const int64_t lanes = ordered.from()[0].count(), count = point_count(ordered.from());
  BankReport out = {width, count / lanes, 0, 0, 0, certificate_of(ordered, width)};
  for (int64_t first = 0; first < count; first += lanes) {
    for (int64_t lane = 0; lane < lanes; lane += phase_lanes(width)) {
      std::vector<int64_t> addresses;
      for (int64_t k = lane; k < std::min(lanes, lane + phase_lanes(width)); ++k) {
        addresses.push_back(ordered.value_at(nth_point(ordered.from(), first + k)));
      }
      const int64_t degree = degree_of(addresses, width);
      ++out.phases;
      out.wavefronts += degree;
      out.worst = std::max(out.worst, degree);
    }
  }
  return out;
}

auto vector_access(const Layout& access, int64_t element_bytes, int64_t max_width) -> Maybe<VectorAccess> {
  if (access.to().size() != 1 || access.to_index("byte") != 0) return Refusal{"an access goes to `byte` alone"};
  const Draft draft(access);
  const auto vector = vector_registers(draft, element_bytes, max_width);
  const auto registers = vector_first(draft, vector);
  std::vector<Dim> others;
  for (const auto& dim : access.from()) {
    if (dim.name != "register") others.push_back(dim);
  }
  DRAWLOOM_TRY(const auto ordered, product(registers, identity(others)));
  DRAWLOOM_TRY(const auto bytes, compose(ordered, access));
  return VectorAccess{element_bytes << vector.size(), registers, at_zero(bytes, "vector")};
}

}  // namespace drawloom
