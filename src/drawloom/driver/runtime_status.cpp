#include "drawloom/driver/runtime_status.h"

namespace drawloom {

auto call_generated(drawloom_argv_function_t function, void** args, drawloom_context_t* context) -> Status {
  drawloom_context_t own;
  if (!context) {
    drawloom_context_init(&own, nullptr, nullptr);
    own.on_error = drawloom_on_error_quiet;
    context = &own;
  }
  const int code = function(context, args);
  if (code == drawloom_ok) return Done{};
  char message[drawloom_message_bytes] = {};
  drawloom_last_error(context, message, sizeof message);
  return Diag(DiagKind::call_failed, Loc(), std::string(message), drawloom_error_name(code));
}

}  // namespace drawloom
