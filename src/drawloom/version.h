#pragma once

namespace drawloom {

/// The version of the linked library as "major.minor.patch"; static storage.
auto version() -> const char*;

}  // namespace drawloom
