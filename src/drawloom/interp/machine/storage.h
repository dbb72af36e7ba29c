#pragma once
/// The elements of one buffer with what the machine knows of each.

#include <vector>

#include "drawloom/interp/machine/code.h"
#include "drawloom/interp/machine/tasks.h"
#include "drawloom/interp/scalar/array.h"

namespace drawloom::machine {

/// Why a value means nothing: an index into the run's causes. 0: it means something.
using CauseId = uint32_t;

struct Element {
  Value value;
  CauseId cause = 0;
  uint32_t generation = 0;  ///< the allocation in which it was last touched; an older one: fresh
  bool written = false, has_origin = false;
  Touches touches;
};

class Storage {
 public:
  explicit Storage(const StorageDecl& decl) : decl_(&decl) {}

  /// A fresh, unwritten allocation.
  void allocate(std::vector<int64_t> extents);
  /// The caller's array; `filled` if its elements are readable.
  void attach(const Array& array, bool filled);
  /// Writes the values of written elements back; returns how many elements of the box were not written.
  auto detach(Array& array) const -> int64_t;

  /// Position of an element, or -1 outside. `flat`: one subscript, the distance from the first element.
  auto position(const int64_t* coords, size_t count, bool flat) const -> int64_t;
  /// The element as this allocation knows it.
  auto element(int64_t position) -> Element&;
  auto origin(int64_t position) -> int64_t* { return origins_.data() + position * decl_->origin_rank; }
  auto decl() const -> const StorageDecl& { return *decl_; }
  auto bytes() const -> int64_t { return count_ * decl_->buffer->element.bytes(); }
  /// `[0, 9] x [0, 4]`, or for flat subscripts `[0, 49]`.
  auto bounds_text(size_t subscripts, bool flat) const -> std::string;

 private:
  const StorageDecl* decl_;
  std::vector<ArrayDim> dims_;
  int64_t first_ = 0, count_ = 0;
  uint32_t generation_ = 0;
  std::vector<Element> elements_;
  std::vector<int64_t> origins_;
  std::vector<bool> inside_;  ///< elements of an argument that are in its box; empty: all
  void grow();
};

}  // namespace drawloom::machine
