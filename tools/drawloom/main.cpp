/// The `drawloom` command: what a `.dl` case means, how it is lowered, and whether all agree on it.

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "drawloom/driver/aot.h"
#include "drawloom/driver/case_run.h"
#include "drawloom/driver/compile.h"
#include "drawloom/driver/compile_ir.h"
#include "drawloom/driver/generator.h"
#include "drawloom/ir/text_form.h"
#include "drawloom/lower/lower.h"
#include "simulate.h"

namespace drawloom {
namespace {

constexpr const char* kUsage = R"(usage: drawloom COMMAND CASE.dl [options]
       drawloom compile CASE.dl|PROGRAM.ir [options]

  run      evaluate the definitions; run the lowered program after every pass on the machine with shadow memory, and
           as machine code; compare all bits
  bisect   name the first pass whose program is wrong, and show what it did
  nest     print the nest that the case's schedule makes
  lower    print the program; --after PASS: as that pass leaves it
  print    print the case in its canonical form
  simulate KERNEL.ir A=64x32 n=5 ..   run device code of the text form on the simulator: extents of buffers, scalars; with
           seed=N, order=in_order|random|producer_first|consumer_first|latest, moment=earliest|latest|random,
           save=FOLDER (the elements of all buffers, as they lie in memory)

  compile  a case with its schedule, or a program in IR text, kernels included, to an object and a C header

  --target T     compile for T instead of this processor
  --device D     compile kernels for D: sm_80, sm_90 or sm_90a (sm_90a)
  --output PATH  write PATH.o and PATH.h, for a case PATH.sched, for kernels PATH.ptx and PATH.cubin (the file's name, here)
  --seed N       order of parallel iterations on the machine (0: in order)
  --no-native    leave out the machine code

Exit status: 0 right, 1 wrong, 2 the command line or the case cannot be understood.
)";
constexpr int kRight = 0, kWrong = 1, kUnusable = 2;

struct CommandLine {
  std::string command, file, after, output;
  std::string problem;  ///< with an option's value
  Target target = host_target();
  DeviceTarget device;
  CaseRunOptions run;
};

/// What a command is about to do it on.
struct Job {
  const CommandLine& line;
  const DlCase& c;
};

void say(const std::string& text) { std::fputs((text + "\n").c_str(), stdout); }

auto unusable(const std::string& text) -> int {
  std::fputs((text + "\n").c_str(), stderr);
  return kUnusable;
}

auto read_command_line(int argc, char** argv, CommandLine& out) -> bool {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool takes_value =
        word == "--target" || word == "--seed" || word == "--after" || word == "--device" || word == "--output";
    if (takes_value && i + 1 == argc) return false;
    if (word == "--target") {
      auto target = parse_target(argv[++i]);
      if (!target.ok()) return out.problem = target.diag().text(), false;
      out.target = target.value();
    } else if (word == "--device") {
      auto device = parse_device_target(argv[++i]);
      if (!device.ok()) return out.problem = device.diag().text(), false;
      out.device = device.value();
    } else if (word == "--output") {
      out.output = argv[++i];
    } else if (word == "--seed") {
      out.run.parallel_seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--after") {
      out.after = argv[++i];
    } else if (word == "--no-native") {
      out.run.native = false;
    } else if (word.starts_with("-")) {
      return false;
    } else {
      words.push_back(word);
    }
  }
  if (words.size() != 2) return false;
  out.command = words[0], out.file = words[1];
  return true;
}

// --- commands

auto run_command(const Job& job) -> int {
  const auto report = run_case(job.c, job.line.target, job.line.run);
  if (!report.ok()) return unusable(report.diag().text());
  if (!report->not_compared.empty()) return say("nothing to compare: " + report->not_compared), kRight;
  for (const auto& step : report->steps) {
    say(str("{}  {}", step.problem.empty() ? "right" : "WRONG", step.where));
    if (!step.problem.empty()) say(step.problem);
  }
  return report->first_problem() ? kWrong : kRight;
}

/// What each pass made, up to the one that broke.
struct Trace {
  std::vector<std::pair<std::string, std::string>> programs;  ///< pass, text
  std::string broke;                                          ///< words of the failed check; empty: none
};
auto trace_of(const Nest& nest) -> Trace {
  Trace out;
  LowerOptions options;
  options.verify = true;
  options.after_pass = [&](std::string_view pass, const Program& p) { out.programs.emplace_back(pass, print(p)); };
  try {
    lower(nest, options);
  } catch (const InternalError& e) {
    out.broke = e.what();
  }
  return out;
}

auto bisect_command(const Job& job) -> int {
  const auto nest = scheduled_nest(job.c.pipeline, job.c.schedule, job.line.target);
  if (!nest.ok()) return unusable(nest.diag().text());
  const Trace trace = trace_of(*nest);
  std::string where, problem = trace.broke;
  if (!trace.broke.empty()) {
    where = pass_names().at(trace.programs.size());
  } else {
    const auto report = run_case(job.c, job.line.target, job.line.run);
    if (!report.ok()) return unusable(report.diag().text());
    const auto* first = report->first_problem();
    if (!first)
      return say(report->not_compared.empty() ? "all right" : "nothing to compare: " + report->not_compared), kRight;
    where = first->where, problem = first->problem;
  }
  say("the first wrong pass is " + where);
  say(problem);
  const auto show = [&](const char* title, size_t i) {
    say(str("\n--- {} {}\n{}", title, trace.programs[i].first, trace.programs[i].second));
  };
  for (size_t i = 0; i < trace.programs.size(); ++i) {
    if (trace.programs[i].first != where) continue;
    if (i > 0) show("right, after", i - 1);
    show("wrong, after", i);
  }
  return kWrong;
}

auto nest_command(const Job& job) -> int {
  const auto nest = scheduled_nest(job.c.pipeline, job.c.schedule, job.line.target);
  if (!nest.ok()) return unusable(nest.diag().text());
  say(print_nest(*nest));
  return kRight;
}

auto lower_command(const Job& job) -> int {
  const auto nest = scheduled_nest(job.c.pipeline, job.c.schedule, job.line.target);
  if (!nest.ok()) return unusable(nest.diag().text());
  std::vector<std::string> names;
  for (const auto name : pass_names()) names.emplace_back(name);
  const auto& after = job.line.after;
  if (!after.empty() && std::find(names.begin(), names.end(), after) == names.end()) {
    return unusable(str("`{}` is no pass; they are: {}", after, join(names, " ")));
  }
  LowerOptions options;
  options.stop_after = after;
  say(print(std::vector<Program>{lower(*nest, options)}));
  return kRight;
}

auto print_command(const Job& job) -> int {
  say(print(job.c));
  return kRight;
}

auto write(const std::string& path, const std::string& bytes) -> bool {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) return false;
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return std::fclose(file) == 0 && written;
}

/// The object, the header and the schedule of a case.
auto compile_case(const CommandLine& line, const std::string& text, const std::string& base) -> int {
  const auto c = parse_case(text, line.file);
  if (!c.ok()) return unusable(c.diag().text());
  AotOptions options{.name = base.substr(base.rfind('/') + 1), .static_library = false};
  if (options.name.size() < base.size()) options.directory = base.substr(0, base.size() - options.name.size());
  const auto files = compile_to_files({{c->pipeline, c->schedule}}, line.target, options);
  return files.ok() ? kRight : unusable(files.diag().text());
}

auto compile_program(const CommandLine& line, const std::string& text, const std::string& base) -> int {
  const std::string stem = base.substr(base.rfind('/') + 1);
  const auto out = compile_ir(text, line.file, stem, {line.target, line.device, find_ptxas()});
  if (!out.ok()) return unusable(out.diag().text());
  const std::pair<const char*, const std::string*> files[] = {
      {".o", &out->object}, {".h", &out->header}, {".ptx", &out->ptx}, {".cubin", &out->cubin}};
  for (const auto& [suffix, bytes] : files) {
    if (!bytes->empty() && !write(base + suffix, *bytes)) return unusable(str("cannot write {}{}", base, suffix));
  }
  for (const auto& k : out->usage) {
    say(str("{}: {} registers, {} bytes of spills, {} of static shared memory", k.name, k.registers, k.spill_bytes,
            k.shared_bytes));
  }
  return kRight;
}

/// Whether the first line that is no comment is that of a pipeline.
auto is_case(const std::string& text) -> bool {
  for (const auto& line : split_text(text, '\n')) {
    const auto words = trim(line);
    if (!words.empty() && !words.starts_with("//")) return words.starts_with("drawloom-pipeline");
  }
  return false;
}

auto compile_command(const CommandLine& line, const std::string& text) -> int {
  const std::string file = line.file.substr(line.file.rfind('/') + 1);
  const std::string base = line.output.empty() ? file.substr(0, file.rfind('.')) : line.output;
  return is_case(text) ? compile_case(line, text, base) : compile_program(line, text, base);
}

struct Command {
  const char* name;
  int (*function)(const Job&);
};
constexpr Command kCommands[] = {{"run", run_command},
                                 {"bisect", bisect_command},
                                 {"nest", nest_command},
                                 {"lower", lower_command},
                                 {"print", print_command}};

auto main_of(int argc, char** argv) -> int {
  if (argc > 2 && std::string_view(argv[1]) == "simulate") return simulate_command({argv + 2, argv + argc});
  CommandLine line;
  if (!read_command_line(argc, argv, line)) return unusable(line.problem.empty() ? kUsage : line.problem);
  if (line.command == "compile") {
    const auto program = read_text_file(line.file);
    return program.ok() ? compile_command(line, *program) : unusable(program.diag().text());
  }
  for (const auto& command : kCommands) {
    if (line.command != command.name) continue;
    const auto text = read_text_file(line.file);
    if (!text.ok()) return unusable(text.diag().text());
    const auto c = parse_case(text.value(), line.file);
    if (!c.ok()) return unusable(c.diag().text());
    return command.function({line, c.value()});
  }
  return unusable(kUsage);
}

}  // namespace
}  // namespace drawloom

int main(int argc, char** argv) {
  try {
    return drawloom::main_of(argc, argv);
  } catch (const drawloom::InternalError& e) {
    std::fprintf(stderr, "this is a bug of drawloom:\n%s\n", e.what());
  } catch (const drawloom::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
  return 1;
}
