// The default allocator. Its counters are the process's, so each case compares before and after.
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "listening_context.h"

namespace {

constexpr uint64_t kMebibyte = 1 << 20;

void* get(uint64_t bytes, uint64_t align = 0) {
  drawloom_context_t* ctx = drawloom_default_context();
  return ctx->table->malloc(ctx, bytes, align);
}

void put(void* block) {
  drawloom_context_t* ctx = drawloom_default_context();
  ctx->table->free(ctx, block);
}

bool aligned(const void* block, uint64_t align) { return reinterpret_cast<uintptr_t>(block) % align == 0; }

/// Starts with nothing idle and the first cap, and leaves it so.
struct CleanPool {
  CleanPool() {
    drawloom_release_memory();
    drawloom_set_memory_cap(256 * kMebibyte);
  }
  ~CleanPool() {
    drawloom_release_memory();
    drawloom_set_memory_cap(256 * kMebibyte);
  }
};

}  // namespace

TEST_CASE("blocks are aligned and writable to their ends", "[runtime]") {
  const CleanPool clean;
  for (const uint64_t bytes : {0ull, 1ull, 63ull, 64ull, 100ull, 3900ull, 4031ull, 4032ull, 4033ull, 5000ull, 65536ull,
                               1000000ull, 2097088ull, 2097152ull, 5000001ull}) {
    for (const uint64_t align : {0ull, 1ull, 64ull, 128ull, 4096ull, 65536ull, 2097152ull}) {
      void* block = get(bytes, align);
      CAPTURE(bytes, align);
      REQUIRE(block);
      CHECK(aligned(block, 64));
      if (align) CHECK(aligned(block, align));
      memset(block, 0x5a, bytes);
      put(block);
    }
  }
}

TEST_CASE("demands that cannot be met give null", "[runtime]") {
  CHECK(get(UINT64_MAX) == nullptr);
  CHECK(get(UINT64_MAX - 64) == nullptr);
  CHECK(get(uint64_t{1} << 62, 4096) == nullptr);
  CHECK(get((uint64_t{1} << 46) + 1) == nullptr);
  CHECK(get(64, 4 * kMebibyte) == nullptr);
  CHECK(get(64, 96) == nullptr);  // no power of two
}

TEST_CASE("null can be freed", "[runtime]") {
  const drawloom_memory_stats_t before = drawloom_memory_stats();
  put(nullptr);
  CHECK(drawloom_memory_stats().live_blocks == before.live_blocks);
}

TEST_CASE("live blocks are counted as asked for", "[runtime]") {
  const drawloom_memory_stats_t before = drawloom_memory_stats();
  void *small = get(100), *large = get(3 * kMebibyte);
  CHECK(drawloom_memory_stats().live_blocks == before.live_blocks + 2);
  CHECK(drawloom_memory_stats().live_bytes == before.live_bytes + 100 + 3 * kMebibyte);
  put(small);
  put(large);
  CHECK(drawloom_memory_stats().live_blocks == before.live_blocks);
  CHECK(drawloom_memory_stats().live_bytes == before.live_bytes);
}

TEST_CASE("a freed block serves the next demand of its size", "[runtime]") {
  const CleanPool clean;
  for (const uint64_t bytes : {10000ull, 300000ull, 20000000ull}) {
    CAPTURE(bytes);
    void* first = get(bytes);
    put(first);
    const drawloom_memory_stats_t idle = drawloom_memory_stats();
    CHECK(idle.idle_blocks == 1);
    CHECK(idle.idle_bytes >= bytes);
    CHECK(idle.idle_bytes <= (bytes + 64) * 9 / 8 + 64);  // at most a step of 1/8 more
    void* second = get(bytes - 10);
    CHECK(second == first);
    CHECK(drawloom_memory_stats().idle_blocks == 0);
    CHECK(drawloom_memory_stats().idle_bytes == 0);
    CHECK(drawloom_memory_stats().reused == idle.reused + 1);
    put(second);
    drawloom_release_memory();
    CHECK(drawloom_memory_stats().idle_blocks == 0);
  }
}

TEST_CASE("a block is not given to a demand of another size", "[runtime]") {
  const CleanPool clean;
  put(get(10000));
  const uint64_t reused = drawloom_memory_stats().reused;
  void *larger = get(20000), *smaller = get(6000);
  CHECK(drawloom_memory_stats().reused == reused);
  CHECK(drawloom_memory_stats().idle_blocks == 1);
  put(larger);
  put(smaller);
  CHECK(drawloom_memory_stats().idle_blocks == 3);
}

TEST_CASE("over the cap the oldest idle blocks go", "[runtime]") {
  const CleanPool clean;
  drawloom_set_memory_cap(100000);
  void *a = get(40000), *b = get(41000), *c = get(50000);
  put(a);
  put(b);
  CHECK(drawloom_memory_stats().idle_blocks == 2);
  put(c);  // 40000 + 41000 + 50000 > 100000: a goes, the newest stay
  CHECK(drawloom_memory_stats().idle_blocks == 2);
  const uint64_t reused = drawloom_memory_stats().reused;
  CHECK(get(50000) == c);
  CHECK(get(41000) == b);
  CHECK(drawloom_memory_stats().reused == reused + 2);
  put(b);
  put(c);
  drawloom_set_memory_cap(60000);
  CHECK(drawloom_memory_stats().idle_blocks == 1);
  CHECK(get(50000) == c);
  put(c);
}

TEST_CASE("a block larger than the cap goes alone", "[runtime]") {
  const CleanPool clean;
  drawloom_set_memory_cap(100000);
  void *small = get(10000), *large = get(200000);
  put(small);
  put(large);
  CHECK(drawloom_memory_stats().idle_blocks == 1);
  CHECK(get(10000) == small);
  put(small);
}

TEST_CASE("large blocks start at a huge page", "[runtime]") {
  const CleanPool clean;
  for (const uint64_t bytes : {2 * kMebibyte, 5 * kMebibyte + 1, 64 * kMebibyte}) {
    void* block = get(bytes);
    // The header takes the first 64 bytes.
    CHECK(reinterpret_cast<uintptr_t>(block) % (2 * kMebibyte) == 64);
    put(block);
  }
}

TEST_CASE("many threads share the pool", "[runtime]") {
  const CleanPool clean;
  const drawloom_memory_stats_t before = drawloom_memory_stats();
  std::vector<std::thread> threads;
  std::vector<int> damaged(4, 0);
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([t, &damaged] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<std::pair<unsigned char*, uint64_t>> mine;
      for (int i = 0; i < 2000; i++) {
        const uint64_t bytes = 1 + random() % 20000;
        auto* block = static_cast<unsigned char*>(get(bytes));
        memset(block, t, bytes);
        mine.emplace_back(block, bytes);
        if (mine.size() < 8) continue;
        const auto [old, old_bytes] = mine[random() % mine.size()];
        for (uint64_t at = 0; at < old_bytes; at++) damaged[static_cast<size_t>(t)] += old[at] != t;
        for (auto& entry : mine) {
          if (entry.first == old) {
            entry = mine.back();
            break;
          }
        }
        mine.pop_back();
        put(old);
      }
      for (const auto& entry : mine) put(entry.first);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(damaged == std::vector<int>(4, 0));
  CHECK(drawloom_memory_stats().live_blocks == before.live_blocks);
  CHECK(drawloom_memory_stats().live_bytes == before.live_bytes);
}
