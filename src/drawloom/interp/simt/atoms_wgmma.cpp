/// Products of a warpgroup. Each warp computes its 16 rows at a moment of its own between issue and wait.
///
/// Operands in shared memory are found by a descriptor: start, two distances in bytes, a swizzle. Example, k contiguous
/// under the 128-byte swizzle, 8-row groups 1024 bytes apart, start a multiple of 1024: row 9, bytes 16 to 31 along k,
/// lie at start + 1 * 1024 + 1 * 128 + 16 = start + 1168; address bits 7-9 are 1, so bit 4 flips: start + 1152. These
/// formulas use nothing of layout/, so that a mistake there cannot hide here.
///
/// Between issue and wait the accumulator belongs to the tensor cores. Each register element keeps the number of the
/// newest wgmma that writes or reads it; a use in between is an error, and so is a wgmma on a register that was written
/// since the last `fence wgmma`. A chain of wgmmas on one accumulator of one shape needs no waits.

#include <cstring>

#include "drawloom/interp/simt/device.h"
#include "drawloom/interp/simt/matrix.h"

namespace drawloom::simt {
namespace {

/// The fields of a 64-bit matrix descriptor, in bytes.
struct Descriptor {
  uint32_t start, leading, stride, base_offset;
  int span;  ///< bytes of a swizzled row: 128, 64, 32, or 0 without swizzle

  explicit Descriptor(uint64_t d)
      : start(static_cast<uint32_t>(d & 0x3FFF) << 4), leading(static_cast<uint32_t>(d >> 16 & 0x3FFF) << 4),
        stride(static_cast<uint32_t>(d >> 32 & 0x3FFF) << 4), base_offset(static_cast<uint32_t>(d >> 49 & 7)) {
    constexpr int kSpans[] = {0, 128, 64, 32};
    span = kSpans[d >> 62];
  }
  /// Exclusive or of address bits from 4 on with those from 7 on: as many as the span has.
  auto swizzled(uint32_t at) const -> uint32_t {
    const uint32_t bits = span == 0 ? 0 : static_cast<uint32_t>(span) / 16 - 1;
    return (at ^ ((at >> 7 & bits) << 4)) & 0x3FFFF;
  }
  /// The piece `part` of 16 bytes along k of row (or column) `r` of an operand in which k is contiguous.
  auto piece_along_k(uint32_t r, uint32_t part) const -> uint32_t {
    if (span == 0) return swizzled(start + r / 8 * stride + part * leading + r % 8 * 16);
    return swizzled(start + r / 8 * stride + r % 8 * static_cast<uint32_t>(span) + part * 16);
  }
  /// The piece `part` of 16 bytes along the rows, at `k`, of an operand in which they are contiguous.
  auto piece_along_rows(uint32_t part, uint32_t k) const -> uint32_t {
    if (span == 0) return swizzled(start + part * stride + k / 8 * leading + k % 8 * 16);
    const uint32_t parts = static_cast<uint32_t>(span) / 16;
    return swizzled(start + part / parts * leading + k / 8 * stride + k % 8 * static_cast<uint32_t>(span) +
                    part % parts * 16);
  }
};

}  // namespace

struct WgmmaJob {
  const IssueCode* code = nullptr;
  uint32_t number = 0;
  bool use = false, transposed_a = false, transposed_b = false;
  uint64_t a = 0, b = 0;
  int first_a = 0, first_d = 0;  ///< registers
  View view;
};

void Device::wgmma(Warp& w, const Instruction& i, const IssueCode& c) {
  const Who who{.warp = &w, .site = i.site};
  WgmmaJob job{.code = &c};
  std::string entry;
  for (const auto& o : c.operands) {
    if (o.values.empty()) continue;
    const int64_t v = integer(w, o.values[0], 0);
    bool same = true;
    each_lane(w.mask, [&](int lane) { same = same && integer(w, o.values[0], lane) == v; });
    if (!same) return protocol(who, str("operand {} differs among the lanes", o.row->name));
    if (o.row->name == "a") job.a = static_cast<uint64_t>(v);
    if (o.row->name == "b") job.b = static_cast<uint64_t>(v);
    if (o.row->name == "use") job.use = v != 0;
    if (o.row->name == "ta") job.transposed_a = v != 0;
    if (o.row->name == "tb") job.transposed_b = v != 0;
    entry += str("{} {}, ", o.row->name, static_cast<uint64_t>(v));
  }
  if (!same_in_group(w, i, entry)) return;
  if (Descriptor(job.a).base_offset != 0 || Descriptor(job.b).base_offset != 0)
    return protocol(who, "a descriptor with a base offset");
  job.number = w.wgmma.issue();
  const auto& d = operand(c, "d");
  const int first = job.first_d = first_of(w, d);
  // Same first register and same number of them: at most 128, so the pair fits one number.
  const int shape = first * 1024 + d.row->count;
  auto& registers = w.registers[static_cast<size_t>(d.registers)];
  for (int k = 0; k < d.row->count; ++k) {
    auto& e = registers[static_cast<size_t>(first + k)];
    const auto name = str("`{}[{}]`", code_.registers[static_cast<size_t>(d.registers)].buffer->name, first + k);
    if (e.changed) return protocol(who, str("accumulates into {}, written since the last `fence wgmma`", name));
    if (e.written_by > w.wgmma.waited && e.shape != shape)
      return protocol(who, str("accumulates into {}, which a wgmma of another shape writes", name));
    if (job.use && e.undefined != 0) return uninitialised(who, name);
    e.written_by = job.number, e.shape = shape, e.undefined = 0;
  }
  if (c.atom->family == AtomFamily::WgmmaRegisters) {
    job.first_a = first_of(w, operand(c, "a"));
    for (int k = 0; k < 4; ++k) {
      auto* e = register_of(w, operand(c, "a"), k, false);
      if (e->changed) return protocol(who, "reads registers of a, written since the last `fence wgmma`");
      if (e->undefined != 0) return uninitialised(who, "a register of a");
      e->read_by = job.number;
    }
  }
  job.view = w.release(w.live);
  ThreadBlock* b = w.block;
  ++b->pending;
  start({.run =
             [this, &w, b, s = i.site, job = std::move(job)] {
               --b->pending;
               if (b->exited) return;
               run_wgmma(w, s, job);
               w.wgmma.read[job.number - 1] = w.wgmma.done[job.number - 1] = true;
             },
         .stream = &w.wgmma});
}

/// One wgmma of one warp while it runs.
struct WgmmaRun {
  Warp& warp;
  const WgmmaJob& job;
  Accessor by;
  Type type;
  int site = 0;

  auto depth() const -> uint32_t { return static_cast<uint32_t>(job.code->atom->k); }
  /// Elements in 16 bytes.
  auto piece() const -> uint32_t { return 128U / static_cast<uint32_t>(type.bits); }
};

/// The elements in 16 bytes of shared memory, to places `step` apart.
void Device::read_piece(const WgmmaRun& r, uint32_t at, double* to, int step) {
  if (world_.stopped) return;
  const Who who{.warp = &r.warp, .agent = "wgmma", .site = r.site};
  ThreadBlock& b = *r.warp.block;
  std::byte raw[16] = {};
  const bool inside = at + 16 <= b.shared.size();
  if (!read_shared(b, at, 16, r.by, who, raw) && inside) return uninitialised(who, shared_text(at));
  const auto bytes = static_cast<size_t>(r.type.bytes());
  for (size_t e = 0; e < r.piece(); ++e, to += step) {
    uint32_t bits = 0;
    std::memcpy(&bits, raw + e * bytes, bytes);
    *to = core_value(r.type, bits);
  }
}

/// The 16 rows of the warp, row by row.
void Device::gather_a(const WgmmaRun& r, double* a) {
  const auto& c = *r.job.code;
  const auto first = static_cast<uint32_t>(r.warp.number % 4 * 16);
  const int depth = static_cast<int>(r.depth()), piece = static_cast<int>(r.piece());
  const Descriptor d(r.job.a);
  if (c.atom->family == AtomFamily::WgmmaRegisters) {
    for (int k = 0; k < 4; ++k) {
      const auto& o = operand(c, "a");
      const auto& e = r.warp.registers[static_cast<size_t>(o.registers)][static_cast<size_t>(r.job.first_a + k)];
      for (int lane = 0; lane < 32; ++lane) {
        // A register holds neighbours along k: two of 16 bits, or one.
        const int held = 32 / r.type.bits;
        double* to = a + (lane / 4 + 8 * (k & 1)) * depth + held * (lane % 4 + 4 * (k >> 1));
        for (int j = 0; j < held; ++j) to[j] = core_value(r.type, static_cast<uint32_t>(e.value.i[lane]) >> 16 * j);
      }
    }
  } else if (r.job.transposed_a) {
    for (int k = 0; k < depth; ++k) {
      for (int i = 0; i < 16; i += piece) {
        const auto part = (first + static_cast<uint32_t>(i)) / r.piece();
        read_piece(r, d.piece_along_rows(part, static_cast<uint32_t>(k)), a + i * depth + k, depth);
      }
    }
  } else {
    for (uint32_t row = 0; row < 16; ++row) {
      for (uint32_t k = 0; k < r.depth(); k += r.piece()) {
        read_piece(r, d.piece_along_k(first + row, k / r.piece()), a + row * r.depth() + k, 1);
      }
    }
  }
}

/// All columns, k by k.
void Device::gather_b(const WgmmaRun& r, double* b) {
  const auto columns = static_cast<uint32_t>(r.job.code->atom->n);
  const Descriptor d(r.job.b);
  if (r.job.transposed_b) {
    for (uint32_t k = 0; k < r.depth(); ++k) {
      for (uint32_t j = 0; j < columns; j += r.piece()) {
        read_piece(r, d.piece_along_rows(j / r.piece(), k), b + k * columns + j, 1);
      }
    }
    return;
  }
  for (uint32_t j = 0; j < columns; ++j) {
    for (uint32_t k = 0; k < r.depth(); k += r.piece()) {
      read_piece(r, d.piece_along_k(j, k / r.piece()), b + k * columns + j, static_cast<int>(columns));
    }
  }
}

void Device::run_wgmma(Warp& w, int s, const WgmmaJob& job) {
  const auto& c = *job.code;
  const int n = c.atom->n;
  const WgmmaRun r{.warp = w,
                   .job = job,
                   .by = async_accessor(w.wgmma.component, *w.block, job.number, job.view, s, false),
                   .type = c.atom->element,
                   .site = s};
  std::vector<double> a(16 * r.depth()), b(r.depth() * static_cast<size_t>(n)), acc(static_cast<size_t>(16 * n));
  gather_a(r, a.data());
  gather_b(r, b.data());
  const auto& d = operand(c, "d");
  auto* registers = w.registers[static_cast<size_t>(d.registers)].data() + job.first_d;
  // Register k of lane l: row l / 4, 8 more for the second of each pair of pairs; column 8 (k / 4) + 2 (l % 4) + k % 2.
  const auto each = [&](auto&& f) {
    for (int k = 0; k < d.row->count; ++k) {
      for (int lane = 0; lane < 32; ++lane) {
        const int row = lane / 4 + 8 * (k >> 1 & 1), column = 8 * (k >> 2) + 2 * (lane % 4) + (k & 1);
        f(registers[k].value.f[lane], acc[static_cast<size_t>(row * n + column)]);
      }
    }
  };
  if (job.use) each([](double& reg, double& at) { at = reg; });
  multiply_accumulate(n, static_cast<int>(r.depth()), a.data(), b.data(), acc.data());
  each([](double& reg, double& at) { reg = at; });
}

}  // namespace drawloom::simt
