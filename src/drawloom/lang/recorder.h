#pragma once
/// Writes scheduling calls down as Steps (design section 4: the fluent API only records).

#include <string>
#include <vector>

#include "drawloom/lang/var.h"

namespace drawloom {

/// Halide's words for tails, as spellings of ours: RoundUp is round_up; all others are predicate, which touches exactly
/// what is needed and works for any size.
enum class TailStrategy : uint8_t {
  Auto,
  Predicate,
  GuardWithIf,
  PredicateLoads,
  PredicateStores,
  ShiftInwards,
  ShiftInwardsAndBlend,
  RoundUp,
  RoundUpAndBlend,
};

/// A Tail, or Halide's word for one.
struct TailArg {
  TailArg(TailStrategy strategy)
      : tail{strategy == TailStrategy::RoundUp ? Tail::Kind::round_up : Tail::Kind::predicate, 0} {}
  TailArg(const Tail& t) : tail(t) {}
  Tail tail;
};

/// Halide's words for storage; Auto records nothing.
enum class MemoryType : uint8_t { Auto, Heap, Stack, Register };

/// Records steps of one stage of one Func. `update` -1: the pure stage.
class StageRecorder {
 public:
  StageRecorder(Ref<FunctionDef> def, int update) : def_(std::move(def)), update_(update) {}

  void record(Step step, const std::source_location& at, uint64_t target = 0) const;
  auto func() const -> const std::string& { return def_->name; }
  auto stage() const -> StageName { return {def_->name, update_, -1}; }
  auto loop(const VarOrRVar& v) const -> LoopName { return {stage(), v.name()}; }
  /// The constant or Param behind a factor. Errors: schedule_amount.
  static auto amount(std::string_view step, const Arg& factor) -> Amount;
  /// `base`, or `base2`, `base3`, ...: the first that no argument, RVar or step of the stage uses.
  auto fresh_name(const std::string& base) const -> std::string;

  void split(const VarOrRVar& old, const std::string& outer, const std::string& inner, const Arg& factor,
             const TailArg& tail, const std::source_location& at) const;
  /// Splits by `factor` and returns the name of the inner loop, made from `suffix`.
  auto split_off(const VarOrRVar& v, std::string_view suffix, const Arg& factor, const TailArg& tail,
                 const std::source_location& at) const -> VarOrRVar;
  void reorder(const std::vector<VarOrRVar>& loops, const std::source_location& at) const;

 private:
  Ref<FunctionDef> def_;
  int update_;
};

/// A loop of another Func's stage, for compute_at and store_at.
struct LoopTarget {
  LoopName loop;
  uint64_t func;  ///< FuncDecl::id
};

}  // namespace drawloom
