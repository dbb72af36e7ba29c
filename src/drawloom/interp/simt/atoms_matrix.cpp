/// Matrices of one warp: ldmatrix, stmatrix, mma.

#include <cstring>

#include "drawloom/interp/simt/device.h"
#include "drawloom/interp/simt/matrix.h"

namespace drawloom::simt {

/// Lane 8m + r gives the address of row r of matrix m: 8 elements of 16 bits. Register m of lane l holds elements
/// 2(l % 4) and the next of row l / 4; transposed, of column l / 4.
void Device::matrix_load(Warp& w, const Instruction& i, const IssueCode& c, bool transposed) {
  const auto& d = operand(c, "d");
  const auto& p = operand(c, "p").values[0];
  const int count = d.row->count;
  uint16_t rows[4][8][8] = {};
  bool good[4][8] = {};
  std::vector<uint32_t> banks;
  for (int m = 0; m < count; ++m) {
    for (int r = 0; r < 8 && !world_.stopped; ++r) {
      const int lane = 8 * m + r;
      const uint64_t at = shared_byte(integer(w, p, lane));
      banks.push_back(static_cast<uint32_t>(at));
      std::byte raw[16] = {};
      good[m][r] =
          read_shared(*w.block, at, 16, accessor(w, lane, false), {.warp = &w, .lane = lane, .site = i.site}, raw);
      std::memcpy(rows[m][r], raw, 16);
    }
  }
  for (int m = 0; m < count; ++m) {
    auto* e = register_of(w, d, m, true);
    e->undefined = 0;
    for (int lane = 0; lane < 32; ++lane) {
      const int a = lane / 4, b = 2 * (lane % 4);
      const uint32_t lo = transposed ? rows[m][b][a] : rows[m][a][b],
                     hi = transposed ? rows[m][b + 1][a] : rows[m][a][b + 1];
      e->value.i[lane] = static_cast<int64_t>(hi << 16 | lo);
      const bool known = transposed ? good[m][b] && good[m][b + 1] : good[m][a];
      if (!known) e->undefined |= LaneMask{1} << lane;
    }
  }
  count_banks(w, i.site, banks, 16);
}

void Device::matrix_store(Warp& w, const Instruction& i, const IssueCode& c, bool transposed) {
  const auto& s = operand(c, "s");
  const auto& p = operand(c, "p").values[0];
  std::vector<uint32_t> banks;
  for (int m = 0; m < s.row->count; ++m) {
    const auto* e = register_of(w, s, m, false);
    uint16_t rows[8][8] = {};
    for (int lane = 0; lane < 32; ++lane) {
      const int a = lane / 4, b = 2 * (lane % 4);
      const auto bits = static_cast<uint32_t>(e->value.i[lane]);
      (transposed ? rows[b][a] : rows[a][b]) = static_cast<uint16_t>(bits);
      (transposed ? rows[b + 1][a] : rows[a][b + 1]) = static_cast<uint16_t>(bits >> 16);
    }
    for (int r = 0; r < 8 && !world_.stopped; ++r) {
      const int lane = 8 * m + r;
      const uint64_t at = shared_byte(integer(w, p, lane));
      banks.push_back(static_cast<uint32_t>(at));
      std::byte raw[16];
      std::memcpy(raw, rows[r], 16);
      const bool written =
          write_shared(*w.block, at, 16, accessor(w, lane, false), {.warp = &w, .lane = lane, .site = i.site}, raw);
      // Coarse: one undefined lane spoils all rows of its matrix.
      if (written && e->undefined != 0) w.block->shadow->spoil(at, 16);
    }
  }
  count_banks(w, i.site, banks, 16);
}

/// Fragments of m16n8k16, with g = lane / 4 and t = 2 (lane % 4): a0 (g, t), a1 (g + 8, t), a2 (g, t + 8),
/// a3 (g + 8, t + 8); b0 (t, g), b1 (t + 8, g); d0 and d1 (g, t), d2 and d3 (g + 8, t); each with its right (b: lower)
/// neighbour.
void Device::mma(Warp& w, const Instruction& i, const IssueCode& c) {
  const Type t16 = c.atom->element;
  double a[16 * 16], b[16 * 8], acc[16 * 8];
  const auto used = [&](const char* name, int k) -> const RegisterElement& {
    const auto* e = register_of(w, operand(c, name), k, false);
    if (e->undefined != 0)
      uninitialised({.warp = &w, .lane = __builtin_ctz(e->undefined), .site = i.site},
                    str("registers of operand {}", name));
    return *e;
  };
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, t = 2 * (lane % 4);
    for (int k = 0; k < 4; ++k) {
      const auto bits = static_cast<uint32_t>(used("a", k).value.i[lane]);
      const int row = g + 8 * (k & 1), column = t + 8 * (k >> 1);
      a[row * 16 + column] = core_value(t16, bits), a[row * 16 + column + 1] = core_value(t16, bits >> 16);
    }
    for (int k = 0; k < 2; ++k) {
      const auto bits = static_cast<uint32_t>(used("b", k).value.i[lane]);
      b[(t + 8 * k) * 8 + g] = core_value(t16, bits), b[(t + 8 * k + 1) * 8 + g] = core_value(t16, bits >> 16);
    }
    for (int k = 0; k < 4; ++k) acc[(g + 8 * (k >> 1)) * 8 + t + (k & 1)] = used("d", k).value.f[lane];
  }
  multiply_accumulate(8, 16, a, b, acc);
  for (int k = 0; k < 4; ++k) {
    auto* e = register_of(w, operand(c, "d"), k, true);
    for (int lane = 0; lane < 32; ++lane)
      e->value.f[lane] = acc[(lane / 4 + 8 * (k >> 1)) * 8 + 2 * (lane % 4) + (k & 1)];
  }
}

}  // namespace drawloom::simt
