#pragma once
/// How far a recurrence reads beside itself (ordered.cpp explains).

#include <optional>
#include <vector>

#include "drawloom/nest/graph.h"

namespace drawloom {

struct Cone {
  std::vector<int64_t> lo, hi;  ///< per dimension, per unit of distance; 0 for the ordered one
  int64_t reach = 1;            ///< largest self distance
};

/// Nothing where a self access is not at a constant offset.
auto cone_of(const GraphFunc& f) -> std::optional<Cone>;

}  // namespace drawloom
