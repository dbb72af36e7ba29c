// Layouts that threads alone write and read: order of digits, XOR into the bank bits of a 128-byte line, padding.
//
// For a fixed order a layout of the XOR family is a set of terms (byte bit of the line) ^= (tile bit above the line).
// Sets are tried by size, so the first one without a conflict is a simplest one. Small families (a line of 8 chunks of
// 16 bytes over 7 bits: 2^21) are exhausted; of the large ones (32 words: 2^35) the small sets are tried, then all by
// backtracking over the bits of the line.
#include <algorithm>
#include <bit>
#include <utility>

#include "drawloom/layout/judge.h"

namespace drawloom {
namespace {

constexpr int64_t kLine = kBanks * kBankBytes;

/// As in the text of the layout: the number of the digit in its coordinate.
auto digit_name(const std::vector<TileDigit>& digits, size_t t) -> std::string {
  int64_t index = 0;
  for (size_t k = 0; k < t; ++k) index += digits[k].coord == digits[t].coord;
  return str("{}{}", digits[t].coord, index);
}

/// All sets of XOR terms over one order of digits.
class XorSearch {
 public:
  XorSearch(const Judge& judge, Candidate base, int64_t max_width, const SharedRules& rules, Search& search)
      : judge_(judge), candidate_(std::move(base)), search_(search),
        left_(judge.is_linear() ? rules.most_layouts : rules.most_layouts / 100) {
    const auto& digits = judge.digits();
    bytes_ = judge.element_bytes();
    for (size_t t = 0; t < digits.size(); ++t) {
      bytes_ = std::max(bytes_, candidate_.stride[t] * digits[t].extent);
      // An odd digit inside the line leaves no bits above it: no XOR.
      if (digits[t].extent == 2 && candidate_.stride[t] % kLine == 0) sources_.push_back(t);
    }
    for (int64_t bit = std::max(max_width, kBankBytes); bit < kLine; bit *= 2) {
      bool is_bit = false;
      for (size_t t = 0; t < digits.size(); ++t) is_bit = is_bit || is_bit_at(t, bit);
      if (is_bit) targets_.push_back(static_cast<uint32_t>(bit));
    }
    for (const size_t t : sources_) {
      for (const uint32_t bit : targets_) terms_.push_back({t, bit});
    }
  }

  /// Sets of up to `most_terms`; `name` says what order this is.
  void run(size_t most_terms, const std::string& name) {
    name_ = name;
    double sets = 1;  // of this size
    bool is_solved = false;
    for (size_t size = 0; size <= std::min(most_terms, terms_.size()); ++size) {
      if (sets > kManySets && !is_solved) is_solved = true, solve();
      choose(0, size);
      sets = sets * static_cast<double>(terms_.size() - size) / static_cast<double>(size + 1);
      if (search_.is_done()) return;
    }
    if (left_ <= 0 || most_terms < terms_.size()) search_.is_exhaustive = false;
  }

 private:
  /// Sets of up to that many are tried one by one before backtracking gets its turn.
  static constexpr double kManySets = 1 << 17;
  /// What `fits` takes, in layouts judged.
  static constexpr int64_t kFitsCost = 100;

  /// Looks for a layout without conflicts among all sets of terms, dense ones too: one bit of the line after the other
  /// gets its set of tile bits, and a choice after which some rank cannot become full any more is left at once.
  void solve() {
    if (!judge_.is_linear() || sources_.size() > kMostSources) return;
    const int64_t before = std::exchange(left_, kMostNodes);
    solve_from(0);
    left_ = before;
  }

  struct Term {
    size_t digit;
    uint32_t bit;
  };
  static constexpr size_t kMostSources = 12;
  static constexpr int64_t kMostNodes = int64_t{1} << 20;

  auto is_bit_at(size_t t, int64_t stride) const -> bool {
    return judge_.digits()[t].extent == 2 && candidate_.stride[t] == stride;
  }

  void choose(size_t first, size_t more) {
    if (search_.is_done() || left_ <= 0) return;
    if (more == 0) return judge_now();
    for (size_t k = first; k + more <= terms_.size() && !search_.is_done(); ++k) {
      candidate_.xored[terms_[k].digit] ^= terms_[k].bit;
      choose(k + 1, more - 1);
      candidate_.xored[terms_[k].digit] ^= terms_[k].bit;
    }
  }

  void solve_from(size_t k) {
    if (k == targets_.size()) return judge_now();
    uint32_t open = 0;
    for (size_t later = k + 1; later < targets_.size(); ++later) open |= targets_[later];
    for (const uint32_t set : sets_by_size(sources_.size())) {
      if (search_.is_done() || --left_ <= 0) return;
      flip(set, targets_[k]);
      if (judge_.may_be_free(candidate_, open)) solve_from(k + 1);
      flip(set, targets_[k]);
    }
  }

  void flip(uint32_t set, uint32_t bit) {
    for (; set != 0; set &= set - 1) candidate_.xored[sources_[static_cast<size_t>(std::countr_zero(set))]] ^= bit;
  }

  static auto sets_by_size(size_t bits) -> std::vector<uint32_t> {
    std::vector<uint32_t> out(size_t{1} << bits);
    for (size_t set = 0; set < out.size(); ++set) out[set] = static_cast<uint32_t>(set);
    std::stable_sort(out.begin(), out.end(),
                     [](uint32_t a, uint32_t b) { return std::popcount(a) < std::popcount(b); });
    return out;
  }

  void judge_now() {
    --left_;
    const int64_t excess = judge_.excess(candidate_, search_.best ? search_.best->excess : INT64_MAX);
    // Another order ranks behind every set of terms, padding (1000) behind both.
    int64_t complexity = name_.empty() ? 0 : 100;
    for (const uint32_t mask : candidate_.xored) complexity += std::popcount(mask);
    if (!search_.would_take(excess, bytes_, complexity)) return;
    if (!judge_.fits(candidate_)) {
      left_ -= kFitsCost;
      return;
    }
    search_.best = Found{candidate_, excess, bytes_, complexity, words(), {}};
  }

  auto words() const -> std::string {
    std::vector<std::string> parts;
    if (!name_.empty()) parts.push_back(name_);
    for (const uint32_t bit : targets_) {
      for (const size_t t : sources_) {
        if ((candidate_.xored[t] & bit) == 0) continue;
        parts.push_back(str("byte{}^={}", std::countr_zero(bit), digit_name(judge_.digits(), t)));
      }
    }
    return parts.empty() ? "one digit after the other" : join(parts, " ");
  }

  const Judge& judge_;
  Candidate candidate_;
  Search& search_;
  int64_t left_, bytes_ = 0;
  std::vector<size_t> sources_;
  std::vector<uint32_t> targets_;
  std::vector<Term> terms_;
  std::string name_;
};

auto rest_after(const std::vector<int>& low, size_t count) -> std::vector<int> {
  std::vector<int> out;
  for (int t = 0; t < static_cast<int>(count); ++t) {
    if (std::count(low.begin(), low.end(), t) == 0) out.push_back(t);
  }
  return out;
}

/// Puts other digits than the first into the line: every choice of as many bits as the line has room for.
/// Few terms only: each order is a search of its own, and they number in the hundreds.
void search_orders(const Judge& judge, const SharedTile& tile, const std::vector<int>& low, int64_t max_width,
                   const SharedRules& rules, Search& search) {
  const auto& digits = judge.digits();
  const auto rest = rest_after(low, digits.size());
  std::vector<int> bits;
  for (const int t : rest) {
    if (digits[static_cast<size_t>(t)].extent == 2) bits.push_back(t);
  }
  const int64_t low_bytes = tile.element_bytes << low.size();
  const auto room =
      static_cast<size_t>(std::countr_zero(static_cast<uint64_t>(std::max<int64_t>(kLine / low_bytes, 1))));
  if (bits.size() <= room || bits.size() > 20) return;
  for (uint32_t set = 0; set < (uint32_t{1} << bits.size()) && !search.is_done(); ++set) {
    if (static_cast<size_t>(std::popcount(set)) != room) continue;
    auto order = low;
    std::vector<std::string> names;
    for (size_t k = 0; k < bits.size(); ++k) {
      if ((set >> k & 1) == 0) continue;
      order.push_back(bits[k]);
      names.push_back(digit_name(digits, static_cast<size_t>(bits[k])));
    }
    for (const int t : rest) {
      if (std::count(order.begin(), order.end(), t) == 0) order.push_back(t);
    }
    XorSearch(judge, in_order(digits, order, tile.element_bytes), max_width, rules, search)
        .run(judge.is_linear() ? 2 : 1, str("{} in the line", join(names, " ")));
  }
}

/// One gap, of a multiple of the widest access, below one digit above the line.
void search_padding(const Judge& judge, const SharedTile& tile, const std::vector<int>& low, int64_t max_width,
                    const SharedRules& rules, Search& search) {
  const auto& digits = judge.digits();
  auto order = low;
  for (const int t : rest_after(low, digits.size())) order.push_back(t);
  for (size_t at = low.size(); at < order.size(); ++at) {
    // A gap of a whole line more leads to the same banks.
    for (int64_t pad = max_width; pad <= kLine; pad += max_width) {
      auto candidate = in_order(digits, order, tile.element_bytes);
      int64_t stride = candidate.stride[static_cast<size_t>(order[at])] + pad;
      for (size_t k = at; k < order.size(); ++k) {
        const auto t = static_cast<size_t>(order[k]);
        candidate.stride[t] = stride;
        stride *= digits[t].extent;
      }
      const auto top = static_cast<size_t>(order.back());
      const int64_t bytes = candidate.stride[top] * digits[top].extent;
      if (bytes > rules.max_bytes) continue;
      const auto below = digit_name(digits, static_cast<size_t>(order[at]));
      search.offer(
          judge,
          {candidate, judge.excess(candidate), bytes, 1000, str("{} bytes of padding below {}", pad, below), {}});
    }
  }
}

}  // namespace

void search_free(const Judge& judge, const SharedTile& tile, const std::vector<int>& low, int64_t max_width,
                 const SharedRules& rules, Search& search) {
  const auto& digits = judge.digits();
  auto order = low;
  for (const int t : rest_after(low, digits.size())) order.push_back(t);
  XorSearch(judge, in_order(digits, order, tile.element_bytes), max_width, rules, search).run(64, "");
  if (search.is_done()) return;
  search_orders(judge, tile, low, max_width, rules, search);
  if (search.is_done()) return;
  search_padding(judge, tile, low, max_width, rules, search);
}

}  // namespace drawloom
