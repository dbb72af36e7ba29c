#pragma once
/// What C++ has set for a pipeline, as arguments of a call.

#include <vector>

#include "drawloom/lang/buffer.h"
#include "drawloom/lang/function.h"
#include "drawloom/support/result.h"

namespace drawloom {

/// The bits of scalars in their own types, and the pointers to everything. Movable, not copyable: it points into itself.
class CallArguments {
 public:
  /// Inputs and parameters as they were embedded or set. Errors: call_unset.
  static auto of(const PipelineDef& pipeline, const std::vector<AnyBuffer>& outputs) -> Result<CallArguments>;
  CallArguments(CallArguments&&) = default;
  auto operator=(CallArguments&&) -> CallArguments& = default;

  auto pointers() const -> const std::vector<void*>& { return pointers_; }

 private:
  CallArguments() = default;
  std::vector<uint64_t> scalars_;
  std::vector<void*> pointers_;
};

/// The value that was set for an integer parameter. Errors: call_unset.
auto integer_value(const Symbol& param) -> Result<int64_t>;

}  // namespace drawloom
