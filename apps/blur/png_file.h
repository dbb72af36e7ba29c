#pragma once
/// Pictures on disk, as planes of 16-bit pixels.

#include <string>
#include <vector>

#include "drawloom/drawloom.h"

struct PngPicture {
  int width = 0, height = 0;
  int bits = 8;  ///< per channel: 8 or 16
  /// One plane for gray, three for colour; an alpha channel is dropped.
  std::vector<drawloom::Buffer<uint16_t>> planes;
};

/// Palettes and fewer than 8 bits are expanded. Throws std::runtime_error with the name of the file.
auto read_png(const std::string& path) -> PngPicture;
void write_png(const std::string& path, const PngPicture& picture);
