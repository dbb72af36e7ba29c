#include "drawloom/version.h"

namespace drawloom {

auto version() -> const char* { return DRAWLOOM_VERSION; }

}  // namespace drawloom
