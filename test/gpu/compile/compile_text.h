#pragma once
/// Kernels for tests, from their text to what ptxas says.

#include <catch2/catch.hpp>

#include "drawloom/codegen/kernel.h"
#include "drawloom/driver/compile_ir.h"

namespace drawloom {

inline auto assemble_text(std::string_view text, const DeviceTarget& target = {}) -> Result<Cubin> {
  DRAWLOOM_TRY(const auto programs, prepare_ir(text, "test.ir", x86_64_target(3)));
  DRAWLOOM_TRY(const auto ptx, generate_ptx(programs, target));
  return assemble(ptx, target, programs, find_ptxas());
}

/// `body` run by 128 threads %t of 8 blocks %b, over buffers %A and %O of f32.
inline auto kernel_text(const std::string& body, const std::string& attributes = "") -> std::string {
  return "drawloom-ir 1\n\nfunc @k(%A: buffer<f32, 1>, out %O: buffer<f32, 1>) {\n  launch \"k\" " + attributes +
         " {\n    block for %b = 0 : 8 {\n      thread for %t = 0 : 128 {\n" + body + "\n      }\n    }\n  }\n}\n";
}

}  // namespace drawloom
