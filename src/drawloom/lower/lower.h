#pragma once
/// From a nest to a program that code generation takes.

#include <functional>
#include <string>
#include <vector>

#include "drawloom/ir/program.h"
#include "drawloom/ir/verify.h"
#include "drawloom/nest/nest.h"

namespace drawloom {

struct PassTime {
  std::string_view pass;
  double seconds = 0;
  size_t nodes = 0;  ///< after the pass
};

struct LowerOptions {
  bool verify = false;           ///< run the verifier after every pass, and fail a check on what it finds
  std::string stop_after;        ///< name of a pass: later ones are not run
  std::vector<std::string> off;  ///< optional passes to leave out
  std::vector<PassTime>* times = nullptr;
  /// Called with each pass's name and what it made (`emit_nest` first).
  std::function<void(std::string_view, const Program&)> after_pass;
};

auto lower(const Nest& nest, const LowerOptions& options = {}) -> Program;
/// Names of all passes in order, `emit_nest` first.
auto pass_names() -> std::vector<std::string_view>;
/// One pass by name on any program, for text tests. Errors: parse_unknown_name.
auto run_pass(std::string_view name, Program program, const Target& target) -> Result<Program>;

}  // namespace drawloom
