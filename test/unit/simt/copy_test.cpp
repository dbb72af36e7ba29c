/// TMA, bulk copies and cp.async.

#include "kernel.h"

using namespace drawloom;

namespace {

const std::string kInit = "if %t == 0 {\ninit %bar[0] count 1\nfence mbarrier_init\n}\nsync block\n";

auto load_kernel(const std::string& coordinates, const std::string& bytes = "512", const std::string& init = kInit)
    -> Kernel {
  return {.body = init + "if %t == 0 {\narrive %bar[0] count 1 bytes " + bytes +
                  "\nissue \"tma.load.2d\" (&%s[0], %m, &%bar[0], " + coordinates +
                  ")\n}\nwait %bar[0] parity 0\nfor %k = 0 : 4 {\nstore %out[%t + 32 * %k] = %s[%t + 32 * %k]\n}",
          .maps = "tensor_map %m = %in[0] dims (20, 10) strides (20) box (16, 8)\n"};
}

/// What lies at (x, y) of the tensor above.
auto tensor_at(int64_t x, int64_t y) -> double {
  return x < 0 || x >= 20 || y < 0 || y >= 10 ? 0 : static_cast<double>((x + 20 * y) % 251 - 125);
}

}  // namespace

TEST_CASE("a box is loaded, filled with zeros outside, and counted whole", "[simt]") {
  for (const auto& [x, y] : std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {-4, -2}, {8, 5}, {28, 3}, {-16, 0}}) {
    const Kernel k = load_kernel(str("{}, {}", x, y));
    keeps(k);
    const auto r = run_kernel(k);
    for (int64_t i = 0; i < 128; ++i) CHECK(r.out.at({i}).f == tensor_at(x + i % 16, y + i / 16));
  }
}

TEST_CASE("a copy over what a thread has read needs its proxy fence", "[simt]") {
  const auto twice = [](const std::string& fence, const std::string& sync) {
    Kernel k = load_kernel("0, 0");
    k.body += "\n" + fence + sync +
              "if %t == 0 {\narrive %bar[0] count 1 bytes 512\nissue \"tma.load.2d\" (&%s[0], %m, &%bar[0], 4, 1)\n}" +
              "\nwait %bar[0] parity 1\nfor %k = 0 : 4 {\nstore %out[%t + 32 * %k] = %s[%t + 32 * %k]\n}";
    return k;
  };
  const Kernel right = twice("fence proxy_shared\n", "sync block\n");
  keeps(right);
  const auto r = run_kernel(right);
  for (int64_t i = 0; i < 128; ++i) CHECK(r.out.at({i}).f == tensor_at(4 + i % 16, 1 + i / 16));
  breaks(twice("", "sync block\n"), DiagKind::device_race,
         "a proxy fence by the reader before it says that it is done");
  breaks(twice("fence proxy_shared\n", ""), DiagKind::device_race, "writes");
  breaks(twice("fence proxy_global\n", "sync block\n"), DiagKind::device_race, "a proxy fence by the reader");
}

TEST_CASE("a copy whose bytes are not those expected", "[simt]") {
  breaks(load_kernel("0, 0", "513"), DiagKind::device_deadlock, "0 of 1 arrivals and 1 bytes");
  breaks(load_kernel("0, 0", "511"), DiagKind::device_protocol, "1 bytes more than it expects");
}

TEST_CASE("a copy needs a barrier that its agent sees", "[simt]") {
  breaks(load_kernel("0, 0", "512", "if %t == 0 {\ninit %bar[0] count 1\n}\nsync block\n"), DiagKind::device_protocol,
         "counts a copy without `fence mbarrier_init`");
  Kernel nobody = load_kernel("0, 0");
  nobody.body =
      kInit + "if %t == 0 {\narrive %bar[0] count 1 bytes 512\nissue \"tma.load.2d\" (&%s[0], %m, &%bar[0], 0, 0)\n}";
  breaks(nobody, DiagKind::device_protocol, "ends while");
  Kernel early = load_kernel("0, 0");
  early.body.replace(early.body.find("wait %bar[0] parity 0\n"), 22, "");
  caught(early);
}

TEST_CASE("a copy must lie at a multiple of 128 bytes", "[simt]") {
  Kernel k = load_kernel("0, 0");
  k.body.replace(k.body.find("&%s[0]"), 6, "&%s[4]");
  breaks(k, DiagKind::device_protocol, "aligned to 128 bytes");
}

namespace {

struct StoreKernel {
  std::string fence = "fence proxy_shared\n", sync = "sync warp\n", commit = "commit bulk\n",
              wait = "wait_group bulk_read 0\n", sync_again = "sync warp\n";
  std::string coordinates = "0, 2 * %k", last = "wait_group bulk 0\n";

  auto kernel() const -> Kernel {
    return {.body = "for %k = 0 : 3 {\nstore %s[%t] = %in[%t + 32 * %k]\n" + fence + sync +
                    "elect {\nissue \"tma.store.2d\" (%m, &%s[0], " + coordinates + ")\n" + commit + wait + "}\n" +
                    sync_again + "}\nelect {\n" + last + "}",
            .maps = "tensor_map %m = %out[0] dims (12, 6) strides (12) box (16, 2)\n"};
  }
};

}  // namespace

TEST_CASE("a box starts at a multiple of 16 bytes in its rows", "[simt]") {
  for (const char* at : {"-3, 0", "1, 0", "30, 3"}) {
    breaks(load_kernel(at), DiagKind::device_protocol, "starts within 16 bytes: legal are multiples of 4");
  }
  Kernel k = StoreKernel().kernel();
  k.body.replace(k.body.find("(%m, &%s[0], 0, "), 16, "(%m, &%s[0], 2, ");
  breaks(k, DiagKind::device_protocol, "at 2 in dimension 0");
}

TEST_CASE("a store does not hang over the lower ends", "[simt]") {
  StoreKernel s;
  s.coordinates = "0, 2 * %k - 1";
  breaks(s.kernel(), DiagKind::device_protocol, "at -1 in dimension 1, below 0");
  s.coordinates = "0, 2 * %k + 1";
  keeps(s.kernel());
}

TEST_CASE("swizzles move 16 bytes within their rows", "[simt]") {
  for (const int span : {32, 64, 128}) {
    // Row r of the box lies at span * r; its piece c of 16 bytes at c xor some bits of the address.
    const int columns = span / 4, rows = 8;
    const Kernel k{
        .body =
            kInit +
            str("if %t == 0 {{\narrive %bar[0] count 1 bytes {}\nissue \"tma.load.2d\" (&%s[0], %m, &%bar[0], 0, "
                "0)\n}}\nwait %bar[0] parity 0\nfor %k = 0 : {} {{\nstore %out[%t + 32 * %k] = %s[%t + 32 * %k]\n}}",
                span * rows, span * rows / 128),
        .maps =
            str("tensor_map %m = %in[0] dims (64, 32) strides (64) box ({}, {}) swizzle {}\n", columns, rows, span)};
    keeps(k);
    const auto r = run_kernel(k);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t x = 0; x < columns; ++x) {
        const int64_t chunk = x / 4;
        const int64_t moved = span == 128 ? chunk ^ row : span == 64 ? chunk ^ row / 2 : chunk ^ row / 4;
        CHECK(r.out.at({row * columns + moved * 4 + x % 4}).f == static_cast<double>((x + 64 * row) % 251 - 125));
      }
    }
  }
}

TEST_CASE("tensor maps that the hardware refuses", "[simt]") {
  const auto with = [](const std::string& map) {
    Kernel k = load_kernel("0, 0");
    k.maps = "tensor_map %m = " + map + "\n";
    return k;
  };
  breaks(with("%in[1] dims (20, 10) strides (20) box (16, 8)"), DiagKind::device_protocol, "base is not aligned");
  breaks(with("%in[0] dims (20, 10) strides (19) box (16, 8)"), DiagKind::device_protocol,
         "stride of dimension 1 is 76 bytes");
  breaks(with("%in[0] dims (20, 10) strides (20) box (15, 8)"), DiagKind::device_protocol, "60 bytes");
  breaks(with("%in[0] dims (20, 0) strides (20) box (16, 8)"), DiagKind::device_protocol, "dimension 1 has 0 elements");
  breaks(with("%in[0] dims (20, 10) strides (20) box (16, 8) swizzle 32"), DiagKind::device_protocol,
         "more than its swizzle of 32");
  // Beyond the memory of the argument.
  breaks(with("%in[4080] dims (20, 10) strides (20) box (16, 8)"), DiagKind::device_out_of_bounds, "reads");
}

TEST_CASE("a box is stored, clipped", "[simt]") {
  const Kernel k = StoreKernel().kernel();
  keeps(k);
  const auto r = run_kernel(k);
  for (int64_t y = 0; y < 6; ++y) {
    for (int64_t x = 0; x < 12; ++x) CHECK(r.out.at({x + 12 * y}).f == static_cast<double>((x + 16 * y) % 251 - 125));
  }
  CHECK(r.out.at({72}).f == 0);
}

TEST_CASE("a store of a box that ends within 16 bytes of a row overwrites what lies behind it", "[simt]") {
  Kernel k = StoreKernel().kernel();
  k.maps = "tensor_map %m = %out[0] dims (13, 6) strides (16) box (16, 2)\n";
  breaks(k, DiagKind::device_protocol, "writes whole pieces of 16 bytes, but rows of tensor map m have 52 bytes");
  // Boxes that stay inside the row do not reach its end.
  k.maps = "tensor_map %m = %out[0] dims (18, 6) strides (20) box (16, 2)\n";
  keeps(k);
}

TEST_CASE("a shared address has the block's rank in the cluster above its 24 bits", "[simt]") {
  const Kernel k{.body =
                     "if %t == 0 {\nstore %out[%b] = cast<f32>(&%s[3] >> 24:u32)\nstore %out[4 + %b] = "
                     "cast<f32>(&%s[3] & 16777215:u32)\n}",
                 .blocks = 4,
                 .cluster = " cluster 2, 1, 1"};
  keeps(k);
  const auto r = run_kernel(k);
  for (int64_t b = 0; b < 4; ++b) {
    CHECK(r.out.at({b}).f == static_cast<double>(b % 2));
    CHECK(r.out.at({4 + b}).f == 12);
  }
}

TEST_CASE("a store of a box without one of its parts", "[simt]") {
  breaks(StoreKernel{.fence = ""}.kernel(), DiagKind::device_race, "proxy fence");
  breaks(StoreKernel{.sync = ""}.kernel(), DiagKind::device_race, "`s[");
  caught(StoreKernel{.wait = ""}.kernel());
  caught(StoreKernel{.commit = ""}.kernel());
  breaks(StoreKernel{.sync_again = ""}.kernel(), DiagKind::device_race, "`s[");
  caught(StoreKernel{.wait = "wait_group bulk_read 1\n"}.kernel());
  keeps(StoreKernel{.last = ""}.kernel());  // memory is safe once it has been read; the rest ends with the launch
  Kernel last = StoreKernel().kernel();
  last.body =
      "store %s[%t] = %in[%t]\nfence proxy_shared\nsync warp\nelect {\nissue \"tma.store.2d\" (%m, &%s[0], 0, "
      "0)\ncommit bulk\n}";
  breaks(last, DiagKind::device_protocol, "may still read shared memory");
  // Two boxes on one place.
  breaks(StoreKernel{.coordinates = "0, %k"}.kernel(), DiagKind::device_race, "`out`");
}

TEST_CASE("bulk copies", "[simt]") {
  const auto body = [](const std::string& bytes, const std::string& wait) {
    return kInit + "elect {\narrive %bar[0] count 1 bytes 128\nissue \"bulk.load\" (&%s[0], &%in[32], " + bytes +
           ", &%bar[0])\n" + wait +
           "issue \"bulk.store\" (&%out[64], &%s[0], 128:u32)\ncommit bulk\nwait_group bulk 0\n}";
  };
  const std::string wait = "wait %bar[0] parity 0\n";
  keeps({.body = body("128:u32", wait)});
  const auto r = run_kernel({.body = body("128:u32", wait)});
  for (int64_t i = 0; i < 32; ++i) CHECK(r.out.at({64 + i}).f == static_cast<double>((32 + i) % 251 - 125));
  caught({.body = body("128:u32", "")});
  breaks({.body = body("120:u32", wait)}, DiagKind::device_protocol, "multiple of 16");
}

TEST_CASE("cp.async fills, and is waited for in groups", "[simt]") {
  const auto body = [](const std::string& commit, const std::string& wait, const std::string& sync) {
    return "for %k = 0 : 2 {\nissue \"cp_async.16\" (&%s[4 * %t + 128 * %k], &%in[4 * %t + 128 * %k], select(%t == 31, "
           "8:u32, 16:u32))\n" +
           commit + "}\n" + wait + sync +
           "for %j = 0 : 4 {\nstore %out[%t + 32 * %j] = %s[127 - (%t + 32 * %j)]\n}\nwait_group cp_async 0";
  };
  const Kernel k{.body = body("commit cp_async\n", "wait_group cp_async 1\n", "sync warp\n")};
  keeps(k);
  const auto r = run_kernel(k);
  for (int64_t i = 0; i < 128; ++i) CHECK(r.out.at({127 - i}).f == (i >= 126 ? 0 : static_cast<double>(i % 251 - 125)));
  for (const auto& [commit, wait, sync] :
       std::vector<std::array<std::string, 3>>{{"", "wait_group cp_async 1\n", "sync warp\n"},
                                               {"commit cp_async\n", "", "sync warp\n"},
                                               {"commit cp_async\n", "wait_group cp_async 2\n", "sync warp\n"},
                                               {"commit cp_async\n", "wait_group cp_async 1\n", ""}}) {
    caught({.body = body(commit, wait, sync)});
  }
}

TEST_CASE("cp.async may arrive at an mbarrier", "[simt]") {
  const auto body = [](const std::string& count) {
    return "if %t == 0 {\ninit %bar[0] count " + count +
           "\n}\nsync block\nif %t < 32 {\nissue \"cp_async.4\" (&%s[%t], &%in[%t], 4:u32)\nissue \"cp_async.arrive\" "
           "(&%bar[0])\n} else {\nwait %bar[0] parity 0\nstore %out[%t] = %s[63 - %t]\n}";
  };
  keeps({.body = body("32"), .threads = 64});
  breaks({.body = body("33"), .threads = 64}, DiagKind::device_deadlock, "lacks 1 of 33 arrivals");
  caught({.body = body("31"), .threads = 64});
}

TEST_CASE("multicast loads each block's part into all", "[simt]") {
  const auto body = [](const std::string& bytes, const std::string& last) {
    return "if %t == 0 {\ninit %bar[0] count 1\nfence mbarrier_init\n}\nsync cluster\nif %t == 0 {\narrive %bar[0] "
           "count 1 bytes " +
           bytes +
           "\nissue \"tma.load.1d.multicast\" (&%s[32 * %b], %m, &%bar[0], 3:u16, 32 * %b)\n}\nwait %bar[0] parity "
           "0\nstore %out[%t + 64 * %b] = %s[%t]\nstore %out[%t + 32 + 64 * %b] = %s[%t + 32]\n" +
           last;
  };
  const auto kernel = [&](const std::string& text) {
    return Kernel{.body = text,
                  .blocks = 2,
                  .maps = "tensor_map %m = %in[0] dims (64) strides () box (32)\n",
                  .cluster = " cluster 2, 1, 1"};
  };
  keeps(kernel(body("256", "")));
  const auto r = run_kernel(kernel(body("256", "")));
  for (int64_t i = 0; i < 128; ++i) CHECK(r.out.at({i}).f == static_cast<double>(i % 64 - 125));
  caught(kernel(body("128", "sync cluster")));
}

TEST_CASE("atoms move vectors and shuffle lanes", "[simt]") {
  const auto r = run_kernel({.body = R"(
    allocate %v: f32[4] register
    allocate %o: f32[1] register
    issue "load.global.v4.f32" (&%v[0], &%in[4 * %t])
    issue "store.shared.v4.f32" (&%s[4 * %t], &%v[0])
    sync warp
    issue "load.shared.v4.f32" (&%v[0], &%s[4 * (31 - %t)])
    issue "store.global.v4.f32" (&%out[4 * %t], &%v[0])
    issue "shuffle.xor.f32" (&%o[0], %in[%t], 5)
    store %out[128 + %t] = %o[0]
    issue "shuffle.up.f32" (&%o[0], %in[%t], 3)
    store %out[160 + %t] = %o[0]
    issue "shuffle.down.f32" (&%o[0], %in[%t], 3)
    store %out[192 + %t] = %o[0]
    issue "shuffle.from.f32" (&%o[0], %in[%t], 9)
    store %out[224 + %t] = %o[0])"});
  for (const auto& e : r.report.errors) FAIL(e.text());
  const auto in = [](int64_t i) { return static_cast<double>(i % 251 - 125); };
  for (int64_t t = 0; t < 32; ++t) {
    for (int64_t k = 0; k < 4; ++k) CHECK(r.out.at({4 * t + k}).f == in(4 * (31 - t) + k));
    CHECK(r.out.at({128 + t}).f == in(t ^ 5));
    CHECK(r.out.at({160 + t}).f == in(t < 3 ? t : t - 3));
    CHECK(r.out.at({192 + t}).f == in(t > 28 ? t : t + 3));
    CHECK(r.out.at({224 + t}).f == in(9));
  }
  breaks({.body = "allocate %v: f32[4] register\nissue \"load.global.v4.f32\" (&%v[0], &%in[4 * %t + 1])"},
         DiagKind::device_protocol, "aligned to 16 bytes", 2);
  breaks({.body = "allocate %v: f32[4] register\nissue \"store.global.v4.f32\" (&%out[4 * %t], &%v[0])"},
         DiagKind::device_uninitialised, "`v`", 2);
  const auto stream = [](const std::string& name) {
    return "allocate %v: f32[4] register\nstore %out[%t] = 1:f32\nsync warp\nissue \"" + name +
           "\" (&%v[0], &%out[%t / 4 * 4])\nstore %out[64 + %t] = %v[3]";
  };
  keeps({.body = stream("load.global.v4.f32")});
  breaks({.body = stream("load.stream.v4.f32")}, DiagKind::device_protocol, "as if it never changed", 4);
}
