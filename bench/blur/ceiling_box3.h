#pragma once
/// The hand-written box blurs of ceiling_box3.cpp.

#include <cstddef>
#include <cstdint>
#include <vector>

/// 16-bit pixels of somebody else. `in` is two wider and higher than `out`.
struct Picture {
  uint16_t* pixels;
  int width, height;
  ptrdiff_t pitch;  ///< in pixels
  auto at(int x, int y) const -> uint16_t* { return pixels + y * pitch + x; }
};

struct Ceiling {
  const char* name;
  /// Widths are multiples of 128 pixels, heights of 48 rows, rows of `out` are aligned to 64 bytes.
  void (*run)(const Picture& in, const Picture& out);
  bool is_copy = false;  ///< moves the bytes and computes nothing: the machine's limit
};

auto ceiling_box3_avx2() -> std::vector<Ceiling>;
auto ceiling_box3_avx512() -> std::vector<Ceiling>;
void ceiling_set_threads(int n);
