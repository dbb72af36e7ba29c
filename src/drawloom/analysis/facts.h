#pragma once
/// What is known about symbols, and what follows from it.

#include <memory>

#include "drawloom/analysis/form.h"

namespace drawloom {

class Witnesses;

/// A list of forms known to be >= 0 (plus what symbols promise by themselves: extents of buffers are >= 0, parameters lie in
/// their range). A value; adding returns a larger one that shares the rest.
class Facts {
 public:
  Facts() = default;
  auto with(const Cond& holds) const -> Facts;
  /// lo <= symbol <= hi, for loop ids and the like.
  auto with_range(const SymbolRef& symbol, const Form& lo, const Form& hi) const -> Facts;

  /// True only if f >= 0 follows. Sound, not complete: linear combination with bounded effort, case split on min/max/choose, bounds of atoms
  /// (0 <= a%b < b; b*(a/b) <= a < b*(a/b) + b).
  auto proves_nonnegative(const Form& f) const -> bool;
  auto proves(const Cond& c) const -> bool;
  auto proves_le(const Form& a, const Form& b) const -> bool { return proves_nonnegative(b - a); }
  /// f / divisor (> 0) where it is one number wherever the facts hold.
  auto constant_quotient(const Form& f, int64_t divisor) const -> std::optional<int64_t>;
  /// Constant bounds of f, as tight as found cheaply.
  auto range(const Form& f) const -> Range;
  /// f with mins, maxes, chooses and divisions that the facts decide taken away.
  auto simplify(const Form& f) const -> Form;
  auto simplify(const Cond& c) const -> Cond;  ///< drops implied terms

  struct Body;

 private:
  auto witnesses() const -> const Witnesses&;
  auto least_seen(const Form& f, int64_t enough) const -> std::optional<int64_t>;  ///< Witnesses::least
  auto constant_range(const Form& f) const -> Range;  ///< by the bounds of single symbols alone
  explicit Facts(std::shared_ptr<const Body> body) : body_(std::move(body)) {}
  auto and_nonnegative(const std::vector<Form>& forms, bool contradiction) const -> Facts;
  std::shared_ptr<const Body> body_;
};

}  // namespace drawloom
