#pragma once
/// A layout under construction: digits in any order, named by their position in a list so that splitting one does not
/// renumber the others. Internal to layout/.

#include <string>
#include <vector>

#include "drawloom/layout/layout.h"

namespace drawloom {

struct Draft {
  /// A digit of Dim number `dim` of its side. Extent 1: removed.
  struct Place {
    int dim;
    int64_t extent, stride;
  };
  std::vector<std::string> from_dims, to_dims;
  std::vector<Place> from, to;
  /// Per input place the output places it moves; an entry twice cancels.
  std::vector<std::vector<int>> feeds;

  Draft() = default;
  explicit Draft(const Layout& layout);

  /// Number of the Dim, which is added when new.
  auto from_dim(std::string_view name) -> int { return dim_of(from_dims, name); }
  auto to_dim(std::string_view name) -> int { return dim_of(to_dims, name); }
  auto add_from(const Place& place, std::vector<int> moves) -> int;
  auto add_to(const Place& place) -> int;
  /// Output place with this Dim and stride; -1 when there is none.
  auto find_to(int dim, int64_t stride) const -> int;
  /// Input places that move output place `t`.
  auto fed_by(int t) const -> std::vector<int>;

  /// digit = low + q * high, on the place and on the one place it moves or is moved by. q divides the extent of an
  /// input place; an output place that nothing moves may be cut anywhere (its top is rounded up).
  void split_from(int i, int64_t q);
  void split_to(int t, int64_t q);
  /// Joins neighbours that go the same way: what `split` can undo.
  void coarsen();
  /// Splits all factors of two off, at the low end.
  void split_twos();
  /// Canonical layout. Refused: overlapping strides, wide digits with several targets, too many digits.
  auto finish() -> Maybe<Layout>;

  /// Places of a Dim by rising stride, without the removed ones.
  static auto in_order(const std::vector<Place>& places, int dim) -> std::vector<int>;

 private:
  static auto dim_of(std::vector<std::string>& dims, std::string_view name) -> int;
  auto merge_one() -> bool;
  auto can_merge(int i, int j) const -> bool;
  auto merge_unfed() -> bool;
  auto check_columns() const -> std::optional<Refusal>;
};

}  // namespace drawloom
