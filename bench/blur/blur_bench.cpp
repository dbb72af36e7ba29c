// The blur of 6400 x 4800 16-bit pixels: our schedules, hand-written ceilings and a peer, interleaved in one process.
//
//   blur_bench [--peer LIBRARY.so] [--rounds N] [--threads N] [--schedule FILE.sched].. [--size W H]
//
// All read one picture and write one picture, both in one block of memory. In every round each variant runs once, so what
// disturbs the machine disturbs all. A ratio is the median of the ratios within rounds.

#include <dlfcn.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "../../apps/blur/pipelines.h"
#include "ceiling_box3.h"
#include "drawloom/driver/compile.h"
#include "drawloom/driver/generator.h"
#include "peer.h"

using namespace drawloom;

namespace {

auto seconds_of(const std::function<void()>& f) -> double {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Processor time of this process: what others do on the machine disturbs it less than the clock on the wall.
auto processor_seconds() -> double {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The fastest of a few compilations, by both clocks.
struct CompileTime {
  double wall = 0, processor = 0;
};
auto compile_time(const std::function<void()>& compile) -> CompileTime {
  constexpr int kTimes = 8;
  CompileTime best{1e9, 1e9};
  for (int i = 0; i < kTimes; ++i) {
    const double start = processor_seconds();
    best.wall = std::min(best.wall, seconds_of(compile));
    best.processor = std::min(best.processor, processor_seconds() - start);
  }
  return best;
}

struct Options {
  std::string peer;
  std::vector<std::string> schedules;
  int rounds = 40, threads = 2, width = 6400, height = 4800;
};

auto read_options(int argc, char** argv) -> Options {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto next = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (word == "--peer")
      o.peer = next();
    else if (word == "--schedule")
      o.schedules.push_back(next());
    else if (word == "--rounds")
      o.rounds = std::atoi(next().c_str());
    else if (word == "--threads")
      o.threads = std::atoi(next().c_str());
    else if (word == "--size")
      o.width = std::atoi(next().c_str()), o.height = std::atoi(next().c_str());
    else
      std::fprintf(stderr, "blur_bench: unknown option %s\n", word.c_str()), std::exit(2);
  }
  return o;
}

/// One block in huge pages; `out` starts at a page.
struct Pictures {
  Picture in, out;
};
auto make_pictures(int width, int height) -> Pictures {
  const ptrdiff_t in_pitch = width + 2;
  const size_t page = 1 << 12,
               in_bytes =
                   (static_cast<size_t>(in_pitch) * static_cast<size_t>(height + 2) * 2 + page - 1) / page * page;
  const size_t bytes = in_bytes + static_cast<size_t>(width) * static_cast<size_t>(height) * 2, huge = 1 << 21;
  auto* block = static_cast<char*>(std::aligned_alloc(huge, (bytes + huge - 1) / huge * huge));
  madvise(block, bytes, MADV_HUGEPAGE);
  std::memset(block, 0, bytes);
  auto* in = reinterpret_cast<uint16_t*>(block);
  for (ptrdiff_t i = 0; i < in_pitch * (height + 2); ++i)
    in[i] = static_cast<uint16_t>((static_cast<uint32_t>(i) * 2654435761u >> 7) % 16000);
  return {{in, width + 2, height + 2, in_pitch}, {reinterpret_cast<uint16_t*>(block + in_bytes), width, height, width}};
}

struct Variant {
  std::string group, name;  ///< group: limit, ceiling, ours, peer
  std::function<void()> run;
  CompileTime compile = {};
  std::vector<double> times = {};
  bool equal = true;

  auto fastest() const -> double { return *std::min_element(times.begin(), times.end()); }
};

auto median(std::vector<double> v) -> double {
  std::nth_element(v.begin(), v.begin() + static_cast<ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

void add_ceilings(const Pictures& p, std::vector<Variant>& out) {
  const bool wide = host_target().has(CpuFeature::avx512bw);
  if (p.out.width % 128 != 0 || p.out.height % 48 != 0) return;
  const auto add = [&](const std::vector<Ceiling>& list, const std::string& lanes) {
    for (const auto& c : list)
      out.push_back({c.is_copy ? "limit" : "ceiling", c.name + lanes, [run = c.run, p] { run(p.in, p.out); }});
  };
  add(ceiling_box3_avx2(), " (AVX2)");
  if (wide) add(ceiling_box3_avx512(), " (AVX-512)");
}

void add_ours(const Options& o, const Pictures& p, std::vector<Variant>& out) {
  static Blur blur = make_blur(UInt(16));
  Buffer<uint16_t> in(p.in.pixels, {{-1, p.in.width, 1}, {-1, p.in.height, p.in.pitch}}),
      result(p.out.pixels, {{0, p.out.width, 1}, {0, p.out.height, p.out.pitch}});
  for (const auto& file : o.schedules) {
    const auto schedule = parse_schedule(read_text_file(file).or_throw(), file).or_throw();
    CompiledPipelineRef compiled;
    const auto again = [&] { compiled = compile(blur.pipeline.definition(), schedule, host_target()).or_throw(); };
    const CompileTime best = compile_time(again);
    std::printf("%s\n%s", file.substr(file.rfind('/') + 1).c_str(), print(schedule).c_str());
    auto context = std::make_shared<drawloom_context_t>();
    drawloom_context_init(context.get(), nullptr, nullptr);
    context->num_threads = o.threads;
    out.push_back({"ours", file.substr(file.rfind('/') + 1),
                   [=] { compiled->run({in.raw(), result.raw()}, context.get()).or_throw(); }, best});
  }
}

void add_peer(const Options& o, const Pictures& p, std::vector<Variant>& out) {
  if (o.peer.empty()) return;
  // Its own copies of what both bring.
  void* library = dlopen(o.peer.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!library) std::fprintf(stderr, "blur_bench: %s\n", dlerror()), std::exit(1);
  const auto find = [&](const char* name) { return dlsym(library, name); };
  reinterpret_cast<decltype(&peer_set_threads)>(find("peer_set_threads"))(o.threads);
  const auto compile_one = reinterpret_cast<decltype(&peer_compile)>(find("peer_compile"));
  const auto run_one = reinterpret_cast<decltype(&peer_run)>(find("peer_run"));
  const auto name = reinterpret_cast<decltype(&peer_name)>(find("peer_name"));
  const int count = reinterpret_cast<decltype(&peer_count)>(find("peer_count"))();
  const PeerImage in{p.in.pixels, p.in.width, p.in.height, p.in.pitch},
      result{p.out.pixels, p.out.width, p.out.height, p.out.pitch};
  for (int k = 0; k < count; ++k) {
    const CompileTime best = compile_time([=] { compile_one(k); });
    out.push_back({"peer", std::string("Halide: ") + name(k), [=] { run_one(k, &in, &result); }, best});
  }
}

/// The first variant that computes says what is right; the definition says so for a few rows.
void check_results(const Pictures& p, std::vector<Variant>& variants) {
  const auto third = [](int a, int b, int c) { return (a + b + c) / 3; };
  const auto bx = [&](int x, int y) {
    const auto* q = p.in.at(x, y);
    return third(q[0], q[1], q[2]);
  };
  std::vector<uint16_t> want(static_cast<size_t>(p.out.width) * static_cast<size_t>(p.out.height));
  for (int y = 0; y < p.out.height; ++y)
    for (int x = 0; x < p.out.width; ++x)
      want[static_cast<size_t>(y) * static_cast<size_t>(p.out.width) + static_cast<size_t>(x)] =
          static_cast<uint16_t>(third(bx(x, y), bx(x, y + 1), bx(x, y + 2)));
  for (auto& v : variants) {
    std::memset(p.out.pixels, 0xAB, want.size() * 2);
    v.run();
    v.equal = v.group == "limit" || std::memcmp(p.out.pixels, want.data(), want.size() * 2) == 0;
  }
}

auto best_of(const std::vector<Variant>& variants, const std::string& group) -> const Variant* {
  const Variant* best = nullptr;
  for (const auto& v : variants)
    if (v.group == group && (!best || median(v.times) < median(best->times))) best = &v;
  return best;
}

/// Median over rounds of time(b) / time(a): how much faster a is.
auto paired(const Variant& a, const Variant& b) -> double {
  std::vector<double> ratios;
  for (size_t r = 0; r < a.times.size(); ++r) ratios.push_back(b.times[r] / a.times[r]);
  return median(ratios);
}

void print_table(const std::vector<Variant>& variants, double bytes) {
  std::printf("\n%-8s %-42s %8s %8s %7s %10s %9s %s\n", "", "", "min ms", "med ms", "GB/s", "compile ms", "(cpu ms)",
              "result");
  for (const auto& v : variants)
    std::printf("%-8s %-42s %8.3f %8.3f %7.1f %10.1f %9.1f %s\n", v.group.c_str(), v.name.c_str(), v.fastest() * 1e3,
                median(v.times) * 1e3, bytes / v.fastest() * 1e-9, v.compile.wall * 1e3, v.compile.processor * 1e3,
                v.group == "limit" ? "-"
                : v.equal          ? "equal"
                                   : "WRONG");
}

void print_comparison(const std::vector<Variant>& variants) {
  const auto* ours = best_of(variants, "ours");
  if (!ours) return;
  for (const char* group : {"peer", "ceiling", "limit"})
    if (const auto* other = best_of(variants, group))
      std::printf("ours against %s (%s): %.3f times as fast by paired medians, %.3f by minima\n", group,
                  other->name.c_str(), paired(*ours, *other), other->fastest() / ours->fastest());
  if (const auto* peer = best_of(variants, "peer"))
    std::printf("compile time of ours against peer: %.2f of %s on the wall, %.2f of processor time\n",
                ours->compile.wall / peer->compile.wall, peer->name.c_str(),
                ours->compile.processor / peer->compile.processor);
}

void print_machine() {
  std::FILE* f = std::fopen("/proc/cpuinfo", "r");
  char line[256];
  while (f && std::fgets(line, sizeof line, f))
    if (std::strncmp(line, "model name", 10) == 0) {
      std::printf("CPU%s", std::strchr(line, ':'));
      break;
    }
  if (f) std::fclose(f);
}

}  // namespace

auto main(int argc, char** argv) -> int {
  try {
    const Options o = read_options(argc, argv);
    const char* policy = std::getenv("OMP_WAIT_POLICY");
    setenv("OMP_NUM_THREADS", std::to_string(o.threads).c_str(), 1);
    drawloom_set_num_threads(o.threads);
    ceiling_set_threads(o.threads);
    print_machine();
    std::printf("target %s, %d threads, OMP_WAIT_POLICY=%s, %d x %d pixels, %d rounds\n", host_target().text().c_str(),
                o.threads, policy ? policy : "(not set)", o.width, o.height, o.rounds);
    const Pictures p = make_pictures(o.width, o.height);
    std::vector<Variant> variants;
    add_ceilings(p, variants);
    add_ours(o, p, variants);
    add_peer(o, p, variants);
    check_results(p, variants);
    for (int r = 0; r < o.rounds; ++r)
      for (auto& v : variants) v.times.push_back(seconds_of(v.run));
    print_table(variants, 4.0 * o.width * o.height);
    print_comparison(variants);
    return std::all_of(variants.begin(), variants.end(), [](const Variant& v) { return v.equal; }) ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "blur_bench: %s\n", e.what());
    return 1;
  }
}
