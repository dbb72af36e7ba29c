#include "coverage.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "drawloom/nest/region.h"
#include "drawloom/steps/schedule.h"
#include "drawloom/steps/step_rows.h"

namespace drawloom::fuzz {
namespace {

auto padded(std::string s, size_t width) -> std::string {
  if (s.size() < width) s.insert(0, width - s.size(), ' ');
  return s;
}
auto left(std::string s, size_t width) -> std::string {
  if (s.size() < width) s.append(width - s.size(), ' ');
  return s;
}
auto percent(uint64_t n, uint64_t of) -> std::string { return of == 0 ? "-" : str("{}%", (100 * n + of / 2) / of); }

auto is_prime(int64_t n) -> bool {
  for (int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 2;
}

}  // namespace

void Coverage::add_step(const Step& step, const Diag* why) {
  ++(why ? refused : applied)[step.index()];
  if (why) ++reasons[static_cast<size_t>(why->kind())];
  if (const auto* s = std::get_if<Split>(&step); s && !why) ++tails[static_cast<size_t>(s->tail.kind)];
}

void Coverage::add_nest(const Nest& nest, const Schedule& schedule) {
  for (size_t i = 0; i < kStepKinds; ++i)
    for (size_t j = 0; j < kStepKinds; ++j) {
      const auto is = [&](size_t k) { return [k](const ScheduleLine& l) { return l.step.index() == k; }; };
      const auto first = std::find_if(schedule.steps.begin(), schedule.steps.end(), is(i));
      if (first != schedule.steps.end() && std::find_if(first + 1, schedule.steps.end(), is(j)) != schedule.steps.end())
        ++pairs[i][j];
    }
  uint64_t placed = 0;
  for (const auto& f : nest.graph->funcs) placed += f->placement == PlacementState::Placed;
  placed3 += placed >= 3;

  QueryCache cache;
  const Nest closed = close_nest(nest).or_throw();
  bool slides = false, folds = false, warm = false, kinds[4] = {};
  for (const auto& s : store_nodes(closed.tree)) {
    const auto& node = *s.node->as<StoreNode>();
    const auto& facts = realisation_facts(closed, node.what, cache);
    slides |= !facts.slides.empty();
    folds |= !node.folds.empty();
    for (const auto& slide : facts.slides) {
      const auto d = static_cast<size_t>(slide.dim);
      warm |= slide.gradual;
      const auto stored = facts.stored.dims[d].cover.as_constant();
      folds |= facts.window[d] && !(stored && *stored <= *facts.window[d]);
    }
  }
  for (const auto& at : stage_leaves(closed.tree))
    for (const auto* l : loops_around(closed.tree, at)) kinds[static_cast<size_t>(l->how)] = true;
  slide += slides, fold += folds, gradual += warm;
  parallel += kinds[static_cast<size_t>(ForKind::Parallel)];
  vector += kinds[static_cast<size_t>(ForKind::Vectorized)];
  unrolled += kinds[static_cast<size_t>(ForKind::Unrolled)];
}

void Coverage::add_extent(int64_t e) {
  size_zero += e == 0, size_one += e == 1, size_prime += is_prime(e);
  size_below_vector += e == 3 || e == 7 || e == 15;
  size_above_vector += e == 5 || e == 9 || e == 17;
}

void Coverage::add(const Coverage& other) {
  static_assert(std::is_trivially_copyable_v<Coverage> &&
                sizeof(Coverage) % sizeof(uint64_t) == 0);  // nothing but counters
  uint64_t mine[sizeof(Coverage) / sizeof(uint64_t)], theirs[sizeof(Coverage) / sizeof(uint64_t)];
  std::memcpy(mine, this, sizeof mine);
  std::memcpy(theirs, &other, sizeof theirs);
  for (size_t i = 0; i < std::size(mine); ++i) mine[i] += theirs[i];
  std::memcpy(this, mine, sizeof mine);
}

auto Coverage::text() const -> std::string {
  std::string out =
      str("cases {}: {} judged, {} of them failed; {} crashed; discarded: {} ambiguous, {} without bounds, {} refused "
          "at the call, {} with too much code, {} too long\n",
          cases, judged(), failed, crashed, ambiguous, graph_refused, call_refused, too_large, over_budget);
  out += str("runs: {} on the machine, {} native in {} cases\n", machine_runs, native_runs, native);
  const uint64_t n = cases - graph_refused;
  out +=
      str("cases with: three placed Funcs {}, slide {}, fold {}, gradual warm-up {}, vector {}, parallel {}, unrolled "
          "{}, odd strides {}, odd min {}\n",
          percent(placed3, n), percent(slide, n), percent(fold, n), percent(gradual, n), percent(vector, n),
          percent(parallel, n), percent(unrolled, n), percent(strided, n), percent(odd_min, n));
  out += str("asks for more of an input than the unscheduled pipeline: {}\n", excess_need);
  out += str("output extents: {} zero, {} one, {} prime, {} vector-1, {} vector+1\n", size_zero, size_one, size_prime,
             size_below_vector, size_above_vector);
  out +=
      str("splits by tail: predicate {}, round_up {}, filled {}, shrink {}\n", tails[0], tails[1], tails[2], tails[3]);
  out += "step              applied  refused   cases in which it came before\n";
  const auto& rows = step_rows();
  std::string head = left("", 36);
  for (size_t i = 0; i < kStepKinds; ++i) head += padded(std::string(rows[i].word.substr(0, 6)), 7);
  out += head + "\n";
  for (size_t i = 0; i < kStepKinds; ++i) {
    out += left(std::string(rows[i].word), 16) + padded(std::to_string(applied[i]), 9) +
           padded(std::to_string(refused[i]), 9) + "  ";
    for (size_t j = 0; j < kStepKinds; ++j) out += padded(std::to_string(pairs[i][j]), 7);
    out += "\n";
  }
  out += "refusals:";
  const auto kinds = all_diag_kinds();
  for (size_t i = 0; i < kinds.size(); ++i)
    if (reasons[i] > 0) out += str(" {} {},", diag_name(kinds[i]), reasons[i]);
  if (out.back() == ',') out.pop_back();
  return out + "\n";
}

}  // namespace drawloom::fuzz
