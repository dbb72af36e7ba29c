// Synthesis for tiles whose extents have odd factors, against plain enumeration.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "drawloom/layout/synthesize.h"
#include "drawloom/support/hash.h"

using namespace drawloom;

namespace {

struct Counts {
  int64_t phases = 0, wavefronts = 0, worst = 0;
  auto excess() const -> int64_t { return wavefronts - phases; }
  auto operator==(const Counts&) const -> bool = default;
};

/// Wavefronts of one phase: the words of the busiest bank.
auto busiest(const std::vector<int64_t>& starts, int64_t width) -> int64_t {
  std::map<int64_t, std::set<int64_t>> words;  // by bank
  for (const int64_t start : starts) {
    for (int64_t byte = start; byte < start + width; ++byte) words[byte / 4 % 32].insert(byte / 4);
  }
  size_t most = 0;
  for (const auto& [bank, set] : words) most = std::max(most, set.size());
  return static_cast<int64_t>(most);
}

/// Input points of an access with every coordinate but `register` and `lane` fixed.
struct Warp {
  const SharedAccess& access;
  Point others;

  auto extent(const char* name) const -> int64_t { return access.layout.from_extent(name); }
  auto coords(int64_t reg, int64_t lane) const -> Point {
    Point at = others;
    if (const int d = access.layout.from_index("register"); d >= 0) at[static_cast<size_t>(d)] = reg;
    at[static_cast<size_t>(access.layout.from_index("lane"))] = lane;
    return access.layout.apply(at).value();
  }
};

/// What `access` costs when the element at a point of the access's output lies at `where`, register by register and
/// lane by lane. The registers of one instruction are those in one piece of `width` bytes; nothing: there is no such
/// grouping that fits all lanes.
template <typename Where>
auto counted(const SharedAccess& access, int64_t element_bytes, const Where& where) -> std::optional<Counts> {
  Counts out;
  std::vector<Dim> others = access.layout.from();
  for (auto& dim : others) {
    if (dim.name == "register" || dim.name == "lane") dim.digits.clear();
  }
  const int64_t lanes_of_phase = 128 / std::max<int64_t>(4, access.width);
  for (int64_t n = 0; n < point_count(others); ++n) {
    const Warp warp = {access, nth_point(others, n)};
    std::map<int64_t, std::vector<int64_t>> pieces;  // first byte -> registers, as lane 0 sees them
    for (int64_t reg = 0; reg < warp.extent("register"); ++reg) {
      const int64_t byte = where(warp.coords(reg, 0));
      pieces[byte / access.width * access.width].push_back(reg);
    }
    for (const auto& [start, registers] : pieces) {
      std::vector<int64_t> starts;
      for (int64_t lane = 0; lane < warp.extent("lane"); ++lane) {
        std::map<int64_t, int64_t> seen;  // byte -> how many registers
        for (const int64_t reg : registers) ++seen[where(warp.coords(reg, lane))];
        const int64_t first = seen.begin()->first;
        for (int64_t e = 0; e < access.width; e += element_bytes) {
          const auto at = seen.find(first + e);
          if (at == seen.end() || at->second != seen.begin()->second) return std::nullopt;
        }
        if (first % access.width != 0 || seen.rbegin()->first >= first + access.width) return std::nullopt;
        starts.push_back(first);
      }
      const auto repeats = static_cast<int64_t>(registers.size()) * element_bytes / access.width;
      for (size_t lane = 0; lane < starts.size(); lane += static_cast<size_t>(lanes_of_phase)) {
        const auto end = std::min(starts.size(), lane + static_cast<size_t>(lanes_of_phase));
        const int64_t degree = busiest(
            {starts.begin() + static_cast<int64_t>(lane), starts.begin() + static_cast<int64_t>(end)}, access.width);
        out.phases += repeats;
        out.wavefronts += repeats * degree;
        out.worst = std::max(out.worst, degree);
      }
    }
  }
  return out;
}

/// Every element of the tile at a byte of its own, inside what was promised.
auto holds_every_element(const SharedTile& tile, const SharedLayout& found) -> bool {
  std::set<int64_t> bytes;
  int64_t elements = 1;
  for (const auto& [coord, extent] : tile.extents) elements *= extent;
  for (int64_t n = 0; n < elements; ++n) {
    Point at;
    int64_t rest = n;
    for (const auto& [coord, extent] : tile.extents) at.push_back(rest % extent), rest /= extent;
    const auto byte = found.layout.apply(at);
    if (!byte || (*byte)[0] < 0 || (*byte)[0] + tile.element_bytes > found.bytes) return false;
    if ((*byte)[0] % tile.element_bytes != 0 || !bytes.insert((*byte)[0]).second) return false;
  }
  return true;
}

/// The coordinates of an access, in the tile's order.
auto tile_point(const SharedTile& tile, const SharedAccess& access, const Point& at) -> Point {
  Point out;
  for (const auto& [coord, extent] : tile.extents) {
    const int d = access.layout.to_index(coord);
    out.push_back(d < 0 ? 0 : at[static_cast<size_t>(d)]);
  }
  return out;
}

void check_found(const SharedTile& tile, const std::vector<SharedAccess>& accesses, const SharedLayout& found) {
  INFO(found.text());
  CHECK(found.layout.is_injective());
  CHECK(holds_every_element(tile, found));
  REQUIRE(found.reports.size() == accesses.size());
  for (size_t k = 0; k < accesses.size(); ++k) {
    const auto counts = counted(accesses[k], tile.element_bytes, [&](const Point& at) {
      return found.layout.value_at(tile_point(tile, accesses[k], at));
    });
    REQUIRE(counts);
    const auto& report = found.reports[k].second;
    CHECK(*counts == Counts{report.phases, report.wavefronts, report.worst});
  }
}

/// Least excess of `access` over all sets of terms (bit of a 128-byte line) ^= (bit of y), rows of `x` elements one
/// after the other. Only what is injective counts.
auto least_of_xors(const SharedTile& tile, const SharedAccess& access) -> int64_t {
  const int64_t x = tile.extents[0].second, y = tile.extents[1].second;
  std::vector<std::pair<int64_t, int64_t>> terms;  // bit of y, bit of the line
  for (int64_t bit = access.width; bit < 128; bit *= 2) {
    for (int64_t row = 1; row < y; row *= 2) terms.push_back({row, bit});
  }
  int64_t least = INT64_MAX;
  for (uint32_t set = 0; set < uint32_t{1} << terms.size(); ++set) {
    const auto where = [&](int64_t at_x, int64_t at_y) {
      int64_t byte = (at_y * x + at_x) * tile.element_bytes;
      for (size_t k = 0; k < terms.size(); ++k) {
        if ((set >> k & 1) != 0 && (at_y & terms[k].first) != 0) byte ^= terms[k].second;
      }
      return byte;
    };
    std::set<int64_t> bytes;
    for (int64_t n = 0; n < x * y; ++n) bytes.insert(where(n % x, n / x));
    if (static_cast<int64_t>(bytes.size()) != x * y || *bytes.rbegin() >= x * y * tile.element_bytes) continue;
    const auto counts = counted(access, tile.element_bytes, [&](const Point& at) {
      const auto p = tile_point(tile, access, at);
      return where(p[0], p[1]);
    });
    if (counts) least = std::min(least, counts->excess());
  }
  return least;
}

}  // namespace

TEST_CASE("a wide digit inside the line is no bit to XOR into") {
  // Rows of 96 bytes: x is three bits and a digit of 3, which begins at byte bit 5.
  const auto read =
      parse_layout("(lane: y4 x1 y1 x2 y2, register: x0 y0 y3 x3) -> (x: 2^3 3, y: 2^5)", "read").or_throw();
  const SharedTile tile = {{{"x", 24}, {"y", 32}}, 4};
  const std::vector<SharedAccess> accesses = {{"read", read, 4}};
  const auto found = synthesize(tile, accesses, {}).value();
  check_found(tile, accesses, found);
}

TEST_CASE("rows of an odd number of elements: no set of XOR terms does better than what is found") {
  struct Case {
    int64_t x, y, width;
  };
  for (const auto& [x, y, width] : std::vector<Case>{
           {3, 8, 4}, {6, 8, 8}, {12, 8, 16}, {24, 8, 16}, {24, 4, 8}, {5, 8, 4}, {20, 8, 16}, {7, 8, 4}}) {
    INFO("x " << x << ", y " << y << ", " << width << " bytes a lane");
    const int64_t v = width / 4;
    const auto down = LayoutBuilder()
                          .to("x")
                          .to("y")
                          .map("register", v, {{"x", 1}})
                          .map("lane", y, {{"y", 1}})
                          .map("register", x / v, {{"x", v}})
                          .build();
    const SharedTile tile = {{{"x", x}, {"y", y}}, 4};
    const std::vector<SharedAccess> accesses = {{"down", down, width}};
    const auto found = synthesize(tile, accesses, {}).value();
    check_found(tile, accesses, found);
    CHECK(found.excess() <= least_of_xors(tile, accesses[0]));
  }
}

TEST_CASE("a swizzle needs chunks that are bits, not only rows") {
  for (const int64_t x : {3, 5, 6, 10, 12, 20, 24, 40}) {
    INFO("x " << x);
    const auto read = LayoutBuilder().map("lane", 8, {{"y", 1}}).map("register", x, {{"x", 1}}).build();
    const SharedTile tile = {{{"x", x}, {"y", 8}}, 4};
    const std::vector<SharedAccess> accesses = {{"read", read, 4}};
    const auto found = synthesize(tile, accesses, {true});
    if (found.ok()) check_found(tile, accesses, *found);
  }
}

namespace {

struct RandomRequest {
  SharedTile tile;
  std::vector<SharedAccess> accesses;
  SharedRules rules;
};

/// Cuts an extent into factors, at random in any order.
auto random_factors(CounterRandom& random, int64_t extent) -> std::vector<int64_t> {
  std::vector<int64_t> out;
  while (extent > 1) {
    std::vector<int64_t> divisors;
    for (int64_t d = 2; d <= extent; ++d) {
      if (extent % d == 0 && (d == 2 || random.chance(40))) divisors.push_back(d);
    }
    if (divisors.empty()) divisors.push_back(extent);
    out.push_back(divisors[static_cast<size_t>(random.uniform(0, static_cast<int64_t>(divisors.size()) - 1))]);
    extent /= out.back();
  }
  return out;
}

/// Every digit of the tile goes to a lane, a register or a warp, in any order; some are left out, and some lanes hold
/// the same.
auto random_access(CounterRandom& random, const SharedTile& tile) -> Layout {
  struct Slot {
    std::string coord;
    int64_t extent, stride;
  };
  std::vector<Slot> slots;
  for (const auto& [coord, extent] : tile.extents) {
    int64_t stride = 1;
    for (const int64_t factor : random_factors(random, extent)) {
      if (!random.chance(8)) slots.push_back({coord, factor, stride});
      stride *= factor;
    }
  }
  LayoutBuilder builder;
  builder.from("lane");
  for (const auto& [coord, extent] : tile.extents) builder.to(coord);
  int64_t lanes = 1;
  const auto is_power = [](int64_t n) { return (n & (n - 1)) == 0; };
  while (!slots.empty()) {
    const auto at = random.uniform(0, static_cast<int64_t>(slots.size()) - 1);
    const auto slot = slots[static_cast<size_t>(at)];
    slots.erase(slots.begin() + at);
    std::vector<LayoutBuilder::Target> targets = {{slot.coord, slot.stride}};
    if (is_power(slot.extent) && random.chance(10)) {
      for (const auto& other : slots) {
        if (other.extent == slot.extent) targets.push_back({other.coord, other.stride});
        if (targets.size() == 2) break;
      }
    }
    const bool fits = lanes * slot.extent <= 32;
    const auto where = fits && random.chance(60) ? "lane" : random.chance(75) ? "register" : "warp";
    if (std::string_view(where) == "lane") lanes *= slot.extent;
    builder.map(where, slot.extent, targets);
  }
  if (lanes <= 16 && random.chance(20)) builder.map("lane", 2, {});
  if (random.chance(5)) builder.map("register", random.uniform(2, 3), {});
  return builder.build();
}

auto random_request(CounterRandom& random) -> RandomRequest {
  static const std::vector<int64_t> extents = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 34, 40, 64};
  RandomRequest out;
  int64_t elements = 1;
  const auto rank = random.uniform(1, 3);
  for (int64_t d = 0; d < rank; ++d) {
    int64_t extent = 0;
    do {
      extent = extents[static_cast<size_t>(random.uniform(0, static_cast<int64_t>(extents.size()) - 1))];
    } while (elements * extent > 2048);
    elements *= extent;
    out.tile.extents.push_back({std::string(1, "xyz"[d]), extent});
  }
  out.tile.element_bytes = int64_t{1} << random.uniform(0, 4);
  const auto accesses = random.uniform(1, 2);
  for (int64_t k = 0; k < accesses; ++k) {
    int64_t width = out.tile.element_bytes;
    while (width < 16 && random.chance(40)) width *= 2;
    out.accesses.push_back({k == 0 ? "one" : "two", random_access(random, out.tile), width});
  }
  out.rules.tensor_map = random.chance(50);
  out.rules.most_layouts = 20000;  // the test asks whether what is found is right, not whether it is the best
  return out;
}

}  // namespace

TEST_CASE("random requests, odd extents and all: what is found is injective and counted right") {
  int found_count = 0, odd_found = 0, swizzled = 0, conflicts = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    CounterRandom random(seed);
    const auto request = random_request(random);
    std::string words = str("seed {}, {} bytes:", seed, request.tile.element_bytes);
    for (const auto& [coord, extent] : request.tile.extents) words += str(" {} {}", coord, extent);
    for (const auto& access : request.accesses) words += str("\n{} {}", access.width, access.layout.text());
    if (request.rules.tensor_map) words += "\nby a tensor map";
    INFO(words);
    Maybe<SharedLayout> found = Refusal{""};
    REQUIRE_NOTHROW(found = synthesize(request.tile, request.accesses, request.rules));
    if (!found.ok()) continue;
    ++found_count;
    for (const auto& [coord, extent] : request.tile.extents) odd_found += extent % 2 != 0 || extent % 12 == 0;
    swizzled += found->tensor_map && found->tensor_map->swizzle != Swizzle::none;
    conflicts += !found->is_free();
    check_found(request.tile, request.accesses, *found);
  }
  INFO("found " << found_count << ", odd " << odd_found << ", swizzled " << swizzled << ", conflicts " << conflicts);
  CHECK(found_count > 150);
  CHECK(odd_found > 100);
  CHECK(swizzled > 10);
  CHECK(conflicts > 10);
}

TEST_CASE("a tile of one element takes the bytes of one element") {
  const auto read = LayoutBuilder().to("x").map("lane", 32, {}).build();
  const auto found = synthesize({{{"x", 1}}, 4}, {{"read", read, 4}}, {}).value();
  CHECK(found.bytes == 4);
}

TEST_CASE("three neighbours a lane along 24: a digit that only some orders have") {
  const auto read = LayoutBuilder().map("register", 3, {{"x", 1}}).map("lane", 8, {{"x", 3}}).build();
  const auto down = LayoutBuilder().map("lane", 16, {{"y", 1}}).map("register", 24, {{"x", 1}}).build();
  const SharedTile tile = {{{"x", 24}, {"y", 16}}, 4};
  const std::vector<SharedAccess> accesses = {{"read", read, 4}, {"down", down, 4}};
  for (const bool tensor_map : {false, true}) {
    const auto found = synthesize(tile, accesses, {tensor_map}).value();
    check_found(tile, accesses, found);
  }
}
