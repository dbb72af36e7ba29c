// Scheduling calls: the steps they record.

#include "mistake.h"

namespace {

using Words = std::vector<std::string>;
auto steps(const Pipeline& p) -> Words {
  Words out;
  for (const auto& line : p.schedule().steps) out.push_back(print(line.step));
  return out;
}

struct Blur {
  Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"}, xo{"xo"}, yo{"yo"};
  ImageParam in{UInt(16), 2, "in"};
  Func bx{"bx"}, by{"by"};
  Blur() {
    bx(x, y) = (in(x - 1, y) + in(x, y) + in(x + 1, y)) / 3;
    by(x, y) = (bx(x, y - 1) + bx(x, y) + bx(x, y + 1)) / 3;
  }
};

}  // namespace

TEST_CASE("a Halide schedule becomes primitive steps in the order of text") {
  Blur b;
  b.bx.store_in(MemoryType::Stack).compute_at(b.by, b.xi).vectorize(b.x, 8);
  b.by.tile(b.x, b.y, b.xi, b.yi, 256, 32).vectorize(b.xi, 8).parallel(b.y);
  CHECK(steps(b.by) == Words{
                           "split by.x -> x, xi by 256",
                           "split by.y -> y, yi by 32",
                           "reorder by xi yi x y",
                           "split by.xi -> xi, xi_v by 8",
                           "vectorize by.xi_v",
                           "parallel by.y",
                           "compute_at bx by.xi",
                           "split bx.x -> x, x_v by 8",
                           "vectorize bx.x_v",
                           "store_in bx stack",
                       });
}

TEST_CASE("steps know their lines") {
  Blur b;
  const uint32_t first = __LINE__ + 1;
  b.by.split(b.y, b.yo, b.yi, 32);
  b.by.parallel(b.yo)  // a chain over two lines
      .vectorize(b.x, 8);
  const auto lines = Pipeline(b.by).schedule().steps;
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].loc.line() == first);
  CHECK(lines[1].loc.line() == first + 1);
  CHECK(lines[3].loc.line() == first + 2);
  CHECK(lines[3].loc.file() == __FILE__);
}

TEST_CASE("every call has its step") {
  Blur b;
  Param<int> n("n");
  RDom r(0, 8);
  Func hist("hist"), out("out");
  hist(b.x) = 0;
  hist(b.by(r, 0) % 8) += 1;
  out(b.x) = hist(b.x) + n;
  out.bound(b.x, 0, n).align_bounds(b.x, 4).never_partition(b.x).nontemporal();
  out.split(b.x, b.xo, b.xi, n, TailStrategy::RoundUp).rename(b.xi, b.yi).unroll(b.yi).always_partition(b.xo);
  hist.compute_root().store_root(WarmUp::whole).fold_storage(b.x, 3);
  hist.update().split(r, b.xo, b.xi, 4, Tail{Tail::Kind::filled, 0}).reorder(b.xi, b.xo).unroll(b.xi);
  b.by.compute_at(hist, r).store_at(hist.update(0), b.xo, WarmUp::gradual);
  b.bx.compute_inline();
  CHECK(steps(out) == Words{
                          "bound out.x 0 n",
                          "align out.x by 4",
                          "partition out.x never",
                          "split out.x -> xo, xi by n tail=round_up",
                          "rename out.xi -> yi",
                          "unroll out.yi",
                          "partition out.xo always",
                          "compute_root hist",
                          "store_root hist warm=whole",
                          "split hist.update(0).rx -> xo, xi by 4 tail=filled(0)",
                          "reorder hist.update(0) xi xo",
                          "unroll hist.update(0).xi",
                          "compute_at by hist.update(0).rx",
                          "store_at by hist.update(0).xo warm=gradual",
                          "compute_inline bx",
                          "nontemporal out",
                          "fold_storage hist.x to 3",
                      });
}

TEST_CASE("a loop of compute_at is sought in the stages of its Func, split loops too") {
  Blur b;
  RDom r(0, 8);
  Func f("f");
  f(b.x) = 0;
  f(b.x) += cast<int32_t>(b.by(b.x, r));
  b.by.compute_at(f, b.yo);
  b.bx.compute_at(f, b.x);
  f.update().split(r, b.yo, b.yi, 2);
  CHECK(steps(f) == Words{"split f.update(0).rx -> yo, yi by 2", "compute_at by f.update(0).yo", "compute_at bx f.x"});
}

TEST_CASE("names made for sugar do not collide") {
  Blur b;
  b.by.vectorize(b.x, 8).unroll(b.y, 2).vectorize(b.x, 4).parallel(b.y, 16);
  CHECK(steps(b.by) == Words{
                           "split by.x -> x, x_v by 8",
                           "vectorize by.x_v",
                           "split by.y -> y, y_u by 2",
                           "unroll by.y_u",
                           "split by.x -> x, x_v2 by 4",
                           "vectorize by.x_v2",
                           "split by.y -> y, y_p by 16",
                           "parallel by.y",
                       });
}

TEST_CASE("recorded steps use the names that the pipeline settles") {
  Var x("x"), xo("xo"), xi("xi");
  ImageParam in(UInt(8), 1, "in");
  Func a("f"), b("f");
  a(x) = in(x);
  b(x) = a(x);
  a.compute_at(b, xo);
  b.split(x, xo, xi, 4);
  CHECK(steps(b) == Words{"split f_1.x -> xo, xi by 4", "compute_at f f_1.xo"});
}

TEST_CASE("steps may be recorded after a pipeline was made; a set schedule wins") {
  Blur b;
  Pipeline p(b.by);
  CHECK(steps(p).empty());
  b.by.parallel(b.y);
  CHECK(steps(p) == Words{"parallel by.y"});
  p.set_schedule(parse_schedule("drawloom-schedule 1 for by\n  unroll by.x\n", "s").or_throw());
  CHECK(steps(p) == Words{"unroll by.x"});
}
