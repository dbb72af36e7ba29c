// Names, words, and the ways of an error. The words of each code were written here first.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "drawloom/device.h"
#include "listening_context.h"

namespace {

/// What `fail` says for a code, with operands that are all different.
std::string words(int code, drawloom_site_t site = {"blur", "in", "TEXT", nullptr}) {
  ListeningContext ctx;
  REQUIRE(ctx.table->fail(&ctx, code, &site, 11, -22, 33, 44) == code);
  REQUIRE(ctx.count == 1);
  REQUIRE(ctx.code == code);
  return ctx.message;
}

}  // namespace

TEST_CASE("every code says its words", "[runtime]") {
  CHECK(words(drawloom_error_buffer_null) == "blur: buffer in: TEXT is null");
  CHECK(words(drawloom_error_wrong_rank) == "blur: buffer in: needs -22 dimensions, has 11");
  CHECK(words(drawloom_error_wrong_type) == "blur: buffer in: needs elements of type ?, has TEXT");
  CHECK(words(drawloom_error_bad_extent) == "blur: buffer in, dimension 11: the extent is -22, needs 0 or more");
  CHECK(words(drawloom_error_out_of_bounds) == "blur: buffer in, dimension 11: needs ?, has TEXT");
  CHECK(words(drawloom_error_size_overflow) ==
        "blur: buffer in, dimension 11: too large to address (min -22, extent 33, stride 44)");
  CHECK(words(drawloom_error_alias) == "blur: buffer in shares memory with buffer ?");
  CHECK(words(drawloom_error_self_alias) ==
        "blur: buffer in: some of its elements share memory, and it is written to (look at its strides)");
  CHECK(words(drawloom_error_misaligned) == "blur: buffer in: the host address is not a multiple of 11 bytes");
  CHECK(words(drawloom_error_not_multiple) ==
        "blur: buffer in, dimension 11: the extent is -22, needs a multiple of 33 (tail=round_up)");
  CHECK(words(drawloom_error_host_stale) ==
        "blur: buffer in: the newest data is on the device, copy it to the host first (drawloom_to_host)");
  CHECK(words(drawloom_error_param_out_of_range) == "blur: parameter in: needs a value in ?, has TEXT");
  CHECK(words(drawloom_error_out_of_memory) == "blur: no memory for in (11 bytes)");
  CHECK(words(drawloom_error_subscript_out_of_range) == "blur: subscript 11 of in is -22, needs a value in [33, 44]");
  CHECK(words(drawloom_error_constraint_failed) == "blur: needs TEXT, has 11 on the left and -22 on the right");
  CHECK(words(drawloom_error_requirement_failed) == "blur: TEXT");
  CHECK(words(drawloom_error_internal) == "blur: internal error: TEXT");
}

TEST_CASE("every code of devices says its words", "[runtime]") {
  CHECK(words(drawloom_error_no_driver) ==
        "blur: no CUDA driver: TEXT; it takes an NVIDIA GPU with a driver for CUDA 12.0 or newer");
  CHECK(words(drawloom_error_old_driver) == "blur: the CUDA driver is too old: TEXT");
  CHECK(words(drawloom_error_no_device) == "blur: no CUDA device: TEXT");
  CHECK(words(drawloom_error_driver_failed) == "blur: in: TEXT");
  CHECK(words(drawloom_error_device_out_of_memory) == "blur: no device memory for in (11 bytes)");
  CHECK(words(drawloom_error_kernel_failed) == "blur: kernel in failed on the device: TEXT");
  CHECK(words(drawloom_error_kernels_not_loaded) == "blur: its kernels cannot run on in: TEXT");
  CHECK(words(drawloom_error_bad_launch) == "blur: kernel in: TEXT is 11, needs ?");
  CHECK(words(drawloom_error_bad_tensor_dimension) == "blur: tensor map of in, dimension 11: TEXT is -22, needs ?");
  CHECK(words(drawloom_error_bad_tensor_map) == "blur: tensor map of in: TEXT is -22, needs ?");
  CHECK(words(drawloom_error_both_copies_newer) ==
        "blur: buffer in was changed on the host and on the device, so neither copy is the newest");
  CHECK(words(drawloom_error_wrong_device) == "blur: buffer in: its device copy is TEXT");
  CHECK(words(drawloom_error_not_device_memory) == "blur: TEXT is no device memory that was allocated here");
  CHECK(words(drawloom_error_kernel_timeout) == "blur: kernel in has not ended within 11 ms");
}

TEST_CASE("a number that is no code still gives a message", "[runtime]") {
  CHECK(words(4711) == "blur: error of an unknown kind: TEXT");
  CHECK(std::string(drawloom_error_name(4711)) == "unknown");
  CHECK(std::string(drawloom_error_name(-1)) == "unknown");
}

TEST_CASE("codes have names of their own, in the order of their numbers", "[runtime]") {
  CHECK(std::string(drawloom_error_name(drawloom_ok)) == "ok");
  CHECK(std::string(drawloom_error_name(drawloom_error_out_of_memory)) == "out_of_memory");
  std::set<std::string> names;
  const int last = drawloom_error_kernel_timeout;
  for (int code = 1; code <= last; code++) names.insert(drawloom_error_name(code));
  CHECK(names.size() == last);
  CHECK(names.count("unknown") == 0);
}

TEST_CASE("a site with a location puts it in front", "[runtime]") {
  CHECK(words(drawloom_error_requirement_failed, {"blur", nullptr, "sigma must be odd", "blur.cpp:41"}) ==
        "blur.cpp:41: blur: sigma must be odd");
}

TEST_CASE("absent words are a question mark and braces in words are left alone", "[runtime]") {
  CHECK(words(drawloom_error_buffer_null, {nullptr, nullptr, nullptr, nullptr}) == "?: buffer ?: ? is null");
  CHECK(words(drawloom_error_requirement_failed, {"{a}", nullptr, "{name} %s", nullptr}) == "{a}: {name} %s");
}

TEST_CASE("integers are printed to their ends", "[runtime]") {
  ListeningContext ctx;
  const drawloom_site_t site = {"p", "b", nullptr, nullptr};
  ctx.table->fail(&ctx, drawloom_error_size_overflow, &site, 0, INT64_MIN, INT64_MAX, -1);
  CHECK(ctx.message ==
        "p: buffer b, dimension 0: too large to address (min -9223372036854775808, extent 9223372036854775807, "
        "stride -1)");
}

TEST_CASE("a message that is too long ends in dots", "[runtime]") {
  const std::string just_fits(drawloom_message_bytes - 1 - 3, 'x');  // "p: " and the terminator are the rest
  CHECK(words(drawloom_error_requirement_failed, {"p", nullptr, just_fits.c_str(), nullptr}) == "p: " + just_fits);
  const std::string too_long = just_fits + "yz";
  CHECK(words(drawloom_error_requirement_failed, {"p", nullptr, too_long.c_str(), nullptr}) ==
        "p: " + just_fits.substr(3) + "...");
  // Also when words follow that find no room at all.
  CHECK(words(drawloom_error_buffer_null, {"p", too_long.c_str(), nullptr, nullptr}).size() ==
        drawloom_message_bytes - 1);
}

TEST_CASE("the context keeps the newest error until it is cleared", "[runtime]") {
  ListeningContext ctx;
  char out[64] = "unchanged";
  CHECK(drawloom_last_error(&ctx, out, sizeof out) == 0);
  CHECK(std::string(out) == "");
  CHECK(ctx.table->error(&ctx, 3, "first") == 3);
  CHECK(ctx.table->error(&ctx, 5, "second") == 5);
  CHECK(drawloom_last_error(&ctx, out, sizeof out) == 5);
  CHECK(std::string(out) == "second");
  CHECK(drawloom_last_error(&ctx, out, 4) == 5);
  CHECK(std::string(out) == "sec");
  CHECK(drawloom_last_error(&ctx, nullptr, 0) == 5);
  drawloom_clear_error(&ctx);
  CHECK(drawloom_last_error(&ctx, out, sizeof out) == 0);
  CHECK(std::string(out) == "");
}

TEST_CASE("without a callback an error is one line on stderr", "[runtime]") {
  drawloom_context_t ctx;
  drawloom_context_init(&ctx, nullptr, nullptr);
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  fflush(stderr);
  const int saved = dup(STDERR_FILENO);
  dup2(pipe_ends[1], STDERR_FILENO);
  ctx.table->error(&ctx, drawloom_error_alias, "blur: words");
  fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(pipe_ends[1]);
  char out[256];
  const ssize_t length = read(pipe_ends[0], out, sizeof out);
  close(pipe_ends[0]);
  REQUIRE(length > 0);
  CHECK(std::string(out, static_cast<size_t>(length)) == "blur: words [alias]\n");
}

TEST_CASE("a callback may ask for the last error", "[runtime]") {
  drawloom_context_t ctx;
  int seen = 0;
  drawloom_context_init(&ctx, nullptr, &seen);
  ctx.on_error = [](drawloom_context_t* at, int, const char*) {
    *static_cast<int*>(at->user) = drawloom_last_error(at, nullptr, 0);
  };
  ctx.table->error(&ctx, 9, "x");
  CHECK(seen == 9);
}

TEST_CASE("errors from several threads leave one whole message", "[runtime]") {
  drawloom_context_t ctx;
  drawloom_context_init(&ctx, nullptr, nullptr);
  ctx.on_error = drawloom_on_error_quiet;
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; t++) {
    threads.emplace_back([&ctx, t] {
      const std::string message(static_cast<size_t>(100 * t), static_cast<char>('a' + t));
      for (int i = 0; i < 200; i++) ctx.table->error(&ctx, t, message.c_str());
    });
  }
  for (std::thread& thread : threads) thread.join();
  char out[drawloom_message_bytes];
  const int code = drawloom_last_error(&ctx, out, sizeof out);
  REQUIRE(code >= 1);
  CHECK(std::string(out) == std::string(static_cast<size_t>(100 * code), static_cast<char>('a' + code)));
}

TEST_CASE("the default context is one and has the default table", "[runtime]") {
  CHECK(drawloom_default_context() == drawloom_default_context());
  CHECK(drawloom_default_context()->table == drawloom_default_table());
  const drawloom_runtime_table_t* table = drawloom_default_table();
  CHECK(table->version == drawloom_table_version);
  CHECK(table->size == sizeof(drawloom_runtime_table_t));
  CHECK(table->device == drawloom_cuda_table());
  CHECK(table->par_for == drawloom_par_for_openmp);
  const drawloom_trace_event_t event = {};
  CHECK(table->trace(drawloom_default_context(), &event) == 0);
}

TEST_CASE("a context starts clean, whatever was there", "[runtime]") {
  drawloom_context_t ctx;
  memset(&ctx, 0xab, sizeof ctx);
  drawloom_runtime_table_t table = *drawloom_default_table();
  int user = 0;
  drawloom_context_init(&ctx, &table, &user);
  CHECK(ctx.table == &table);
  CHECK(ctx.user == &user);
  CHECK(ctx.on_error == nullptr);
  CHECK(ctx.num_threads == 0);
  CHECK(drawloom_last_error(&ctx, nullptr, 0) == 0);
}

TEST_CASE("a table's own error function hears of checks too", "[runtime]") {
  drawloom_runtime_table_t table = *drawloom_default_table();
  table.error = [](drawloom_context_t* ctx, int code, const char* message) {
    *static_cast<std::string*>(ctx->user) = message;
    return code + 1000;
  };
  std::string heard;
  drawloom_context_t ctx;
  drawloom_context_init(&ctx, &table, &heard);
  const drawloom_buffer_check_t spec = {"blur", "in", kUint8, 1, 0, 0};
  CHECK(table.check_buffer(&ctx, nullptr, &spec) == drawloom_error_buffer_null + 1000);
  CHECK(heard == "blur: buffer in: the buffer is null");
}
