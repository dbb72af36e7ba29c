/// ldmatrix, stmatrix, mma and wgmma. Products over K: A(k, i) = (16 i + k) mod 251, B(j, k) = 1 + j / K where k = j mod K,
/// else 0, so that D(j, i) = A(j mod K, i) (1 + j / K): whole numbers that name their place.

#include <bit>

#include "drawloom/support/text.h"
#include "micro.h"

namespace drawloom::gpu_tests {
namespace {

auto a_at(int64_t k, int64_t i) -> int64_t { return (16 * i + k) % 251; }
auto d_at(int depth, int64_t j, int64_t i) -> double {
  return static_cast<double>(a_at(j % depth, i) * (1 + j / depth));
}
auto a_text(const std::string& i, const std::string& k) -> std::string {
  return str("cast<f32>((16 * ({}) + ({})) % 251)", i, k);
}
auto b_text(int depth, const std::string& j, const std::string& k) -> std::string {
  return str("select(({}) % {} == ({}), cast<f32>(1 + ({}) / {}), 0:f32)", j, depth, k, j, depth);
}

/// What is multiplied: as many elements as fill 32 bytes are summed.
struct Element {
  std::string name;
  int bytes = 2;

  auto depth() const -> int { return 32 / bytes; }
};
/// Elements of A of 32 bits have digits that a tensor core does not read.
constexpr float kFiner = 1 + 3 * 0x1p-12F;
auto read_by_core(double v) -> double {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(v) * kFiner) & 0xFFFFE000);
}

// --- fragments of a warp

auto load_matrix(int count, bool transposed) -> MicroKernel {
  const std::string atom = str("ldmatrix.x{}{}", count, transposed ? ".trans" : "");
  // Element e of shared memory holds e; row r of matrix m begins at 8 * ((8 m + r) * 5 mod 32).
  const MicroLaunch l{.name = str("ldmatrix_x{}{}", count, transposed ? "_trans" : ""),
                      .arguments = "out %out: buffer<u32, 1>",
                      .body = str("allocate %s: u32[128] shared at 0\nallocate %d: u32[{}] register\n"
                                  "for %k = 0 : 4 {{\nlet %e = cast<u32>(2 * (32 * %k + %t))\n"
                                  "store %s[32 * %k + %t] = %e + (%e + 1:u32) * 65536:u32\n}}\nsync warp\n"
                                  "issue \"{}\" (&%d[0], &%s[4 * (%t * 5 % 32)])\n"
                                  "unrolled for %k = 0 : {} {{\nstore %out[32 * %k + %t] = %d[%k]\n}}\n",
                                  count, atom, count),
                      .shared = 512};
  return {.name = l.name,
          .atom = atom,
          .text = l.text(),
          .words = {str("out={}", 32 * count)},
          .expected = [transposed](int64_t i) {
            const int64_t m = i / 32, lane = i % 32;
            const auto element = [&](int64_t k) {
              const int64_t row = transposed ? 2 * (lane % 4) + k : lane / 4,
                            column = transposed ? lane / 4 : 2 * (lane % 4) + k;
              return 8 * ((8 * m + row) * 5 % 32) + column;
            };
            return static_cast<double>(element(0) + element(1) * 65536);
          }};
}

auto store_matrix(int count, bool transposed) -> MicroKernel {
  const std::string atom = str("stmatrix.x{}{}", count, transposed ? ".trans" : "");
  // Register m of lane l holds 64 m + 2 l and the next; rows lie as for loads.
  const MicroLaunch l{.name = str("stmatrix_x{}{}", count, transposed ? "_trans" : ""),
                      .arguments = "out %out: buffer<u32, 1>",
                      .body = str("allocate %s: u32[128] shared at 0\nallocate %d: u32[{}] register\n"
                                  "for %k = 0 : 4 {{\nstore %s[32 * %k + %t] = 0:u32\n}}\n"
                                  "unrolled for %k = 0 : {} {{\nlet %e = cast<u32>(64 * %k + 2 * %t)\n"
                                  "store %d[%k] = %e + (%e + 1:u32) * 65536:u32\n}}\nsync warp\n"
                                  "issue \"{}\" (&%s[4 * (%t * 5 % 32)], &%d[0])\nsync warp\n"
                                  "for %k = 0 : 4 {{\nstore %out[32 * %k + %t] = %s[32 * %k + %t]\n}}\n",
                                  count, count, atom),
                      .shared = 512};
  return {
      .name = l.name, .atom = atom, .text = l.text(), .words = {"out=128"}, .expected = [count, transposed](int64_t i) {
        // Word i is half of pair i % 4 of the row in place i / 4; which row lies there: 13 is the inverse of 5.
        const int64_t row = i / 4 * 13 % 32, m = row / 8, r = row % 8;
        if (m >= count) return 0.0;
        const auto element = [&](int64_t c) {
          const int64_t a = transposed ? c : r, b = transposed ? r : c;
          return 64 * m + 2 * (4 * a + b / 2) + b % 2;
        };
        return static_cast<double>(element(2 * (i % 4)) + element(2 * (i % 4) + 1) * 65536);
      }};
}

auto mma(const std::string& type) -> MicroKernel {
  std::string body = "allocate %a: u32[4] register\nallocate %right: u32[2] register\nallocate %d: f32[4] register\n";
  for (int k = 0; k < 4; ++k) {
    const std::string i = str("%t / 4 + {}", 8 * (k % 2)), at = str("2 * (%t % 4) + {}", 8 * (k / 2));
    body += str("issue \"pack.{}\" (&%a[{}], {}, {})\n", type, k, a_text(i, at), a_text(i, at + " + 1"));
  }
  for (int k = 0; k < 2; ++k) {
    const std::string j = "%t / 4", at = str("2 * (%t % 4) + {}", 8 * k);
    body += str("issue \"pack.{}\" (&%right[{}], {}, {})\n", type, k, b_text(16, j, at), b_text(16, j, at + " + 1"));
  }
  body += "unrolled for %k = 0 : 4 {\nstore %d[%k] = 1:f32\n}\n" +
          str("issue \"mma.m16n8k16.f32.{}\" (&%d[0], &%a[0], &%right[0])\n", type) +
          "unrolled for %k = 0 : 4 {\nstore %out[8 * (%t / 4 + 8 * (%k / 2)) + 2 * (%t % 4) + %k % 2] = %d[%k]\n}\n";
  const MicroLaunch l{.name = "mma_" + type, .arguments = "out %out: buffer<f32, 1>", .body = body};
  return {.name = l.name,
          .atom = "mma.m16n8k16.f32." + type,
          .text = l.text(),
          .words = {"out=128"},
          .expected = [](int64_t i) { return 1 + d_at(16, i % 8, i / 8); }};
}

// --- warpgroups

/// Where an operand of wgmma lies: byte of element (r, k), and the descriptor's fields, without the address.
struct OperandLayout {
  std::string name, place, fields;
  bool transposed = false;
};
auto operand_layouts(int bytes) -> std::vector<OperandLayout> {
  const auto fields = [](int mode, int stride, int leading) {
    return str("({}:u64 << 62:u64) + ({}:u64 << 32:u64) + ({}:u64 << 16:u64)", mode, stride / 16, leading / 16);
  };
  // Piece of 16 bytes along k, and byte in it.
  const std::string piece = str("{{k}} / {}", 16 / bytes), byte = str("{{k}} % {} * {}", 16 / bytes, bytes);
  std::vector<OperandLayout> out{
      {"cores", "({r} / 8) * 256 + (" + piece + ") * 128 + {r} % 8 * 16 + " + byte, fields(0, 256, 128)},
      {"rows32", "{r} * 32 + ((" + piece + ") ^ ({r} / 4 % 2)) * 16 + " + byte, fields(3, 256, 16)},
      {"rows64", "{r} * 64 + ((" + piece + ") ^ ({r} / 2 % 4)) * 16 + " + byte, fields(2, 512, 16)},
      {"rows128", "{r} * 128 + ((" + piece + ") ^ ({r} % 8)) * 16 + " + byte, fields(1, 1024, 16)}};
  // Only elements of 16 bits may lie the other way.
  if (bytes == 2) {
    out.push_back(
        {"columns_cores", "({r} / 8) * 256 + ({k} / 8) * 128 + {k} % 8 * 16 + {r} % 8 * 2", fields(0, 256, 128), true});
    out.push_back(
        {"columns128",
         "({r} / 64) * 2048 + ({k} / 8) * 1024 + {k} % 8 * 128 + (({r} % 64 / 8) ^ ({k} % 8)) * 16 + {r} % 8 * 2",
         fields(1, 1024, 2048), true});
  }
  return out;
}
auto replaced(std::string text, const std::string& what, const std::string& by) -> std::string {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// Stores an operand of `rows` rows, an element at a time. `value` is an expression of %r and %k.
auto store_operand(const OperandLayout& o, const std::string& tile, int rows, const Element& e,
                   const std::string& value) -> std::string {
  const std::string place = replaced(replaced(o.place, "{r}", "%r"), "{k}", "%k");
  const std::string stored = e.bytes == 4 ? value : "cast<u16>(%p[0])";
  std::string out = str("for %n = 0 : {} {{\nlet %r = (%n * 128 + %t) / {}\nlet %k = (%n * 128 + %t) % {}\n",
                        (rows * e.depth() + 127) / 128, e.depth(), e.depth());
  if (e.bytes == 2) out += str("issue \"pack.{}\" (&%p[0], {}, 0:f32)\n", e.name, value);
  return out + str("store {}[({}) / {}] = {}\n}}\n", tile, place, e.bytes, stored);
}

auto wgmma(int n, const Element& e, const OperandLayout& o, bool from_registers) -> MicroKernel {
  const int depth = e.depth();
  const std::string atom = str("wgmma.m64n{}k{}.f32.{}{}", n, depth, e.name, from_registers ? ".registers" : "");
  const std::string stored = e.bytes == 4 ? "f32" : "u16";
  std::string body =
      str("allocate %sa: {}[{}] shared at 0\nallocate %sb: {}[{}] shared at 16384\nallocate %p: u32[1] register\n"
          "allocate %a: u32[4] register\nallocate %d: f32[{}] register\n",
          stored, 16384 / e.bytes, stored, 32768 / e.bytes, n / 2);
  if (!from_registers)
    body += store_operand(o, "%sa", 64, e, a_text("%r", "%k") + (e.bytes == 4 ? str(" * {}:f32", kFiner) : ""));
  body += store_operand(o, "%sb", n, e, b_text(depth, "%r", "%k"));
  for (int k = 0; from_registers && k < 4; ++k) {
    const std::string i = str("16 * (%t / 32) + %t % 32 / 4 + {}", 8 * (k % 2)),
                      at = str("2 * (%t % 4) + {}", 8 * (k / 2));
    body += str("issue \"pack.{}\" (&%a[{}], {}, {})\n", e.name, k, a_text(i, at), a_text(i, at + " + 1"));
  }
  body += "fence proxy_shared\nsync block\nfence wgmma\n";
  const auto descriptor = [&](const std::string& tile) {
    return str("(cast<u64>(&{}[0]) >> 4:u64) + {}", tile, o.fields);
  };
  const std::string way = e.bytes == 4 ? "" : o.transposed ? ", 1" : ", 0";
  body += str("issue \"{}\" (&%d[0], {}, {}, false{}{})\n", atom, from_registers ? "&%a[0]" : descriptor("%sa"),
              descriptor("%sb"), from_registers ? "" : way, way);
  body +=
      str("commit wgmma\nwait_group wgmma 0\nunrolled for %k = 0 : {} {{\n"
          "store %out[{} * (16 * (%t / 32) + %t % 32 / 4 + 8 * (%k / 2 % 2)) + 8 * (%k / 4) + 2 * (%t % 4) + %k % 2] = "
          "%d[%k]\n}}\n",
          n / 2, n);
  const MicroLaunch l{.name = str("wgmma_n{}_{}_{}{}", n, e.name, o.name, from_registers ? "_registers" : ""),
                      .arguments = "out %out: buffer<f32, 1>",
                      .body = body,
                      .threads = 128,
                      .shared = 49152};
  return {.name = l.name, .atom = atom, .text = l.text(), .words = {str("out={}", 64 * n)}, .expected = [=](int64_t i) {
            const int64_t j = i % n, row = i / n;
            if (e.bytes == 2) return d_at(depth, j, row);
            return read_by_core(static_cast<double>(a_at(j % depth, row))) * static_cast<double>(1 + j / depth);
          }};
}

}  // namespace

auto matrix_kernels() -> std::vector<MicroKernel> {
  std::vector<MicroKernel> out;
  for (const int count : {1, 2, 4}) out.push_back(load_matrix(count, false)), out.push_back(store_matrix(count, false));
  out.push_back(load_matrix(4, true));
  out.push_back(store_matrix(4, true));
  for (const std::string type : {"f16", "bf16"}) {
    out.push_back(mma(type));
    const Element e{type};
    for (const auto& o : operand_layouts(e.bytes)) {
      out.push_back(wgmma(64, e, o, false));
      out.push_back(wgmma(64, e, o, true));
    }
    for (const int n : {8, 24, 176, 256}) {
      out.push_back(wgmma(n, e, operand_layouts(e.bytes)[3], false));
      out.push_back(wgmma(n, e, operand_layouts(e.bytes)[3], true));
    }
  }
  const Element tf32{"tf32", 4};
  for (const auto& o : operand_layouts(tf32.bytes)) out.push_back(wgmma(128, tf32, o, false));
  for (const int n : {8, 24, 256}) out.push_back(wgmma(n, tf32, operand_layouts(tf32.bytes)[3], false));
  return out;
}

}  // namespace drawloom::gpu_tests
