#pragma once
/// Pipeline: one or more output Funcs, closed; what is compiled, run and scheduled.

#include <initializer_list>
#include <string>
#include <vector>

#include "drawloom/lang/buffer.h"
#include "drawloom/lang/func.h"
#include "drawloom/steps/schedule.h"
#include "drawloom/support/target.h"

namespace drawloom {

/// The results of a run: one buffer per output component, in order.
class Realization {
 public:
  explicit Realization(std::vector<AnyBuffer> buffers) : buffers_(std::move(buffers)) {}
  auto size() const -> size_t { return buffers_.size(); }
  auto operator[](size_t i) const -> const AnyBuffer& { return buffers_.at(i); }
  /// Of a single result. Errors: buffer_shape (several results), buffer_type.
  template <typename T>
  operator Buffer<T>() const {
    return Buffer<T>(single());
  }

 private:
  auto single() const -> const AnyBuffer&;
  std::vector<AnyBuffer> buffers_;
};

/// Freezes the Funcs it reaches: they get no more definitions, but steps may still be recorded. Errors: pipeline_empty,
/// func_undefined, name_clash, symbol_unbound.
class Pipeline {
 public:
  Pipeline(const Func& output, const std::source_location& at = std::source_location::current());
  Pipeline(const std::vector<Func>& outputs, const std::string& name = "",
           const std::source_location& at = std::source_location::current());
  explicit Pipeline(PipelineRef def) : def_(std::move(def)) {}

  auto name() const -> const std::string& { return def_->name; }
  auto definition() const -> const PipelineRef& { return def_; }
  /// Allows schedules to change result bits that far (default: exact).
  auto allow(Effect effect) -> Pipeline&;
  /// The steps recorded on its Funcs so far, in the order of text; or the schedule that was set.
  auto schedule() const -> Schedule;
  /// Overrides what is recorded.
  auto set_schedule(Schedule schedule) -> Pipeline&;

  // What follows needs upper layers and is defined there (driver).

  /// Compiles (once per schedule and target) and runs on buffers of these extents, mins 0. Inputs are what was embedded or
  /// set. Errors: those of the schedule, of the target, and of the call.
  auto realize(const std::vector<int64_t>& extents, const Target& target = host_target()) const -> Realization;
  auto realize(std::initializer_list<int64_t> extents, const Target& target = host_target()) const -> Realization {
    return realize(std::vector<int64_t>(extents), target);
  }
  /// Runs on the caller's buffers, of any mins and strides.
  void realize(const std::vector<AnyBuffer>& outputs, const Target& target = host_target()) const;
  /// Gives every ImageParam that is not set a buffer of exactly the region that these outputs need.
  void infer_input_bounds(const std::vector<int64_t>& extents) const;
  /// The nest as text.
  auto loop_nest() const -> std::string;
  /// loop_nest on stdout.
  void print_loop_nest() const;
  void compile_jit(const Target& target = host_target()) const;
  /// `prefix`.o, .a, .h and .sched. `function` empty: the pipeline's name.
  void compile_to_files(const std::string& prefix, const std::string& function = "",
                        const Target& target = host_target()) const;

 private:
  PipelineRef def_;
  std::vector<Schedule> override_;    ///< none or one
  mutable Ref<Attachment> compiled_;  ///< what the driver keeps for later calls; shared by copies made after the first
};

}  // namespace drawloom
