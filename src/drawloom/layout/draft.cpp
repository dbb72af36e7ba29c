// Splitting and joining digits, and the canonical form.
//
// Equal maps shall be equal values, so `finish` joins whatever can be joined and then splits off all factors of two.
// Example: x as digits 3 * 4, as 12 or as 2 * 6, moved to y in one piece: joined 12, canonical 2 * 2 * 3. Joining comes
// first because 3 * 4 and 4 * 3 have the same joined form, and no common split one.
//
// A join or a cut is done on both sides at once: digits go together only where they are neighbours in the input and
// move neighbours in the output, each fed by nothing else. Output digits that nothing moves (`unfed`) have no partner
// and are joined by themselves.
//
// Each join is found by trying all pairs: a layout has 64 digits at most. Places are never erased, only left with
// extent 1, so that numbers held elsewhere stay true.
#include "drawloom/layout/draft.h"

#include <algorithm>

namespace drawloom {
namespace {

auto all_places(const std::vector<Dim>& dims) -> std::vector<Draft::Place> {
  std::vector<Draft::Place> out;
  for (size_t d = 0; d < dims.size(); ++d) {
    for (const auto& digit : dims[d].digits) out.push_back({static_cast<int>(d), digit.extent, digit.stride});
  }
  return out;
}

auto names_of(const std::vector<Dim>& dims) -> std::vector<std::string> {
  std::vector<std::string> out;
  for (const auto& dim : dims) out.push_back(dim.name);
  return out;
}

/// Sorted, with pairs cancelled: a sum over F2.
auto cancelled(std::vector<int> set) -> std::vector<int> {
  std::sort(set.begin(), set.end());
  std::vector<int> out;
  for (const int x : set) {
    if (!out.empty() && out.back() == x) {
      out.pop_back();
    } else {
      out.push_back(x);
    }
  }
  return out;
}

auto follows(const Draft::Place& low, const Draft::Place& high) -> bool {
  return low.dim == high.dim && low.extent > 1 && high.extent > 1 && high.stride == low.stride * low.extent;
}

struct Numbered {
  std::vector<Dim> dims;
  std::vector<int> rank;  ///< per place its number in `dims`; -1: removed
};

auto numbered(const std::vector<std::string>& names, const std::vector<Draft::Place>& places) -> Maybe<Numbered> {
  Numbered out = {{}, std::vector<int>(places.size(), -1)};
  int count = 0;
  for (size_t d = 0; d < names.size(); ++d) {
    Dim dim = {names[d], {}};
    for (const int p : Draft::in_order(places, static_cast<int>(d))) {
      const auto& place = places[static_cast<size_t>(p)];
      if (place.stride < dim.extent()) {
        return Refusal{str("in `{}` a digit of stride {} overlaps what lies below, 0 .. {}", dim.name, place.stride,
                           dim.extent() - 1)};
      }
      dim.digits.push_back({place.extent, place.stride});
      out.rank[static_cast<size_t>(p)] = count++;
    }
    out.dims.push_back(std::move(dim));
  }
  if (count > 64) return Refusal{str("a layout has at most 64 digits on a side, this one has {}", count)};
  return out;
}

}  // namespace

Draft::Draft(const Layout& layout)
    : from_dims(names_of(layout.from())), to_dims(names_of(layout.to())), from(all_places(layout.from())),
      to(all_places(layout.to())) {
  for (const uint64_t column : layout.columns()) {
    std::vector<int> moves;
    for (int t = 0; t < static_cast<int>(to.size()); ++t) {
      if (column >> t & 1) moves.push_back(t);
    }
    feeds.push_back(std::move(moves));
  }
}

auto Draft::dim_of(std::vector<std::string>& dims, std::string_view name) -> int {
  const auto at = std::find(dims.begin(), dims.end(), name);
  if (at != dims.end()) return static_cast<int>(at - dims.begin());
  dims.emplace_back(name);
  return static_cast<int>(dims.size()) - 1;
}

auto Draft::add_from(const Place& place, std::vector<int> moves) -> int {
  from.push_back(place);
  feeds.push_back(cancelled(std::move(moves)));
  return static_cast<int>(from.size()) - 1;
}

auto Draft::add_to(const Place& place) -> int {
  to.push_back(place);
  return static_cast<int>(to.size()) - 1;
}

auto Draft::find_to(int dim, int64_t stride) const -> int {
  for (size_t t = 0; t < to.size(); ++t) {
    if (to[t].dim == dim && to[t].stride == stride && to[t].extent > 1) return static_cast<int>(t);
  }
  return -1;
}

auto Draft::fed_by(int t) const -> std::vector<int> {
  std::vector<int> out;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i].extent > 1 && std::count(feeds[i].begin(), feeds[i].end(), t) > 0) out.push_back(static_cast<int>(i));
  }
  return out;
}

auto Draft::in_order(const std::vector<Place>& places, int dim) -> std::vector<int> {
  std::vector<int> out;
  for (size_t p = 0; p < places.size(); ++p) {
    if (places[p].dim == dim && places[p].extent > 1) out.push_back(static_cast<int>(p));
  }
  std::stable_sort(out.begin(), out.end(), [&](int a, int b) {
    return places[static_cast<size_t>(a)].stride < places[static_cast<size_t>(b)].stride;
  });
  return out;
}

/// High = rounded up: for a place whose top the caller knows to be unreachable (see `fits` in compose.cpp).
void Draft::split_from(int i, int64_t q) {
  const auto cut = [q](std::vector<Place>& places, int p) {
    auto& low = places[static_cast<size_t>(p)];
    const Place high = {low.dim, (low.extent + q - 1) / q, low.stride * q};
    low.extent = q;
    places.push_back(high);
    return static_cast<int>(places.size()) - 1;
  };
  const auto moves = feeds[static_cast<size_t>(i)];
  DRAWLOOM_CHECK(moves.size() <= 1, "a digit that moves {} others cannot be split", moves.size());
  cut(from, i);
  feeds.push_back(moves.empty() ? moves : std::vector<int>{cut(to, moves[0])});
}

void Draft::split_to(int t, int64_t q) {
  const auto feeders = fed_by(t);
  DRAWLOOM_CHECK(feeders.size() <= 1, "a digit moved by {} others cannot be split", feeders.size());
  if (!feeders.empty()) return split_from(feeders[0], q);
  auto& low = to[static_cast<size_t>(t)];
  const Place high = {low.dim, (low.extent + q - 1) / q, low.stride * q};
  low.extent = q;
  to.push_back(high);
}

auto Draft::can_merge(int i, int j) const -> bool {
  if (!follows(from[static_cast<size_t>(i)], from[static_cast<size_t>(j)])) return false;
  const auto& low = feeds[static_cast<size_t>(i)];
  const auto& high = feeds[static_cast<size_t>(j)];
  if (low.empty() && high.empty()) return true;
  return low.size() == 1 && high.size() == 1 &&
         follows(to[static_cast<size_t>(low[0])], to[static_cast<size_t>(high[0])]) && fed_by(low[0]).size() == 1 &&
         fed_by(high[0]).size() == 1;
}

auto Draft::merge_one() -> bool {
  for (int i = 0; i < static_cast<int>(from.size()); ++i) {
    for (int j = 0; j < static_cast<int>(from.size()); ++j) {
      if (!can_merge(i, j)) continue;
      const auto join = [](Place& low, Place& high) { low.extent *= high.extent, high.extent = 1; };
      join(from[static_cast<size_t>(i)], from[static_cast<size_t>(j)]);
      const auto& low = feeds[static_cast<size_t>(i)];
      if (!low.empty())
        join(to[static_cast<size_t>(low[0])], to[static_cast<size_t>(feeds[static_cast<size_t>(j)][0])]);
      return true;
    }
  }
  return false;
}

auto Draft::merge_unfed() -> bool {
  for (int t = 0; t < static_cast<int>(to.size()); ++t) {
    for (int u = 0; u < static_cast<int>(to.size()); ++u) {
      auto& low = to[static_cast<size_t>(t)];
      auto& high = to[static_cast<size_t>(u)];
      if (!follows(low, high) || !fed_by(t).empty() || !fed_by(u).empty()) continue;
      low.extent *= high.extent, high.extent = 1;
      return true;
    }
  }
  return false;
}

void Draft::coarsen() {
  while (merge_one()) {
  }
  while (merge_unfed()) {
  }
}

void Draft::split_twos() {
  const auto is_wide_even = [](const Place& p) { return p.extent > 2 && p.extent % 2 == 0; };
  // Both lists grow while they are walked: the high part is looked at in its turn.
  for (size_t i = 0; i < from.size(); ++i) {
    if (is_wide_even(from[i])) split_from(static_cast<int>(i), 2);
  }
  for (size_t t = 0; t < to.size(); ++t) {
    if (is_wide_even(to[t])) split_to(static_cast<int>(t), 2);
  }
}

auto Draft::check_columns() const -> std::optional<Refusal> {
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i].extent < 2) continue;
    const auto& name = from_dims[static_cast<size_t>(from[i].dim)];
    if (from[i].extent > 2 && feeds[i].size() > 1) {
      return Refusal{str("a digit of {} values in `{}` moves {} digits; only bits can be added up by XOR",
                         from[i].extent, name, feeds[i].size())};
    }
    for (const int t : feeds[i]) {
      const auto& target = to[static_cast<size_t>(t)];
      if (target.extent != from[i].extent) {
        return Refusal{str("a digit of {} values in `{}` moves one of {} values in `{}`", from[i].extent, name,
                           target.extent, to_dims[static_cast<size_t>(target.dim)])};
      }
      if (target.extent > 2 && fed_by(t).size() > 1) {
        return Refusal{str("two digits move the same digit of {} values in `{}`; only bits can be added up by XOR",
                           target.extent, to_dims[static_cast<size_t>(target.dim)])};
      }
    }
  }
  return std::nullopt;
}

/// Columns are checked before joining, which assumes digits and what they move to have one extent; strides are checked
/// by `numbered` after it, when there are fewest places.
auto Draft::finish() -> Maybe<Layout> {
  for (auto& moves : feeds) {
    std::erase_if(moves, [&](int t) { return to[static_cast<size_t>(t)].extent < 2; });
  }
  if (const auto wrong = check_columns()) return *wrong;
  coarsen();
  split_twos();
  DRAWLOOM_TRY(const auto inputs, numbered(from_dims, from));
  DRAWLOOM_TRY(const auto outputs, numbered(to_dims, to));
  Layout out;
  out.from_ = inputs.dims;
  out.to_ = outputs.dims;
  out.columns_.resize(
      static_cast<size_t>(std::count_if(from.begin(), from.end(), [](auto& p) { return p.extent > 1; })));
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i].extent < 2) continue;
    uint64_t& column = out.columns_[static_cast<size_t>(inputs.rank[i])];
    for (const int t : feeds[i]) column ^= uint64_t{1} << outputs.rank[static_cast<size_t>(t)];
  }
  return out;
}

}  // namespace drawloom
