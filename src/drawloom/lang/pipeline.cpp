#include "drawloom/lang/pipeline.h"

#include "drawloom/lang/close.h"
#include "drawloom/lang/define.h"

namespace drawloom {

auto Realization::single() const -> const AnyBuffer& {
  if (buffers_.size() != 1) {
    throw Error(Diag(DiagKind::buffer_shape, {}, "a realization", counted(static_cast<int>(size()), "result"), 1));
  }
  return buffers_[0];
}

Pipeline::Pipeline(const Func& output, const std::source_location& at) : Pipeline(std::vector<Func>{output}, "", at) {}
Pipeline::Pipeline(const std::vector<Func>& outputs, const std::string& name, const std::source_location& at) {
  std::vector<FunctionRef> list;
  for (const auto& f : outputs) list.emplace_back(f.definition());
  def_ = close_pipeline(list, name.empty() ? name : checked_name(name, at), Effect::exact, at).or_throw();
}

auto Pipeline::allow(Effect effect) -> Pipeline& {
  auto changed = make_ref<PipelineDef>(*def_);
  changed->allowed = effect;
  def_ = changed;
  return *this;
}
auto Pipeline::schedule() const -> Schedule {
  return override_.empty() ? recorded_schedule(*def_).or_throw() : override_[0];
}
auto Pipeline::set_schedule(Schedule schedule) -> Pipeline& {
  override_ = {std::move(schedule)};
  return *this;
}

}  // namespace drawloom
