// Forms as numbers: at the values of the loops, and over boxes of values. Most are sums of symbols and need no more
// than a loop over their terms.

#include "drawloom/analysis/interval.h"
#include "drawloom/nest/size_pass.h"

namespace drawloom {

auto SizePass::symbol_value(const Symbol& s, Back back) const -> int64_t {
  if (s.kind == SymbolKind::Loop) {
    const auto* at = index_.loop(&s);
    return at ? loop(at->number).value - (at->number == back.loop ? back.by : 0) : 0;
  }
  if (s.kind == SymbolKind::Let) return region_symbol_value(s);
  // extents and parameters that nobody named count as 0 (sizes.h)
  const auto* v = runtime_.find(&s);
  return v ? *v : 0;
}

/// Base or whole of a stage: mostly of the one whose loops are looked at, only others need the index.
auto SizePass::region_symbol_value(const Symbol& s) const -> int64_t {
  const auto extent = [](const SizedDim& d) { return d.hi - d.lo + 1; };
  if (current_)
    for (const auto& d : current_->dims) {
      if (d.whole.get() == &s) return extent(dim_range(*current_of_, *current_, d));
      if (d.base.get() == &s) return dim_range(*current_of_, *current_, d).lo;
    }
  const auto* found = index_.regions().symbols.find(&s);
  if (!found) return 0;
  const auto& of = realisations_[static_cast<size_t>(index_.place_number(found->leaf->what))];
  const SizedDim d = dim_range(of, *found->leaf, found->leaf->dims[found->dim]);
  return found->is_base ? d.lo : extent(d);
}

namespace {

/// A multiple of one symbol.
auto is_plain(const Term& t) -> bool { return !t.atom && t.symbols.size() == 1; }

}  // namespace

auto SizePass::value(const Form& f, Back back) const -> int64_t {
  int64_t sum = f.constant();
  for (const auto& t : f.terms()) {
    if (!is_plain(t))
      return evaluate(f, [&](const SymbolRef& s) -> std::optional<int64_t> { return symbol_value(*s, back); })
          .value_or(0);
    sum += t.factor * symbol_value(*t.symbols[0], back);
  }
  return sum;
}

auto SizePass::lowest(const Form& f, const Box& box, Back back) const -> int64_t {
  int64_t sum = f.constant();
  for (const auto& t : f.terms()) {
    if (!is_plain(t)) return interval(f, box, back, false).lo.value_or(0);
    const auto* range = box.find(t.symbols[0].get());
    sum += t.factor * (!range ? symbol_value(*t.symbols[0], back) : t.factor > 0 ? range->lo : range->hi);
  }
  return sum;
}

auto SizePass::highest(const Form& f, const Box& box, Back back) const -> Highest {
  Highest sum{f.constant(), f.constant()};
  for (const auto& t : f.terms()) {
    if (!is_plain(t))
      return {interval(f, box, back, false).hi.value_or(0), interval(f, box, back, true).hi.value_or(0)};
    const auto* range = box.find(t.symbols[0].get());
    if (range && t.factor > 0) {
      sum.hi += t.factor * range->hi, sum.free_hi += t.factor * range->free_hi;
    } else {
      const int64_t part = t.factor * (range ? range->lo : symbol_value(*t.symbols[0], back));
      sum.hi += part, sum.free_hi += part;
    }
  }
  return sum;
}

/// The general way, by the template that region.cpp uses for Forms.
auto SizePass::interval(const Form& f, const Box& box, Back back, bool free) const -> Interval<int64_t> {
  std::vector<std::pair<const Symbol*, Interval<int64_t>>> env;
  for (const auto& [symbol, range, fixed] : box.entries)
    if (!fixed) env.emplace_back(symbol, Interval<int64_t>{range.lo, free ? range.free_hi : range.hi});
  return interval_of<int64_t>(
      f,
      [&](const SymbolRef& s) -> const Interval<int64_t>* {
        for (const auto& [symbol, i] : env)
          if (symbol == s.get()) return &i;
        return nullptr;
      },
      [&](const SymbolRef& s) {
        const auto* fixed = box.find(s.get());
        return fixed ? fixed->lo : symbol_value(*s, back);
      });
}

auto SizePass::amount(const Amount& a) const -> int64_t {
  if (a.symbol.empty()) return a.value;
  for (const auto& p : nest_.graph->pipeline->params)
    if (p->name == a.symbol) return symbol_value(*p, {});
  return a.value;
}

}  // namespace drawloom
