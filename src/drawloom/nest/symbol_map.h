#pragma once
/// A hash table from symbols to values in two vectors: building one for every tree of a search must cost next to nothing.

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "drawloom/ir/symbol.h"

namespace drawloom {

/// Symbols are identities, so their addresses are hashed; the order of `entries()` is that of insertion. The map keeps no symbol alive.
template <typename V>
class SymbolMap {
 public:
  auto find(const Symbol* s) const -> const V* {
    const int at = number(s);
    return at < 0 ? nullptr : &entries_[static_cast<size_t>(at)].second;
  }
  /// Its position in `entries()`, or -1.
  auto number(const Symbol* s) const -> int { return slots_.empty() ? -1 : slots_[slot_of(s)]; }
  auto find(const Symbol* s) -> V* { return const_cast<V*>(std::as_const(*this).find(s)); }

  /// The value of s, made from `v` if it has none.
  auto insert(const Symbol* s, V v) -> V& {
    if (entries_.size() * 2 >= slots_.size()) grow();
    int& at = slots_[slot_of(s)];
    if (at < 0) {
      at = static_cast<int>(entries_.size());
      entries_.emplace_back(s, std::move(v));
    }
    return entries_[static_cast<size_t>(at)].second;
  }

  void reserve(size_t n) {
    entries_.reserve(n);
    while (slots_.size() < n * 2) grow();
  }
  auto entries() const -> const std::vector<std::pair<const Symbol*, V>>& { return entries_; }

 private:
  auto slot_of(const Symbol* s) const -> size_t {
    const size_t mask = slots_.size() - 1;
    size_t i = (reinterpret_cast<uintptr_t>(s) * 0x9e3779b97f4a7c15u) >> (64 - std::countr_zero(slots_.size()));
    while (slots_[i] >= 0 && entries_[static_cast<size_t>(slots_[i])].first != s) i = (i + 1) & mask;
    return i;
  }

  void grow() {
    slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, -1);
    for (size_t k = 0; k < entries_.size(); ++k) slots_[slot_of(entries_[k].first)] = static_cast<int>(k);
  }

  std::vector<int> slots_;
  std::vector<std::pair<const Symbol*, V>> entries_;
};

}  // namespace drawloom
