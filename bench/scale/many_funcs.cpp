// Many Funcs, each using its predecessor twice at the same point, from the language to machine code: whatever looks at
// each use rather than at each Func takes 2^N steps.
//
//   many_funcs inlined|root [--funcs N] [--max-seconds S] [--max-megabytes M]
//
// Prints the time of every pass and the most memory that the process has had; runs the code and compares with plain C++.
// Fails when a result is wrong or a limit is passed.

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "drawloom/drawloom.h"
#include "drawloom/driver/compile.h"

using namespace drawloom;

namespace {

struct Options {
  bool root = false;
  int funcs = 400;
  double max_seconds = 10, max_megabytes = 1024;
};

auto read_options(int argc, char** argv, Options& o) -> bool {
  if (argc < 2) return false;
  const std::string placement = argv[1];
  o.root = placement == "root";
  if (!o.root && placement != "inlined") return false;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string word = argv[i];
    if (word == "--funcs")
      o.funcs = std::atoi(argv[i + 1]);
    else if (word == "--max-seconds")
      o.max_seconds = std::atof(argv[i + 1]);
    else if (word == "--max-megabytes")
      o.max_megabytes = std::atof(argv[i + 1]);
    else
      return false;
  }
  return argc % 2 == 0;
}

auto step(uint32_t v) -> uint32_t { return v + (v >> 3); }

struct Chain {
  ImageParam in;
  Pipeline pipeline;
};

auto make_chain(const Options& o) -> Chain {
  ImageParam in(UInt(32), 1, "in");
  Var x("x");
  Func last("f0");
  last(x) = in(x);
  for (int i = 1; i < o.funcs; ++i) {
    if (o.root) last.compute_root();
    Func next("f" + std::to_string(i));
    next(x) = last(x) + (last(x) >> 3);
    last = next;
  }
  return {in, Pipeline(last)};
}

auto is_right(const CompiledPipeline& code, const Options& o) -> bool {
  constexpr int kWidth = 100;
  std::vector<uint32_t> in(kWidth), out(kWidth);
  for (int i = 0; i < kWidth; ++i) in[static_cast<size_t>(i)] = static_cast<uint32_t>(i) * 2654435761u;
  Buffer<uint32_t> from(in.data(), {{0, kWidth, 1}}), to(out.data(), {{0, kWidth, 1}});
  code.run({from.raw(), to.raw()}).or_throw();
  for (int i = 0; i < kWidth; ++i) {
    uint32_t want = in[static_cast<size_t>(i)];
    for (int f = 1; f < o.funcs; ++f) want = step(want);
    if (out[static_cast<size_t>(i)] != want) return false;
  }
  return true;
}

auto peak_megabytes() -> double {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

auto main(int argc, char** argv) -> int {
  Options o;
  if (!read_options(argc, argv, o)) {
    std::fprintf(stderr, "usage: many_funcs inlined|root [--funcs N] [--max-seconds S] [--max-megabytes M]\n");
    return 2;
  }
  try {
    const auto start = std::chrono::steady_clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const Chain chain = make_chain(o);
    const double defined = seconds();
    CompileReport report;
    CompileOptions options;
    options.report = &report;
    const auto code =
        compile(chain.pipeline.definition(), chain.pipeline.schedule(), host_target(), options).or_throw();
    const double all = seconds(), megabytes = peak_megabytes();
    const bool right = is_right(*code, o);
    std::printf("%d Funcs, %s: defined in %.2f s, compiled in %.2f s, %.0f MB at most, results %s\n%s", o.funcs,
                o.root ? "at root" : "inlined", defined, all - defined, megabytes, right ? "right" : "WRONG",
                report.text().c_str());
    const bool within = all <= o.max_seconds && megabytes <= o.max_megabytes;
    if (!within) std::printf("beyond %.0f s or %.0f MB\n", o.max_seconds, o.max_megabytes);
    return right && within ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "many_funcs: %s\n", e.what());
    return 1;
  }
}
