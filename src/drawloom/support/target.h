#pragma once
/// What a program is compiled for: an x86-64 level with features added or taken away.

#include <cstdint>
#include <string>
#include <string_view>

#include "drawloom/support/result.h"

namespace drawloom {

enum class Arch : uint8_t { X86_64 };

/// Rows of target.def, in its order.
enum class CpuFeature : uint8_t {
#define FEATURE(name, ...) name,
#include "drawloom/support/target.def"
};
#define FEATURE(...) +1
inline constexpr int kCpuFeatureCount = 0
#include "drawloom/support/target.def"
    ;

/// A value: compare, copy, hash its text. `features` holds all that `level` brings and was not taken away; a feature
/// without the one it needs is never in it.
struct Target {
  Arch arch = Arch::X86_64;
  uint8_t level = 1;      ///< of the x86-64 psABI: 1 baseline (SSE2) .. 4 (AVX-512)
  uint32_t features = 0;  ///< bit i: CpuFeature i

  auto has(CpuFeature f) const -> bool { return features >> static_cast<int>(f) & 1; }
  /// fma nodes may be made for this target: one instruction, rounded once.
  auto has_fma() const -> bool { return has(CpuFeature::fma); }
  /// Bytes of the vectors that integer and float operations work on.
  auto natural_vector_bytes() const -> int;
  auto natural_lanes(int element_bytes) const -> int { return natural_vector_bytes() / element_bytes; }
  /// `x86-64-v3`, `x86-64-v3-fma`, `x86-64-v4+avx512vnni`; parse_target reads it back to an equal value.
  auto text() const -> std::string;
  friend auto operator==(const Target&, const Target&) -> bool = default;
};

auto feature_name(CpuFeature f) -> std::string_view;
/// The target with a feature and all it needs, or without it and all that need it.
auto with_feature(Target target, CpuFeature f) -> Target;
auto without_feature(Target target, CpuFeature f) -> Target;

/// Level 1..4 with all its features.
auto x86_64_target(int level) -> Target;
/// The machine this runs on, by CPUID bits and what the operating system saves; never by a family name.
auto host_target() -> Target;
/// True if code for `target` runs on a machine with the features of `machine`.
auto runs_on(const Target& target, const Target& machine) -> bool;

/// `x86-64`, `x86-64-v2` .. `x86-64-v4` or `host`, then any number of `-feature` and `+feature`.
/// Errors: target_unknown.
auto parse_target(std::string_view text, Loc loc = {}) -> Result<Target>;

}  // namespace drawloom
