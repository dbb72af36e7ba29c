#include "drawloom/support/check.h"

namespace drawloom {

void fail_check(const char* condition, const char* file, int line, const std::string& what) {
  throw InternalError(str("internal error: {} ({} at {}:{})", what, condition, file, line));
}

}  // namespace drawloom
