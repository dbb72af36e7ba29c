#pragma once
/// What outlives a launch: device memory, the report being written, and the source of chance.

#include <set>
#include <unordered_map>

#include "drawloom/interp/simt/shadow.h"
#include "drawloom/interp/simt/simt.h"
#include "drawloom/support/hash.h"

namespace drawloom::simt {

/// The memory of one argument. Its addresses are not those of the host.
struct Region {
  const BufferDecl* buffer = nullptr;
  Array* array = nullptr;
  uint64_t base = 0;  ///< address of the first byte of `array->data`
  bool writable = false;
  Shadow shadow;

  auto bytes() const -> uint64_t { return array->data.size(); }
  auto address(int64_t position) const -> uint64_t {
    return base + static_cast<uint64_t>(position * array->element.bytes());
  }
};

/// A tensor map as the hardware keeps it. All in bytes where not elements.
struct MapValue {
  std::string name;
  int region = -1;
  uint64_t base = 0;
  int element_bytes = 0, rank = 0, swizzle = 0;
  Type element;
  TensorFill fill = TensorFill::Zero;
  int64_t dims[5] = {1, 1, 1, 1, 1}, strides[5] = {}, box[5] = {1, 1, 1, 1, 1};

  auto box_bytes() const -> int64_t { return box[0] * box[1] * box[2] * box[3] * box[4] * element_bytes; }
};

struct World {
  const SimOptions& options;
  SimReport report;
  CounterRandom random;
  std::vector<Region> regions;
  std::unordered_map<const Symbol*, MapValue> maps;
  uint32_t next_cluster = 1;
  bool stopped = false;
  std::set<std::pair<DiagKind, std::string>> told;

  explicit World(const SimOptions& o) : options(o), random(o.seed) {}
  /// The region that holds an address, or null.
  auto region_at(uint64_t address) -> Region*;
  /// Says one thing about one place once. `fatal`: the run ends.
  void report_error(const Diag& d, bool fatal);
};

}  // namespace drawloom::simt
