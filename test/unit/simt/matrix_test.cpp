/// Tensor cores: descriptors, fragments, groups and fences.

#include <cmath>

#include "kernel.h"

using namespace drawloom;

namespace {

/// Small whole numbers that tell rows, columns and neighbours apart; every sum of 64 products is exact.
auto a_at(int64_t i, int64_t k) -> double { return static_cast<double>((i * 7 + k * 3) % 11 - 5); }
auto b_at(int64_t j, int64_t k) -> double { return static_cast<double>((j * 5 + k * 2 + j * k % 3) % 9 - 4); }

auto product(int64_t i, int64_t j, int64_t depth) -> double {
  double sum = 0;
  for (int64_t k = 0; k < depth; ++k) sum += a_at(i, k) * b_at(j, k);
  return sum;
}

/// One warpgroup: d(64 x n) = a(64 x depth) b(n x depth). The tiles are written by ordinary stores, each element where
/// `place_a` and `place_b`, of (row, k), put it.
struct Product {
  int n = 16, depth = 16;
  std::string place_a = "(%r / 8) * 256 + (%k / 8) * 128 + %r % 8 * 16 + %k % 8 * 2", place_b = place_a;
  std::string desc_a = "(16:u64 << 32:u64) + (8:u64 << 16:u64)", desc_b = desc_a;
  std::string step_a = "0:u64", step_b = "0:u64";  ///< added to the descriptor for k = 16
  int trans_a = 0, trans_b = 0;
  std::string proxy = "fence proxy_shared\n", fence = "fence wgmma\n", commit = "commit wgmma\n",
              wait = "wait_group wgmma 0\n";
  std::string use = "false", before = "", after = "";

  auto text() const -> std::string {
    std::string out = str(
        "drawloom-ir 1\n\nfunc @k(%A: buffer<f16, 2>, %B: buffer<f16, 2>, out %D: buffer<f32, 2>) {{\n  launch \"k\" "
        "shared 65536 {{\n    block for %bx = 0 : 1 {{\n"
        "thread for %t = 0 : 128 {{\nallocate %sa: f16[16384] shared at 0\nallocate %sb: f16[16384] shared at 32768\n");
    const auto fill = [&](const std::string& rows, const std::string& from, const std::string& to,
                          const std::string& place) {
      out +=
          str("for %n = 0 : {} * {} / 128 {{\nlet %r = (%n * 128 + %t) / {}\nlet %k = (%n * 128 + %t) % {}\nstore "
              "{}[({}) / 2] = {}[%k, %r]\n}}\n",
              rows, depth, depth, depth, to, place, from);
    };
    fill("64", "%A", "%sa", place_a);
    fill(str("{}", n), "%B", "%sb", place_b);
    out += proxy + "sync block\n" + str("allocate %acc: f32[{}] register\n", n / 2) + before + fence;
    for (int step = 0; step < depth / 16; ++step) {
      const std::string at = step == 0 ? "0:u64" : "";
      out +=
          str("issue \"wgmma.m64n{}k16.f32.f16\" (&%acc[0], (cast<u64>(&%sa[0]) >> 4:u64) + {} + {}, "
              "(cast<u64>(&%sb[0]) >> 4:u64) + {} + {}, {}, {}, {})\n",
              n, desc_a, step == 0 ? "0:u64" : step_a, desc_b, step == 0 ? "0:u64" : step_b, step == 0 ? use : "true",
              trans_a, trans_b);
    }
    out += commit + after + wait;
    for (int k = 0; k < n / 2; ++k) {
      out += str("store %D[{} + 2 * (%t % 4), 16 * (%t / 32) + %t % 32 / 4 + {}] = %acc[{}]\n", 8 * (k / 4) + k % 2,
                 8 * (k / 2 % 2), k);
    }
    return out + "}\n}\n}\n}\n";
  }
};

auto run_product(const Product& p, const SimOptions& o = {}) -> Ran {
  Array a = make_array(float_type(16), {{.extent = p.depth}, {.extent = 64}}),
        b = make_array(float_type(16), {{.extent = p.depth}, {.extent = p.n}});
  for (int64_t k = 0; k < p.depth; ++k) {
    for (int64_t i = 0; i < 64; ++i) a.set({k, i}, float_value(float_type(16), a_at(i, k)));
    for (int64_t j = 0; j < p.n; ++j) b.set({k, j}, float_value(float_type(16), b_at(j, k)));
  }
  Ran out{.report = {}, .out = make_array(float_type(32), {{.extent = p.n}, {.extent = 64}})};
  out.report = simulate(parsed(p.text()), {{.array = &a}, {.array = &b}, {.array = &out.out}}, o).or_throw();
  return out;
}

void right(const Product& p) {
  for (const auto& o : all_options()) {
    const auto r = run_product(p, o);
    for (const auto& e : r.report.errors) FAIL(e.text());
    for (int64_t i = 0; i < 64; ++i) {
      for (int64_t j = 0; j < p.n; ++j) REQUIRE(r.out.at({j, i}).f == product(i, j, p.depth));
    }
  }
}
void wrong(const Product& p, DiagKind kind, const std::string& words) {
  for (const auto& o : all_options()) {
    const auto r = run_product(p, o);
    REQUIRE_FALSE(r.report.clean());
    const auto& e = r.report.errors[0];
    INFO(e.text());
    CHECK(e.name() == diag_name(kind));
    CHECK(e.text().find(words) != std::string::npos);
  }
}

/// Rows of `span` bytes of k, whose pieces of 16 bytes lie at their number xor some bits of the row.
auto swizzled_rows(int span, const std::string& xor_bits) -> std::string {
  return str("%r * {} + ((%k / 8) ^ ({})) * 16 + %k % 8 * 2", span, xor_bits);
}

}  // namespace

TEST_CASE("wgmma on unswizzled cores of 8 rows by 16 bytes", "[simt]") {
  right({});
  right({.n = 40});
}

TEST_CASE("wgmma on swizzled rows, several steps along k", "[simt]") {
  const std::string a128 = "(1:u64 << 62:u64) + (64:u64 << 32:u64) + (1:u64 << 16:u64)";
  right({.n = 32,
         .depth = 32,
         .place_a = "%r * 128 + ((%k / 8) ^ (%r % 8)) * 16 + %k % 8 * 2",
         .desc_a = a128,
         .step_a = "2:u64",
         .step_b = "2:u64"});
  const std::string a64 = "(2:u64 << 62:u64) + (32:u64 << 32:u64) + (1:u64 << 16:u64)";
  right({.n = 24,
         .depth = 32,
         .place_a = swizzled_rows(64, "%r / 2 % 4"),
         .desc_a = a64,
         .step_a = "2:u64",
         .step_b = "2:u64"});
  const std::string a32 = "(3:u64 << 62:u64) + (16:u64 << 32:u64) + (1:u64 << 16:u64)";
  right({.n = 8, .place_a = swizzled_rows(32, "%r / 4 % 2"), .desc_a = a32});
  // A swizzle that the data does not have gives another product, and no error.
  const auto r = run_product({.desc_a = "(3:u64 << 62:u64) + (16:u64 << 32:u64) + (1:u64 << 16:u64)"});
  CHECK(r.report.clean());
  bool same = true;
  for (int64_t i = 0; i < 64; ++i) same = same && r.out.at({3, i}).f == product(i, 3, 16);
  CHECK_FALSE(same);
}

TEST_CASE("wgmma on operands whose rows are contiguous", "[simt]") {
  // 64 rows by 8 k make 1024 bytes: k at 128, 8 rows in a piece of 16 bytes, xor k.
  const std::string place =
      "(%r / 64) * 2048 + (%k / 8) * 1024 + %k % 8 * 128 + ((%r % 64 / 8) ^ (%k % 8)) * 16 + %r % 8 * 2";
  const std::string desc = "(1:u64 << 62:u64) + (64:u64 << 32:u64) + (128:u64 << 16:u64)";
  right({.n = 128, .place_a = place, .desc_a = desc, .trans_a = 1, .trans_b = 1});
  // Unswizzled: 8 rows by 8 k make 128 bytes.
  right({.n = 16,
         .place_a = "(%r / 8) * 256 + (%k / 8) * 128 + %k % 8 * 16 + %r % 8 * 2",
         .desc_a = "(16:u64 << 32:u64) + (8:u64 << 16:u64)",
         .trans_a = 1,
         .trans_b = 1});
}

TEST_CASE("wgmma without one of its parts", "[simt]") {
  wrong({.proxy = ""}, DiagKind::device_race, "proxy fence");
  wrong({.fence = ""}, DiagKind::device_protocol, "written since the last `fence wgmma`");
  wrong({.commit = ""}, DiagKind::device_protocol, "while a wgmma writes it");
  wrong({.wait = ""}, DiagKind::device_protocol, "while a wgmma writes it");
  wrong({.wait = "wait_group wgmma 1\n"}, DiagKind::device_protocol, "while a wgmma writes it");
  wrong({.use = "true"}, DiagKind::device_uninitialised, "`acc[0]`");
  wrong({.after = "store %acc[3] = 0:f32\n"}, DiagKind::device_protocol, "writes `acc[3]` while a wgmma writes it");
  wrong({.before = "if %t < 32 {\nfence wgmma\n}\nif %t < 16 {\nfence wgmma\n}\n"}, DiagKind::device_protocol,
        "16 of its 32");
  // The tile is overwritten while it may be read.
  for (const auto& o : all_options())
    CHECK_FALSE(run_product({.after = "store %sa[%t] = %A[0, 0]\n"}, o).report.clean());
  right({.before = "store %acc[0] = 1:f32\n"});
}

TEST_CASE("the warps of a warpgroup issue alike", "[simt]") {
  wrong({.use = "warp_uniform(%t / 32) == 0"}, DiagKind::device_protocol, "ran this with other operands");
  wrong({.use = "%t % 2 == 0"}, DiagKind::device_protocol, "operand use differs among the lanes");
  wrong({.before = "for %i = 0 : 8 {\nstore %acc[%i] = 0:f32\n}\nif warp_uniform(%t / 32) == 0 {\n", .after = "}\n"},
        DiagKind::device_deadlock, "other warps of its warpgroup have not issued all");
}

namespace {

/// a from registers: register j of lane l holds row l / 4 + 8 (j % 2), k 2 (l % 4) + 8 (j / 2) and the next.
auto from_registers(const std::string& fence, const std::string& after) -> std::string {
  std::string text = Product{.n = 16}.text();
  const size_t issue = text.find("fence wgmma"), end = text.find("commit wgmma");
  std::string packs = "allocate %a: u32[4] register\n";
  for (int j = 0; j < 4; ++j) {
    const std::string at = str("{} + 2 * (%t % 4)", 8 * (j / 2)),
                      row = str("16 * (%t / 32) + %t % 32 / 4 + {}", 8 * (j % 2));
    packs +=
        str("issue \"pack.f16\" (&%a[{}], cast<f32>(%A[{}, {}]), cast<f32>(%A[{} + 1, {}]))\n", j, at, row, at, row);
  }
  return text.substr(0, issue) + packs + fence +
         "issue \"wgmma.m64n16k16.f32.f16.registers\" (&%acc[0], &%a[0], (cast<u64>(&%sb[0]) >> 4:u64) + (16:u64 << "
         "32:u64) + (8:u64 << 16:u64), false, 0)\n" +
         after + text.substr(end);
}
auto run_text(const std::string& text, const SimOptions& o) -> Ran {
  Array a = make_array(float_type(16), {{.extent = 16}, {.extent = 64}}),
        b = make_array(float_type(16), {{.extent = 16}, {.extent = 16}});
  for (int64_t k = 0; k < 16; ++k) {
    for (int64_t i = 0; i < 64; ++i) a.set({k, i}, float_value(float_type(16), a_at(i, k)));
    for (int64_t j = 0; j < 16; ++j) b.set({k, j}, float_value(float_type(16), b_at(j, k)));
  }
  Ran out{.report = {}, .out = make_array(float_type(32), {{.extent = 16}, {.extent = 64}})};
  out.report = simulate(parsed(text), {{.array = &a}, {.array = &b}, {.array = &out.out}}, o).or_throw();
  return out;
}

}  // namespace

TEST_CASE("wgmma with a from registers", "[simt]") {
  for (const auto& o : all_options()) {
    const auto r = run_text(from_registers("fence wgmma\n", ""), o);
    for (const auto& e : r.report.errors) FAIL(e.text());
    for (int64_t i = 0; i < 64; ++i) {
      for (int64_t j = 0; j < 16; ++j) CHECK(r.out.at({j, i}).f == product(i, j, 16));
    }
    CHECK_FALSE(run_text(from_registers("", ""), o).report.clean());
    CHECK_FALSE(run_text(from_registers("fence wgmma\n", "store %a[2] = 0:u32\n"), o).report.clean());
  }
}

TEST_CASE("mma, ldmatrix and stmatrix agree on fragments", "[simt]") {
  // a: 16 rows of 16, b: 8 rows of 16, in shared memory as rows; d through registers.
  const std::string text = R"(drawloom-ir 1

func @k(%A: buffer<f16, 2>, %B: buffer<f16, 2>, out %D: buffer<f32, 2>, out %C: buffer<f16, 2>) {
  launch "k" shared 2048 {
    block for %bx = 0 : 1 {
      thread for %t = 0 : 32 {
        allocate %sa: f16[16, 16] shared at 0
        allocate %sb: f16[16, 8] shared at 512
        allocate %sc: f16[8, 8] shared at 1024
        for %n = 0 : 8 {
          store %sa[(%n * 32 + %t) % 16, (%n * 32 + %t) / 16] = %A[(%n * 32 + %t) % 16, (%n * 32 + %t) / 16]
        }
        for %n = 0 : 4 {
          store %sb[(%n * 32 + %t) % 16, (%n * 32 + %t) / 16] = %B[(%n * 32 + %t) % 16, (%n * 32 + %t) / 16]
        }
        sync warp
        allocate %a: u32[4] register
        allocate %b: u32[4] register
        allocate %d: f32[4] register
        allocate %p: u32[1] register
        issue "ldmatrix.x4" (&%a[0], &%sa[8 * (%t / 16), %t % 16])
        issue "ldmatrix.x2" (&%b[0], &%sb[8 * (%t % 16 / 8), %t % 8])
        for %i = 0 : 4 {
          store %d[%i] = 1:f32
        }
        issue "mma.m16n8k16.f32.f16" (&%d[0], &%a[0], &%b[0])
        for %i = 0 : 4 {
          store %D[2 * (%t % 4) + %i % 2, %t / 4 + 8 * (%i / 2)] = %d[%i]
        }
        issue "pack.f16" (&%p[0], %d[0], %d[1])
        issue "stmatrix.x1" (&%sc[0, %t % 8], &%p[0])
        sync warp
        for %i = 0 : 2 {
          store %C[%t % 8, %t / 8 + 4 * %i] = %sc[%t % 8, %t / 8 + 4 * %i]
        }
      }
    }
  }
}
)";
  Array a = make_array(float_type(16), {{.extent = 16}, {.extent = 16}}),
        b = make_array(float_type(16), {{.extent = 16}, {.extent = 8}});
  for (int64_t k = 0; k < 16; ++k) {
    for (int64_t i = 0; i < 16; ++i) a.set({k, i}, float_value(float_type(16), a_at(i, k)));
    for (int64_t j = 0; j < 8; ++j) b.set({k, j}, float_value(float_type(16), b_at(j, k)));
  }
  Array d = make_array(float_type(32), {{.extent = 8}, {.extent = 16}}),
        c = make_array(float_type(16), {{.extent = 8}, {.extent = 8}});
  const auto r = simulate(parsed(text), {{.array = &a}, {.array = &b}, {.array = &d}, {.array = &c}}).or_throw();
  for (const auto& e : r.errors) FAIL(e.text());
  for (int64_t i = 0; i < 16; ++i) {
    for (int64_t j = 0; j < 8; ++j) {
      CHECK(d.at({j, i}).f == 1 + product(i, j, 16));
      if (i < 8) CHECK(c.at({j, i}).f == 1 + product(i, j, 16));
    }
  }
}
