#pragma once
/// The iterations of some serial loops in the order in which they run, for slides.

#include "drawloom/nest/region_box.h"

namespace drawloom {

/// Loops around a place, outermost first, and the first iteration of each (before 0 where it has a warm-up).
class Chain {
 public:
  /// `known` holds in the innermost of the loops.
  Chain(const Nest& nest, const Facts& known, QueryCache& cache) : nest_(nest), known_(known), cache_(cache) {}
  void add(const LoopNode* loop, int64_t first) { links_.push_back({loop, Form(first)}); }

  auto size() const -> size_t { return links_.size(); }
  auto loop(size_t i) const -> const LoopNode& { return *links_[i].loop; }

  /// f never moves down from one iteration to the next.
  auto is_monotone(const Form& f) const -> bool;
  /// f one iteration earlier, as if there were one. Nothing where no form says which iteration of an inner loop is its last.
  auto previous(const Form& f) const -> std::optional<Form>;
  /// Some loop is past its first iteration.
  auto not_first() const -> Cond;

 private:
  struct Link {
    const LoopNode* loop;
    Form first;
  };
  using Values = std::vector<std::pair<const Symbol*, Form>>;
  auto step_back(const Form& f, size_t i) const -> std::optional<Form>;
  auto last_iteration(const LoopNode& loop, const Values& outer, const Facts& known) const -> std::optional<Form>;
  auto started(const Form& f, size_t from) const -> Form;

  const Nest& nest_;
  const Facts& known_;
  QueryCache& cache_;
  std::vector<Link> links_;
};

}  // namespace drawloom
