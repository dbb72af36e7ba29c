/// Copies by asynchronous agents. Boxes hang over both ends of their tensors; what they lay down is read back byte by byte.

#include "drawloom/support/text.h"
#include "micro.h"

namespace drawloom::gpu_tests {
namespace {

const std::string kInit = "if %t == 0 {\ninit %full[0] count 1\nfence mbarrier_init\n}\nsync block\n";

/// A tensor of so many dimensions, and a box of it; dimension 0 in elements of f32.
struct Box {
  std::vector<int64_t> dims, box, at;
  int swizzle = 0;

  auto rank() const -> size_t { return dims.size(); }
  auto elements() const -> int64_t {
    int64_t n = 1;
    for (const int64_t b : box) n *= b;
    return n;
  }
  /// The place, in words, of element i of the box.
  auto word(int64_t i) const -> int64_t {
    const int64_t at_byte = 4 * i, bits = swizzle == 0 ? 0 : swizzle / 16 - 1;
    return (at_byte ^ ((at_byte >> 7 & bits) << 4)) / 4;
  }
  /// The coordinates of element i of the box; false outside the tensor.
  auto coordinates(int64_t i, std::vector<int64_t>& out) const -> bool {
    bool inside = true;
    out.clear();
    for (size_t d = 0; d < rank(); ++d) {
      out.push_back(at[d] + i % box[d]);
      i /= box[d];
      inside = inside && out[d] >= 0 && out[d] < dims[d];
    }
    return inside;
  }
};

auto list(const std::vector<int64_t>& numbers) -> std::string {
  std::vector<std::string> out;
  for (const int64_t n : numbers) out.push_back(to_text(n));
  return join(out, ", ");
}
auto extents(const std::vector<int64_t>& numbers) -> std::string {
  std::vector<std::string> out;
  for (const int64_t n : numbers) out.push_back(to_text(n));
  return join(out, "x");
}

auto map_over(const std::string& buffer, const Box& b) -> std::string {
  std::vector<std::string> zeros(b.rank(), "0"), strides;
  for (size_t d = 1; d < b.rank(); ++d) strides.push_back(str("stride(%{}, {})", buffer, d));
  const std::string swizzle = b.swizzle == 0 ? std::string() : str(" swizzle {}", b.swizzle);
  return str("tensor_map %m = %{}[{}] dims ({}) strides ({}) box ({}){}\n", buffer, join(zeros, ", "), list(b.dims),
             join(strides, ", "), list(b.box), swizzle);
}

auto tma_load(const std::string& name, const Box& b, bool multicast) -> MicroKernel {
  const std::string atom = str("tma.load.{}d{}", b.rank(), multicast ? ".multicast" : "");
  const int64_t words = b.elements();
  std::string body =
      str("allocate %s: f32[{}] shared at 0\nallocate %full: u64[1] shared at {}\n", words, 4 * words) + kInit;
  if (multicast) body += "sync cluster\n";
  body += str("if %t == 0 {{\narrive %full[0] count 1 bytes {}\n", 4 * words);
  const std::string issue =
      str("issue \"{}\" (&%s[0], %m, &%full[0], {}{})\n", atom, multicast ? "3:u16, " : "", list(b.at));
  body += (multicast ? "if %b == 0 {\n" + issue + "}\n" : issue) + "}\nwait %full[0] parity 0\n";
  body += str(
      "for %k = 0 : {} {{\nif 32 * %k + %t < {} {{\nstore %out[{} * %b + 32 * %k + %t] = %s[32 * %k + %t]\n}}\n}}\n",
      (words + 31) / 32, words, words);
  const MicroLaunch l{.name = name,
                      .arguments = str("%in: buffer<f32, {}>, out %out: buffer<f32, 1>", b.rank()),
                      .maps = map_over("in", b),
                      .cluster = multicast ? " cluster 2, 1, 1" : "",
                      .body = body,
                      .blocks = multicast ? 2 : 1,
                      .shared = static_cast<int>(4 * words + 8)};
  return {.name = name,
          .atom = atom,
          .text = l.text(),
          .words = {"in=" + extents(b.dims), str("out={}", words * l.blocks)},
          .expected = [b](int64_t i) {
            // The swizzle is its own inverse.
            std::vector<int64_t> p;
            return b.coordinates(b.word(i % b.elements()), p) ? hashed_f32(p) : 0.0;
          }};
}

auto tma_store(const std::string& name, const Box& b) -> MicroKernel {
  const std::string atom = str("tma.store.{}d", b.rank());
  const int64_t words = b.elements();
  const std::string body =
      str("allocate %s: f32[{}] shared at 0\nfor %k = 0 : {} {{\nif 32 * %k + %t < {} {{\n"
          "store %s[32 * %k + %t] = cast<f32>(32 * %k + %t + 1)\n}}\n}}\nfence proxy_shared\nsync warp\n"
          "elect {{\nissue \"{}\" (%m, &%s[0], {})\ncommit bulk\nwait_group bulk 0\n}}\n",
          words, (words + 31) / 32, words, atom, list(b.at));
  const MicroLaunch l{.name = name,
                      .arguments = str("out %out: buffer<f32, {}>", b.rank()),
                      .maps = map_over("out", b),
                      .body = body,
                      .shared = static_cast<int>(4 * words)};
  return {
      .name = name, .atom = atom, .text = l.text(), .words = {"out=" + extents(b.dims)}, .expected = [b](int64_t i) {
        // Which element of the box is this one of the tensor?
        int64_t number = 0, size = 1;
        for (size_t d = 0; d < b.rank(); ++d) {
          const int64_t x = i % b.dims[d] - b.at[d];
          i /= b.dims[d];
          if (x < 0 || x >= b.box[d]) return 0.0;
          number += x * size;
          size *= b.box[d];
        }
        return static_cast<double>(b.word(number) + 1);
      }};
}

auto bulk() -> std::vector<MicroKernel> {
  const MicroLaunch l{
      .name = "bulk_copies",
      .arguments = "%in: buffer<f32, 1>, out %out: buffer<f32, 1>",
      .body = "allocate %s: f32[64] shared at 0\nallocate %full: u64[1] shared at 256\n" + kInit +
              "elect {\narrive %full[0] count 1 bytes 208\nissue \"bulk.load\" (&%s[4], &%in[8], 208:u32, &%full[0])\n"
              "wait %full[0] parity 0\nissue \"bulk.store\" (&%out[12], &%s[4], 192:u32)\ncommit bulk\nwait_group bulk "
              "0\n}\n",
      .shared = 264};
  const auto expected = [](int64_t i) { return i < 12 || i >= 60 ? 0.0 : hashed_f32({i - 4}); };
  std::vector<MicroKernel> out;
  for (const char* atom : {"bulk.load", "bulk.store"}) {
    out.push_back(
        {.name = l.name, .atom = atom, .text = l.text(), .words = {"in=100", "out=100"}, .expected = expected});
  }
  return out;
}

/// Thread t copies `bytes` bytes, of which it takes 4 (t % (bytes / 4 + 1)); the rest are zeros.
auto cp_async(int bytes, bool arrives) -> std::vector<MicroKernel> {
  const int words = bytes / 4;
  const std::string wait = arrives ? "issue \"cp_async.arrive\" (&%full[0])\nwait %full[0] parity 0\n"
                                   : "commit cp_async\nwait_group cp_async 0\nsync warp\n";
  const MicroLaunch l{
      .name = str("cp_async_{}{}", bytes, arrives ? "_arrive" : ""),
      .arguments = "%in: buffer<f32, 1>, out %out: buffer<f32, 1>",
      .body = str("allocate %s: f32[128] shared at 0\nallocate %full: u64[1] shared at 512\nif %t == 0 {{\ninit "
                  "%full[0] count 32\n}}\nsync block\n"
                  "issue \"cp_async.{}\" (&%s[{} * %t], &%in[{} * (31 - %t)], cast<u32>(4 * (%t % {})))\n",
                  bytes, words, words, words + 1) +
              wait + str("for %k = 0 : {} {{\nstore %out[32 * %k + %t] = %s[32 * %k + %t]\n}}\n", words),
      .shared = 520};
  const auto expected = [words](int64_t i) {
    const int64_t t = i / words, k = i % words;
    return k < t % (words + 1) ? hashed_f32({words * (31 - t) + k}) : 0.0;
  };
  std::vector<MicroKernel> out{{.name = l.name,
                                .atom = str("cp_async.{}", bytes),
                                .text = l.text(),
                                .words = {"in=128", str("out={}", 32 * words)},
                                .expected = expected}};
  if (arrives) out.push_back(out[0]), out[1].atom = "cp_async.arrive";
  return out;
}

/// Of each rank: inside, over the upper ends, over the lower ones (for loads). In dimension 0 a box starts at a multiple of 16
/// bytes.
auto boxes(size_t rank) -> std::vector<Box> {
  const std::vector<int64_t> dims{20, 7, 5, 4, 3}, box{12, 3, 2, 2, 2};
  const std::vector<int64_t> inside{4, 1, 1, 1, 1}, below{-8, -1, -1, -1, -1}, beyond{12, 6, 4, 3, 2};
  std::vector<Box> out;
  for (const auto& at : {inside, beyond, below}) {
    const auto first = [&](const std::vector<int64_t>& v) { return std::vector<int64_t>(v.begin(), v.begin() + rank); };
    out.push_back({.dims = first(dims), .box = first(box), .at = first(at)});
  }
  return out;
}

}  // namespace

auto copy_kernels() -> std::vector<MicroKernel> {
  std::vector<MicroKernel> out;
  for (size_t rank = 1; rank <= 5; ++rank) {
    const char* places[] = {"inside", "beyond", "below"};
    const auto all = boxes(rank);
    for (size_t k = 0; k < all.size(); ++k) {
      out.push_back(tma_load(str("tma_load_{}d_{}", rank, places[k]), all[k], false));
      if (k < 2) out.push_back(tma_store(str("tma_store_{}d_{}", rank, places[k]), all[k]));
    }
    out.push_back(tma_load(str("tma_multicast_{}d", rank), all[2], true));
  }
  for (const int swizzle : {32, 64, 128}) {
    Box b{.dims = {64, 40}, .box = {swizzle / 4, 16}, .at = {4, -3}, .swizzle = swizzle};
    out.push_back(tma_load(str("tma_load_swizzle{}", swizzle), b, false));
    b.at = {4, 29};
    out.push_back(tma_store(str("tma_store_swizzle{}", swizzle), b));
  }
  const auto add = [&](std::vector<MicroKernel> more) { out.insert(out.end(), more.begin(), more.end()); };
  add(bulk());
  for (const int bytes : {4, 8, 16}) add(cp_async(bytes, false));
  add(cp_async(16, true));
  return out;
}

}  // namespace drawloom::gpu_tests
