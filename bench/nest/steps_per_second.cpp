// How fast the nest answers a search: one random legal step on a 40-stage stencil pipeline, then regions and work of all stages at fixed sizes.
// Prints steps per second on one core (each from the same nest; refused ones count as time, not as steps) and how much of the tree a step
// shares with the nest it came from.
//   steps_per_second [SECONDS]

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "drawloom/lang/operators.h"
#include "drawloom/lang/param.h"
#include "drawloom/lang/pipeline.h"
#include "drawloom/nest/sizes.h"
#include "drawloom/support/hash.h"

using namespace drawloom;

namespace {

auto stencils(int stages) -> Pipeline {
  ImageParam in(uint_type(16), 2, "in");
  Var x("x"), y("y");
  std::vector<Func> funcs;
  for (int i = 0; i < stages; ++i) {
    Func f(str("s{}", i));
    if (i == 0)
      f(x, y) = in(x, y - 1) + in(x, y) + in(x + 1, y + 1);
    else
      f(x, y) = funcs.back()(x, y - 1) + funcs.back()(x, y) + funcs.back()(x + 1, y + 1);
    funcs.push_back(f);
  }
  return Pipeline({funcs.back()}, "stencils");
}

/// Groups of four stages: the last at root, the others inside its rows.
auto start(const Pipeline& p, int stages) -> Nest {
  std::string steps;
  const auto row = [](int i) { return i % 4 == 3; };
  for (int i = stages - 1; i >= 0; --i) {
    const int last = i + (3 - i % 4);
    if (row(i)) {
      if (i != stages - 1) steps += str("  compute_root s{}\n", i);
      steps += str("  split s{}.y -> yo, y by 32\n  parallel s{}.yo\n", i, i);
    } else {
      steps += str("  compute_at s{} s{}.y\n", i, last);
    }
  }
  const auto schedule = parse_schedule(str("drawloom-schedule 1 for {}\n{}", p.name(), steps), "start").or_throw();
  return apply(make_nest(p.definition(), x86_64_target(3)).or_throw(), schedule).or_throw();
}

auto random_step(CounterRandom& r, int stages) -> Step {
  const int i = static_cast<int>(r.uniform(0, stages - 1));
  const auto name = str("s{}", i);
  switch (r.uniform(0, 3)) {
    case 0: return Split{{{name}, "x"}, "xo", "xi", {int64_t{1} << r.uniform(1, 6), ""}, {}};
    case 1: return Reorder{{name}, {"y", "x"}};
    case 2: return Split{{{name}, "y"}, "yo2", "yi2", {int64_t{1} << r.uniform(1, 4), ""}, {}};
    default: return ComputeRoot{name};
  }
}

}  // namespace

/// An output of 1920 x 1080 elements that starts at 0.
auto sizes_of(const PipelineDef& p) -> NestSizes::Values {
  NestSizes::Values values;
  const auto& out = *p.output_buffers[0];
  values.insert(out.min[0].get(), 0), values.insert(out.extent[0].get(), 1920);
  values.insert(out.min[1].get(), 0), values.insert(out.extent[1].get(), 1080);
  return values;
}

int main(int argc, char** argv) {
  const double limit = argc > 1 ? std::atof(argv[1]) : 5;
  constexpr int kStages = 40, kLookEvery = 64;
  const Pipeline pipeline = stencils(kStages);
  const Nest nest = start(pipeline, kStages);
  const auto values = sizes_of(*pipeline.definition());
  CounterRandom random(1);
  size_t applied = 0, refused = 0, nodes = 0, shared = 0;
  int64_t points = 0;
  double seconds = 0;
  while (seconds < limit) {
    const auto begin = std::chrono::steady_clock::now();
    const auto next = apply(nest, {random_step(random, kStages), {}});
    if (next.ok()) {
      ++applied;
      const NestSizes sizes(*next, values);
      for (const auto& s : sizes.stages()) points ^= s.points;
    } else {
      ++refused;
    }
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!next.ok() || applied % kLookEvery != 0) continue;
    const auto [all, kept] = shared_nodes(next->tree, nest.tree);
    nodes += all, shared += kept;
  }
  std::printf(
      "%zu steps applied, %zu refused in %.1f s: %.0f applied steps with regions and work of all stages per second "
      "(check sum %lld)\n",
      applied, refused, seconds, static_cast<double>(applied) / seconds, static_cast<long long>(points));
  std::printf("%.1f %% of the nodes shared after a step\n",
              100.0 * static_cast<double>(shared) / static_cast<double>(nodes));
}
