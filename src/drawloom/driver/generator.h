#pragma once
/// The main function of programs that write pipelines ahead of time.

#include "drawloom/lang/pipeline.h"

namespace drawloom {

/// `generator [--schedule FILE] [--target T] [--name NAME] [--emit o,a,h,sched,s,ll,ir,nest] [-o DIRECTORY]`
///
/// Writes `DIRECTORY/NAME.<suffix>`. Without --schedule: what the Funcs recorded; a target in the schedule's header is used
/// when --target is not given, else this machine's. Mistakes go to stderr. Returns the exit status.
auto generator_main(int argc, char** argv, const Pipeline& pipeline) -> int;

/// The contents of a file, or compile_file.
auto read_text_file(const std::string& path) -> Result<std::string>;
/// Which products `o,a,h` names, in `options`. Errors: parse_unknown_name.
auto choose_products(std::string_view list, struct AotOptions& options) -> Status;

}  // namespace drawloom
