/// What is refused, what objects contain, and that a C program can use them.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "drawloom/codegen/c_header.h"
#include "drawloom/codegen/limits.h"
#include "drawloom/ir/build.h"
#include "jit_text.h"

namespace drawloom {
namespace {

auto kinds_of(const std::vector<Program>& programs, Target target = x86_64_target(3)) -> std::vector<DiagKind> {
  std::vector<DiagKind> kinds;
  for (const Diag& d : find_unsupported(programs, target)) kinds.push_back(d.kind());
  return kinds;
}
auto kinds_of(std::string_view text, Target target = x86_64_target(3)) -> std::vector<DiagKind> {
  return kinds_of(parse_all(text), target);
}
using Kinds = std::vector<DiagKind>;

/// The block with the first `instruction`, up to its first jump.
auto inner_loop(const std::string& assembly, const std::string& instruction) -> std::string {
  const size_t at = assembly.find(instruction);
  if (at == std::string::npos) return {};
  const size_t label = assembly.rfind("\n.L", at), jump = assembly.find("\n\tj", at);
  return assembly.substr(label, assembly.find('\n', jump + 1) - label);
}

auto count(const std::string& text, const std::string& word) -> int {
  int n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) n++;
  return n;
}

TEST_CASE("what code cannot be made for is refused by name", "[codegen][limits]") {
  CHECK(kinds_of("func @f(out %a: buffer<f32, 1>) {\nstore %a[0] = 1.0:f32\n}").empty());
  CHECK(kinds_of("func @f(%a: buffer<f16, 1>) {\n}") == Kinds{DiagKind::codegen_type});
  CHECK(kinds_of("func @f(out %a: buffer<f32, 1>) {\nvectorized for %x = 0 : 8 {\nstore %a[%x] = 1.0:f32\n}\n}") ==
        Kinds{DiagKind::codegen_loop});
  CHECK(kinds_of("func @f(out %a: buffer<f32, 1>) {\nunrolled for %x = 0 : 8 {\nstore %a[%x] = 1.0:f32\n}\n}") ==
        Kinds{DiagKind::codegen_loop});
  auto logical = parse_all("func @f(out %a: buffer<f32, 2>) {\nstore %a[0, 0] = 1.0:f32\n}");
  logical[0].flat_storage = false;
  CHECK(kinds_of(logical) == Kinds{DiagKind::codegen_subscript});
  const char* fma = "func @f(%a: buffer<f32, 1>, out %b: buffer<f32, 1>) {\nstore %b[0] = fma(%a[0], %a[0], %a[0])\n}";
  CHECK(kinds_of(fma).empty());
  CHECK(kinds_of(fma, x86_64_target(2)) == Kinds{DiagKind::codegen_fma});
  CHECK(kinds_of("func @f(out %a: buffer<u8, 1>) {\nstore %a[ramp(0, 1, 512)] = 1:u8x512\n}").front() ==
        DiagKind::codegen_lanes);
  CHECK(kinds_of("func @memcpy() {\n}") == Kinds{DiagKind::codegen_name});
  CHECK(kinds_of("func @drawloom_x() {\n}") == Kinds{DiagKind::codegen_name});
  CHECK(kinds_of("func @f() {\n}\nfunc @f_argv() {\n}") == Kinds{DiagKind::codegen_name});
  CHECK(kinds_of("func @f() {\ncheck 1 < 0 \"no_such_code\" \"m\"\n}") == Kinds{DiagKind::codegen_error_code});
  CHECK(kinds_of("func @f() {\nallocate %a: u8[2000000] stack\n}") == Kinds{DiagKind::codegen_stack});
  CHECK(kinds_of("func @f(out %o: buffer<u8, 1>) {\nallocate %a: u8[4] register\nparallel for %i = 0 : 4 {\nstore "
                 "%a[0] = 1:u8\n}\n}") == Kinds{DiagKind::codegen_register});
}

TEST_CASE("a definition's access is no lowered code", "[codegen][limits]") {
  const FuncDecl func("g");
  const BufferRef out = make_buffer("out", float_type(32), 1, MemoryKind::Argument);
  const Expr access(make_ref<const Access>(float_type(32), &func, Ref<const FuncDecl>(), 0, ExprList{}, Loc()));
  Program p{"f", {BufferArgument{out, ArgumentRole::Output}}, store(out, {index_imm(0)}, access), true};
  CHECK(kinds_of(std::vector<Program>{p}) == Kinds{DiagKind::codegen_node});
}

TEST_CASE("registers far apart are no gather and no scatter", "[codegen][limits]") {
  const auto programs = parse_all(R"(
func @f(%in: buffer<f32, 1>, out %out: buffer<f32, 1>, %n: index) {
  allocate %window: f32[40] register
  let %r = ramp(0, 1, 8)
  store %window[ramp(0, 5, 8); mask %r < broadcast(%n, 8)] = %in[%r]
  store %out[%r; mask %r < broadcast(%n, 8)] = %window[ramp(0, 5, 8)] + %window[ramp(35, -5, 8)]
})");
  for (const int level : {1, 2, 3, 4}) CHECK(generate_code(programs, x86_64_target(level), CodeKind::Object).ok());
}

constexpr const char* kBlur = R"(
func @blur3(%in: buffer<u16, 1>, %scale: f32, out %out: buffer<u16, 1>) {
  parallel for %p = 0 : 2 {
    allocate %t: u16[extent(%out, 0)] heap
    for %x = 0 : extent(%out, 0) {
      store %t[%x] = (%in[%x] + %in[%x + 1] + %in[%x + 2]) / 3:u16
    }
    if %p == 0 {
      for %x = 0 : (extent(%out, 0) + 15) / 16 {
        let %r = ramp(%x * 16, 1, 16)
        let %m = %r < broadcast(extent(%out, 0), 16)
        store %out[%r; mask %m] = cast<u16x16>(round(exp(cast<f32x16>(%t[%r; mask %m]) * broadcast(%scale, 16))))
      }
    }
  }
})";

auto assembly(std::string_view text, const Target& target) -> std::string {
  return generate_code(parse_all(text), target, CodeKind::Assembly).or_throw();
}
auto has(const std::string& text, std::string_view word) -> bool { return text.find(word) != std::string::npos; }

TEST_CASE("same input, same bytes", "[codegen][object]") {
  for (const char* target : {"x86-64", "x86-64-v3", "x86-64-v4"}) {
    const Target t = parse_target(target).or_throw();
    const std::string a = generate_code(parse_all(kBlur), t, CodeKind::Object).or_throw();
    const std::string b = generate_code(parse_all(kBlur), t, CodeKind::Object).or_throw();
    CHECK(a == b);
    CHECK(a.substr(0, 4) ==
          "\x7f"
          "ELF");
  }
}

TEST_CASE("good instructions for common shapes", "[codegen][object]") {
  const char* third = R"(
func @f(%in: buffer<u16, 1>, out %out: buffer<u16, 1>) {
  store %out[ramp(0, 1, 16)] = %in[ramp(0, 1, 16)] / 3:u16x16
})";
  const std::string v3 = assembly(third, x86_64_target(3));
  CHECK(has(v3, "vpmulhuw"));
  CHECK(has(v3, "vpsrlw\t$1, %ymm"));
  CHECK_FALSE(has(v3, "div"));
  const std::string v1 = assembly(third, x86_64_target(1));
  CHECK(has(v1, "pmulhuw"));
  CHECK_FALSE(has(v1, "ymm"));

  const char* wide = R"(
func @f(%in: buffer<f32, 1>, %n: i64, out %out: buffer<f32, 1>) {
  let %m = ramp(0, 1, 16) < broadcast(cast<index>(%n), 16)
  store nontemporal %out[ramp(0, 1, 16)] = %in[ramp(0, 1, 16)] + 1.0:f32x16
  store %out[ramp(16, 1, 16); mask %m] = %in[ramp(0, 1, 16); mask %m] + 1.0:f32x16
  store_fence
})";
  const std::string v4 = assembly(wide, x86_64_target(4));
  CHECK(has(v4, "%zmm"));
  CHECK(has(v4, "{%k1}"));
  CHECK(has(v4, "vmovntps"));
  CHECK(has(v4, "sfence"));
  const std::string v3_wide = assembly(wide, x86_64_target(3));
  CHECK_FALSE(has(v3_wide, "%zmm"));
  CHECK(has(v3_wide, "vmaskmovps"));

  // What flatten_storage makes of a row of a picture is one dense vector.
  const char* flat = R"(
func @f(%in: buffer<u16, 2>, %y: i64, out %out: buffer<u16, 1>) {
  let %x = ramp(3, 1, 16)
  store %out[ramp(0, 1, 16)] = %in[(%x - broadcast(min(%in, 0), 16)) * 1:indexx16 + (broadcast(cast<index>(%y), 16) - broadcast(min(%in, 1), 16)) * broadcast(stride(%in, 1), 16)]
})";
  const std::string dense = assembly(flat, x86_64_target(3));
  CHECK_FALSE(has(dense, "vpinsrw"));
  CHECK(has(dense, "vmovups"));

  // A table asked by bytes: offsets stay as narrow as they were computed, and the rest of the subscript is one address.
  const char* table = R"(
func @f(%in: buffer<u8, 1>, %table: buffer<f32, 1>, %n: i64, out %out: buffer<f32, 1>) {
  store %out[ramp(0, 1, 16)] = %table[cast<indexx16>(%in[ramp(0, 1, 16)]) + broadcast(cast<index>(%n) - min(%table, 0), 16)]
})";
  const std::string by_lane = assembly(table, x86_64_target(3));
  CHECK_FALSE(has(by_lane, "vpmovzxbq"));
  CHECK_FALSE(has(by_lane, "vpaddq"));
  CHECK(has(by_lane, "vpextrb"));
  const std::string gathered = assembly(table, x86_64_target(4));
  CHECK(has(gathered, "vpmovzxbd"));
  CHECK(has(gathered, "vgatherdps"));

  // Rows at symbolic strides: in the inner loop, one pointer per row and one offset for all. No test of alignment in
  // front of the store, no product of strides, nothing reloaded.
  const char* rows = R"(
func @f(%in: buffer<u16, 2>, %n: i64, %m: i64, out %out: buffer<u16, 2>) {
  for %y = 0 : cast<index>(%m) {
    for %x = 0 : cast<index>(%n) {
      let %at = min(%out, 0) + %x * 16 - 1 - min(%in, 0) + (min(%out, 1) + %y * 2 - min(%in, 1)) * stride(%in, 1)
      let %next = %at + stride(%in, 1)
      store nontemporal %out[ramp(%x * 16 + %y * stride(%out, 1), 1, 16)] = %in[ramp(%at, 1, 16)] + %in[ramp(%at + 2, 1, 16)] + %in[ramp(%next, 1, 16)]
    }
  }
  store_fence
})";
  const std::string inner = inner_loop(assembly(rows, x86_64_target(3)), "vmovntdq");
  INFO(inner);
  CHECK(has(inner, "vpaddw\t2("));
  CHECK(count(inner, "\n\tj") == 1);
  CHECK(has(inner.substr(inner.rfind('\t')), inner.substr(1, inner.find(':') - 1)));
  CHECK_FALSE(has(inner, "imul"));
  CHECK_FALSE(has(inner, "(%rsp)"));
  CHECK(count(inner, "\n") <= 11);

  const char* fused = R"(
func @f(%a: buffer<f32, 1>, out %out: buffer<f32, 1>) {
  store %out[ramp(0, 1, 8)] = fma(%a[ramp(0, 1, 8)], %a[ramp(8, 1, 8)], %a[ramp(16, 1, 8)])
})";
  CHECK(has(assembly(fused, x86_64_target(3)), "vfmadd"));
  const char* separate = R"(
func @f(%a: buffer<f32, 1>, out %out: buffer<f32, 1>) {
  store %out[ramp(0, 1, 8)] = %a[ramp(0, 1, 8)] * %a[ramp(8, 1, 8)] + %a[ramp(16, 1, 8)]
})";
  CHECK_FALSE(has(assembly(separate, x86_64_target(3)), "vfmadd"));
}

TEST_CASE("LLVM's text before and after its passes", "[codegen][object]") {
  const char* text =
      "func @f(out %out: buffer<i32, 1>) {\nallocate %r: i32[1] register\nstore %r[0] = 2:i32\nstore %out[0] = %r[0] + "
      "3:i32\n}";
  CHECK(has(generate_code(parse_all(text), x86_64_target(1), CodeKind::RawLlvmIr).or_throw(), "register.r"));
  const std::string after = generate_code(parse_all(text), x86_64_target(1), CodeKind::LlvmIr).or_throw();
  CHECK_FALSE(has(after, "register.r"));
  CHECK(has(after, "store i32 5"));
}

TEST_CASE("accesses under constant masks are plain", "[codegen][object]") {
  // Lane 0 alone is stored. LLVM's masked store would be one of the 8 bytes before the cast, with AVX-512.
  const char* text = R"(
func @f(%a: buffer<u64, 1>, out %out: buffer<u32, 1>) {
  #1 = ramp(0, 1, 4) <= 0:indexx4
  store %out[ramp(0, 1, 4); mask #1] = cast<u32x4>(%a[ramp(0, 1, 4); mask #1])
  #2 = ramp(0, 1, 8) % broadcast(4, 8) != broadcast(3, 8)
  store %out[ramp(8, 1, 8); mask #2] = cast<u32x8>(%a[ramp(8, 1, 8); mask #2])
})";
  for (int level = 3; level <= 4; ++level) {  // below a function with a loop over lanes stands there
    const std::string after = generate_code(parse_all(text), x86_64_target(level), CodeKind::LlvmIr).or_throw();
    INFO(after);
    CHECK_FALSE((has(after, "call void @llvm.masked") || has(after, "call <4 x i64> @llvm.masked") ||
                 has(after, "call <8 x i64> @llvm.masked")));
    CHECK(has(after, "store i32"));
    CHECK(has(after, "store <3 x i32>"));
  }
}

/// Runs a shell command; its output, or a failed test.
auto shell(const std::string& command) -> std::string {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe);
  std::string out;
  char buffer[256];
  while (fgets(buffer, sizeof buffer, pipe)) out += buffer;
  const int status = pclose(pipe);
  INFO(command << "\n" << out);
  REQUIRE(status == 0);
  return out;
}

constexpr const char* kMain = R"(
#include <stdio.h>
#include "blur3.h"

int main(void) {
  uint16_t in[37], out[35];
  for (int i = 0; i < 37; i++) in[i] = (uint16_t)(30 * i);
  drawloom_buffer_t a, b;
  drawloom_dim_t da[1], db[1];
  const int64_t na[] = {37}, nb[] = {35};
  const drawloom_type_t u16 = {drawloom_type_uint, 16, 1};
  drawloom_buffer_init(&a, in, u16, 1, da, na);
  drawloom_buffer_init(&b, out, u16, 1, db, nb);
  int code = blur3(NULL, &a, 0.005f, &b);
  for (int i = 0; i < 35; i++) printf("%d ", out[i]);
  printf("%d\n", code);
  return blur3(NULL, NULL, 0.0f, &b) == drawloom_error_buffer_null ? 0 : 1;
}
)";

TEST_CASE("a C program links the static library and needs nothing but C", "[codegen][object]") {
  namespace fs = std::filesystem;
  char name[] = "/tmp/drawloom_aot_XXXXXX";
  REQUIRE(mkdtemp(name));
  const fs::path dir = name;
  auto write = [&](const char* file, const std::string& bytes) {
    std::ofstream(dir / file, std::ios::binary) << bytes;
  };
  const auto programs = parse_all(kBlur);
  const std::string object = generate_code(programs, host_target(), CodeKind::Object).or_throw();
  write("blur3.o", object);
  write("libblur3.a", make_archive({{"blur3.o", object}}));
  write("blur3.h", c_header(programs, "blur3"));
  write("main.c", kMain);

  std::set<std::string> needed;
  std::istringstream symbols(shell(str("nm -u {}", (dir / "blur3.o").string())));
  for (std::string letter, symbol; symbols >> letter >> symbol;) needed.insert(symbol);
  CHECK(needed == std::set<std::string>{"drawloom_default_context", "expf", "memcpy"});

  const std::string in = dir.string();
  shell(str("gcc -std=c11 -Wall -Werror -I{} -I{} {}/main.c {}/libblur3.a {} -lgomp -lm -o {}/main", in,
            DRAWLOOM_RUNTIME_INCLUDE, in, in, DRAWLOOM_RUNTIME_LIBRARY, in));
  std::string expected;
  for (int i = 0; i < 35; i++)
    expected += str("{} ", static_cast<int>(std::nearbyint(std::exp(static_cast<float>(30 * (i + 1)) * 0.005f))));
  const std::string out = shell(str("({}/main 2>/dev/null)", in));
  CHECK(out == expected + "0\n");
  shell(str("g++ -fsyntax-only -x c++ -I{} -include {}/blur3.h /dev/null", DRAWLOOM_RUNTIME_INCLUDE, in));
  fs::remove_all(dir);
}

}  // namespace
}  // namespace drawloom
