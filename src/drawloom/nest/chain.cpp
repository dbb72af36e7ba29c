#include "drawloom/nest/chain.h"

#include <algorithm>

// One iteration back from (yo, yi) is (yo, yi - 1), or, where yi starts again, (yo - 1, last iteration of yi). That
// last one is the last that runs: a split whose factor does not divide leaves a tail in the middle of other loops.
//
//   split y -> yo, yi by 8; split yi -> ym, yn by 3     ym, yn = 2, 1 ends a strip: 2, 2 is cut off, or row 8 would
//                                                       count as done
//
// A need such as 8*yo + yi + 2 steps back to 8*yo + yi + 1 in both cases, and one formula does for all iterations.
// Where the two differ the answer is a choice on yi being past its first iteration.

namespace drawloom {
namespace {

auto with_values(const Form& f, const std::vector<std::pair<const Symbol*, Form>>& values) -> Form {
  return substitute(f, [&](const SymbolRef& s) -> std::optional<Form> {
    for (const auto& [symbol, value] : values)
      if (symbol == s.get()) return value;
    return {};
  });
}

}  // namespace

/// Along each loop alone, and across the restart of the loops inside.
auto Chain::is_monotone(const Form& f) const -> bool {
  for (const auto& l : links_) {
    const auto direction = direction_of(f, l.loop->id.get());
    if (direction != Direction::Constant && direction != Direction::Increasing) return false;
  }
  for (size_t i = 0; i + 1 < links_.size(); ++i) {
    const Form restarted = started(f, i + 1);
    if (restarted == f) continue;
    const auto before = step_back(f, i);
    if (!before || !known_.proves_le(*before, restarted)) return false;
  }
  return true;
}

/// One formula where the loops together count (a split loop: 8*yo + yi), else a choice per loop.
auto Chain::previous(const Form& f) const -> std::optional<Form> {
  std::optional<Form> out;
  for (size_t i = 0; i < links_.size(); ++i) {
    const auto here = step_back(f, i);
    if (!here) return {};
    if (!out) {
      out = here;
      continue;
    }
    const auto& [loop, first] = links_[i];
    const Values at_first{{loop->id.get(), first}};
    const bool one_formula = with_values(*here, at_first) == with_values(*out, at_first);
    out = one_formula ? *here : choose(Cond::nonnegative(Form(loop->id) - first - 1), *here, *out);
  }
  return known_.simplify(out.value_or(f));
}

auto Chain::not_first() const -> Cond {
  // ids never lie below their first iteration, so the sum is 0 only where all are there
  Form past(0);
  for (const auto& l : links_) past += Form(l.loop->id) - l.first;
  return Cond::nonnegative(past - 1);
}

/// f at the last iteration of all loops inside loop i, one iteration of loop i earlier.
auto Chain::step_back(const Form& f, size_t i) const -> std::optional<Form> {
  const auto& [stepped, first] = links_[i];
  const Form id(stepped->id);
  Values values{{stepped->id.get(), id - 1}};
  const Facts known = i + 1 < links_.size() ? known_.with(Cond::nonnegative(id - 1 - first)) : known_;
  for (size_t k = i + 1; k < links_.size(); ++k) {
    const auto last = last_iteration(*links_[k].loop, values, known);
    if (!last) return {};
    values.emplace_back(links_[k].loop->id.get(), *last);
  }
  return with_values(f, values);
}

auto Chain::last_iteration(const LoopNode& loop, const Values& outer, const Facts& known) const -> std::optional<Form> {
  Form last = with_values(resolve(nest_, loop.extent, cache_), outer) - 1;
  for (const auto* c : clips_of(nest_, loop.id)) {
    Values start = outer;
    start.emplace_back(loop.id.get(), Form(0));
    const Form room = with_values(resolve(nest_, c->limit, cache_) - 1, outer) - with_values(c->index, start);
    const Form step = with_values(c->index, outer) - with_values(c->index, start);
    // only a clip that counts single iterations says how many there are
    if (step != Form(loop.id)) return {};
    if (!known.proves_le(last, room)) last = known.simplify(min(last, room));
  }
  return last;
}

/// f where the loops from `from` on are in their first iteration.
auto Chain::started(const Form& f, size_t from) const -> Form {
  Values values;
  for (size_t i = from; i < links_.size(); ++i) values.emplace_back(links_[i].loop->id.get(), links_[i].first);
  return with_values(f, values);
}

}  // namespace drawloom
