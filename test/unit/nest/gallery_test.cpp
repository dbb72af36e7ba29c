#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "gallery.h"

// docs/nest.md shows nests as text; what it shows is what the code prints.
TEST_CASE("docs/nest.md shows what the nests print") {
  std::ifstream file(DRAWLOOM_SOURCE_DIR "/docs/nest.md");
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  for (const auto& g : drawloom::testing::gallery()) {
    INFO("run nest_gallery and put what it prints for " << g.name << " into docs/nest.md");
    const auto block = "```nest " + g.name + "\n" + drawloom::print_nest(g.nest) + "```";
    CHECK(text.str().find(block) != std::string::npos);
  }
}
