#include "sample_picture.h"

#include <algorithm>
#include <cmath>

namespace {

/// 0 .. 1, a hash of the point: fine grain, so that a blur shows.
auto grain(int x, int y) -> double {
  auto h = static_cast<uint32_t>(x) * 0x9E3779B1u ^ static_cast<uint32_t>(y) * 0x85EBCA77u;
  h = (h ^ h >> 15) * 0x2C1B3C6Du;
  return static_cast<double>((h ^ h >> 13) & 0xFFFF) / 65535.0;
}

/// Woven bands: warp threads over and under weft threads.
auto cloth(double u, double v, int channel) -> double {
  const double warp = std::sin(u * 40), weft = std::sin(v * 40);
  const bool over =
      (static_cast<int>(std::floor(u * 40 / 3.14159265)) + static_cast<int>(std::floor(v * 40 / 3.14159265))) % 2 == 0;
  const double thread = std::abs(over ? warp : weft);
  const double hue = over ? 0.35 + 0.25 * channel : 0.85 - 0.3 * channel;
  return hue * (0.35 + 0.65 * thread);
}

auto brightness(int x, int y, int width, int height, int channel) -> double {
  const double u = static_cast<double>(x) / width, v = static_cast<double>(y) / height;
  const double light = 0.6 + 0.4 * std::sin(3 * u + 2 * v + channel);
  const double disc = std::hypot(u - 0.6, v - 0.4) < 0.22 ? 0.25 : 0.0;
  return cloth(u, v, channel) * light + disc + 0.18 * (grain(x, y) - 0.5);
}

}  // namespace

auto sample_picture(int width, int height, int bits) -> PngPicture {
  PngPicture out{width, height, bits, {}};
  const double white = bits == 8 ? 255 : 65535;
  for (int c = 0; c < 3; ++c) {
    drawloom::Buffer<uint16_t> plane(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        plane(x, y) = static_cast<uint16_t>(std::clamp(brightness(x, y, width, height, c), 0.0, 1.0) * white + 0.5);
    out.planes.push_back(plane);
  }
  return out;
}
