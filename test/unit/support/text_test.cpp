/// Text, diagnostics, results, references, random numbers.

#include "drawloom/support/text.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "drawloom/support/hash.h"
#include "drawloom/support/result.h"

namespace drawloom {
namespace {

TEST_CASE("str puts arguments in order", "[support][text]") {
  CHECK(str("{} of {}", 3, "ten") == "3 of ten");
  CHECK(str("{{{}}} {}", true, 'c') == "{true} c");
  CHECK(str("{} {}", 1) == "1 {?}");
  CHECK(str("no holes", 1) == "no holes");
  const std::string args[] = {"a", "b"};
  CHECK(format_pieces("{1} before {0}", args, 2) == "b before a");
}

TEST_CASE("a double's text reads back to it", "[support][text]") {
  for (const double v : {0.0, -0.0, 0.1, 1.0 / 3, 1e300, 5e-324, 123456789.0}) {
    CHECK(std::strtod(to_text(v).c_str(), nullptr) == v);
    CHECK(to_text(v).find_first_of(".e") != std::string::npos);
  }
  CHECK(to_text(2.0) == "2.0");
  CHECK(to_text(INFINITY) == "inf");
  CHECK(to_text(-INFINITY) == "-inf");
  CHECK(to_text(NAN) == "nan");
}

TEST_CASE("joining, splitting, trimming", "[support][text]") {
  CHECK(join({"a", "", "b"}, ", ") == "a, , b");
  CHECK(join({}, ", ").empty());
  CHECK(split_text("a,,b", ',') == std::vector<std::string>{"a", "", "b"});
  CHECK(split_text("", ',') == std::vector<std::string>{""});
  CHECK(trim(" \t a b \n") == "a b");
  CHECK(trim("  ").empty());
}

TEST_CASE("the nearest word is near", "[support][text]") {
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(nearest("blurr", {"blur", "sharpen"}) == "blur");
  CHECK(nearest("zzz", {"blur", "sharpen"}).empty());
  CHECK(nearest("c", {"x", "y"}).empty());
  CHECK(nearest("xy", {"x"}) == "x");
}

TEST_CASE("a diagnostic has words, notes, help and its kind", "[support][diag]") {
  const Loc loc(make_ref<FileName>("blur.dl"), 4, 2);
  const Diag diag(DiagKind::parse_unknown_name, loc, "Func", "blr");
  const auto full = diag.with_note(Loc(), "Funcs are defined before use").with_help("did you mean `blur`?");
  CHECK(diag.text() == "blur.dl:4:2: error: unknown Func `blr` [parse_unknown_name]");
  CHECK(full.text() ==
        "blur.dl:4:2: error: unknown Func `blr` [parse_unknown_name]\n"
        "<unknown>: note: Funcs are defined before use\nhelp: did you mean `blur`?");
  CHECK(Error(full).what() == full.text());
}

TEST_CASE("every diagnostic kind has a name of its own", "[support][diag]") {
  std::vector<std::string> names;
  for (const auto kind : all_diag_kinds()) names.emplace_back(diag_name(kind));
  auto unique = names;
  std::sort(unique.begin(), unique.end());
  CHECK(std::unique(unique.begin(), unique.end()) == unique.end());
  CHECK_FALSE(names.empty());
}

auto half(int n) -> Result<int> {
  if (n % 2) return Diag(DiagKind::parse_number, Loc(), n, "even number");
  return n / 2;
}
auto quarter(int n) -> Result<int> {
  DRAWLOOM_TRY(const int h, half(n));
  return half(h);
}

TEST_CASE("results carry a value or the first Diag", "[support][result]") {
  CHECK(quarter(12).value() == 3);
  CHECK(quarter(6).diag().message() == "`3` is not a even number");
  CHECK(quarter(5).diag().message() == "`5` is not a even number");
  CHECK_THROWS_AS(half(1).value(), InternalError);
  CHECK_THROWS_AS(half(1).or_throw(), Error);
}

struct Counted : RefCounted {
  explicit Counted(int& live) : live_(live) { ++live_; }
  ~Counted() { --live_; }
  int& live_;
};

TEST_CASE("references free what they own, once", "[support][ref]") {
  int live = 0;
  {
    auto a = make_ref<Counted>(live);
    auto b = a;
    Ref<const Counted> c = b;
    a = nullptr;
    b = b;
    CHECK(live == 1);
    CHECK(c->ref_count() == 2);
    auto d = std::move(c);
    CHECK_FALSE(c);
    CHECK(d->ref_count() == 2);
  }
  CHECK(live == 0);
}

TEST_CASE("random numbers are functions of seed and position", "[support][hash]") {
  CounterRandom a(1), b(1), c(2);
  const auto first = a.next();
  CHECK(first == b.next());
  CHECK(first != c.next());
  int hits = 0;
  for (int i = 0; i < 10000; ++i) {
    const auto v = a.uniform(-2, 2);
    REQUIRE((v >= -2 && v <= 2));
    hits += v == 2;
  }
  CHECK((hits > 1800 && hits < 2200));  // a fifth, five sigma
}

}  // namespace
}  // namespace drawloom
