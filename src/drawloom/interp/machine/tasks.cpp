// Example: parallel y of 2, inside it parallel x of 2. Executions of loops are numbered as they begin.
//     0                      root
//     1 (run 1)              y = 0
//       2, 3 (run 2)         x = 0, 1
//     4 (run 1)              y = 1
//       5, 6 (run 3)         x = 0, 1
// common_run(2, 3) = 2 and common_run(2, 5) = 1: both race. common_run(2, 1) = 0: a task does not race with what it
// contains. Tasks of two loops that follow each other part at different runs: 0.
//
// A walk up to the common ancestor, so an access costs the depth of parallel loops, mostly one or two.
#include "drawloom/interp/machine/tasks.h"

namespace drawloom::machine {

auto TaskTree::common_run(TaskId a, TaskId b) const -> uint32_t {
  while (tasks_[a].depth > tasks_[b].depth) a = tasks_[a].parent;
  while (tasks_[b].depth > tasks_[a].depth) b = tasks_[b].parent;
  if (a == b) return 0;
  while (tasks_[a].parent != tasks_[b].parent) a = tasks_[a].parent, b = tasks_[b].parent;
  return tasks_[a].loop_run == tasks_[b].loop_run ? tasks_[a].loop_run : 0;
}

auto Touches::note_read(const TaskTree& tasks, TaskId by) -> bool {
  const bool safe = writer == kNoTask || writer == by || tasks.common_run(writer, by) == 0;
  if (reader == by || other_reader == by) return safe;
  const uint32_t run = reader == kNoTask ? 0 : tasks.common_run(reader, by);
  if (run == 0) {
    reader = by, other_reader = kNoTask;
  } else if (other_reader == kNoTask || tasks.common_run(reader, other_reader) != run) {
    other_reader = by;  // the loop execution that parts them is new: an outer one
  }
  return safe;
}

auto Touches::note_write(const TaskTree& tasks, TaskId by) -> bool {
  bool safe = true;
  for (const TaskId earlier : {writer, reader, other_reader}) {
    if (earlier != kNoTask && earlier != by && tasks.common_run(earlier, by) != 0) safe = false;
  }
  writer = by, reader = other_reader = kNoTask;
  return safe;
}

}  // namespace drawloom::machine
