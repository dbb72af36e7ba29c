#include <catch2/catch.hpp>

#include "drawloom/support/target.h"

namespace drawloom {
namespace {

TEST_CASE("targets read back as they print", "[support][target]") {
  for (const char* text :
       {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v3-fma", "x86-64-v3-avx", "x86-64+avx2",
        "x86-64-v4+avx512vnni", "x86-64-v4-avx512bw+avxvnni", "x86-64-v2-sse4_2+bmi", "host"}) {
    INFO(text);
    const Target target = parse_target(text).or_throw();
    CHECK(parse_target(target.text()).or_throw() == target);
  }
  CHECK(parse_target("x86-64-v3-fma").or_throw().text() == "x86-64-v3-fma");
  CHECK(parse_target("x86-64-v4+avx512vnni").or_throw().text() == "x86-64-v4+avx512vnni");
}

TEST_CASE("features come with what they need and go with it", "[support][target]") {
  const Target no_avx = parse_target("x86-64-v3-avx").or_throw();
  CHECK_FALSE(no_avx.has(CpuFeature::avx2));
  CHECK_FALSE(no_avx.has_fma());
  CHECK(no_avx.has(CpuFeature::bmi2));
  CHECK(no_avx.has(CpuFeature::sse4_2));
  const Target avx2 = parse_target("x86-64+avx2").or_throw();
  CHECK(avx2.has(CpuFeature::sse4_1));
  CHECK_FALSE(avx2.has_fma());
  CHECK(parse_target("x86-64-v3").or_throw().has_fma());
}

TEST_CASE("natural vectors", "[support][target]") {
  CHECK(x86_64_target(1).natural_vector_bytes() == 16);
  CHECK(x86_64_target(2).natural_vector_bytes() == 16);
  CHECK(x86_64_target(3).natural_lanes(2) == 16);
  CHECK(x86_64_target(4).natural_vector_bytes() == 64);
  CHECK(parse_target("x86-64-v3-avx2").or_throw().natural_vector_bytes() == 16);
}

TEST_CASE("what runs where", "[support][target]") {
  CHECK(runs_on(x86_64_target(1), x86_64_target(3)));
  CHECK_FALSE(runs_on(x86_64_target(3), x86_64_target(2)));
  CHECK(runs_on(parse_target("x86-64-v3-fma").or_throw(), x86_64_target(3)));
  CHECK(runs_on(host_target(), host_target()));
  // The build's own flags are a lower bound that the compiler knows without CPUID.
  CHECK(runs_on(x86_64_target(1), host_target()));
  CHECK(host_target().has(CpuFeature::avx2) == static_cast<bool>(__builtin_cpu_supports("avx2")));
  CHECK(host_target().has(CpuFeature::fma) == static_cast<bool>(__builtin_cpu_supports("fma")));
  CHECK(host_target().has(CpuFeature::avx512f) == static_cast<bool>(__builtin_cpu_supports("avx512f")));
  CHECK(host_target().has(CpuFeature::bmi2) == static_cast<bool>(__builtin_cpu_supports("bmi2")));
}

TEST_CASE("unknown targets are named with the known ones", "[support][target]") {
  for (const char* text : {"", "arm64", "x86-64-v5", "x86-64-v3-", "x86-64-v3-avx9", "x86-64v3"}) {
    INFO(text);
    const auto parsed = parse_target(text);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.diag().kind() == DiagKind::target_unknown);
    CHECK_FALSE(parsed.diag().help().empty());
  }
}

}  // namespace
}  // namespace drawloom
