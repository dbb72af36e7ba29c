#include "drawloom/support/target.h"

#include <cpuid.h>

#include <vector>

namespace drawloom {
namespace {

// Letters of the CPUID result registers, as target.def names them.
enum Register { a, b, c, d };

struct FeatureRow {
  std::string_view name;
  CpuFeature needs;
  int level;
  uint32_t leaf, subleaf;
  Register reg;
  int bit;
  uint64_t state;
};

constexpr FeatureRow kRows[] = {
#define FEATURE(name, llvm, needs, level, leaf, subleaf, reg, bit, state) \
  {#name, CpuFeature::needs, level, leaf, subleaf, reg, bit, state},
#include "drawloom/support/target.def"
};
static_assert(kCpuFeatureCount <= 32, "Target::features has 32 bits");

constexpr auto row_of(CpuFeature f) -> const FeatureRow& { return kRows[static_cast<int>(f)]; }
constexpr auto bit_of(CpuFeature f) -> uint32_t { return 1u << static_cast<int>(f); }
constexpr auto feature(int i) -> CpuFeature { return static_cast<CpuFeature>(i); }

auto level_features(int level) -> uint32_t {
  uint32_t features = 0;
  for (int i = 0; i < kCpuFeatureCount; i++) {
    if (kRows[i].level <= level) features |= 1u << i;
  }
  return features;
}

/// Rows stand below those they need, so one pass in order closes the set.
auto drop_unsupported(uint32_t features) -> uint32_t {
  for (int i = 0; i < kCpuFeatureCount; i++) {
    if (!(features & bit_of(kRows[i].needs))) features &= ~(1u << i);
  }
  return features;
}

auto saved_state() -> uint64_t {
  uint32_t eax, ebx, ecx, edx;
  constexpr uint32_t kOsxsave = 1u << 27;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & kOsxsave)) return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low | static_cast<uint64_t>(high) << 32;
}

auto cpu_shows(const FeatureRow& row, uint64_t state) -> bool {
  uint32_t regs[4];
  if (!__get_cpuid_count(row.leaf, row.subleaf, &regs[a], &regs[b], &regs[c], &regs[d])) return false;
  return (regs[row.reg] >> row.bit & 1) && (state & row.state) == row.state;
}

auto level_text(int level) -> std::string { return level == 1 ? "x86-64" : str("x86-64-v{}", level); }

auto feature_by_name(std::string_view name, CpuFeature& out) -> bool {
  for (int i = 0; i < kCpuFeatureCount; i++) {
    if (kRows[i].name == name) {
      out = feature(i);
      return true;
    }
  }
  return false;
}

auto base_target(std::string_view name, Target& out) -> bool {
  if (name == "host") {
    out = host_target();
    return true;
  }
  for (int level = 1; level <= 4; level++) {
    if (name == level_text(level)) {
      out = x86_64_target(level);
      return true;
    }
  }
  return false;
}

auto unknown(std::string_view what, std::string_view word, const Loc& loc) -> Diag {
  std::vector<std::string> known;
  if (what == "target") {
    known = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "host"};
  } else {
    for (const FeatureRow& row : kRows) known.emplace_back(row.name);
  }
  return Diag(DiagKind::target_unknown, loc, what, word).with_help(str("known: {}", join(known, " ")));
}

/// Where the name of the base ends: `x86-64-v3-fma` has dashes in it that start no feature.
auto base_length(std::string_view text) -> size_t {
  size_t longest = 0;
  Target ignored;
  for (size_t n = 1; n <= text.size(); n++) {
    bool ends = n == text.size() || text[n] == '-' || text[n] == '+';
    if (ends && base_target(text.substr(0, n), ignored)) longest = n;
  }
  return longest;
}

}  // namespace

auto Target::natural_vector_bytes() const -> int {
  if (has(CpuFeature::avx512bw) && has(CpuFeature::avx512vl)) return 64;
  return has(CpuFeature::avx2) ? 32 : 16;
}

auto Target::text() const -> std::string {
  std::string out = level_text(level);
  const uint32_t base = level_features(level);
  for (int i = 0; i < kCpuFeatureCount; i++) {
    const bool in_base = base >> i & 1, here = features >> i & 1;
    // What goes with a feature that was taken away needs no words of its own.
    const bool own = kRows[i].needs == feature(i) || has(kRows[i].needs);
    if (in_base && !here && own) out += str("-{}", kRows[i].name);
    if (!in_base && here) out += str("+{}", kRows[i].name);
  }
  return out;
}

auto feature_name(CpuFeature f) -> std::string_view { return row_of(f).name; }

auto with_feature(Target target, CpuFeature f) -> Target {
  target.features |= bit_of(f);
  if (row_of(f).needs != f) return with_feature(target, row_of(f).needs);
  return target;
}

auto without_feature(Target target, CpuFeature f) -> Target {
  target.features = drop_unsupported(target.features & ~bit_of(f));
  return target;
}

auto x86_64_target(int level) -> Target { return {Arch::X86_64, static_cast<uint8_t>(level), level_features(level)}; }

auto host_target() -> Target {
  const uint64_t state = saved_state();
  Target target;
  for (int i = 0; i < kCpuFeatureCount; i++) {
    if (cpu_shows(kRows[i], state)) target.features |= 1u << i;
  }
  target.features = drop_unsupported(target.features);
  while (target.level < 4 && runs_on(x86_64_target(target.level + 1), target)) target.level++;
  return target;
}

auto runs_on(const Target& target, const Target& machine) -> bool {
  return target.arch == machine.arch && (target.features & ~machine.features) == 0;
}

auto parse_target(std::string_view text, Loc loc) -> Result<Target> {
  const size_t length = base_length(text);
  Target target;
  if (length == 0 || !base_target(text.substr(0, length), target)) return unknown("target", text, loc);
  text.remove_prefix(length);
  while (!text.empty()) {
    const bool add = text[0] == '+';
    const size_t end = text.find_first_of("+-", 1);
    const std::string_view name = text.substr(1, end == text.npos ? text.npos : end - 1);
    CpuFeature f;
    if (!feature_by_name(name, f)) return unknown("processor feature", name, loc);
    target = add ? with_feature(target, f) : without_feature(target, f);
    text.remove_prefix(end == text.npos ? text.size() : end);
  }
  return target;
}

}  // namespace drawloom
