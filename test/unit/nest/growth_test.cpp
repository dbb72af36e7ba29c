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
  for (const auto& access : open.graph->funcs.back()->reads[0])
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

TEST_CASE("accesses whose order is known are one box", "[nest][growth]") {
  ImageParam in(Float(32), 1, "in");
  Var x("x");
  Func f("f");
  f(x) = in(clamped(x - 1, in)) + in(clamped(x + 2, in)) + in(clamped(x, in));
  const auto nest = scheduled(Pipeline({f}, "clamped").definition(), "");
  const auto& reads = nest.graph->funcs.back()->reads[0];
  REQUIRE(reads.size() == 1);
  CHECK(reads[0].boxes.size() == 1);
}
