// Guard pages, poison, failing allocations and counts. Whether an address faults is asked of the kernel: a write from
// it into a pipe returns an error instead of ending the process.
#include <unistd.h>

#include <cstring>
#include <string>

#include "catch2/catch.hpp"
#include "drawloom/runtime_testing.h"
#include "listening_context.h"

namespace {

/// A test context for the length of a scope.
class TestContext {
 public:
  explicit TestContext(uint32_t allocator = drawloom_test_guard_end, uint8_t poison = 0x7f, int64_t fail_malloc = 0) {
    drawloom_test_options_t options = {};
    options.allocator = allocator;
    options.poison = poison;
    options.fail_malloc = fail_malloc;
    ctx_ = drawloom_test_context_create(&options);
    REQUIRE(ctx_);
  }
  ~TestContext() { drawloom_test_context_destroy(ctx_); }
  TestContext(const TestContext&) = delete;
  TestContext& operator=(const TestContext&) = delete;

  unsigned char* get(uint64_t bytes, uint64_t align = 0) {
    return static_cast<unsigned char*>(ctx_->table->malloc(ctx_, bytes, align));
  }
  void put(void* block) { ctx_->table->free(ctx_, block); }
  drawloom_test_report_t report() { return drawloom_test_report(ctx_); }
  drawloom_context_t* context() { return ctx_; }

 private:
  drawloom_context_t* ctx_;
};

bool readable(const unsigned char* at) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const bool result = write(ends[1], at, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return result;
}

bool all_are(const unsigned char* block, size_t bytes, unsigned char value) {
  for (size_t i = 0; i < bytes; i++) {
    if (block[i] != value) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the page behind a block faults", "[runtime]") {
  TestContext ctx;
  for (const uint64_t bytes : {64u, 640u, 4096u, 4160u, 64u * 1001}) {
    unsigned char* block = ctx.get(bytes);
    CAPTURE(bytes);
    CHECK(readable(block + bytes - 1));
    CHECK_FALSE(readable(block + bytes));
    CHECK_FALSE(readable(block - 4096));  // at most a page's rest before it
    ctx.put(block);
  }
  CHECK(ctx.report().damaged_blocks == 0);
}

TEST_CASE("the page before a block faults", "[runtime]") {
  TestContext ctx(drawloom_test_guard_start);
  for (const uint64_t bytes : {1u, 100u, 4096u, 5000u}) {
    unsigned char* block = ctx.get(bytes);
    CAPTURE(bytes);
    CHECK(readable(block));
    CHECK_FALSE(readable(block - 1));
    CHECK(readable(block + bytes - 1));
    CHECK_FALSE(readable(block + bytes + 4095));
    ctx.put(block);
  }
}

TEST_CASE("guarded blocks are aligned", "[runtime]") {
  for (const uint32_t allocator : {drawloom_test_guard_end, drawloom_test_guard_start, drawloom_test_pool}) {
    TestContext ctx(allocator);
    for (const uint64_t align : {0u, 64u, 256u, 4096u, 65536u}) {
      for (const uint64_t bytes : {0u, 1u, 100u, 4097u, 70000u}) {
        unsigned char* block = ctx.get(bytes, align);
        CAPTURE(allocator, align, bytes);
        REQUIRE(block);
        CHECK(reinterpret_cast<uintptr_t>(block) % (align < 64 ? 64 : align) == 0);
        memset(block, 1, bytes);
        ctx.put(block);
      }
    }
    CHECK(ctx.report().damaged_blocks == 0);
    CHECK(ctx.report().live_blocks == 0);
  }
}

TEST_CASE("new blocks hold the poison", "[runtime]") {
  for (const uint32_t allocator : {drawloom_test_guard_end, drawloom_test_guard_start, drawloom_test_pool}) {
    for (const unsigned char poison : {0x00, 0x7f, 0xcc}) {
      TestContext ctx(allocator, poison);
      unsigned char* block = ctx.get(5000);
      CHECK(all_are(block, 5000, poison));
      memset(block, 1, 5000);
      ctx.put(block);
      unsigned char* again = ctx.get(5000);
      CHECK(all_are(again, 5000, poison));
      ctx.put(again);
    }
  }
}

TEST_CASE("a freed guarded block faults", "[runtime]") {
  TestContext ctx;
  unsigned char* block = ctx.get(5000);
  ctx.put(block);
  CHECK_FALSE(readable(block));
  // Also after many more: its addresses are not handed out at once.
  for (int i = 0; i < 100; i++) ctx.put(ctx.get(5000));
  CHECK_FALSE(readable(block));
}

TEST_CASE("a freed block of the pool holds the complement", "[runtime]") {
  TestContext ctx(drawloom_test_pool, 0x7f);
  unsigned char* block = ctx.get(50000);
  ctx.put(block);
  // It is idle in the default pool, so it comes back from there, as it was left.
  drawloom_context_t* plain = drawloom_default_context();
  auto* again = static_cast<unsigned char*>(plain->table->malloc(plain, 50000, 0));
  REQUIRE(again == block);
  CHECK(all_are(again, 50000, 0x80));
  plain->table->free(plain, again);
}

TEST_CASE("writes just outside a block are found when it is freed", "[runtime]") {
  TestContext ctx;
  unsigned char* after = ctx.get(100);  // 28 bytes remain up to the alignment
  after[100] = 1;
  ctx.put(after);
  CHECK(ctx.report().damaged_blocks == 1);
  unsigned char* before = ctx.get(128);
  before[-1] = 1;
  ctx.put(before);
  CHECK(ctx.report().damaged_blocks == 2);
  unsigned char* inside = ctx.get(100);
  memset(inside, 1, 100);
  ctx.put(inside);
  CHECK(ctx.report().damaged_blocks == 2);
}

TEST_CASE("frees of what is not a live block are counted", "[runtime]") {
  for (const uint32_t allocator : {drawloom_test_guard_end, drawloom_test_pool}) {
    TestContext ctx(allocator);
    unsigned char* block = ctx.get(100);
    ctx.put(block + 64);
    CHECK(ctx.report().wrong_frees == 1);
    CHECK(ctx.report().live_blocks == 1);
    ctx.put(block);
    ctx.put(block);
    CHECK(ctx.report().wrong_frees == 2);
    ctx.put(nullptr);
    CHECK(ctx.report().wrong_frees == 2);
    CHECK(ctx.report().live_blocks == 0);
  }
}

TEST_CASE("the n-th malloc fails, once", "[runtime]") {
  TestContext ctx(drawloom_test_guard_end, 0, 3);
  CHECK(ctx.get(10));
  CHECK(ctx.get(10));
  CHECK(ctx.get(10) == nullptr);
  CHECK(ctx.get(10));
  CHECK(ctx.report().mallocs == 4);
  CHECK(ctx.report().live_blocks == 3);
}

TEST_CASE("sizes that no system has give null", "[runtime]") {
  for (const uint32_t allocator : {drawloom_test_guard_end, drawloom_test_guard_start, drawloom_test_pool}) {
    TestContext ctx(allocator);
    CHECK(ctx.get(UINT64_MAX) == nullptr);
    CHECK(ctx.get(UINT64_MAX - 5000, 4096) == nullptr);
    CHECK(ctx.get(100, 96) == nullptr);
    CHECK(ctx.report().mallocs == 3);
    CHECK(ctx.report().live_blocks == 0);
  }
}

TEST_CASE("blocks leaked by a pipeline are reported and then freed", "[runtime]") {
  const uint64_t before = drawloom_memory_stats().live_blocks;
  {
    TestContext ctx(drawloom_test_pool);
    ctx.get(5000);
    ctx.get(6000);
    CHECK(ctx.report().live_blocks == 2);
    CHECK(drawloom_memory_stats().live_blocks == before + 2);
  }
  CHECK(drawloom_memory_stats().live_blocks == before);
}

TEST_CASE("errors are counted and kept", "[runtime]") {
  TestContext ctx;
  const drawloom_buffer_check_t spec = {"blur", "in", kUint8, 1, 0, 0};
  CHECK(ctx.context()->table->check_buffer(ctx.context(), nullptr, &spec) == drawloom_error_buffer_null);
  CHECK(ctx.report().errors == 1);
  char message[drawloom_message_bytes];
  CHECK(drawloom_last_error(ctx.context(), message, sizeof message) == drawloom_error_buffer_null);
  CHECK(std::string(message) == "blur: buffer in: the buffer is null");
}

TEST_CASE("tasks in several threads share a test context", "[runtime]") {
  drawloom_test_options_t options = {};
  options.par_for = drawloom_test_pthread;
  options.num_threads = 4;
  options.fail_malloc = 150;
  drawloom_context_t* ctx = drawloom_test_context_create(&options);
  const auto task = [](drawloom_context_t* at, int64_t index, void*) -> int {
    void* block = at->table->malloc(at, 100, 0);
    if (!block) {
      const drawloom_site_t site = {"blur", "by", nullptr, nullptr};
      return at->table->fail(at, drawloom_error_out_of_memory, &site, 100, 0, 0, 0);
    }
    memset(block, static_cast<int>(index), 100);
    at->table->free(at, block);
    return 0;
  };
  CHECK(ctx->table->par_for(ctx, task, 0, 1000, nullptr) == drawloom_error_out_of_memory);
  const drawloom_test_report_t report = drawloom_test_report(ctx);
  CHECK(report.live_blocks == 0);
  CHECK(report.damaged_blocks == 0);
  CHECK(report.errors == 1);
  CHECK(report.mallocs >= 150);
  CHECK(report.mallocs <= 1000);  // how soon the others hear of the failure is up to the scheduler
  drawloom_test_context_destroy(ctx);
  drawloom_pthread_pool_stop();
}
