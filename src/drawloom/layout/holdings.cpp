// Two register layouts as tables: who holds and who wants which element.
//
// Elements are numbered through the tile, the destination's first coordinate fastest. Example: 2 lanes, 1 register
// each, (lane: x0) on both sides: element 0 has the place (thread 0, register 0), element 1 (thread 1, register 0).
//
// Tables cost threads x registers, some 10^4 entries for a warpgroup, and hold for every layout, so the kind of a
// conversion is found by looking and not by case distinctions on digits. A layout with fewer warps than the other side
// is outside itself (-1) in the threads that it lacks; that is different from a replica, which holds the element too.
#include "drawloom/layout/holdings.h"

#include <algorithm>

namespace drawloom {
namespace {

auto has(const std::vector<Dim>& dims, std::string_view name) -> bool {
  return std::any_of(dims.begin(), dims.end(), [&](const Dim& d) { return d.name == name; });
}

/// Dims that tell threads apart on either side, the larger extent of each.
auto thread_dims(const Layout& source, const Layout& destination) -> std::vector<Dim> {
  std::vector<Dim> out = {{"lane", {{kWarpLanes, 1}}}};
  for (const auto* layout : {&source, &destination}) {
    for (const auto& dim : layout->from()) {
      if (dim.name == "register" || dim.name == "lane") continue;
      const int64_t extent = std::max(source.from_extent(dim.name), destination.from_extent(dim.name));
      if (!has(out, dim.name) && extent > 1) out.push_back({dim.name, {{extent, 1}}});
    }
  }
  return out;
}

/// thread * registers + register -> element number; -1 outside the layout.
auto table_of(const Layout& layout, const std::vector<Dim>& threads,
              const std::vector<std::pair<std::string, int64_t>>& tile) -> std::vector<int64_t> {
  std::vector<std::string> inputs = {"register"}, outputs;
  for (const auto& dim : threads) inputs.push_back(dim.name);
  for (const auto& [name, extent] : tile) outputs.push_back(name);
  const auto ordered = arrange(layout, inputs, outputs);
  std::vector<int64_t> out;
  for (int64_t thread = 0; thread < point_count(threads); ++thread) {
    auto at = nth_point(threads, thread);
    at.insert(at.begin(), 0);
    at.resize(ordered.from().size(), 0);
    for (at[0] = 0; at[0] < ordered.from()[0].extent(); ++at[0]) {
      const auto place = ordered.apply(at);
      int64_t element = -1, scale = 1;
      if (place) {
        element = 0;
        for (size_t d = 0; d < tile.size(); ++d) element += (*place)[d] * scale, scale *= tile[d].second;
      }
      out.push_back(element);
    }
  }
  return out;
}

}  // namespace

auto tabulate(const Layout& source, const Layout& destination) -> Maybe<Holdings> {
  std::vector<std::pair<std::string, int64_t>> tile;
  int64_t elements = 1;
  for (const auto* layout : {&destination, &source}) {
    for (const auto& dim : layout->to()) {
      const int64_t extent = std::max(source.to_extent(dim.name), destination.to_extent(dim.name));
      if (extent > 1 && (source.to_index(dim.name) < 0 || destination.to_index(dim.name) < 0)) {
        return Refusal{str("only one of the layouts has the coordinate `{}`", dim.name)};
      }
      if (layout == &source && destination.to_index(dim.name) >= 0) continue;
      tile.push_back({dim.name, extent});
      elements *= extent;
    }
    if (layout->from_extent("lane") > kWarpLanes) return Refusal{str("a warp has {} lanes", kWarpLanes)};
  }
  Holdings out;
  out.threads = thread_dims(source, destination);
  out.thread_count = point_count(out.threads);
  out.source_registers = source.from_extent("register");
  out.destination_registers = destination.from_extent("register");
  out.source = table_of(source, out.threads, tile);
  out.destination = table_of(destination, out.threads, tile);
  out.places.resize(static_cast<size_t>(elements));
  for (int64_t thread = 0; thread < out.thread_count; ++thread) {
    for (int64_t reg = 0; reg < out.source_registers; ++reg) {
      const auto element = out.held(thread, reg);
      if (element < 0) continue;
      out.places[static_cast<size_t>(element)].push_back({static_cast<int>(thread), static_cast<int>(reg)});
    }
  }
  for (const auto element : out.destination) {
    if (element >= 0 && out.places[static_cast<size_t>(element)].empty()) {
      return Refusal{str("the source does not hold element {} that the destination wants", element)};
    }
  }
  return out;
}

}  // namespace drawloom
