// Synthesis from request to certificate: low digits, judge, search, recount.
//
// Example, the transpose of docs/layout.md: 64 x 64 f32, both accesses 16 bytes wide. The lowest two digits must be
// elements of one access for the writer and the reader: y0 and y1. They are taken before anything else is tried,
// because an access that loses its width costs more than any conflict. The search then only orders and XORs what lies
// above.
//
// With a tensor map the lowest digits must be the first of the first coordinate, since TMA copies rows as they are in
// global memory.
//
// What is found is counted again word by word by `bank_conflicts`, which shares no counting with the judge: a mistake
// in either stops here rather than in a slow kernel.
#include "drawloom/layout/synthesize.h"

#include <algorithm>
#include <bit>
#include <set>

#include "drawloom/layout/draft.h"
#include "drawloom/layout/judge.h"

namespace drawloom {
namespace {

/// Tile digits that `access` can have as elements of one access: bits moved by one register bit and nothing else.
auto vector_digits(const std::vector<TileDigit>& digits, const Layout& access) -> std::set<int> {
  const Draft draft(access);
  std::set<int> out;
  for (size_t i = 0; i < draft.from.size(); ++i) {
    if (draft.from_dims[static_cast<size_t>(draft.from[i].dim)] != "register" || draft.from[i].extent != 2) continue;
    if (draft.feeds[i].size() != 1 || draft.fed_by(draft.feeds[i][0]).size() != 1) continue;
    const auto& target = draft.to[static_cast<size_t>(draft.feeds[i][0])];
    for (size_t t = 0; t < digits.size(); ++t) {
      if (digits[t].coord == draft.to_dims[static_cast<size_t>(target.dim)] && digits[t].step == target.stride) {
        out.insert(static_cast<int>(t));
      }
    }
  }
  return out;
}

/// The lowest tile digits: as many as the widest access has elements, each in the vectors of all accesses that are wide
/// enough to reach it.
auto low_digits(const SharedTile& tile, const std::vector<SharedAccess>& accesses, bool first_coordinate)
    -> Maybe<std::vector<int>> {
  const auto digits = tile_digits(tile);
  int64_t max_width = tile.element_bytes;
  for (const auto& access : accesses) max_width = std::max(max_width, access.width);
  std::vector<int> low;
  for (int64_t bytes = tile.element_bytes; bytes < max_width; bytes *= 2) {
    std::vector<int> allowed;
    for (int t = 0; t < static_cast<int>(digits.size()); ++t) {
      if (std::count(low.begin(), low.end(), t) == 0) allowed.push_back(t);
    }
    if (first_coordinate) std::erase_if(allowed, [&](int t) { return t != static_cast<int>(low.size()); });
    std::string who;
    for (const auto& access : accesses) {
      if (access.width <= bytes) continue;
      const auto own = vector_digits(digits, access.layout);
      std::erase_if(allowed, [&](int t) { return own.count(t) == 0; });
      who += str(" `{}`", access.name);
    }
    if (allowed.empty()) return Refusal{str("no order of elements gives {} bytes at once to{}", bytes * 2, who)};
    low.push_back(allowed[0]);
  }
  return low;
}

auto check_request(const SharedTile& tile, const std::vector<SharedAccess>& accesses) -> std::optional<Refusal> {
  if (tile.extents.empty()) return Refusal{"a tile without coordinates"};
  for (const auto& [coord, extent] : tile.extents) {
    if (extent < 1) return Refusal{str("the tile has {} elements along `{}`", extent, coord)};
  }
  const auto is_size = [](int64_t bytes) {
    return bytes >= 1 && bytes <= 16 && std::has_single_bit(static_cast<uint64_t>(bytes));
  };
  if (!is_size(tile.element_bytes)) return Refusal{str("elements of {} bytes", tile.element_bytes)};
  for (const auto& access : accesses) {
    if (!is_size(access.width) || access.width < tile.element_bytes) {
      return Refusal{str("`{}`: {} bytes a lane for elements of {}", access.name, access.width, tile.element_bytes)};
    }
  }
  return std::nullopt;
}

/// Counts every access of the layout found, independently of how it was judged.
auto certified(const SharedTile& tile, const std::vector<SharedAccess>& accesses, const std::vector<TileDigit>& digits,
               const Search& search) -> SharedLayout {
  const auto& best = *search.best;
  std::vector<std::string> coords;
  for (const auto& [coord, extent] : tile.extents) coords.push_back(coord);
  SharedLayout out = {arrange(best.candidate.layout(digits).value(), coords, {}),
                      best.bytes,
                      best.how,
                      best.tensor_map,
                      {},
                      search.tried,
                      search.is_exhaustive || best.excess == 0};
  for (const auto& access : accesses) {
    const auto bytes = compose(access.layout, out.layout).value();
    const auto vectors = vector_access(bytes, tile.element_bytes, access.width).value();
    DRAWLOOM_CHECK(vectors.width == access.width, "{} lost its width", access.name);
    const auto report = bank_conflicts(vectors.bytes, access.width).value();
    DRAWLOOM_CHECK(!report.certificate || report.certificate->degree() == report.worst, "rank and count disagree");
    out.reports.push_back({access.name, report});
  }
  DRAWLOOM_CHECK(out.excess() == best.excess, "judged {}, counted {} extra wavefronts", best.excess, out.excess());
  return out;
}

}  // namespace

auto SharedLayout::is_free() const -> bool { return excess() == 0; }

auto SharedLayout::excess() const -> int64_t {
  int64_t out = 0;
  for (const auto& [name, report] : reports) out += report.wavefronts - report.phases;
  return out;
}

auto SharedLayout::text() const -> std::string {
  auto out = str("{}\n{} bytes: {}\n", layout.text(), bytes, how);
  for (const auto& [name, report] : reports) out += str("{}: {}\n", name, report.text());
  const auto verdict = is_free() ? "no conflict" : is_exhaustive ? "least of the family" : "least of those tried";
  return out + str("{}; {} layouts tried\n", verdict, tried);
}

auto synthesize(const SharedTile& tile, const std::vector<SharedAccess>& accesses, const SharedRules& rules)
    -> Maybe<SharedLayout> {
  if (auto wrong = check_request(tile, accesses)) return *wrong;
  DRAWLOOM_TRY(const auto low, low_digits(tile, accesses, rules.tensor_map));
  DRAWLOOM_TRY(const auto judge, Judge::make(tile, accesses, low));
  int64_t max_width = tile.element_bytes;
  for (const auto& access : accesses) max_width = std::max(max_width, access.width);
  Search search;
  if (rules.tensor_map) {
    search_tensor_maps(judge, tile, max_width, rules, search);
  } else {
    search_free(judge, tile, low, max_width, rules, search);
  }
  if (!search.best) return Refusal{"no tensor map copies this tile: inner bytes, extents or rank do not fit"};
  return certified(tile, accesses, judge.digits(), search);
}

}  // namespace drawloom
