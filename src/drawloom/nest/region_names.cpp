// Names for long regions.
//
//   f3(x) reads f4 at three places, f2 reads f3 at three, ..: each end of f2's region is a union of ends of f3's, which
//   are unions of ends of f4's. Written out, a region doubles or trebles from stage to stage; 60 lines of program made
//   forms of 77,000 terms.
//
// Every stage has symbols for the first value and the extent of what it computes: base and whole. Where the region at
// the compute place does not depend on loops and its ends are long, they stay symbols in what is asked of it: a region
// of a producer is then as long as its accesses are many. Lowering computes the names first of all.
//
// What a name hides is lost to proofs, but for constant bounds, which are written around it: min(whole, 16). Short ends
// keep their form, and so does the extent of an aligned dimension, where later steps look for the factor.

#include <algorithm>
#include <unordered_map>

#include "drawloom/nest/region_box.h"

namespace drawloom {
namespace {

auto stands_still(const Form& f) -> bool {
  const auto symbols = symbols_of(f);
  return std::none_of(symbols.begin(), symbols.end(), [](const SymbolRef& s) { return s->kind == SymbolKind::Loop; });
}

auto within(Form f, const Range& range) -> Form {
  if (range.hi) f = min(f, Form(*range.hi));
  if (range.lo) f = max(f, Form(*range.lo));
  return f;
}

auto named(RealisationFacts& facts, const SymbolRef& name, const Form& value) -> Form {
  if (!is_long(value)) return value;
  facts.names.emplace_back(name, value);
  return within(Form(name), range_of(value));
}

/// Values are found when asked for, and once.
class NamedValues {
 public:
  NamedValues(const Nest& nest, FormEnv runtime, QueryCache& cache) : runtime_(std::move(runtime)) {
    for (auto& [symbol, form] : region_names(nest, cache)) forms_.emplace(symbol.get(), form);
  }

  auto value(const SymbolRef& s) -> std::optional<int64_t> {
    const auto form = forms_.find(s.get());
    if (form == forms_.end()) return runtime_(s);
    if (const auto known = values_.find(s.get()); known != values_.end()) return known->second;
    const auto v = evaluate(form->second, [this](const SymbolRef& t) { return value(t); });
    values_.emplace(s.get(), v);
    return v;
  }

 private:
  FormEnv runtime_;
  std::unordered_map<const Symbol*, Form> forms_;
  std::unordered_map<const Symbol*, std::optional<int64_t>> values_;
};

}  // namespace

void name_ends(const Nest& nest, RealisationId what, const RealisationPlace& place, RealisationFacts& facts) {
  if (facts.store_site != facts.compute_site || !facts.slides.empty()) return;
  const auto& f = nest.func(what);
  for (const auto& dim : place.leaves.front().node->as<StageLeaf>()->dims) {
    if (dim.arg < 0) continue;
    auto& r = facts.need.dims[static_cast<size_t>(dim.arg)];
    if (!is_long(r.lo) && !is_long(r.hi) && !is_long(r.free_hi)) continue;
    if (!stands_still(r.lo) || !stands_still(r.hi)) continue;
    const Form extent = form_extent(r.lo, r.hi);
    const Form lo = named(facts, dim.base, r.lo);
    const Form hi =
        lo + (f.dims[static_cast<size_t>(dim.arg)].align > 1 ? extent : named(facts, dim.whole, extent)) - 1;
    r = {lo, hi, hi, r.cover.is_constant() ? r.cover : hi - lo + 1};
  }
  if (!facts.names.empty()) facts.computed = facts.stored = facts.need;
}

auto region_names(const Nest& nest, QueryCache& cache) -> std::vector<std::pair<SymbolRef, Form>> {
  auto consumers_first = realisations(nest);
  std::stable_sort(consumers_first.begin(), consumers_first.end(),
                   [](RealisationId a, RealisationId b) { return a.func > b.func; });
  std::vector<std::pair<SymbolRef, Form>> out;
  for (const auto& id : consumers_first)
    for (const auto& n : realisation_facts(nest, id, cache).names) out.push_back(n);
  return out;
}

auto with_names(const Nest& nest, FormEnv runtime, QueryCache& cache) -> FormEnv {
  const auto values = std::make_shared<NamedValues>(nest, std::move(runtime), cache);
  return [values](const SymbolRef& s) { return values->value(s); };
}

}  // namespace drawloom
