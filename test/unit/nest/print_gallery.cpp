// Prints every nest of docs/nest.md: `nest_gallery`.
#include <cstdio>

#include "gallery.h"

int main() {
  for (const auto& g : drawloom::testing::gallery())
    std::printf("```nest %s\n%s```\n\n", g.name.c_str(), drawloom::print_nest(g.nest).c_str());
}
