#include "drawloom/interp/oracle/run_deep.h"

#include <pthread.h>

namespace drawloom::oracle {
namespace {

struct Task {
  void (*f)(void*);
  void* context;
};
auto entry(void* p) -> void* {
  const auto* task = static_cast<Task*>(p);
  task->f(task->context);
  return nullptr;
}

}  // namespace

auto run_deep(size_t bytes, void (*f)(void*), void* context) -> bool {
  Task task{f, context};
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_t thread;
  const bool started =
      pthread_attr_setstacksize(&attributes, bytes) == 0 && pthread_create(&thread, &attributes, entry, &task) == 0;
  pthread_attr_destroy(&attributes);
  return started && pthread_join(thread, nullptr) == 0;
}

}  // namespace drawloom::oracle
