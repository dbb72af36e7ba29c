#pragma once
/// Schedule steps: small plain structs that hold names, never positions. One row each in steps.def, one struct here.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "drawloom/ir/symbol.h"

namespace drawloom {

/// `f` (the pure stage), `f.update(i)`, or `f[k]...` for the k-th of several realisations; without [k] all of them.
struct StageName {
  std::string func;
  int update = -1;       ///< -1: the pure stage
  int realisation = -1;  ///< -1: all
  friend auto operator==(const StageName&, const StageName&) -> bool = default;
  auto text() const -> std::string;
};

/// `f.x`, `f.update(0).rx`, `f[1].x`.
struct LoopName {
  StageName stage;
  std::string loop;
  friend auto operator==(const LoopName&, const LoopName&) -> bool = default;
  auto text() const -> std::string;
};

/// A literal, or the name of an integer parameter of the pipeline.
struct Amount {
  int64_t value = 0;
  std::string symbol;  ///< empty for a literal
  friend auto operator==(const Amount&, const Amount&) -> bool = default;
  auto text() const -> std::string;
};

/// What happens in the part of a split's cover that nobody needs (design section 4).
/// predicate: it is not touched. round_up: it is computed and is garbage; on an output, a demand for a multiple, checked
/// at the call. filled: it holds `fill`. shrink: a shorter trip count, no mask.
struct Tail {
  enum class Kind : uint8_t { predicate, round_up, filled, shrink } kind = Kind::predicate;
  int64_t fill = 0;  ///< for filled only
  friend auto operator==(const Tail&, const Tail&) -> bool = default;
  auto text() const -> std::string;  ///< `predicate`, `round_up`, `filled(0)`, `shrink`
};

/// How a slide starts (design section 5). automatic: gradual where forms extrapolate and no extra rows are computed.
enum class WarmUp : uint8_t { automatic, whole, gradual };
enum class PartitionMode : uint8_t { automatic, always, never };

// NOLINTBEGIN: one struct per row of steps.def; each_field names are those of the patterns.
struct Split {
  LoopName loop;
  std::string outer, inner;
  Amount factor;
  Tail tail;
  void each_field(auto&& f) {
    f("loop", loop), f("outer", outer), f("inner", inner), f("factor", factor), f("tail", tail);
  }
  friend auto operator==(const Split&, const Split&) -> bool = default;
};
struct Fuse {
  LoopName inner;
  std::string outer;  ///< a loop of the same stage, directly around `inner`
  std::string fused;
  void each_field(auto&& f) { f("inner", inner), f("outer", outer), f("fused", fused); }
  friend auto operator==(const Fuse&, const Fuse&) -> bool = default;
};
struct Reorder {
  StageName stage;
  std::vector<std::string> loops;  ///< innermost first; the named loops trade the places they hold
  void each_field(auto&& f) { f("stage", stage), f("loops", loops); }
  friend auto operator==(const Reorder&, const Reorder&) -> bool = default;
};
struct Rename {
  LoopName loop;
  std::string name;
  void each_field(auto&& f) { f("loop", loop), f("name", name); }
  friend auto operator==(const Rename&, const Rename&) -> bool = default;
};
struct Unroll {
  LoopName loop;
  void each_field(auto&& f) { f("loop", loop); }
  friend auto operator==(const Unroll&, const Unroll&) -> bool = default;
};
struct Vectorize {
  LoopName loop;
  void each_field(auto&& f) { f("loop", loop); }
  friend auto operator==(const Vectorize&, const Vectorize&) -> bool = default;
};
struct Parallel {
  LoopName loop;
  void each_field(auto&& f) { f("loop", loop); }
  friend auto operator==(const Parallel&, const Parallel&) -> bool = default;
};
struct ComputeAt {
  std::string func;
  LoopName loop;
  void each_field(auto&& f) { f("func", func), f("loop", loop); }
  friend auto operator==(const ComputeAt&, const ComputeAt&) -> bool = default;
};
struct StoreAt {
  std::string func;
  LoopName loop;
  WarmUp warm = WarmUp::automatic;
  void each_field(auto&& f) { f("func", func), f("loop", loop), f("warm", warm); }
  friend auto operator==(const StoreAt&, const StoreAt&) -> bool = default;
};
struct ComputeRoot {
  std::string func;
  void each_field(auto&& f) { f("func", func); }
  friend auto operator==(const ComputeRoot&, const ComputeRoot&) -> bool = default;
};
struct StoreRoot {
  std::string func;
  WarmUp warm = WarmUp::automatic;
  void each_field(auto&& f) { f("func", func), f("warm", warm); }
  friend auto operator==(const StoreRoot&, const StoreRoot&) -> bool = default;
};
struct ComputeInline {
  std::string func;
  void each_field(auto&& f) { f("func", func); }
  friend auto operator==(const ComputeInline&, const ComputeInline&) -> bool = default;
};
struct Bound {
  std::string func, dim;
  Amount min, extent;
  void each_field(auto&& f) { f("func", func), f("dim", dim), f("min", min), f("extent", extent); }
  friend auto operator==(const Bound&, const Bound&) -> bool = default;
};
struct Align {
  std::string func, dim;
  int64_t factor = 1;
  void each_field(auto&& f) { f("func", func), f("dim", dim), f("factor", factor); }
  friend auto operator==(const Align&, const Align&) -> bool = default;
};
struct StoreIn {
  std::string func;
  MemoryKind memory = MemoryKind::Heap;
  void each_field(auto&& f) { f("func", func), f("memory", memory); }
  friend auto operator==(const StoreIn&, const StoreIn&) -> bool = default;
};
struct FoldStorage {
  std::string func, dim;
  int64_t depth = 1;
  void each_field(auto&& f) { f("func", func), f("dim", dim), f("depth", depth); }
  friend auto operator==(const FoldStorage&, const FoldStorage&) -> bool = default;
};
struct Nontemporal {
  std::string func;
  void each_field(auto&& f) { f("func", func); }
  friend auto operator==(const Nontemporal&, const Nontemporal&) -> bool = default;
};
struct Partition {
  LoopName loop;
  PartitionMode how = PartitionMode::automatic;
  void each_field(auto&& f) { f("loop", loop), f("how", how); }
  friend auto operator==(const Partition&, const Partition&) -> bool = default;
};
// NOLINTEND

/// Any step. The alternatives stand in the order of steps.def.
using Step = std::variant<Split, Fuse, Reorder, Rename, Unroll, Vectorize, Parallel, ComputeAt, StoreAt, ComputeRoot,
                          StoreRoot, ComputeInline, Bound, Align, StoreIn, FoldStorage, Nontemporal, Partition>;

}  // namespace drawloom
