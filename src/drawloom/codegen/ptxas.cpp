/// Machine code for devices, by running NVIDIA's assembler.
///
/// ptxas knows three things that nobody else does: registers, spills, and whether it made products of tensor cores wait
/// for each other. It says them in words, so the words are read. For one kernel they are, shortened,
///
///     ptxas info : Compiling entry function 'scale' for 'sm_90a'
///         0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
///     ptxas info : Used 16 registers, used 1 barriers
///
/// Lines without a name belong to the entry function named last. A serialised product gives the right result at a
/// fraction of the speed, which no test of results would notice: so it is an error.

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "drawloom/codegen/kernel.h"
#include "drawloom/codegen/ptx.h"
#include "drawloom/support/text.h"

extern char** environ;

namespace drawloom {
namespace {

/// A folder of its own, gone with everything in it at the end.
class Scratch {
 public:
  Scratch() {
    const char* tmp = std::getenv("TMPDIR");
    folder_ = str("{}/drawloom-ptxas-XXXXXX", tmp ? tmp : "/tmp");
    ok_ = mkdtemp(folder_.data()) != nullptr;
  }
  Scratch(const Scratch&) = delete;
  auto operator=(const Scratch&) -> Scratch& = delete;
  ~Scratch() {
    for (const char* name : {"in.ptx", "out.cubin", "log"}) unlink(path(name).c_str());
    if (ok_) rmdir(folder_.c_str());
  }
  auto ok() const -> bool { return ok_; }
  auto path(std::string_view name) const -> std::string { return str("{}/{}", folder_, name); }

 private:
  std::string folder_;
  bool ok_ = false;
};

auto read_all(const std::string& path, std::string& out) -> bool {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) return false;
  char buf[65536];
  for (size_t n; (n = std::fread(buf, 1, sizeof buf, file)) > 0;) out.append(buf, n);
  return std::fclose(file) == 0;
}
auto write_all(const std::string& path, const std::string& bytes) -> bool {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) return false;
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return std::fclose(file) == 0 && written;
}

/// Runs a program with both outputs into a file. The exit status, or -1.
auto run(std::vector<std::string> words, const std::string& log) -> int {
  std::vector<char*> argv;
  for (auto& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t child = 0;
  const int failed = posix_spawn(&child, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return -1;
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

/// The number before `word` in a line; 0 if it is not there.
auto number_before(std::string_view line, std::string_view word) -> int {
  const size_t at = line.find(word);
  if (at == std::string_view::npos || at < 2) return 0;
  size_t first = at - 1;
  while (first > 0 && line[first - 1] >= '0' && line[first - 1] <= '9') --first;
  int out = 0;
  std::from_chars(line.data() + first, line.data() + at, out);
  return out;
}

/// What stands between the first pair of quotes.
auto quoted_name(std::string_view line) -> std::string {
  const size_t open = line.find('\''), close = line.find('\'', open + 1);
  return close == std::string_view::npos ? std::string() : std::string(line.substr(open + 1, close - open - 1));
}

/// ptxas's messages, read.
struct Log {
  std::vector<KernelUsage> usage;
  std::vector<std::pair<std::string, std::string>> serialised;  ///< kernel and the message
};

/// C7510 and its neighbours: instructions of tensor cores that wait for each other, or a register budget that is
/// ignored.
auto is_serialised(std::string_view line) -> bool {
  const size_t at = line.find("(C75");
  return at != std::string_view::npos;
}

auto read_log(const std::string& text) -> Log {
  Log out;
  for (const auto& line : split_text(text, '\n')) {
    if (is_serialised(line)) {
      const auto name = quoted_name(line);
      out.serialised.emplace_back(name.empty() && !out.usage.empty() ? out.usage.back().name : name,
                                  std::string(trim(line)));
    }
    if (line.find("Compiling entry function") != std::string::npos)
      out.usage.push_back({quoted_name(line), 0, 0, 0, 0});
    if (out.usage.empty()) continue;
    KernelUsage& last = out.usage.back();
    if (const int n = number_before(line, " registers")) last.registers = n;
    if (const int n = number_before(line, " bytes smem")) last.shared_bytes = n;
    if (line.find("bytes stack frame") == std::string::npos) continue;
    last.stack_bytes = number_before(line, " bytes stack frame");
    last.spill_bytes = number_before(line, " bytes spill stores");
  }
  return out;
}

auto exists(const std::string& path) -> bool { return access(path.c_str(), X_OK) == 0; }

auto launch_named(const std::vector<const Launch*>& all, const std::string& name) -> const Launch* {
  for (const Launch* l : all) {
    if (l->name == name) return l;
  }
  return nullptr;
}

}  // namespace

auto find_ptxas() -> std::string {
  const char* path = std::getenv("PATH");
  for (const auto& folder : split_text(path ? path : "", ':')) {
    if (!folder.empty() && exists(folder + "/ptxas")) return folder + "/ptxas";
  }
  for (const char* folder : {"/usr/local/cuda/bin", "/usr/local/cuda-13.0/bin", "/opt/cuda/bin"}) {
    const auto file = std::string(folder) + "/ptxas";
    if (exists(file)) return file;
  }
  return {};
}

auto assemble(const std::string& ptx, const DeviceTarget& target, const std::vector<Program>& programs,
              const std::string& ptxas) -> Result<Cubin> {
  const auto all = launches(programs);
  const std::string module = programs.empty() ? "" : programs[0].name;
  const Scratch scratch;
  if (!scratch.ok() || !write_all(scratch.path("in.ptx"), ptx)) {
    return Diag(DiagKind::kernel_assembler, Loc(), module, "no room for its files");
  }
  const int status =
      run({ptxas, "-v", "-arch=" + target.text(), "-o", scratch.path("out.cubin"), scratch.path("in.ptx")},
          scratch.path("log"));
  std::string text;
  read_all(scratch.path("log"), text);
  if (status != 0) return Diag(DiagKind::kernel_assembler, Loc(), module, status < 0 ? "cannot be run" : trim(text));
  Cubin out;
  if (!read_all(scratch.path("out.cubin"), out.bytes))
    return Diag(DiagKind::kernel_assembler, Loc(), module, "it wrote nothing");
  Log log = read_log(text);
  for (const auto& [kernel, message] : log.serialised) {
    const Launch* launch = launch_named(all, kernel);
    return Diag(DiagKind::kernel_serialised, launch ? launch->loc : Loc(), kernel, message);
  }
  for (const auto& usage : log.usage) {
    const Launch* launch = launch_named(all, usage.name);
    const int allowed = launch ? launch->spills : 0;
    if (usage.spill_bytes > allowed) {
      return Diag(DiagKind::kernel_spills, launch ? launch->loc : Loc(), usage.name, usage.spill_bytes, allowed)
          .with_help("more registers or fewer threads, or say how many bytes it may spill");
    }
  }
  out.usage = std::move(log.usage);
  return out;
}

}  // namespace drawloom
