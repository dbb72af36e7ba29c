/// The summary of who touched an element finds the same races as remembering everybody.

#include "drawloom/interp/machine/tasks.h"

#include <catch2/catch.hpp>

#include "drawloom/support/hash.h"

using namespace drawloom;
using namespace drawloom::machine;

namespace {

/// Runs a random tree of nested parallel loops and touches one element at random.
struct RandomRun {
  explicit RandomRun(uint64_t seed) : random(seed) {}
  CounterRandom random;
  TaskTree tasks;
  Touches touches;
  std::vector<std::pair<TaskId, bool>> all;  ///< task, wrote
  bool summary_race = false, true_race = false;

  void touch(TaskId by, bool write) {
    for (const auto& [earlier, wrote] : all) {
      if ((wrote || write) && earlier != by && tasks.common_run(earlier, by) != 0) true_race = true;
    }
    all.push_back({by, write});
    if (!(write ? touches.note_write(tasks, by) : touches.note_read(tasks, by))) summary_race = true;
  }
  void body(TaskId task, int depth) {
    for (int i = 0; i < 3; ++i) {
      if (random.chance(25)) touch(task, random.chance(30));
      if (depth < 3 && random.chance(40)) loop(task, depth);
    }
  }
  void loop(TaskId task, int depth) {
    const uint32_t run = tasks.new_loop_run();
    const int64_t n = random.uniform(1, 3);
    for (int64_t k = 0; k < n; ++k) body(tasks.add(task, run), depth + 1);
  }
};

}  // namespace

TEST_CASE("races found by summary are the races there are", "[machine]") {
  int races = 0, clean = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    RandomRun r(seed);
    r.body(kRootTask, 0);
    CHECK(r.summary_race == r.true_race);
    ++(r.true_race ? races : clean);
  }
  CHECK(races > 300);
  CHECK(clean > 300);
}
