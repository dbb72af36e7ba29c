// Regions through long chains grow with the chain: each stage adds to what the stage before it needs, and does not
// multiply it. What doubles with each stage would not end for the chains below.

#include <catch2/catch.hpp>
#include <unordered_set>

#include "drawloom/lang/operators.h"
#include "drawloom/lang/param.h"
#include "drawloom/lang/pipeline.h"
#include "drawloom/nest/region.h"
#include "pipelines.h"

using namespace drawloom;
using namespace drawloom::testing;

namespace {

/// Atoms of a form, each once.
void collect(const Form& f, std::unordered_set<const Atom*>& seen) {
  for (const auto& t : f.terms()) {
    if (!t.atom || !seen.insert(t.atom.get()).second) continue;
    for (const auto& operand : t.atom->operands) collect(operand, seen);
  }
}

/// A stage from the one before it at `x`; `in` gives the ends of what may be asked for.
using StageOf = Expr (*)(const Func& previous, const Expr& x, const ImageParam& in);

/// Atoms in all that the last of `stages` Funcs reads of the input, all others inlined, and in all regions when all others
/// are computed at root.
auto atoms_of(int stages, StageOf stage) -> std::pair<size_t, size_t> {
  ImageParam in(Float(32), 1, "in");
  Var x("x");
  Func f("f0");
  f(x) = in(clamp(x, in.dim(0).min(), in.dim(0).max()));
  std::string roots;
  for (int i = 1; i < stages; ++i) {
    roots += str("  compute_root f{}\n", i - 1);
    Func next(str("f{}", i));
    next(x) = stage(f, x, in);
    f = next;
  }
  const auto pipeline = Pipeline({f}, "chain").definition();
  std::unordered_set<const Atom*> inlined, root;
  const Nest open = scheduled(pipeline, "");
  for (const auto& access : open.graph->reads(stages - 1, 0))
    for (const auto& box : access.boxes)
      for (const auto& i : box) collect(*i.lo, inlined), collect(*i.hi, inlined);
  const Nest nest = close_nest(scheduled(pipeline, roots)).or_throw();
  QueryCache cache;
  for (size_t k = 0; k + 1 < nest.graph->funcs.size(); ++k) {
    const auto& facts = realisation_facts(nest, {static_cast<int>(k), 0}, cache);
    for (const auto& d : facts.need.dims) collect(d.lo, root), collect(d.hi, root);
  }
  return {inlined.size(), root.size()};
}

void check_growth(StageOf stage) {
  const auto [inlined, root] = atoms_of(8, stage);
  const auto [twice_inlined, twice_root] = atoms_of(16, stage);
  CHECK(twice_inlined <= 3 * inlined + 20);
  // Each of the regions of twice as many stages may be twice as long.
  CHECK(twice_root <= 5 * root + 20);
}

auto clamped(const Expr& x, const ImageParam& in) -> Expr { return clamp(x, in.dim(0).min(), in.dim(0).max()); }

}  // namespace

TEST_CASE("a stencil of clamped stages", "[nest][growth]") {
  check_growth([](const Func& f, const Expr& x, const ImageParam& in) -> Expr {
    return f(clamped(x - 1, in)) + f(clamped(x, in)) + f(clamped(x + 1, in));
  });
}

TEST_CASE("stages clamped by numbers", "[nest][growth]") {
  check_growth([](const Func& f, const Expr& x, const ImageParam&) -> Expr {
    return f(clamp(x - 1, 0, 639)) + f(clamp(x, 0, 639)) + f(clamp(x + 1, 0, 639));
  });
}

TEST_CASE("stages that mirror, where no end is known to be the lower one", "[nest][growth]") {
  check_growth([](const Func& f, const Expr& x, const ImageParam& in) -> Expr {
    return f(clamped(x - 1, in)) + f(clamped(in.dim(0).extent() - x, in)) + f(clamped(in.dim(0).min() - x, in));
  });
}

TEST_CASE("stages that resample both ways", "[nest][growth]") {
  check_growth(
      [](const Func& f, const Expr& x, const ImageParam&) -> Expr { return f(x / 2) + f(x / 2 + 1) + f(x * 2); });
}

TEST_CASE("clamped stages in the tiles of the last", "[nest][growth]") {
  // The region of each is the tile, widened and kept inside the image: as long for the first stage as for the last.
  ImageParam in(Int(32), 1, "in");
  Var x("x");
  Func f("f0");
  f(x) = in(clamped(x - 1, in)) + in(clamped(x + 1, in));
  std::string places;
  constexpr int kStages = 16;
  for (int i = 1; i < kStages; ++i) {
    Func next(i + 1 < kStages ? str("f{}", i) : "out");
    next(x) = f(clamped(x - 1, in)) + f(clamped(x + 1, in));
    f = next;
    places = str("  compute_at f{} out.xo\n", i - 1) + places;
  }
  const auto pipeline = Pipeline({f}, "tiled").definition();
  const Nest nest = scheduled(pipeline, "  split out.x -> xo, xi by 32\n" + places);
  QueryCache cache;
  const auto atoms = [&](int stage) {
    std::unordered_set<const Atom*> seen;
    const auto& d = realisation_facts(nest, {nest.graph->find(str("f{}", stage)), 0}, cache).need.dims[0];
    collect(d.lo, seen), collect(d.hi, seen), collect(d.free_hi, seen);
    return seen.size();
  };
  CHECK(atoms(kStages - 6) <= 16);
  CHECK(atoms(0) == atoms(kStages - 6));
}

TEST_CASE("a pyramid in the tiles of its last level", "[nest][growth]") {
  // Down seven times and up again, adding what each level lost. Every level needs something in every tile; where that
  // were not known, each union of regions would be a choice by the conditions of all levels before.
  constexpr int kLevels = 7;
  ImageParam in(Float(32), 1, "in");
  Var x("x");
  std::vector<Func> down(kLevels);
  std::string places;
  const auto in_tile = [&](const Func& f) { places = str("  compute_at {} out.xo\n", f.name()) + places; };
  for (int i = 0; i < kLevels; ++i) {
    Func f(str("down{}", i));
    f(x) = i == 0 ? Expr(in(clamped(x, in))) : down[i - 1](2 * x - 1) + down[i - 1](2 * x) + down[i - 1](2 * x + 2);
    if (i > 0) in_tile(f);
    down[i] = f;
  }
  Func up = down[kLevels - 1];
  for (int i = kLevels - 2; i >= 0; --i) {
    Func coarse(str("coarse{}", i)), sum(i > 0 ? str("sum{}", i) : "out");
    coarse(x) = down[i + 1](x / 2) + down[i + 1]((x + 1) / 2);
    sum(x) = up(x / 2) + up((x + 1) / 2) + down[i](x) - coarse(x);
    in_tile(coarse);
    if (i > 0) in_tile(sum);
    up = sum;
  }
  const auto pipeline = Pipeline({up}, "pyramid").definition();
  const Nest nest = scheduled(pipeline, "  split out.x -> xo, xi by 32\n" + places);
  QueryCache cache;
  for (size_t f = 1; f < nest.graph->funcs.size(); ++f) {
    INFO(nest.graph->func(static_cast<int>(f)).name());
    CHECK(realisation_facts(nest, {static_cast<int>(f), 0}, cache).need.when.is_always());
  }
}

TEST_CASE("accesses whose order is known are one box", "[nest][growth]") {
  ImageParam in(Float(32), 1, "in");
  Var x("x");
  Func f("f");
  f(x) = in(clamped(x - 1, in)) + in(clamped(x + 2, in)) + in(clamped(x, in));
  const auto nest = scheduled(Pipeline({f}, "clamped").definition(), "");
  const auto& reads = nest.graph->reads(0, 0);
  REQUIRE(reads.size() == 1);
  CHECK(reads[0].boxes.size() == 1);
}

TEST_CASE("a need without a formula is asked for once, whoever asks", "[nest][growth]") {
  // Each stage is computed in a loop of its consumer, both of its subscripts hold a quotient that no formula bounds over
  // the loops (the width of a clipped tile is no constant), so each dimension asks for the need of the stage at root,
  // which asks its consumer: 2^24 questions, unless those that were asked are remembered.
  constexpr int kStages = 24;
  ImageParam in(Int(32), 2, "in");
  Var x("x"), y("y");
  Func f("f0");
  f(x, y) = in(clamp(x, 0, 63), clamp(y, 0, 63));
  std::string places;
  for (int i = 1; i < kStages; ++i) {
    Func next(str("f{}", i));
    next(x, y) = f(x + y, y) + 1;
    f = next;
    places = str("  compute_at f{} f{}.x\n", i - 1, i) + places;
  }
  Func tile("tile"), out("out");
  tile(x, y) = f(x, y) + f(x + 1, y + 1);
  out(x, y) = tile(x, y) + tile(x + 1, y + 1);
  const auto pipeline = Pipeline({out}, "nested").definition();
  const Nest nest = scheduled(pipeline,
                              "  split out.x -> xo, xi by 8\n  split out.y -> yo, yi by 8\n"
                              "  reorder out xi yi xo yo\n  compute_at tile out.xo\n  fuse tile.x y -> xf\n" +
                                  str("  compute_at f{} tile.xf\n", kStages - 1) + places);
  QueryCache cache;
  const auto region = input_region(nest, pipeline->inputs[0], cache);
  REQUIRE(region);
  const auto& result = *pipeline->output_buffers[0];
  const auto of_size_5_by_7 = [&](const SymbolRef& s) -> std::optional<int64_t> {
    if (s == result.extent[0]) return 5;
    if (s == result.extent[1]) return 7;
    return 0;  // the first element
  };
  CHECK(evaluate(region->dims[0].lo, of_size_5_by_7) == 0);   // x + 23*y at the origin
  CHECK(evaluate(region->dims[0].hi, of_size_5_by_7) == 63);  // far right, clamped
  CHECK(evaluate(region->dims[1].lo, of_size_5_by_7) == 0);
  CHECK(evaluate(region->dims[1].hi, of_size_5_by_7) == 6 + 2);  // two stages read y + 1
  const size_t realisations = nest.graph->funcs.size();
  CHECK(cache.needs.size() <= 3 * realisations);  // at compute place, store place and root
}
