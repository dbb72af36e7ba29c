// What the archive asks of the program that links it.
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "catch2/catch.hpp"

extern "C" int64_t sum_in_c(int64_t min, int64_t extent);

namespace {

struct Symbol {
  std::string object, name;
  char kind;
};

/// From the lines "archive:object:[address] kind name" of `nm -A`.
std::vector<Symbol> symbols() {
  std::vector<Symbol> result;
  FILE* pipe = popen(DRAWLOOM_NM " -A " DRAWLOOM_RUNTIME_ARCHIVE, "r");
  REQUIRE(pipe);
  char line[1024];
  const size_t object = sizeof DRAWLOOM_RUNTIME_ARCHIVE;  // the terminator stands for the colon
  while (fgets(line, sizeof line, pipe)) {
    std::string text = line;
    text.erase(text.find('\n'));
    const size_t name = text.rfind(' ') + 1;
    result.push_back({text.substr(object, text.find(':', object) - object), text.substr(name), text[name - 2]});
  }
  REQUIRE(pclose(pipe) == 0);
  REQUIRE(result.size() > 20);
  return result;
}

}  // namespace

TEST_CASE("only par_for asks for OpenMP", "[runtime]") {
  std::set<std::string> users;
  for (const Symbol& symbol : symbols()) {
    if (symbol.name.rfind("GOMP_", 0) == 0 || symbol.name.rfind("omp_", 0) == 0) users.insert(symbol.object);
  }
  REQUIRE(users == std::set<std::string>{"par_for.c.o"});
}

TEST_CASE("the archive needs no C++ and defines no name outside its prefix", "[runtime]") {
  std::string strange;
  for (const Symbol& symbol : symbols()) {
    if (symbol.name.rfind("_Z", 0) == 0 || symbol.name.rfind("__cxa", 0) == 0 || symbol.name.rfind("__gxx", 0) == 0) {
      strange += " " + symbol.name;
    }
    const bool global = std::string("TDBRC").find(symbol.kind) != std::string::npos;
    // Sanitizers add globals of their own.
    if (global && symbol.name.rfind("drawloom_", 0) != 0 && symbol.name.rfind("__", 0) != 0)
      strange += " " + symbol.name;
  }
  REQUIRE(strange == "");
}

TEST_CASE("a C translation unit uses the runtime", "[runtime]") { REQUIRE(sum_in_c(-2, 6) == -2 + -1 + 0 + 1 + 2 + 3); }
