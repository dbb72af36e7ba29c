#pragma once
/// Points at which a list of facts holds. A claim that is false at one of them does not follow from the facts, so no proof need be looked
/// for: most questions of a compiler have the answer no, and this is the cheap way to it.

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "drawloom/analysis/form.h"

namespace drawloom {

/// A fixed number of points, from tiny sizes to large ones. A value; the same program always gets the same points (they come from the names
/// and promises of symbols, never from addresses or creation order).
class Witnesses {
 public:
  /// The points at which `facts` (each >= 0) hold as well. Symbols that no fact spoke of so far are moved to where they do; a point that
  /// cannot be kept is dropped.
  void admit(const std::vector<Form>& facts);

  /// The least value of f at any point: no greater lower bound of f can be proved. Nothing when no point can tell. Stops early below `enough`.
  auto least(const Form& f, int64_t enough) const -> std::optional<int64_t>;

  /// Is f / divisor (> 0) one value at all points that can tell?
  auto same_quotient(const Form& f, int64_t divisor) const -> bool;

  /// No point is left: the facts hold rarely, or never.
  auto none() const -> bool { return alive_ == 0; }

 private:
  friend class PointEvaluator;
  static constexpr int kPoints = 24;
  using Values = std::array<int64_t, kPoints>;

  auto admit_at(int point, const std::vector<Form>& facts, size_t known_before) -> bool;
  void move_symbol(int point, size_t entry, const std::vector<Form>& facts);

  /// The values of the symbols that facts speak of; the facts keep the symbols alive.
  std::vector<std::pair<const Symbol*, Values>> known_;
  uint32_t alive_ = (1u << kPoints) - 1;
};

}  // namespace drawloom
