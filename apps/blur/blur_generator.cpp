// Writes the blur ahead of time: object, static library, C header and the schedule they were made with.

#include "drawloom/driver/generator.h"
#include "pipelines.h"

auto main(int argc, char** argv) -> int {
  return drawloom::generator_main(argc, argv, make_blur(drawloom::UInt(16)).pipeline);
}
