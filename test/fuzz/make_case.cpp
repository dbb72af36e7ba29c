#include "arguments.h"
#include "fuzz_case.h"
#include "random_pipeline.h"
#include "random_schedule.h"

namespace drawloom::fuzz {
namespace {

auto random_extent(CounterRandom& r, int rank) -> int64_t {
  const int64_t k = r.uniform(0, 99);
  if (k < 5) return 0;
  if (k < 12) return 1;
  static const int64_t kSmall[] = {2, 3, 3, 5, 7, 7, 9};
  static const int64_t kMore[] = {3, 5, 7, 9, 13, 15, 16, 17, 11, 19, 23, 29, 31, 8, 24};
  if (rank >= 3 || k < 35) return kSmall[r.uniform(0, 6)];
  return kMore[r.uniform(0, 14)];
}

auto random_box(CounterRandom& r, int rank) -> std::vector<Extent> {
  std::vector<Extent> out;
  for (int d = 0; d < rank; ++d) out.push_back({r.chance(40) ? 0 : r.uniform(-9, 12), random_extent(r, rank)});
  return out;
}

auto random_sizes(CounterRandom r, const PipelineDef& p) -> Sizes {
  Sizes s;
  const auto add = [&](const BufferDecl& b) {
    const int64_t k = r.uniform(0, 99);
    s.strides[b.name] = k < 78   ? Strides::dense
                        : k < 90 ? Strides::padded
                        : k < 94 ? Strides::upside_down
                        : k < 97 ? Strides::spread
                                 : Strides::turned;
  };
  for (const auto& f : p.outputs) s.boxes[f->name] = random_box(r, f->rank());
  for (const auto& b : p.inputs) s.boxes[b->name] = random_box(r, b->rank), add(*b);
  for (const auto& b : p.output_buffers) add(*b);
  for (const auto& q : p.params) s.params[q->name] = r.uniform(q->min.value_or(-5), q->max.value_or(9));
  s.data_seed = r.next();
  s.parallel_seed = r.next() | 1;
  s.obey = r.chance(95);
  return s;
}

}  // namespace

auto sizes_of(uint64_t seed, const PipelineDef& pipeline) -> Sizes {
  return random_sizes(CounterRandom(seed).fork(3), pipeline);
}

auto make_case(uint64_t seed, const ScheduleOptions& options) -> Case {
  CounterRandom r(seed);
  Case c;
  c.seed = seed;
  auto of_pipeline = r.fork(1), of_schedule = r.fork(2);
  c.pipeline = random_pipeline(of_pipeline, options.deep ? PipelineShape{2, 4, false} : PipelineShape{});
  c.sizes = sizes_of(seed, *c.pipeline);
  c.schedule.pipeline = c.pipeline->name;
  const auto start = make_nest(c.pipeline, host_target());
  if (!start.ok()) return c;
  try {
    auto scheduled = random_schedule(*start, of_schedule, options);
    c.schedule = std::move(scheduled.schedule), c.nest = std::move(scheduled.nest);
  } catch (const ScheduleBroke& broke) {
    c.schedule = broke.schedule;
  }
  c.schedule.pipeline = c.pipeline->name;
  return c;
}

auto case_text(const Case& c) -> std::string {
  try {
    const auto start = make_nest(c.pipeline, host_target());
    if (start.ok()) {
      const auto scheduled = replay(*start, c.schedule);
      return print(dl_case_of(c, make_arguments(scheduled.nest, c.sizes), scheduled.schedule));
    }
  } catch (const std::exception&) {  // NOLINT: told below, in words that need no nest
  } catch (const ScheduleBroke&) {
  }
  std::string out = pipeline_text(*c.pipeline) + print(c.schedule);
  for (const auto& [name, box] : c.sizes.boxes) {
    std::vector<std::string> dims;
    for (const auto& e : box) dims.push_back(str("{} from {}", e.extent, e.min));
    out += str("  size {}: {}\n", name, join(dims, ", "));
  }
  for (const auto& [name, value] : c.sizes.params) out += str("  {} = {}\n", name, value);
  for (const auto& [name, how] : c.sizes.strides) {
    static const char* const kWords[] = {"dense", "padded", "spread", "turned", "upside_down"};
    if (how != Strides::dense) out += str("  strides {}: {}\n", name, kWords[static_cast<size_t>(how)]);
  }
  return out;
}

}  // namespace drawloom::fuzz
