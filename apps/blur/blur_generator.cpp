// Writes the blur ahead of time: object, static library, C header and the schedule they were made with.

#include "pipelines.h"
#include "drawloom/driver/generator.h"

auto main(int argc, char** argv) -> int {
  return drawloom::generator_main(argc, argv, make_blur(drawloom::UInt(16)).pipeline);
}
