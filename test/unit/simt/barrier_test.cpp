/// Mbarriers, clusters and the register pool.

#include "kernel.h"

using namespace drawloom;

namespace {

const std::string kInit =
    "if %t == 0 {\ninit %bar[0] count 1\ninit %bar[1] count 1\nfence mbarrier_init\n}\nsync block\n";

/// Warp 0 writes a slot of shared memory five times, warp 1 reads it; they hand it to each other.
struct Handover {
  std::string write_wait = "wait %bar[1] parity (%k + 1) % 2\n", write_sync = "sync warp\n",
              full = "elect {\narrive %bar[0] count 1\n}\n";
  std::string read_wait = "wait %bar[0] parity %k % 2\n", read_sync = "sync warp\n",
              free = "elect {\narrive %bar[1] count 1\n}\n";

  auto kernel() const -> Kernel {
    return {.body = kInit + "if warp_uniform(%t / 32) == 0 {\nfor %k = 0 : 5 {\n" + write_wait +
                    "store %s[%t] = %in[%t + %k]\n" + write_sync + full + "}\n} else {\nfor %k = 0 : 5 {\n" +
                    read_wait + "store %out[%t - 32 + 32 * %k] = %s[63 - %t]\n" + read_sync + free + "}\n}",
            .threads = 64};
  }
};

}  // namespace

TEST_CASE("two warps hand a slot to each other", "[simt]") {
  const Kernel good = Handover().kernel();
  keeps(good);
  const auto r = run_kernel(good, {.order = WarpOrder::random, .seed = 3});
  for (int64_t k = 0; k < 5; ++k) {
    for (int64_t t = 0; t < 32; ++t) CHECK(r.out.at({t + 32 * k}).f == static_cast<double>(31 - t + k - 125));
  }
}

TEST_CASE("a handover without one of its parts", "[simt]") {
  breaks(Handover{.write_sync = ""}.kernel(), DiagKind::device_race, "`s[");
  breaks(Handover{.read_sync = ""}.kernel(), DiagKind::device_race, "`s[");
  breaks(Handover{.full = ""}.kernel(), DiagKind::device_deadlock, "waits for the phase of parity");
  breaks(Handover{.free = ""}.kernel(), DiagKind::device_deadlock, "`bar[1]`");
  breaks(Handover{.full = "elect {\narrive %bar[0] count 2\n}\n"}.kernel(), DiagKind::device_protocol,
         "2 arrivals at `bar[0]`, whose phase 0 lacks only 1 of 1");
  breaks(Handover{.full = "elect {\narrive %bar[0] count 1 bytes 4\n}\n"}.kernel(), DiagKind::device_deadlock,
         "0 of 1 arrivals and 4 bytes");
  for (const auto& o : all_options()) {
    // Which of the two is seen first depends on the order; that one is, does not.
    CHECK_FALSE(run_kernel(Handover{.write_wait = ""}.kernel(), o).report.clean());
    CHECK_FALSE(run_kernel(Handover{.read_wait = ""}.kernel(), o).report.clean());
    CHECK_FALSE(run_kernel(Handover{.write_wait = "wait %bar[1] parity %k % 2\n"}.kernel(), o).report.clean());
    CHECK_FALSE(run_kernel(Handover{.read_wait = "wait %bar[0] parity (%k + 1) % 2\n"}.kernel(), o).report.clean());
  }
}

TEST_CASE("a waiter may be one phase behind, not two", "[simt]") {
  const auto body = [](int rounds) {
    return kInit + "if warp_uniform(%t / 32) == 0 {\nelect {\nwait %bar[0] parity 1\nfor %k = 0 : " + to_text(rounds) +
           " {\narrive %bar[0] count 1\n}\n}\nsync block\n} else {\nwait %bar[0] parity 1\nsync block\nwait %bar[0] "
           "parity 0\n}";
  };
  keeps({.body = "if %t == 0 {\ninit %bar[0] count 1\n}\nsync block\nwait %bar[0] parity 1\nsync block\nelect {\nif %t "
                 "== 0 {\narrive %bar[0] count 1\n}\n}\nsync block\nwait %bar[0] parity 0",
         .threads = 64});
  const auto r =
      run_kernel({.body = "if %t == 0 {\ninit %bar[0] count 1\n}\nsync warp\nwait %bar[0] parity 1\nsync warp\nelect "
                          "{\narrive %bar[0] count 1\narrive %bar[0] count 1\n}\nsync warp\nwait %bar[0] parity 0"});
  REQUIRE(r.report.errors.size() == 1);
  CHECK(r.report.errors[0].text().find("no longer tells them apart") != std::string::npos);
  CHECK_FALSE(body(1).empty());
}

TEST_CASE("an mbarrier is initialised once, and before its use", "[simt]") {
  breaks({.body = "if %t == 0 {\narrive %bar[0] count 1\n}"}, DiagKind::device_protocol, "before it is initialised", 2);
  breaks({.body = "init %bar[0] count 1"}, DiagKind::device_protocol, "initialises `bar[0]` again", 1);
  breaks({.body = "if %t == 0 {\ninit %bar[0] count 0\n}"}, DiagKind::device_protocol, "0 arrivals", 2);
  for (const auto& o : all_options()) {
    const auto r = run_kernel(
        {.body =
             "if %t == 0 {\ninit %bar[0] count 1\narrive %bar[0] count 1\n}\nif %t == 32 {\nwait %bar[0] parity 0\n}",
         .threads = 64},
        o);
    CHECK_FALSE(r.report.clean());
  }
  breaks({.body = "if %t == 0 {\ninit %bar[0] count 1\n}\nsync block\nwait %bar[0] parity 2"},
         DiagKind::device_protocol, "parity 2", 5);
}

TEST_CASE("arrivals at the barrier of another block", "[simt]") {
  // Block 1 tells block 0 that it is done with the first; both leave together.
  const auto body = [](const std::string& fence, const std::string& sync, const std::string& last) {
    return "if %t == 0 {\ninit %bar[0] count 1\n" + fence + "}\n" + sync +
           "if %b == 1 {\nelect {\narrive %bar[0] count 1 rank 0\n}\n} else {\nwait %bar[0] parity 0 cluster\n}\n" +
           last;
  };
  const std::string cluster = " cluster 2, 1, 1";
  const auto kernel = [&](const std::string& text) { return Kernel{.body = text, .blocks = 2, .cluster = cluster}; };
  keeps(kernel(body("fence mbarrier_init\n", "sync cluster\n", "sync cluster\n")));
  keeps(kernel(body("fence mbarrier_init\n", "sync cluster_arrive\nsync cluster_wait\n", "")));
  breaks(kernel(body("", "sync cluster\n", "")), DiagKind::device_protocol, "fence mbarrier_init");
  breaks(kernel(body("fence mbarrier_init\n", "sync block\n", "")), DiagKind::device_protocol, "`bar[0]`");
  breaks(kernel("sync cluster_arrive\nsync cluster_arrive"), DiagKind::device_protocol, "twice", 2);
  breaks(kernel("sync cluster_wait"), DiagKind::device_protocol, "without having arrived", 1);
  // A block may not end before it has been told: neither when it has, nor when it happens not to have.
  breaks(kernel("if %t == 0 {\ninit %bar[0] count 1\nfence mbarrier_init\n}\nsync cluster\nif %b == 1 {\nelect "
                "{\narrive %bar[0] count 1 rank 0\n}\n}"),
         DiagKind::device_protocol, "end");
  // Without `cluster` the waiter has not seen what the other block did.
  breaks(kernel("if %t == 0 {\ninit %bar[0] count 1\nfence mbarrier_init\n}\nsync cluster\nif %b == 1 {\nelect "
                "{\narrive %bar[0] count 1 rank 0\n}\n} else {\nwait %bar[0] parity 0\n}"),
         DiagKind::device_protocol, "may still arrive");
}

TEST_CASE("registers are taken from what others gave back", "[simt]") {
  const auto body = [](const std::string& load, const std::string& math) {
    return kInit + "roles {\nrole \"load\" warps 4 as %l {\n" + load + "}\nrole \"math\" warps 4 as %m {\n" + math +
           "}\n}";
  };
  const auto kernel = [&](const std::string& load, const std::string& math) {
    return Kernel{.body = body(load, math), .threads = 256, .attributes = " registers 128"};
  };
  const std::string wait = "wait %bar[0] parity 0\n", arrive = "if %m == 0 {\narrive %bar[0] count 1\n}\n";
  keeps(kernel("set_registers 24\n" + wait, "set_registers 232\n" + arrive));
  // The loader gives back only when the others have what they wait for.
  breaks(kernel(wait + "set_registers 24\n", "set_registers 232\n" + arrive), DiagKind::device_deadlock,
         "104 more for each of 32 threads, 0 are free");
  breaks(kernel("if warp_uniform(%l / 32) == 0 {\nset_registers 24\n}\n", ""), DiagKind::device_protocol,
         "its warpgroup ran this and it did not");
}

TEST_CASE("a block that fits no multiprocessor", "[simt]") {
  const auto r = run_kernel({.body = "store %out[%t] = 1:f32", .threads = 1024, .attributes = " registers 128"});
  REQUIRE_FALSE(r.report.clean());
  CHECK(r.report.errors[0].text().find("1024 threads with 128 registers") != std::string::npos);
}
