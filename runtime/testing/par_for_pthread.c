// The parallel loop over a pool of plain threads. Loops stand in a list; an idle worker joins the first that still
// wants helpers. The caller works on its own loop, so a loop ends even if all workers are busy elsewhere.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "../internal.h"
#include "include/drawloom/runtime_testing.h"

enum { kMostWorkers = 256 };

typedef struct loop_t loop_t;
struct loop_t {
  drawloom_context_t* ctx;
  drawloom_task_t task;
  void* closure;
  int64_t min, extent;
  _Atomic int64_t next;
  atomic_int first_error;
  int wanted, active;  // helpers that may still join, that are at work; under the pool's mutex
  loop_t* link;
};

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t work, done;
  loop_t* loops;
  pthread_t workers[kMostWorkers];
  int count, stopping;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static _Thread_local int inside_task;

static void run(loop_t* loop) {
  inside_task = 1;
  while (atomic_load(&loop->first_error) == 0) {
    int64_t i = atomic_fetch_add(&loop->next, 1);
    if (i >= loop->extent) break;
    int code = loop->task(loop->ctx, loop->min + i, loop->closure), none = 0;
    if (code) atomic_compare_exchange_strong(&loop->first_error, &none, code);
  }
  inside_task = 0;
}

static loop_t* first_wanting(void) {
  loop_t* loop = pool.loops;
  while (loop && loop->wanted == 0) loop = loop->link;
  return loop;
}

static void* worker(void* unused) {
  pthread_mutex_lock(&pool.mutex);
  for (;;) {
    loop_t* loop = first_wanting();
    if (loop) {
      loop->wanted--;
      loop->active++;
      pthread_mutex_unlock(&pool.mutex);
      run(loop);
      pthread_mutex_lock(&pool.mutex);
      if (--loop->active == 0) pthread_cond_broadcast(&pool.done);
    } else if (pool.stopping) {
      break;
    } else {
      pthread_cond_wait(&pool.work, &pool.mutex);
    }
  }
  pthread_mutex_unlock(&pool.mutex);
  return unused;
}

static void need_workers(int n) {
  if (n > kMostWorkers) n = kMostWorkers;
  while (pool.count < n && pthread_create(&pool.workers[pool.count], NULL, worker, NULL) == 0) pool.count++;
}

static void post(loop_t* loop) {
  pthread_mutex_lock(&pool.mutex);
  need_workers(loop->wanted);
  loop->link = pool.loops;
  pool.loops = loop;
  pthread_cond_broadcast(&pool.work);
  pthread_mutex_unlock(&pool.mutex);
}

static void withdraw(loop_t* loop) {
  pthread_mutex_lock(&pool.mutex);
  loop_t** at = &pool.loops;
  while (*at != loop) at = &(*at)->link;
  *at = loop->link;
  while (loop->active) pthread_cond_wait(&pool.done, &pool.mutex);
  pthread_mutex_unlock(&pool.mutex);
}

static int cpus(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

int drawloom_par_for_pthread(drawloom_context_t* ctx, drawloom_task_t task, int64_t min, int64_t extent,
                             void* closure) {
  int threads = drawloom_wanted_threads(ctx);
  if (threads == 0) threads = cpus();
  if (threads == 1 || extent <= 1 || inside_task) return drawloom_par_for_serial(ctx, task, min, extent, closure);
  loop_t loop = {.ctx = ctx, .task = task, .closure = closure, .min = min, .extent = extent, .wanted = threads - 1};
  post(&loop);
  run(&loop);
  withdraw(&loop);
  return atomic_load(&loop.first_error);
}

void drawloom_pthread_pool_stop(void) {
  pthread_mutex_lock(&pool.mutex);
  int count = pool.count;
  pool.stopping = 1;
  pthread_cond_broadcast(&pool.work);
  pthread_mutex_unlock(&pool.mutex);
  for (int i = 0; i < count; i++) pthread_join(pool.workers[i], NULL);
  pthread_mutex_lock(&pool.mutex);
  pool.count = pool.stopping = 0;
  pthread_mutex_unlock(&pool.mutex);
}
