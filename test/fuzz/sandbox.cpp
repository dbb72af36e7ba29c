#include "sandbox.h"

#include <csignal>
#include <cstring>

#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drawloom/support/check.h"

namespace drawloom::fuzz {
namespace {

void write_all(int fd, const std::string& s) {
  size_t done = 0;
  while (done < s.size()) {
    const auto n = write(fd, s.data() + done, s.size() - done);
    if (n <= 0) return;
    done += static_cast<size_t>(n);
  }
}
auto read_all(int fd) -> std::string {
  std::string out;
  char block[4096];
  for (;;) {
    const auto n = read(fd, block, sizeof block);
    if (n <= 0) return out;
    out.append(block, static_cast<size_t>(n));
  }
}

/// kind and details behind a byte of outcome, with a zero between.
auto packed(const Verdict& v) -> std::string {
  return std::string(1, static_cast<char>('0' + static_cast<int>(v.outcome))) + v.kind + '\0' + v.details;
}
auto unpacked(const std::string& s) -> Verdict {
  const auto zero = s.find('\0');
  return {static_cast<Outcome>(s[0] - '0'), s.substr(1, zero - 1), s.substr(zero + 1)};
}

}  // namespace

auto shared_memory(size_t bytes) -> void* {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  DRAWLOOM_CHECK(p != MAP_FAILED, "no shared memory");
  std::memset(p, 0, bytes);
  return p;
}

void limit_case_time(bool stop) {
  itimerval limit = {};
  limit.it_value.tv_sec = stop ? 0 : kCaseSeconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
}

auto check_isolated(const Case& c, const CaseOptions& options) -> Verdict {
  int ends[2];
  DRAWLOOM_CHECK(pipe(ends) == 0, "no pipe");
  const pid_t child = fork();
  DRAWLOOM_CHECK(child >= 0, "no process");
  if (child == 0) {
    close(ends[0]);
    limit_case_time();
    write_all(ends[1], packed(check_case(c, options)));
    _exit(0);
  }
  close(ends[1]);
  const auto text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    if (WTERMSIG(status) == SIGPROF)
      return {Outcome::failed, "hang", str("no result after {} s of processor time", kCaseSeconds)};
    return {Outcome::failed, str("crash: {}", strsignal(WTERMSIG(status))), {}};
  }
  if (text.empty()) return {Outcome::failed, "crash: exit", str("exit status {}", WEXITSTATUS(status))};
  return unpacked(text);
}

}  // namespace drawloom::fuzz
