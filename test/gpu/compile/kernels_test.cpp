/// Every hand-written kernel becomes PTX with exactly the instructions that its text asks for, and machine code without
/// spills.

#include <filesystem>

#include "compile_text.h"
#include "drawloom/codegen/census.h"
#include "drawloom/driver/generator.h"

namespace drawloom {
namespace {

auto kernel_files() -> std::vector<std::string> {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(DRAWLOOM_KERNELS)) {
    if (entry.path().extension() == ".ir") out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST_CASE("ptxas is there") { REQUIRE_FALSE(find_ptxas().empty()); }

TEST_CASE("kernels assemble, and PTX has the instructions of the text") {
  const auto files = kernel_files();
  REQUIRE(files.size() >= 5);
  for (const auto& file : files) {
    INFO(file);
    const auto text = read_text_file(file).or_throw();
    const auto programs = prepare_ir(text, file, x86_64_target(3)).or_throw();
    const auto ptx = generate_ptx(programs, {}).or_throw();
    for (const Launch* launch : launches(programs)) {
      INFO(launch->name);
      const Census expected = expected_census(*launch);
      CHECK(ptx_census(ptx, launch->name, expected) == expected);
    }
    const auto cubin = assemble(ptx, {}, programs, find_ptxas()).or_throw();
    CHECK(cubin.usage.size() == launches(programs).size());
    for (const auto& usage : cubin.usage) CHECK(usage.spill_bytes == 0);
    CHECK(cubin.bytes.substr(0, 4) ==
          "\x7f"
          "ELF");
  }
}

TEST_CASE("the census notices an instruction that is lost or doubled") {
  const auto programs =
      prepare_ir(kernel_text("        sync block\n        fence device\n        sync warp"), "k.ir", x86_64_target(3))
          .or_throw();
  const auto ptx = generate_ptx(programs, {}).or_throw();
  const Census expected = expected_census(*launches(programs)[0]);
  CHECK(expected == Census{{"bar.sync", 1}, {"bar.warp.sync", 1}, {"fence.acq_rel.gpu", 1}});
  CHECK(ptx_census(ptx, "k", expected) == expected);
  const size_t at = ptx.find("bar.sync");
  std::string lost = ptx, doubled = ptx;
  lost.replace(at, 3, "nop");
  doubled.insert(at, "bar.sync 0; ");
  CHECK(ptx_census(lost, "k", expected).at("bar.sync") == 0);
  CHECK(ptx_census(doubled, "k", expected).at("bar.sync") == 2);
  CHECK(ptx_census(ptx, "other", expected).at("bar.sync") == 0);
}

TEST_CASE("a launch keeps its loops, of one block, of none, and around nothing") {
  for (const char* grid : {"1", "0", "0 * extent(%O, 0)"}) {
    for (const char* body : {"store %O[%t] = 1.0:f32", "if 1 < 0 {\n sync block\n }"}) {
      const auto text =
          str("drawloom-ir 1\n\nfunc @k(out %O: buffer<f32, 1>) {{\n launch \"k\" {{\n block for %b = 0 : {} {{\n "
              "thread for %t = 0 : 32 {{\n {}\n }}\n }}\n }}\n}}\n",
              grid, body);
      const auto programs = prepare_ir(text, "k.ir", x86_64_target(3));
      REQUIRE(programs.ok());
      CHECK(generate_ptx(programs.value(), {}).ok());
    }
  }
}

TEST_CASE("a set_registers raises or lowers from what its role had before, not from what threads had at entry") {
  const auto text =
      kernel_text("roles {\nrole \"r\" warps 4 as %r {\nset_registers 24\nset_registers 96\nset_registers 40\n}\n}",
                  "registers 168");
  const auto ptx = generate_ptx(prepare_ir(text, "k.ir", x86_64_target(3)).or_throw(), {}).or_throw();
  size_t at = 0;
  for (const std::string next : {"dec.sync.aligned.u32 24;", "inc.sync.aligned.u32 96;", "dec.sync.aligned.u32 40;"}) {
    at = ptx.find("setmaxnreg.", at) + 11;
    CHECK(ptx.substr(at, next.size()) == next);
  }
}

TEST_CASE("the same text gives the same PTX") {
  const auto file = std::string(DRAWLOOM_KERNELS) + "/gemm.ir";
  const auto text = read_text_file(file).or_throw();
  const auto once = [&] { return generate_ptx(prepare_ir(text, file, x86_64_target(3)).or_throw(), {}).or_throw(); };
  CHECK(once() == once());
}

TEST_CASE("an object with kernels holds PTX and machine code, and asks libc for nothing new") {
  const auto file = std::string(DRAWLOOM_KERNELS) + "/softmax_row.ir";
  const auto out =
      compile_ir(read_text_file(file).or_throw(), file, "softmax_row", {x86_64_target(3), {}, find_ptxas()}).or_throw();
  CHECK(out.object.find(out.cubin) != std::string::npos);
  CHECK(out.object.find(out.ptx) != std::string::npos);
  CHECK(out.header.find("int softmax_row(") != std::string::npos);
  const auto without =
      compile_ir(read_text_file(file).or_throw(), file, "softmax_row", {x86_64_target(3), {}, ""}).or_throw();
  CHECK(without.cubin.empty());
  CHECK(without.ptx == out.ptx);
}

}  // namespace
}  // namespace drawloom
