#include "drawloom/version.h"

#include <catch2/catch.hpp>
#include <string>

TEST_CASE("the version has three numbers") {
  std::string text = drawloom::version();
  int dots = 0;
  for (char c : text) {
    if (c == '.') {
      ++dots;
    } else {
      CHECK((c >= '0' && c <= '9'));
    }
  }
  CHECK(dots == 2);
}
