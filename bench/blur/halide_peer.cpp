// The same blur in Halide, with the schedules we know for it. Built only where the wheel is (bench/run).

#include <Halide.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "peer.h"

using namespace Halide;

namespace {

struct Built {
  ImageParam in{UInt(16), 2, "in"};
  Func bx{"bx"}, blur{"blur"};
  Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"}, strip{"strip"};

  Built() {
    bx(x, y) = (in(x, y) + in(x + 1, y) + in(x + 2, y)) / 3;
    blur(x, y) = (bx(x, y) + bx(x, y + 1) + bx(x, y + 2)) / 3;
    in.dim(0).set_stride(1);
  }
  /// Rows slide down a strip through a folded buffer.
  void slide(int lanes, int rows) {
    blur.split(y, strip, yi, rows).parallel(strip).vectorize(x, lanes);
    bx.store_at(blur, strip).compute_at(blur, yi).vectorize(x, lanes);
  }
  /// As our schedule, but for the stores.
  void registers(int lanes, int rows) {
    blur.tile(x, y, xi, yi, lanes, rows).vectorize(xi).unroll(yi).split(y, strip, y, 12).parallel(strip);
    bx.compute_at(blur, x).vectorize(x).unroll(y);
  }
  void root() {
    blur.vectorize(x, 16).parallel(y, 48);
    bx.compute_root().vectorize(x, 16).parallel(y, 48);
  }
  /// Whole computation at each vector, nothing stored.
  void inlined() { blur.vectorize(x, 16).parallel(y, 48); }
};

struct Schedule {
  const char* name;
  void (*apply)(Built&);
};
const Schedule kSchedules[] = {
    {"slide 48 rows, 16 lanes", [](Built& b) { b.slide(16, 48); }},
    {"slide 48 rows, 32 lanes", [](Built& b) { b.slide(32, 48); }},
    {"slide 192 rows, 32 lanes", [](Built& b) { b.slide(32, 192); }},
    {"registers 4 rows, 16 lanes", [](Built& b) { b.registers(16, 4); }},
    {"registers 4 rows, 32 lanes", [](Built& b) { b.registers(32, 4); }},
    {"inlined, 16 lanes", [](Built& b) { b.inlined(); }},
    {"root, 16 lanes", [](Built& b) { b.root(); }},
};
constexpr int kCount = sizeof kSchedules / sizeof *kSchedules;

// Halide 14 has no Callable: there a Func is compiled for its own inputs and run on the buffers it is given.
struct Compiled {
  Built built;
#if HALIDE_VERSION_MAJOR >= 15
  Callable callable;

  void compile() {
    callable = built.blur.compile_to_callable({built.in}, get_host_target().with_feature(Target::NoAsserts));
  }
  int run(Runtime::Buffer<uint16_t, 2>& in, Runtime::Buffer<uint16_t, 2>& out) {
    return callable(in.raw_buffer(), out.raw_buffer());
  }
#else
  void compile() { built.blur.compile_jit(get_host_target().with_feature(Target::NoAsserts)); }
  int run(Runtime::Buffer<uint16_t, 2>& in, Runtime::Buffer<uint16_t, 2>& out) {
    built.in.set(Buffer<uint16_t>(*in.raw_buffer()));
    Buffer<uint16_t> result(*out.raw_buffer());
    built.blur.realize(result);
    return 0;
  }
#endif
};
Compiled* compiled[kCount];

}  // namespace

extern "C" {

int peer_count() { return kCount; }
const char* peer_name(int schedule) { return kSchedules[schedule].name; }
void peer_set_threads(int n) { setenv("HL_NUM_THREADS", std::to_string(n).c_str(), 1); }

double peer_compile(int schedule) {
  const auto start = std::chrono::steady_clock::now();
  delete compiled[schedule];
  auto* c = new Compiled;
  kSchedules[schedule].apply(c->built);
  c->compile();
  compiled[schedule] = c;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int peer_run(int schedule, const PeerImage* in, const PeerImage* out) {
  const halide_dimension_t in_shape[] = {{0, in->width, 1}, {0, in->height, static_cast<int>(in->pitch)}};
  const halide_dimension_t out_shape[] = {{0, out->width, 1}, {0, out->height, static_cast<int>(out->pitch)}};
  Runtime::Buffer<uint16_t, 2> a(in->pixels, 2, in_shape), b(out->pixels, 2, out_shape);
  return compiled[schedule]->run(a, b);
}

}  // extern "C"
