#pragma once
/// The six nests of docs/nest.md, built by the code and printed by it.

#include <string>
#include <vector>

#include "drawloom/nest/nest.h"

namespace drawloom::testing {

struct GalleryNest {
  std::string name;  ///< the tag of its fenced block in docs/nest.md
  Nest nest;
};
auto gallery() -> std::vector<GalleryNest>;

}  // namespace drawloom::testing
