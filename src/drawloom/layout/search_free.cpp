// Layouts that threads alone write and read: order of digits, XOR into the bank bits of a 128-byte line, padding.
//
// For a fixed order a layout of the XOR family is a set of terms (byte bit of the line) ^= (tile bit above the line).
// Sets are tried by size, so the first one without a conflict is a simplest one. Small families (a line of 8 chunks of
// 16 bytes over 7 bits: 2^21) are exhausted; the large ones (32 words: 2^35) up to a number of layouts.
#include <algorithm>
#include <bit>

#include "drawloom/layout/judge.h"

namespace drawloom {
namespace {

constexpr int64_t kLine = kBanks * kBankBytes;

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
    for (size_t t = 0; t < digits.size(); ++t) {
      bytes_ = std::max(bytes_, candidate_.stride[t] * digits[t].extent);
      if (digits[t].extent != 2 || candidate_.stride[t] < kLine) continue;
      if (candidate_.stride[t] % kLine != 0) continue;  // an odd digit inside the line: no XOR
      for (int64_t bit = std::max(max_width, kBankBytes); bit < kLine; bit *= 2) {
        if (std::count(candidate_.stride.begin(), candidate_.stride.end(), bit) > 0) terms_.push_back({t, bit});
      }
    }
  }

  /// Sets of up to `most_terms`; `name` says what order this is.
  void run(size_t most_terms, const std::string& name) {
    name_ = name;
    for (size_t size = 0; size <= std::min(most_terms, terms_.size()); ++size) {
      choose(0, size);
      if (search_.is_done()) return;
    }
    if (left_ <= 0 || most_terms < terms_.size()) search_.is_exhaustive = false;
  }

 private:
  struct Term {
    size_t digit;
    int64_t bit;
  };

  void choose(size_t first, size_t more) {
    if (search_.is_done() || left_ <= 0) return;
    if (more == 0) return judge_now();
    for (size_t k = first; k + more <= terms_.size(); ++k) {
      auto& mask = candidate_.xored[terms_[k].digit];
      mask ^= static_cast<uint32_t>(terms_[k].bit);
      chosen_.push_back(k);
      choose(k + 1, more - 1);
      chosen_.pop_back();
      mask ^= static_cast<uint32_t>(terms_[k].bit);
      if (search_.is_done()) return;
    }
  }

  void judge_now() {
    --left_;
    const int64_t excess = judge_.excess(candidate_);
    const auto complexity = static_cast<int64_t>(chosen_.size()) + (name_.empty() ? 0 : 100);
    if (search_.would_take(excess, bytes_, complexity)) {
      search_.best = Found{candidate_, excess, bytes_, complexity, words(), {}};
    }
  }

  auto words() const -> std::string {
    std::vector<std::string> parts;
    if (!name_.empty()) parts.push_back(name_);
    for (const size_t k : chosen_) {
      parts.push_back(str("byte{}^={}", std::countr_zero(static_cast<uint64_t>(terms_[k].bit)),
                          digit_name(judge_.digits(), terms_[k].digit)));
    }
    return parts.empty() ? "one digit after the other" : join(parts, " ");
  }

  const Judge& judge_;
  Candidate candidate_;
  Search& search_;
  int64_t left_, bytes_ = 0;
  std::vector<Term> terms_;
  std::vector<size_t> chosen_;
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
