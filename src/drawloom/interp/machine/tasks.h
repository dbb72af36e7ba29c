#pragma once
/// Who may run at the same time as whom: every iteration of a Parallel loop is a task, child of the task that runs the
/// loop. Two tasks race when their paths part at two iterations of one execution of one loop.

#include <cstdint>
#include <vector>

namespace drawloom::machine {

using TaskId = uint32_t;
inline constexpr TaskId kRootTask = 0;
inline constexpr TaskId kNoTask = ~TaskId{0};

class TaskTree {
 public:
  TaskTree() : tasks_{{.parent = kNoTask, .loop_run = 0, .depth = 0}} {}

  auto new_loop_run() -> uint32_t { return ++loop_runs_; }
  auto add(TaskId parent, uint32_t loop_run) -> TaskId {
    tasks_.push_back({.parent = parent, .loop_run = loop_run, .depth = tasks_[parent].depth + 1});
    return static_cast<TaskId>(tasks_.size() - 1);
  }
  /// The loop execution in which both run at once, or 0 when one is over before the other begins or contains it.
  auto common_run(TaskId a, TaskId b) const -> uint32_t;

 private:
  struct Task {
    TaskId parent;
    uint32_t loop_run, depth;
  };
  std::vector<Task> tasks_;
  uint32_t loop_runs_ = 0;
};

/// The tasks that touched one element, as few as tell all races. The machine runs tasks one after the other, so a task
/// that ended stays ended: the last writer stands for all earlier ones, and two readers of one loop execution conflict
/// with every writer in it.
struct Touches {
  TaskId writer = kNoTask, reader = kNoTask, other_reader = kNoTask;

  /// Each notes the access and returns false if it races with an earlier one.
  auto note_read(const TaskTree& tasks, TaskId by) -> bool;
  auto note_write(const TaskTree& tasks, TaskId by) -> bool;
};

}  // namespace drawloom::machine
