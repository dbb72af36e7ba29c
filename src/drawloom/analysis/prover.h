#pragma once
/// The search behind Facts: lower bounds of forms from known inequalities. Only facts.cpp and prover.cpp include it.

#include <mutex>
#include <unordered_map>

#include "drawloom/analysis/facts.h"
#include "drawloom/analysis/form_internal.h"
#include "drawloom/analysis/witness.h"

namespace drawloom {

/// What was asked before and what came out. Queries about the stages inside a loop ask the same of the same facts again,
/// and a question that ends with no costs the whole budget each time.
class Answers {
 public:
  auto find(const Form& f) const -> std::optional<bool> {
    const std::lock_guard lock(mutex_);
    const auto hit = known_.find(f);
    return hit == known_.end() ? std::nullopt : std::optional(hit->second);
  }
  void add(const Form& f, bool answer) {
    const std::lock_guard lock(mutex_);
    known_.emplace(f, answer);
  }

 private:
  struct Hash {
    auto operator()(const Form& f) const -> size_t { return f.hash(); }
  };
  mutable std::mutex mutex_;
  std::unordered_map<Form, bool, Hash> known_;
};

/// A list that grows at its end and shares its front.
struct Facts::Body {
  std::shared_ptr<const Body> parent;
  std::vector<Form> added;    ///< each >= 0
  std::vector<Form> implied;  ///< what the atoms in `added` carry, each >= 0
  /// Constant bounds of symbols, those of the parents included.
  std::vector<std::pair<SymbolRef, Range>> ranges;
  uint64_t ranged = 0;         ///< bit (id % 64) of the symbols in `ranges`
  bool contradiction = false;  ///< nothing is possible here, so everything holds
  Witnesses witnesses;         ///< of all facts, those of the parents included
  mutable Answers answers;     ///< of proves_nonnegative
};

/// Notes the bound that f >= 0 gives when f is about one symbol.
void tighten(Facts::Body& body, const Form& f);

/// What an atom promises by its kind, as forms >= 0; `range` bounds forms.
auto implied_by(const Ref<const Atom>& a, const std::function<Range(const Form&)>& range) -> std::vector<Form>;

class Prover {
 public:
  enum class Goal : uint8_t { Decide, Tighten };
  /// Decide: only whether a bound is `enough` counts, so a search that cannot get there ends at once. Tighten: every bound does.
  Prover(const Facts::Body* facts, int& budget, Goal goal = Goal::Tighten)
      : facts_(facts), budget_(budget), goal_(goal) {}

  /// The greatest lower bound found within `depth` steps; stops at one that is `enough`.
  auto lower(const Form& f, int depth, int64_t enough) -> std::optional<int64_t>;
  /// Interval arithmetic over known ranges of symbols.
  auto range(const Form& f) -> Range;

 private:
  using Bound = std::optional<int64_t>;
  auto range_of_term(const Term& t) -> Range;
  auto range_of_atom(const Atom& a) -> Range;
  auto compute_range(const Atom& a) -> Range;
  auto symbol_range(const Symbol& s) const -> Range;

  void eliminate(const Form& f, size_t pivot, int depth, int64_t enough, Bound& best);
  void eliminate_with(const Form& f, const Term& pivot, const Form& fact, int depth, int64_t enough, Bound& best);
  void subtract(const Form& f, int64_t k, const Form& fact, int64_t m, int depth, int64_t enough, Bound& best);
  void factor_out(const Form& f, int depth, Bound& best);
  auto split(const Form& f, size_t term, int depth, int64_t enough) -> Bound;
  auto lower_given(const Cond& holds, const Form& f, int depth, int64_t enough) -> Bound;
  auto implied(const Ref<const Atom>& a) -> const std::vector<Form>&;
  auto find_visit(const Form& f, int depth, int64_t enough) -> size_t;

  /// The least value of f at a point where the facts hold: no bound can be greater.
  auto least(const Form& f, int64_t enough) const -> Bound;

  const Facts::Body* facts_;
  int& budget_;
  Goal goal_;
  std::unordered_map<const Atom*, Range> ranges_;
  std::unordered_map<const Atom*, std::vector<Form>> implied_;
  struct Visit {
    uint64_t hash;
    int depth;
    int64_t enough;
    Bound best;
  };
  std::vector<Visit> visits_;
  std::vector<Form> kept_;  ///< keeps atoms alive whose address is a key
};

}  // namespace drawloom
