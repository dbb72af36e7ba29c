#include "drawloom/nest/sizes.h"

#include <catch2/catch.hpp>

#include "drawloom/lang/operators.h"
#include "drawloom/lang/pipeline.h"
#include "drawloom/nest/region.h"
#include "gallery.h"
#include "pipelines.h"

using namespace drawloom;
using namespace drawloom::testing;

namespace {

constexpr int64_t kFirst = 3, kWidth = 203, kHeight = 157;

/// Buffers start at 3 and have 203 x 157 (x 157 ..) elements.
auto values_of(const Nest& nest) -> NestSizes::Values {
  NestSizes::Values values;
  auto buffers = nest.graph->pipeline->output_buffers;
  for (const auto& b : nest.graph->pipeline->inputs) buffers.push_back(b);
  for (const auto& b : buffers)
    for (size_t d = 0; d < b->min.size(); ++d) {
      values.insert(b->min[d].get(), kFirst);
      values.insert(b->extent[d].get(), d == 0 ? kWidth : kHeight);
    }
  return values;
}

auto value_at(const Form& f, const FormEnv& values) -> int64_t {
  const auto v = evaluate(f, values);
  INFO(f.text());
  REQUIRE(v.has_value());
  return *v;
}

void check_dims(const Region& forms, std::span<const SizedDim> numbers, const FormEnv& values) {
  REQUIRE(forms.dims.size() == numbers.size());
  for (size_t d = 0; d < numbers.size(); ++d) {
    INFO("dimension " << d << ": " << forms.dims[d].lo.text() << " .. " << forms.dims[d].hi.text());
    CHECK(numbers[d].lo == value_at(forms.dims[d].lo, values));
    CHECK(numbers[d].hi == value_at(forms.dims[d].hi, values));
    // Forms unite what they know of the places inside, numbers ask at the place itself, so they may forget fewer clamps.
    CHECK(numbers[d].free_hi >= numbers[d].hi);
    CHECK(numbers[d].free_hi <= value_at(forms.dims[d].free_hi, values));
  }
}

/// Numbers and Forms say the same about every realisation.
void check_agreement(const Nest& open) {
  const Nest nest = close_nest(open).or_throw();
  const auto values = values_of(nest);
  const NestSizes sizes(nest, values);
  QueryCache cache;
  const auto at_loops = [&](const SymbolRef& s) -> std::optional<int64_t> {
    if (s->kind == SymbolKind::Loop) return sizes.at(s.get());
    const auto* known = values.find(s.get());
    return known ? *known : 0;
  };
  const FormEnv of_symbols = with_names(nest, at_loops, cache);
  INFO(print_nest(open));
  for (const auto& r : sizes.realisations()) {
    INFO(nest.func(r.what).name());
    const auto& facts = realisation_facts(nest, r.what, cache);
    check_dims(facts.need, r.need, of_symbols);
    check_dims(facts.computed, r.computed, of_symbols);
    check_dims(facts.stored, r.stored, of_symbols);
  }
}

auto points_of(const NestSizes& sizes, int func) -> int64_t {
  int64_t sum = 0;
  for (const auto& s : sizes.stages())
    if (s.what.func == func) sum += s.points;
  return sum;
}

auto sized(const Nest& nest) -> NestSizes { return {nest, values_of(nest)}; }

/// f reads p one row further up with each step back.
auto climbing(std::string_view steps) -> Nest {
  Func p("p"), f(int_type(32), 3, "f"), g("g"), out("out");
  Var x("x"), y("y"), t("t");
  p(x, y, t) = cast(int_type(32), x + y + t);
  f(x, y, t) = select(t <= 0, 1, f(x, y - 1, t - 1) * p(x, y, t - 1));
  g(x, y, t) = f(x, y, t) + 1;
  out(x, y, t) = g(x, y, t) + g(x, y, 2);
  return scheduled(Pipeline({out}, "climbing").definition(), std::string(steps));
}

}  // namespace

TEST_CASE("regions at given sizes equal the Forms at the same values") {
  check_agreement(scheduled(blur(), ""));
  check_agreement(scheduled(blur(), "  compute_root bx\n"));
  check_agreement(scheduled(
      blur(),
      "  split out.y -> yo, y by 8\n  split out.x -> xo, x by 16\n  reorder out x y xo yo\n  compute_at bx out.xo\n"));
  check_agreement(scheduled(blur(), "  split out.y -> yo, y by 8\n  compute_at bx out.y\n  store_at bx out.yo\n"));
  check_agreement(scheduled(blur(), "  split out.y -> yo, y by 8\n  compute_at bx out.y\n  store_root bx\n"));
  check_agreement(scheduled(blur(), "  compute_root bx\n  align bx.x by 8\n  split bx.x -> x, xi by 8\n"));
  check_agreement(scheduled(blur(), "  fuse out.x y -> xf\n  split out.xf -> xo, xi by 16\n  compute_at bx out.xi\n"));
  const auto chain = stencil_chain(5, 2, true);
  check_agreement(scheduled(chain,
                            "  split out.y -> yo, y by 32\n  compute_at s4 out.y\n  compute_at s3 out.y\n  compute_at "
                            "s2 out.yo\n  compute_root s1\n"
                            "  compute_at s0 s1.y\n"));
  check_agreement(scheduled(
      chain, "  compute_at s4 out.y\n  store_root s4\n  compute_at s3 out.y\n  store_root s3\n  compute_at s2 s3.x\n"));
  for (const auto& g : gallery()) check_agreement(g.nest);
}

TEST_CASE("what a recurrence needs at given sizes equals the Forms at the same values") {
  check_agreement(climbing("  compute_root f\n  compute_root p\n"));
  check_agreement(climbing("  compute_at g out.t\n  compute_at f out.t\n  compute_root p\n"));
  check_agreement(climbing("  compute_at g out.t\n  compute_at f g.y\n  store_at f out.t\n  compute_at p out.t\n"));
  check_agreement(climbing("  compute_root f\n  reorder f y t x\n  compute_at p f.x\n"));
  check_agreement(climbing("  compute_root f\n  compute_at p f.t\n"));
  check_agreement(
      climbing("  compute_at g out.t\n  reorder g x t y\n  fuse g.t y -> ty\n  compute_at f g.ty\n  compute_root p\n"));
}

TEST_CASE("long ends of regions have names, and the same values") {
  std::string at_root;
  for (int i = 4; i >= 0; --i) at_root += str("  compute_root s{}\n", i);
  const Nest nest = scheduled(scattered_chain(5), at_root);
  check_agreement(nest);
  QueryCache cache;
  CHECK_FALSE(region_names(nest, cache).empty());
  // Three accesses, two dimensions: what an end is made of does not depend on how many stages come after.
  for (const auto& [name, form] : region_names(nest, cache)) CHECK(symbols_of(form).size() <= 4);
}

TEST_CASE("work is counted in elements computed") {
  const int64_t pixels = kWidth * kHeight;
  // At root bx has the two rows more that its reader needs.
  const auto root = scheduled(blur(), "  compute_root bx\n");
  CHECK(points_of(sized(root), 0) == kWidth * (kHeight + 2));
  CHECK(points_of(sized(root), 1) == pixels);
  // Anew for every row: three rows each time.
  CHECK(points_of(sized(scheduled(blur(), "  compute_at bx out.y\n")), 0) == 3 * pixels);
  // Kept from row to row: one new row each time.
  CHECK(points_of(sized(scheduled(blur(), "  compute_at bx out.y\n  store_root bx\n")), 0) == pixels);
  // In strips of 8 rows, 20 of them: 10 rows each.
  CHECK(points_of(sized(scheduled(blur(), "  split out.y -> yo, y by 8\n  compute_at bx out.yo\n")), 0) ==
        20 * 10 * kWidth);
}
