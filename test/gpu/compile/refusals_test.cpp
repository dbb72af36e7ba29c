/// What a back end cannot do is refused with its reason: planted spills, tensor-core instructions that wait for each other,
/// instructions that a chip lacks.

#include "compile_text.h"

namespace drawloom {
namespace {

/// 64 values of each thread alive across a barrier, with 32 registers.
auto crowded(const std::string& attributes) -> std::string {
  return kernel_text(R"(
        allocate %v: f32[64] register
        unrolled for %i = 0 : 64 {
          store %v[%i] = %A[%t + %i * 128]
        }
        sync block
        unrolled for %i = 0 : 64 {
          store %O[%t + %i * 128] = %v[%i] * %v[63 - %i]
        })",
                     attributes);
}

/// One product of tensor cores; `between` stands before the wait.
auto product(const std::string& between, const std::string& fence = "        fence wgmma\n") -> std::string {
  return kernel_text(R"(
        allocate %tile: u64[1024] shared at 0
        allocate %acc: f32[32] register
        let %d = cast<u64>(&%tile[0] >> 4:u32) + 4611686293305360384:u64
)" + fence + R"(        issue "wgmma.m64n64k16.f32.f16" (&%acc[0], %d, %d, false, 0, 0)
        commit wgmma
)" + between + R"(
        wait_group wgmma 0
        unrolled for %i = 0 : 32 {
          store %O[%t + %i * 128] = %acc[%i]
        })",
                     "shared 8192");
}

TEST_CASE("spills beyond the launch's allowance fail the compile") {
  const auto refused = assemble_text(crowded("registers 32"));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.diag().kind() == DiagKind::kernel_spills);
  CHECK(refused.diag().loc().line() == 4);
  CHECK(assemble_text(crowded("registers 32 spills 4096")).ok());
  CHECK(assemble_text(crowded("")).ok());
}

TEST_CASE("an accumulator read before its wait fails the compile") {
  CHECK(assemble_text(product("")).ok());
  const auto refused = assemble_text(product("        store %O[%t] = %acc[0]"));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.diag().kind() == DiagKind::kernel_serialised);
  CHECK(refused.diag().loc().line() == 4);
}

TEST_CASE("what a chip lacks is named") {
  const auto on_80 = assemble_text(product(""), {80, false});
  REQUIRE_FALSE(on_80.ok());
  CHECK(on_80.diag().kind() == DiagKind::kernel_target);
  CHECK(on_80.diag().message() == "kernel k: wgmma.m64n64k16.f32.f16 needs sm_90a, the target is sm_80");
  CHECK(assemble_text(product(""), {90, false}).diag().kind() == DiagKind::kernel_target);
  CHECK(assemble_text(kernel_text("        store %O[%t] = %A[%t]"), {80, false}).ok());
  CHECK(assemble_text(kernel_text("        elect {\n          store %O[%t] = %A[%t]\n        }"), {80, false}).ok());
}

TEST_CASE("a device target is read and written") {
  CHECK(parse_device_target("sm_90a").or_throw().text() == "sm_90a");
  CHECK(parse_device_target("sm_80").or_throw().capability == 80);
  CHECK(parse_device_target("sm_20").diag().kind() == DiagKind::target_unknown);
}

TEST_CASE("registers with subscripts that stay unknown are refused") {
  const auto refused = assemble_text(kernel_text(
      "        allocate %v: f32[4] register\n        store %v[%t % 4] = %A[%t]\n        store %O[%t] = %v[0]"));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.diag().kind() == DiagKind::codegen_register);
  const auto operand = assemble_text(
      kernel_text("        allocate %v: f32[4] register\n        issue \"load.global.v2.f32\" (&%v[%t % 2], &%A[0])"));
  CHECK(operand.diag().kind() == DiagKind::codegen_register);
}

TEST_CASE("functions of a math library are refused") {
  CHECK(assemble_text(kernel_text("        store %O[%t] = exp(%A[%t])")).diag().kind() == DiagKind::codegen_node);
}

TEST_CASE("masks and vectors that are not dense are refused") {
  const auto masked = assemble_text(kernel_text("        store %O[%t] = %A[%t; mask %t < 3]"));
  CHECK(masked.diag().kind() == DiagKind::codegen_subscript);
  const auto strided = assemble_text(kernel_text("        store %O[ramp(%t * 4, 2, 2)] = %A[ramp(%t * 4, 1, 2)]"));
  CHECK(strided.diag().kind() == DiagKind::codegen_subscript);
  // Registers are dense; of an argument the stride is known only at the call.
  CHECK(assemble_text(kernel_text("        allocate %v: f32[4] register\n        store %v[ramp(0, 1, 4)] = "
                                  "broadcast(%A[%t], 4)\n        store %O[%t] = %v[2]"))
            .ok());
}

auto compile_kind(const std::string& host) -> DiagKind {
  const std::string text = "drawloom-ir 1\n\nfunc @k(%A: buffer<f32, 1>, out %O: buffer<f32, 1>) {\n" + host + "\n}\n";
  const auto out = compile_ir(text, "k.ir", "k", {x86_64_target(3), {}, ""});
  REQUIRE_FALSE(out.ok());
  return out.diag().kind();
}
const std::string kLaunch =
    "launch \"k\" {\n block for %b = 0 : 8 {\n thread for %t = 0 : 32 {\n store %O[%b] = %A[%t]\n }\n }\n }";

TEST_CASE("kernels of one name get names of their own, on the device and in the host's calls") {
  const std::string copies =
      "unrolled for %i = 0 : 2 {\n launch \"k\" {\n block for %b = 0 : 8 {\n thread for %t = 0 : 32 "
      "{\n store %O[%b + 8 * %i] = %A[%t]\n }\n }\n }\n}\n";
  const std::string text =
      "drawloom-ir 1\n\nfunc @k(%A: buffer<f32, 1>, out %O: buffer<f32, 1>) {\n" + copies + kLaunch + "\n}\n";
  const auto out = compile_ir(text, "k.ir", "k", {x86_64_target(3), {}, ""}).or_throw();
  for (const std::string name : {"k", "k_2", "k_3"}) {
    CHECK(out.ptx.find(".entry " + name + "(") != std::string::npos);
    // as a C string: what the host passes
    CHECK(out.object.find(name + std::string(1, '\0')) != std::string::npos);
  }
  auto programs = out.programs;
  programs.push_back(prepare_ir(text, "k.ir", x86_64_target(3)).or_throw().at(0));
  CHECK(generate_ptx(programs, {}).diag().kind() == DiagKind::codegen_node);
}

TEST_CASE("the data of an argument are on one side for the whole call") {
  CHECK(compile_kind(kLaunch + "\n store %O[9] = 1.0:f32") == DiagKind::codegen_subscript);
  CHECK(compile_kind("if %A[0] > 0.0:f32 {\n" + kLaunch + "\n}") == DiagKind::codegen_subscript);
}

TEST_CASE("a launch inside a parallel loop is refused") {
  CHECK(compile_kind("parallel for %i = 0 : 4 {\n" + kLaunch + "\n}") == DiagKind::codegen_node);
}

TEST_CASE("ptxas that fails or is missing is reported") {
  CHECK(assemble("no PTX", {}, {}, find_ptxas()).diag().kind() == DiagKind::kernel_assembler);
  CHECK(assemble("", {}, {}, "/nonexistent/ptxas").diag().kind() == DiagKind::kernel_assembler);
}

}  // namespace
}  // namespace drawloom
