// The parallel loops. All kinds keep the same promises.
#include <omp.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "catch2/catch.hpp"
#include "drawloom/runtime_testing.h"
#include "listening_context.h"

namespace {

struct Counts {
  explicit Counts(int64_t first, size_t extent) : min(first), times(extent) {}
  int64_t min;
  std::vector<std::atomic<int>> times;
  std::atomic<int> calls{0};
  int fail_from = -1;  // calls from this one on fail with 100 + their number
  std::atomic<int> failed{0};
};

int count(drawloom_context_t*, int64_t index, void* closure) {
  auto& counts = *static_cast<Counts*>(closure);
  counts.times.at(static_cast<size_t>(index - counts.min))++;
  const int call = counts.calls++;
  if (counts.fail_from < 0 || call < counts.fail_from) return 0;
  counts.failed++;
  return 100 + call;
}

/// A context of each kind of loop with each number of threads.
template <typename Body>
void for_each_kind(Body body) {
  for (const uint32_t kind :
       {drawloom_test_serial, drawloom_test_openmp, drawloom_test_pthread, drawloom_test_permute}) {
    for (const int threads : {1, 2, 7}) {
      drawloom_test_options_t options = {};
      options.par_for = kind;
      options.num_threads = threads;
      options.seed = 5;
      drawloom_context_t* ctx = drawloom_test_context_create(&options);
      CAPTURE(kind, threads);
      body(ctx, kind == drawloom_test_serial || kind == drawloom_test_permute ? 1 : threads);
      drawloom_test_context_destroy(ctx);
    }
  }
  drawloom_pthread_pool_stop();
}

}  // namespace

TEST_CASE("each index is met once", "[runtime]") {
  for_each_kind([](drawloom_context_t* ctx, int) {
    for (const int64_t min : {int64_t{-5}, int64_t{0}, int64_t{1} << 40}) {
      for (const size_t extent : {0, 1, 2, 3, 8, 100, 1000}) {
        Counts counts(min, extent);
        CHECK(ctx->table->par_for(ctx, count, min, static_cast<int64_t>(extent), &counts) == 0);
        CHECK(counts.calls == static_cast<int>(extent));
        bool once = true;
        for (const auto& times : counts.times) once = once && times == 1;
        CHECK(once);
      }
    }
  });
}

TEST_CASE("a negative extent is an empty loop", "[runtime]") {
  for_each_kind([](drawloom_context_t* ctx, int) {
    Counts counts(0, 0);
    CHECK(ctx->table->par_for(ctx, count, 0, -3, &counts) == 0);
    CHECK(ctx->table->par_for(ctx, count, 0, INT64_MIN, &counts) == 0);
    CHECK(counts.calls == 0);
  });
}

TEST_CASE("after an error no tasks begin, and the code comes back", "[runtime]") {
  for_each_kind([](drawloom_context_t* ctx, int threads) {
    constexpr int kFrom = 20;
    Counts counts(0, 100000);
    counts.fail_from = kFrom;
    const int code = ctx->table->par_for(ctx, count, 0, 100000, &counts);
    // Each thread may be in a task when the first one fails; those fail as well and take no other.
    CHECK(counts.failed >= 1);
    CHECK(counts.failed <= threads);
    CHECK(code >= 100 + kFrom);
    CHECK(code < 100 + kFrom + threads);
    CHECK(counts.calls == kFrom + counts.failed);
    bool at_most_once = true;
    for (const auto& times : counts.times) at_most_once = at_most_once && times <= 1;
    CHECK(at_most_once);
    // The context is not spoiled for the next loop.
    Counts again(0, 50);
    CHECK(ctx->table->par_for(ctx, count, 0, 50, &again) == 0);
    CHECK(again.calls == 50);
  });
}

TEST_CASE("an error ends a loop of any extent", "[runtime]") {
  for_each_kind([](drawloom_context_t* ctx, int) {
    const auto fail = [](drawloom_context_t*, int64_t, void*) { return 3; };
    CHECK(ctx->table->par_for(ctx, fail, 0, int64_t{1} << 60, nullptr) == 3);
  });
}

namespace {

struct Nest {
  std::atomic<int> inner_calls{0};
  std::atomic<int> moved{0};  // inner tasks that ran in another thread than their outer one
  std::atomic<bool> fail{false};
};

struct OuterTask {
  Nest* nest;
  std::thread::id thread;
};

int inner_task(drawloom_context_t*, int64_t index, void* closure) {
  const auto& outer = *static_cast<OuterTask*>(closure);
  outer.nest->inner_calls++;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));  // an idle thread would have time to take one
  outer.nest->moved += std::this_thread::get_id() != outer.thread;
  return outer.nest->fail && index == 2 ? 42 : 0;
}

int outer_task(drawloom_context_t* ctx, int64_t, void* closure) {
  OuterTask outer = {static_cast<Nest*>(closure), std::this_thread::get_id()};
  return ctx->table->par_for(ctx, inner_task, 0, 4, &outer);
}

}  // namespace

TEST_CASE("a loop within a task stays in its thread", "[runtime]") {
  omp_set_max_active_levels(2);  // a program that nests OpenMP itself
  for_each_kind([](drawloom_context_t* ctx, int) {
    Nest nest;
    CHECK(ctx->table->par_for(ctx, outer_task, 0, 4, &nest) == 0);
    CHECK(nest.inner_calls == 16);
    CHECK(nest.moved == 0);
    nest.fail = true;
    CHECK(ctx->table->par_for(ctx, outer_task, 0, 4, &nest) == 42);
  });
  omp_set_max_active_levels(1);
}

TEST_CASE("loops of several callers run side by side", "[runtime]") {
  for_each_kind([](drawloom_context_t* ctx, int) {
    std::vector<std::thread> callers;
    std::atomic<int> right{0};
    for (int t = 0; t < 3; t++) {
      callers.emplace_back([ctx, &right] {
        for (int i = 0; i < 20; i++) {
          Counts counts(0, 30);
          right += ctx->table->par_for(ctx, count, 0, 30, &counts) == 0 && counts.calls == 30;
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    CHECK(right == 60);
  });
}

TEST_CASE("a loop ends after its last task", "[runtime]") {
  struct Pair {
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> arrived{0};
    std::atomic<bool> helper_done{false};
  };
  // Caller and helper have one task each; the helper's takes longer.
  const auto task = [](drawloom_context_t*, int64_t, void* closure) {
    auto& pair = *static_cast<Pair*>(closure);
    pair.arrived++;
    while (pair.arrived < 2) std::this_thread::yield();
    if (std::this_thread::get_id() == pair.caller) return 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pair.helper_done = true;
    return 0;
  };
  ListeningContext ctx;
  ctx.num_threads = 2;
  for (const drawloom_par_for_t par_for : {drawloom_par_for_openmp, drawloom_par_for_pthread}) {
    Pair pair;
    CHECK(par_for(&ctx, task, 0, 2, &pair) == 0);
    CHECK(pair.helper_done);
  }
  drawloom_pthread_pool_stop();
}

TEST_CASE("tasks wait for one another only if there are threads for them", "[runtime]") {
  // Each task waits until all are there: the loop ends only if it has as many threads as it was told.
  struct Meeting {
    std::atomic<int> arrived{0};
    int expected;
  };
  const auto meet = [](drawloom_context_t*, int64_t, void* closure) {
    auto& meeting = *static_cast<Meeting*>(closure);
    meeting.arrived++;
    while (meeting.arrived < meeting.expected) std::this_thread::yield();
    return 0;
  };
  ListeningContext ctx;
  for (const drawloom_par_for_t par_for : {drawloom_par_for_openmp, drawloom_par_for_pthread}) {
    for (const int threads : {2, 7}) {
      ctx.num_threads = threads;
      Meeting of_context = {{0}, threads};
      CHECK(par_for(&ctx, meet, 0, threads, &of_context) == 0);
      ctx.num_threads = 0;
      drawloom_set_num_threads(threads);
      Meeting of_process = {{0}, threads};
      CHECK(par_for(&ctx, meet, 0, threads, &of_process) == 0);
      drawloom_set_num_threads(0);
    }
  }
  drawloom_pthread_pool_stop();
}

TEST_CASE("the number of threads of the process", "[runtime]") {
  CHECK(drawloom_get_num_threads() == 0);
  drawloom_set_num_threads(3);
  CHECK(drawloom_get_num_threads() == 3);
  drawloom_set_num_threads(-2);
  CHECK(drawloom_get_num_threads() == 0);
}

TEST_CASE("the pthread pool starts again after a stop", "[runtime]") {
  ListeningContext ctx;
  ctx.num_threads = 3;
  for (int round = 0; round < 3; round++) {
    Counts counts(0, 40);
    CHECK(drawloom_par_for_pthread(&ctx, count, 0, 40, &counts) == 0);
    CHECK(counts.calls == 40);
    drawloom_pthread_pool_stop();
  }
  drawloom_pthread_pool_stop();  // also with no threads at all
}
