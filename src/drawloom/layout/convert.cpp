// Conversion plans: the kind by looking, then the cheapest plan of that kind.
//
// Example, 16-bit elements in both layouts (register: x0, ...): the two elements of a 32-bit register stay neighbours,
// so a *unit* is the pair, and every table below has half the registers. Where the sides disagree on x0 a unit is one
// element of 2 bytes, and moves need byte permutes.
//
// Tests go from free to dear and each looks at every (thread, register): `nothing` if each element is in place,
// `rename` if one source register serves all threads, `shuffle` if every element is in its warp. So no layout is put
// down as dearer than it is because its digits have an unusual form; replicas on the source side count as places to
// read from.
//
// A passage through shared memory has two free widths. Wide accesses need fewer instructions, but the widest one on one
// side can force conflicts on the other, so all pairs of widths are synthesised unless the least possible cost of a
// pair is already too much. Cost: instructions plus wavefronts.
#include "drawloom/layout/convert.h"

#include <algorithm>
#include <set>

#include "drawloom/layout/draft.h"
#include "drawloom/layout/holdings.h"

namespace drawloom {
namespace {

/// Columns of the register bits below `count` registers: what each moves, by name and stride. Nothing when something
/// else moves that too: then the order inside a unit is not the same everywhere.
auto low_registers(const Layout& layout, int64_t count) -> std::optional<std::vector<std::set<std::string>>> {
  const Draft draft(layout);
  std::vector<std::set<std::string>> out;
  for (int64_t stride = 1; stride < count; stride *= 2) {
    std::optional<std::set<std::string>> moved;
    for (size_t i = 0; i < draft.from.size(); ++i) {
      const auto& place = draft.from[i];
      if (draft.from_dims[static_cast<size_t>(place.dim)] != "register") continue;
      if (place.stride != stride || place.extent != 2) continue;
      moved.emplace();
      for (const int t : draft.feeds[i]) {
        if (draft.fed_by(t).size() != 1) return std::nullopt;
        const auto& target = draft.to[static_cast<size_t>(t)];
        moved->insert(str("{} {}", draft.to_dims[static_cast<size_t>(target.dim)], target.stride));
      }
    }
    if (!moved) return std::nullopt;
    out.push_back(std::move(*moved));
  }
  return out;
}

/// The first of every `count` registers; registers are then counted by units.
/// Both sides agree on the order inside a unit, so its first element stands for it.
auto by_units(const Layout& layout, int64_t count) -> Layout {
  std::vector<Dim> others;
  for (const auto& dim : layout.from()) {
    if (dim.name != "register") others.push_back(dim);
  }
  const int64_t registers = layout.from_extent("register") / count;
  const auto first = LayoutBuilder().from("register").to("register").map("register", registers, {{"register", count}});
  return compose(product(first.build(), identity(others)).value(), layout).value();
}

/// Elements that travel together.
auto unit_of(const Layout& source, const Layout& destination, int64_t element_bytes) -> int64_t {
  const int64_t packed = element_bytes < 4 ? 4 / element_bytes : 1;
  const auto from = low_registers(source, packed), to = low_registers(destination, packed);
  return from && to && *from == *to ? packed : 1;
}

/// A destination with fewer registers is fine too: the rest of the source is dropped.
auto is_nothing(const Holdings& h) -> bool {
  if (h.destination_registers > h.source_registers) return false;
  for (int64_t thread = 0; thread < h.thread_count; ++thread) {
    for (int64_t reg = 0; reg < h.destination_registers; ++reg) {
      if (h.wanted(thread, reg) >= 0 && h.wanted(thread, reg) != h.held(thread, reg)) return false;
    }
  }
  return true;
}

/// Source register that has what destination register `reg` wants, in every thread; -1: there is none.
auto renamed_register(const Holdings& h, int64_t reg) -> int {
  for (int64_t from = 0; from < h.source_registers; ++from) {
    bool fits = true;
    for (int64_t thread = 0; thread < h.thread_count && fits; ++thread) {
      fits = h.wanted(thread, reg) < 0 || h.wanted(thread, reg) == h.held(thread, from);
    }
    if (fits) return static_cast<int>(from);
  }
  return -1;
}

auto stays_in_warps(const Holdings& h) -> bool {
  for (int64_t thread = 0; thread < h.thread_count; ++thread) {
    for (int64_t reg = 0; reg < h.destination_registers; ++reg) {
      const auto element = h.wanted(thread, reg);
      if (element < 0) continue;
      const auto& places = h.places[static_cast<size_t>(element)];
      const bool near = std::any_of(places.begin(), places.end(), [&](const Holdings::Place& p) {
        return p.thread / kWarpLanes == thread / kWarpLanes;
      });
      if (!near) return false;
    }
  }
  return true;
}

/// Warp instructions and wavefronts of an access: what it occupies.
auto cost_of(const BankReport& report) -> int64_t { return report.instructions + report.wavefronts; }

/// The least that moving all registers of `layout` by `width` bytes a lane can occupy.
auto least_cost(const Layout& layout, int64_t element_bytes, int64_t width) -> int64_t {
  const int64_t instructions = point_count(layout.from()) * element_bytes / width / layout.from_extent("lane");
  return instructions + instructions * layout.from_extent("lane") * std::max(width, kBankBytes) / (kBanks * kBankBytes);
}

/// Tries all widths of stores and loads; the cheapest passage wins.
auto shared_passage(const Layout& source, const Layout& destination, int64_t element_bytes, const SharedRules& rules)
    -> Maybe<SharedPassage> {
  SharedTile tile = {{}, element_bytes};
  int64_t bytes = element_bytes;
  for (const auto& dim : destination.to()) {
    tile.extents.push_back({dim.name, std::max(dim.extent(), source.to_extent(dim.name))});
    bytes *= tile.extents.back().second;
  }
  if (bytes > rules.max_bytes) return Refusal{str("the tile has {} bytes, more than {}", bytes, rules.max_bytes)};
  // Up to 25 searches: each a short one.
  auto short_search = rules;
  short_search.most_layouts = std::min<int64_t>(rules.most_layouts, 1 << 16);
  std::optional<SharedPassage> best;
  std::string why;
  const auto cost = [](const SharedLayout& s) { return cost_of(s.reports[0].second) + cost_of(s.reports[1].second); };
  for (int64_t store = 16; store >= element_bytes; store /= 2) {
    for (int64_t load = 16; load >= element_bytes; load /= 2) {
      const int64_t least = least_cost(source, element_bytes, store) + least_cost(destination, element_bytes, load);
      if (best && cost(best->tile) <= least) continue;
      auto found = synthesize(tile, {{"store", source, store}, {"load", destination, load}}, short_search);
      if (!found.ok()) {
        why = found.why();
        continue;
      }
      if (best && std::pair(cost(best->tile), best->tile.bytes) <= std::pair(cost(*found), found->bytes)) continue;
      const auto through = [&](const Layout& layout, int64_t width) {
        return vector_access(compose(layout, found->layout).value(), element_bytes, width).value();
      };
      best = SharedPassage{*found, through(source, store), through(destination, load)};
    }
  }
  if (!best) return Refusal{why};
  return *best;
}

}  // namespace

auto ShuffleRound::is_local() const -> bool { return butterfly() == 0; }

auto ShuffleRound::butterfly() const -> std::optional<int> {
  std::optional<int> mask;
  for (size_t thread = 0; thread < source.size(); ++thread) {
    if (received[thread] < 0) continue;
    const int found = static_cast<int>(thread % kWarpLanes) ^ source[thread];
    if (mask && *mask != found) return std::nullopt;
    mask = found;
  }
  return mask.value_or(0);
}

auto ShuffleRound::is_uniform() const -> bool {
  const auto same = [](const std::vector<int>& registers) {
    std::set<int> seen(registers.begin(), registers.end());
    seen.erase(-1);
    return seen.size() <= 1;
  };
  return same(offered) && same(received) && std::count(received.begin(), received.end(), -1) == 0;
}

auto Conversion::shuffles() const -> int64_t {
  const auto crossing =
      std::count_if(rounds.begin(), rounds.end(), [](const ShuffleRound& r) { return !r.is_local(); });
  return crossing * std::max<int64_t>(1, unit_bytes / 4);
}

auto Conversion::text() const -> std::string {
  switch (kind) {
    case ConversionKind::nothing: return "nothing";
    case ConversionKind::rename: {
      std::vector<std::string> parts;
      for (size_t r = 0; r < renamed.size(); ++r) parts.push_back(str("{}<-{}", r, renamed[r]));
      return "rename " + join(parts, " ");
    }
    case ConversionKind::shuffle: {
      std::vector<std::string> parts;
      for (const auto& round : rounds) {
        const auto mask = round.butterfly();
        parts.push_back(!mask ? "idx" : *mask == 0 ? "local" : str("bfly {}", *mask));
      }
      return str("shuffle, {} shfl: {}", shuffles(), join(parts, ", "));
    }
    case ConversionKind::shared:
      return str("shared, stores of {} B, loads of {} B, through\n{}", shared->store.width, shared->load.width,
                 shared->tile.text());
  }
  return "";
}

auto plan_conversion(const Layout& source, const Layout& destination, int64_t element_bytes, const SharedRules& rules)
    -> Maybe<Conversion> {
  Conversion out;
  out.unit_elements = unit_of(source, destination, element_bytes);
  out.unit_bytes = out.unit_elements * element_bytes;
  const auto from = by_units(source, out.unit_elements), to = by_units(destination, out.unit_elements);
  DRAWLOOM_TRY(const auto holdings, tabulate(from, to));
  out.threads = holdings.threads;
  if (is_nothing(holdings)) return out;
  for (int64_t reg = 0; reg < holdings.destination_registers; ++reg) {
    out.renamed.push_back(renamed_register(holdings, reg));
  }
  if (std::count(out.renamed.begin(), out.renamed.end(), -1) == 0) {
    out.kind = ConversionKind::rename;
    return out;
  }
  out.renamed.clear();
  if (stays_in_warps(holdings)) {
    out.kind = ConversionKind::shuffle;
    auto rounds = linear_rounds(from, to, holdings);
    out.rounds = rounds ? std::move(*rounds) : pairwise_rounds(holdings);
    return out;
  }
  out.kind = ConversionKind::shared;
  DRAWLOOM_TRY(out.shared, shared_passage(source, destination, element_bytes, rules));
  return out;
}

}  // namespace drawloom
