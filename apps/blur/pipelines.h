#pragma once
/// The 3x3 box blur of one plane of 16-bit pixels.

#include "drawloom/drawloom.h"

/// `in` must hold one pixel more than the output on every side.
struct Blur {
  drawloom::ImageParam in;
  drawloom::Pipeline pipeline;  ///< `blur`: Funcs bx (rows) and blur
};

/// `sum`: the type in which three pixels are added. UInt(16) is exact for pixels up to 21845 (8-bit pictures), UInt(32)
/// for all. The schedules fit both.
auto make_blur(drawloom::Type sum) -> Blur;

/// `picture` with its edge pixels repeated outside: a pipeline of its own, so that the blur needs no test.
struct Pad {
  drawloom::ImageParam in;
  drawloom::Pipeline pipeline;  ///< `pad`
};
auto make_pad() -> Pad;
