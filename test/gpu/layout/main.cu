// Layouts against the chip: bank conflicts, fragments, tensor-map boxes, conversions. Needs a Hopper device.
#include "device.h"

using namespace drawloom::device_check;

auto main() -> int {
  cudaDeviceProp device = {};
  must(cudaGetDeviceProperties(&device, 0), "device");
  std::printf("%s\n", device.name);
  check_banks();
  check_fragments();
  check_tensor_maps();
  check_conversions();
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
