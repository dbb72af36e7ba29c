#pragma once
/// Scheduling calls of Func and its stages, in Halide's spelling. Each records one or a few steps with its line; whether
/// they apply is decided when the pipeline is used. docs/schedule.md says what each step does.

#include "drawloom/lang/recorder.h"

namespace drawloom {

class Func;
class FuncStage;
auto loop_target(const Func& f, const VarOrRVar& v) -> LoopTarget;
auto loop_target(const FuncStage& s, const VarOrRVar& v) -> LoopTarget;

/// The steps on loops: of a Func they mean its pure stage.
template <typename Self>
class LoopDirectives {
 public:
  using Here = std::source_location;

  auto split(const VarOrRVar& old, const VarOrRVar& outer, const VarOrRVar& inner, Arg factor,
             TailArg tail = TailStrategy::Auto, const Here& at = Here::current()) -> Self& {
    rec().split(old, outer.name(), inner.name(), factor, tail, at);
    return self();
  }
  auto fuse(const VarOrRVar& inner, const VarOrRVar& outer, const VarOrRVar& fused, const Here& at = Here::current())
      -> Self& {
    rec().record(Fuse{rec().loop(inner), outer.name(), fused.name()}, at);
    return self();
  }
  /// Innermost first.
  auto reorder(const VarOrRVar& a, const VarOrRVar& b, const VarOrRVar& c = {}, const VarOrRVar& d = {},
               const VarOrRVar& e = {}, const VarOrRVar& f = {}, const VarOrRVar& g = {}, const VarOrRVar& h = {},
               const Here& at = Here::current()) -> Self& {
    rec().reorder({a, b, c, d, e, f, g, h}, at);
    return self();
  }
  auto reorder(const std::vector<VarOrRVar>& loops, const Here& at = Here::current()) -> Self& {
    rec().reorder(loops, at);
    return self();
  }
  auto rename(const VarOrRVar& old, const VarOrRVar& name, const Here& at = Here::current()) -> Self& {
    rec().record(Rename{rec().loop(old), name.name()}, at);
    return self();
  }
  auto unroll(const VarOrRVar& v, const Here& at = Here::current()) -> Self& {
    rec().record(Unroll{rec().loop(v)}, at);
    return self();
  }
  /// Splits by `factor` first; so do vectorize and parallel with a number.
  auto unroll(const VarOrRVar& v, Arg factor, TailArg tail = TailStrategy::Auto, const Here& at = Here::current())
      -> Self& {
    return unroll(rec().split_off(v, "u", factor, tail, at), at);
  }
  auto vectorize(const VarOrRVar& v, const Here& at = Here::current()) -> Self& {
    rec().record(Vectorize{rec().loop(v)}, at);
    return self();
  }
  auto vectorize(const VarOrRVar& v, Arg factor, TailArg tail = TailStrategy::Auto, const Here& at = Here::current())
      -> Self& {
    return vectorize(rec().split_off(v, "v", factor, tail, at), at);
  }
  auto parallel(const VarOrRVar& v, const Here& at = Here::current()) -> Self& {
    rec().record(Parallel{rec().loop(v)}, at);
    return self();
  }
  /// Tasks of `size` iterations.
  auto parallel(const VarOrRVar& v, Arg size, TailArg tail = TailStrategy::Auto, const Here& at = Here::current())
      -> Self& {
    rec().split_off(v, "p", size, tail, at);
    return parallel(v, at);
  }
  /// Two splits and a reorder: xi, yi inside xo, yo.
  auto tile(const VarOrRVar& x, const VarOrRVar& y, const VarOrRVar& xo, const VarOrRVar& yo, const VarOrRVar& xi,
            const VarOrRVar& yi, Arg x_factor, Arg y_factor, TailArg tail = TailStrategy::Auto,
            const Here& at = Here::current()) -> Self& {
    rec().split(x, xo.name(), xi.name(), x_factor, tail, at);
    rec().split(y, yo.name(), yi.name(), y_factor, tail, at);
    return reorder({xi, yi, xo, yo}, at);
  }
  auto tile(const VarOrRVar& x, const VarOrRVar& y, const VarOrRVar& xi, const VarOrRVar& yi, Arg x_factor,
            Arg y_factor, TailArg tail = TailStrategy::Auto, const Here& at = Here::current()) -> Self& {
    return tile(x, y, x, y, xi, yi, x_factor, y_factor, tail, at);
  }
  auto partition(const VarOrRVar& v, PartitionMode how, const Here& at = Here::current()) -> Self& {
    rec().record(Partition{rec().loop(v), how}, at);
    return self();
  }
  auto never_partition(const VarOrRVar& v, const Here& at = Here::current()) -> Self& {
    return partition(v, PartitionMode::never, at);
  }
  auto always_partition(const VarOrRVar& v, const Here& at = Here::current()) -> Self& {
    return partition(v, PartitionMode::always, at);
  }

 protected:
  auto self() -> Self& { return static_cast<Self&>(*this); }
  auto rec() -> StageRecorder { return self().recorder(); }
};

/// One update of a Func, `f.update(0)`.
class FuncStage : public LoopDirectives<FuncStage> {
 public:
  FuncStage(Ref<FunctionDef> def, int update) : def_(std::move(def)), update_(update) {}
  auto recorder() const -> StageRecorder { return {def_, update_}; }
  auto definition() const -> const Ref<FunctionDef>& { return def_; }
  auto name() const -> std::string { return recorder().stage().text(); }

 private:
  Ref<FunctionDef> def_;
  int update_;
};

/// The steps on a Func as a whole.
template <typename Self>
class FuncDirectives : public LoopDirectives<Self> {
 public:
  using Here = std::source_location;

  /// `at_stage`: a Func, or a FuncStage when the loop is one of an update.
  template <typename Stage>
  auto compute_at(const Stage& at_stage, const VarOrRVar& v, const Here& at = Here::current()) -> Self& {
    const auto target = loop_target(at_stage, v);
    rec().record(ComputeAt{rec().func(), target.loop}, at, target.func);
    return self();
  }
  template <typename Stage>
  auto store_at(const Stage& at_stage, const VarOrRVar& v, WarmUp warm = WarmUp::automatic,
                const Here& at = Here::current()) -> Self& {
    const auto target = loop_target(at_stage, v);
    rec().record(StoreAt{rec().func(), target.loop, warm}, at, target.func);
    return self();
  }
  auto compute_root(const Here& at = Here::current()) -> Self& { return put(ComputeRoot{rec().func()}, at); }
  auto store_root(WarmUp warm = WarmUp::automatic, const Here& at = Here::current()) -> Self& {
    return put(StoreRoot{rec().func(), warm}, at);
  }
  auto compute_inline(const Here& at = Here::current()) -> Self& { return put(ComputeInline{rec().func()}, at); }
  /// A promise, checked at the call.
  auto bound(const Var& dim, Arg min, Arg extent, const Here& at = Here::current()) -> Self& {
    return put(Bound{rec().func(), dim.name(), rec().amount("bound", min), rec().amount("bound", extent)}, at);
  }
  auto align_bounds(const Var& dim, int64_t factor, const Here& at = Here::current()) -> Self& {
    return put(Align{rec().func(), dim.name(), factor}, at);
  }
  auto store_in(MemoryType memory, const Here& at = Here::current()) -> Self& {
    if (memory == MemoryType::Auto) return self();
    const auto kind = memory == MemoryType::Heap    ? MemoryKind::Heap
                      : memory == MemoryType::Stack ? MemoryKind::Stack
                                                    : MemoryKind::Register;
    return put(StoreIn{rec().func(), kind}, at);
  }
  auto fold_storage(const Var& dim, int64_t depth, const Here& at = Here::current()) -> Self& {
    return put(FoldStorage{rec().func(), dim.name(), depth}, at);
  }
  auto nontemporal(const Here& at = Here::current()) -> Self& { return put(Nontemporal{rec().func()}, at); }
  /// Halide's word for nontemporal.
  auto stream_stores(const Here& at = Here::current()) -> Self& { return nontemporal(at); }

 protected:
  using LoopDirectives<Self>::self;
  using LoopDirectives<Self>::rec;

 private:
  auto put(Step step, const Here& at) -> Self& {
    rec().record(std::move(step), at);
    return self();
  }
};

}  // namespace drawloom
