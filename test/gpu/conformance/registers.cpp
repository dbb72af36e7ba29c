/// Atoms that stay within registers, and vectors of memory.

#include "drawloom/interp/scalar/array.h"
#include "drawloom/ir/build.h"
#include "drawloom/support/text.h"
#include "micro.h"

namespace drawloom::gpu_tests {
namespace {

auto shuffle(const std::string& kind, const std::string& type, int by, std::function<int64_t(int64_t)> from)
    -> MicroKernel {
  const std::string atom = str("shuffle.{}.{}", kind, type);
  const MicroLaunch l{.name = str("shuffle_{}_{}_{}", kind, type, by),
                      .arguments = str("out %out: buffer<{}, 1>", type),
                      .body = str("allocate %d: {}[1] register\nissue \"{}\" (&%d[0], cast<{}>(%t * 3 + 1), {})\n"
                                  "store %out[%t] = %d[0]\n",
                                  type, atom, type, by)};
  return {.name = l.name, .atom = atom, .text = l.text(), .words = {"out=32"}, .expected = [from](int64_t i) {
            return static_cast<double>(from(i) * 3 + 1);
          }};
}

/// Halves between 2^-4 steps, some of which need rounding: ties and others.
auto pack(const std::string& type) -> MicroKernel {
  const MicroLaunch l{.name = "pack_" + type,
                      .arguments = "out %out: buffer<u32, 1>",
                      .body = str("allocate %d: u32[1] register\nlet %x = cast<f32>(%t * 131 - 1000) / 64:f32\n"
                                  "issue \"pack.{}\" (&%d[0], %x, 1:f32 - %x)\nstore %out[%t] = %d[0]\n",
                                  type)};
  return {.name = l.name, .atom = "pack." + type, .text = l.text(), .words = {"out=32"}, .expected = [type](int64_t i) {
            const Type t{type == "bf16" ? TypeCode::BFloat : TypeCode::Float, 16, 1};
            const double x = static_cast<double>(i * 131 - 1000) / 64;
            const auto bits = [&](double v) { return bits_of({.type = t, .f = round_float(t, v)}); };
            return static_cast<double>(bits(1 - x) << 16 | bits(x));
          }};
}

auto vector(const std::string& space, int lanes, const std::string& type, bool stream_load, bool stream_store)
    -> std::vector<MicroKernel> {
  const std::string load = str("load.{}.v{}.{}", stream_load ? "stream" : space, lanes, type);
  const std::string store = str("store.{}.v{}.{}", stream_store ? "stream" : space, lanes, type);
  const std::string name = str("vectors_{}_{}_v{}_{}_{}", stream_load ? "stream" : space,
                               stream_store ? "stream" : space, lanes, type, stream_load);
  const bool shared = space == "shared";
  // Through shared memory: written by one thread, read by another.
  const std::string fill = shared ? str("unrolled for %k = 0 : {} {{\nstore %r[%k] = %in[{} * %t + %k]\n}}\n"
                                        "issue \"{}\" (&%s[{} * %t], &%r[0])\nsync warp\n"
                                        "issue \"{}\" (&%r[0], &%s[{} * (31 - %t)])\n"
                                        "unrolled for %k = 0 : {} {{\nstore %out[{} * %t + %k] = %r[%k]\n}}\n",
                                        lanes, lanes, store, lanes, load, lanes, lanes, lanes)
                                  : str("issue \"{}\" (&%r[0], &%in[{} * (31 - %t)])\n"
                                        "issue \"{}\" (&%out[{} * %t], &%r[0])\n",
                                        load, lanes, store, lanes);
  const MicroLaunch l{
      .name = name,
      .arguments = str("%in: buffer<{}, 1>, out %out: buffer<{}, 1>", type, type),
      .body = str("allocate %s: {}[128] shared at 0\nallocate %r: {}[{}] register\n", type, type, lanes) + fill,
      .shared = 512};
  const std::vector<std::string> words{str("in={}", 32 * lanes), str("out={}", 32 * lanes)};
  const bool floats = type == "f32";
  const auto expected = [lanes, floats](int64_t i) {
    const int64_t from = (31 - i / lanes) * lanes + i % lanes;
    return floats ? hashed_f32({from}) : static_cast<double>(bits_of(hashed_value(uint_type(32), 1, {from})));
  };
  return {{.name = name, .atom = load, .text = l.text(), .words = words, .expected = expected},
          {.name = name, .atom = store, .text = l.text(), .words = words, .expected = expected}};
}

}  // namespace

auto register_kernels() -> std::vector<MicroKernel> {
  std::vector<MicroKernel> out;
  for (const std::string type : {"f32", "u32"}) {
    for (const int by : {1, 5, 16, 31}) {
      out.push_back(shuffle("xor", type, by, [by](int64_t i) { return i ^ by; }));
      out.push_back(shuffle("from", type, by, [by](int64_t) { return by; }));
      if (type != "f32") continue;
      out.push_back(shuffle("up", type, by, [by](int64_t i) { return i < by ? i : i - by; }));
      out.push_back(shuffle("down", type, by, [by](int64_t i) { return i + by > 31 ? i : i + by; }));
    }
  }
  out.push_back(pack("f16"));
  out.push_back(pack("bf16"));
  const auto add = [&](std::vector<MicroKernel> more) { out.insert(out.end(), more.begin(), more.end()); };
  add(vector("global", 2, "f32", false, false));
  add(vector("global", 4, "f32", false, false));
  add(vector("global", 4, "u32", false, false));
  add(vector("global", 4, "f32", true, true));
  add(vector("global", 4, "u32", true, false));
  add(vector("shared", 2, "f32", false, false));
  add(vector("shared", 4, "f32", false, false));
  add(vector("shared", 4, "u32", false, false));
  return out;
}

}  // namespace drawloom::gpu_tests
