#include "drawloom/analysis/witness.h"

#include <algorithm>

#include "drawloom/analysis/form_internal.h"

// Points at which facts hold, to refute claims.
//
//   known: 0 <= xi <= 7, n >= 8*xo + xi + 1.   claim: n >= 8*xo + 8
//   a point with xo = 2, xi = 3, n = 20 satisfies the facts; there n - 8*xo - 8 is -4, so no proof can exist
//
// Each of 24 points has a scale, from 0 to some thousands. A symbol starts at a value drawn from its name, the point
// and its promised range. A fact that comes later is made true by moving symbols that no earlier fact mentions: facts
// linear in the symbol are solved for it, the others merely tried. A point at which a fact stays false, or cannot be
// told, is dropped; with none left nothing is refuted any more.
//
// Cost: an evaluation of the claim per point. An opaque atom has some value of its range whatever its symbols are, so a
// point may be impossible. That can cost a proof, and never makes one: the answer of a witness is always no.

namespace drawloom {
namespace {

/// Small and large, even and odd, powers of two and their neighbours: tails appear and vanish between them. In mixed
/// order, since questions end at the first point that answers them.
constexpr std::array<int64_t, 24> kScale = {1, 64, 7, 0,  1000, 2, 13, 33, 257, 3,  100, 4099,
                                            5, 16, 0, 48, 128,  9, 1,  24, 30,  11, 80,  4};
constexpr int kMaxTerms = 400;  // of one evaluation; what is larger stays untold

auto mixed(uint64_t h) -> uint64_t {
  h ^= h >> 31;
  h *= 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

auto hash_at(const Symbol& s, int point) -> uint64_t {
  uint64_t h = static_cast<uint64_t>(point) + 0x51;
  for (const char c : s.name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return mixed(h);
}

/// A value inside `r`, often one of its ends.
auto value_in(const Range& r, uint64_t h, int64_t scale) -> int64_t {
  const auto offset = static_cast<int64_t>(h >> 8);
  int64_t width = 0;
  if (!r.lo && !r.hi) return offset % (2 * scale + 9) - scale - 4;
  if (!r.hi || __builtin_sub_overflow(*r.hi, *r.lo, &width)) width = scale + scale / 2;
  if (!r.lo) return *r.hi - (h % 4 < 2 ? 0 : offset % (scale + 1));
  if (width <= 0) return *r.lo;
  // ends are where claims fail: half of the values
  switch (h % 4) {
    case 0: return *r.lo;
    case 1: return *r.lo + width;
    default: return *r.lo + offset % (width == INT64_MAX ? width : width + 1);
  }
}

auto initial_value(const Symbol& s, int point) -> int64_t {
  Range r = promised_range(s);
  const uint64_t h = hash_at(s, point);
  const int64_t scale = kScale[static_cast<size_t>(point)];
  int64_t width = 0;
  if (r.lo && (!r.hi || __builtin_sub_overflow(*r.hi, *r.lo, &width) || width > scale)) r.hi = *r.lo + scale;
  return value_in(r, h, scale);
}

}  // namespace

class PointEvaluator {
 public:
  PointEvaluator(const Witnesses& all, int point) : all_(all), point_(point) {}

  auto form(const Form& f) -> std::optional<int64_t> {
    int64_t sum = f.constant();
    for (const auto& t : f.terms()) {
      if (++terms_ > kMaxTerms) return {};
      int64_t value = t.factor;
      for (const auto& s : t.symbols)
        if (__builtin_mul_overflow(value, symbol(*s), &value)) return {};
      if (t.atom) {
        const auto v = atom(*t.atom);
        if (!v || __builtin_mul_overflow(value, *v, &value)) return {};
      }
      if (__builtin_add_overflow(sum, value, &sum)) return {};
    }
    return sum;
  }

 private:
  /// What no fact mentions needs no entry: its value follows from its name.
  auto symbol(const Symbol& s) const -> int64_t {
    for (const auto& [known, values] : all_.known_)
      if (known == &s) return values[static_cast<size_t>(point_)];
    return initial_value(s, point_);
  }

  auto atom(const Atom& a) -> std::optional<int64_t> {
    switch (a.kind) {
      case AtomKind::None: return {};
      case AtomKind::Opaque:
        return value_in(a.range, mixed(static_cast<uint64_t>(point_)), kScale[static_cast<size_t>(point_)]);
      case AtomKind::Choose: {
        const auto holds = condition(a.condition);
        return holds ? form(a.operands[*holds ? 0 : 1]) : std::nullopt;
      }
      case AtomKind::FloorDiv:
      case AtomKind::Mod: {
        const auto x = form(a.operands[0]), y = form(a.operands[1]);
        if (!x || !y || *y <= 0) return {};
        return a.kind == AtomKind::FloorDiv ? forms::floor_divide(*x, *y) : forms::modulo(*x, *y);
      }
      case AtomKind::Min:
      case AtomKind::Max: break;
    }
    std::optional<int64_t> best;
    for (const auto& f : a.operands) {
      const auto v = form(f);
      if (!v) return {};
      if (!best || (a.kind == AtomKind::Min ? *v < *best : *v > *best)) best = v;
    }
    return best;
  }

  auto condition(const Cond& c) -> std::optional<bool> {
    if (c.is_never()) return false;
    for (const auto& f : c.terms()) {
      const auto v = form(f);
      if (!v) return {};
      if (*v < 0) return false;
    }
    return true;
  }

  const Witnesses& all_;
  int point_;
  int terms_ = 0;
};

void Witnesses::admit(const std::vector<Form>& facts) {
  if (alive_ == 0) return;
  const size_t known_before = known_.size();
  for (const auto& f : facts)
    for (const auto& s : symbols_of(f)) {
      if (std::any_of(known_.begin(), known_.end(), [&](const auto& k) { return k.first == s.get(); })) continue;
      Values values;
      for (int p = 0; p < kPoints; ++p) values[static_cast<size_t>(p)] = initial_value(*s, p);
      known_.emplace_back(s.get(), values);
    }
  for (int p = 0; p < kPoints; ++p)
    if ((alive_ >> p & 1) && !admit_at(p, facts, known_before)) alive_ &= ~(1u << p);
}

auto Witnesses::admit_at(int point, const std::vector<Form>& facts, size_t known_before) -> bool {
  const auto all_hold = [&] {
    return std::all_of(facts.begin(), facts.end(),
                       [&](const Form& f) { return PointEvaluator(*this, point).form(f).value_or(-1) >= 0; });
  };
  // What varies inside the program goes where the facts let it; sizes move only when they must.
  for (const bool runtime : {false, true}) {
    if (runtime && all_hold()) return true;
    for (size_t i = known_before; i < known_.size(); ++i)
      if (is_runtime_symbol(*known_[i].first) == runtime) move_symbol(point, i, facts);
  }
  return all_hold();
}

/// Solves the facts that are linear in one symbol for it.
void Witnesses::move_symbol(int point, size_t entry, const std::vector<Form>& facts) {
  const Symbol& s = *known_[entry].first;
  Range r = promised_range(s);
  for (const auto& f : facts) {
    if (!uses_symbol(f, &s)) continue;
    Form rest(f.constant());
    int64_t factor = 0;
    for (const auto& t : f.terms()) {
      if (!t.atom && t.symbols.size() == 1 && t.symbols[0].get() == &s)
        factor = t.factor;
      else
        rest += form_of(t);
    }
    // s in a product or an atom: not linear
    if (factor == 0 || factor == INT64_MIN || uses_symbol(rest, &s)) continue;
    const auto value = PointEvaluator(*this, point).form(rest);
    if (!value || *value <= -INT64_MAX) continue;
    // factor * s + value >= 0
    const int64_t end = factor > 0 ? -forms::floor_divide(*value, factor) : forms::floor_divide(*value, -factor);
    if (factor > 0)
      r.lo = r.lo ? std::max(*r.lo, end) : end;
    else
      r.hi = r.hi ? std::min(*r.hi, end) : end;
  }
  // no value does for all facts at this point; another symbol may still move
  if (r.lo && r.hi && *r.lo > *r.hi) return;
  known_[entry].second[static_cast<size_t>(point)] = value_in(r, hash_at(s, point), kScale[static_cast<size_t>(point)]);
}

auto Witnesses::same_quotient(const Form& f, int64_t divisor) const -> bool {
  std::optional<int64_t> quotient;
  for (int p = 0; p < kPoints; ++p) {
    if (!(alive_ >> p & 1)) continue;
    const auto v = PointEvaluator(*this, p).form(f);
    if (!v) continue;
    const int64_t here = forms::floor_divide(*v, divisor);
    if (quotient && *quotient != here) return false;
    quotient = here;
  }
  return true;
}

auto Witnesses::least(const Form& f, int64_t enough) const -> std::optional<int64_t> {
  std::optional<int64_t> out;
  for (int p = 0; p < kPoints; ++p) {
    if (!(alive_ >> p & 1)) continue;
    const auto v = PointEvaluator(*this, p).form(f);
    if (!v || (out && *v >= *out)) continue;
    out = v;
    if (*out < enough) break;
  }
  return out;
}

}  // namespace drawloom
