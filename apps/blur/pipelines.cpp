#include "pipelines.h"

using namespace drawloom;

auto make_blur(Type sum) -> Blur {
  ImageParam in(UInt(16), 2, "in");
  Func bx("bx"), blur("blur");
  Var x("x"), y("y");

  const auto wide = [&](Expr e) { return cast(sum, e); };
  const auto third = [&](Expr a, Expr b, Expr c) { return cast(UInt(16), (wide(a) + wide(b) + wide(c)) / 3); };
  bx(x, y) = third(in(x - 1, y), in(x, y), in(x + 1, y));
  blur(x, y) = third(bx(x, y - 1), bx(x, y), bx(x, y + 1));
  return {in, Pipeline(blur)};
}

auto make_pad() -> Pad {
  ImageParam in(UInt(16), 2, "in");
  Func pad("pad");
  Var x("x"), y("y");
  pad(x, y) = BoundaryConditions::repeat_edge(in)(x, y);
  return {in, Pipeline(pad)};
}
