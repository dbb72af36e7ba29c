/// What the files of the stand-in for libcuda share; see stub_driver.h.
#pragma once

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../cuda/driver.h"
#include "include/drawloom/stub_driver.h"

#define EXPORTED __attribute__((visibility("default")))

enum {
  kInvalidValue = 1,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kInvalidHandle = 400,
  kMost = 64,
  kAddressAlignment = 256
};

typedef struct CUctx_st {
  int device, alive, retained, fault, pending_fault, hangs;
  unsigned long long id;
} stub_context_t;

typedef struct CUstream_st {
  stub_context_t* context;
  unsigned long long id;
} stub_stream_t;

typedef struct CUmod_st {
  stub_context_t* context;
} stub_module_t;

typedef struct CUfunc_st {
  struct CUfunc_st* next;
  char name[drawloom_stub_text_bytes];
} stub_function_t;

typedef struct CUevent_st {
  struct CUevent_st* next;
  int recorded;
} stub_event_t;

typedef struct memory_t {
  struct memory_t* next;
  char* at;
  size_t bytes;
} memory_t;

/// All that the driver holds. The mutex is over it and over the structure that tests see.
typedef struct stub_state_t {
  pthread_mutex_t mutex;
  struct {
    const char* name;
    int calls;
  } function[kMost];
  const char* fail_function;
  int fail_from, fail_count, fail_result, fail_seen;
  stub_context_t context[kMost];  // in turn: a handle comes back only much later
  stub_stream_t stream[kMost];
  int contexts, streams;
  stub_context_t* primary[8];
  memory_t* memory;
  uint64_t bytes;
  int modules;
  stub_function_t* functions;
  unsigned long long next_id;
  stub_event_t* events;
  int records;  // of events so far
} stub_state_t;

extern drawloom_stub_driver_t drawloom_stub;
extern stub_state_t drawloom_stub_state;

/// Counts a call of the function; gives the planted failure, or 0.
int drawloom_stub_begin(const char* function);
/// The same for a call that needs a current CUcontext in which no kernel has failed.
int drawloom_stub_begin_in_context(const char* function);
#define BEGIN                                          \
  do {                                                 \
    const int planted = drawloom_stub_begin(__func__); \
    if (planted) return planted;                       \
  } while (0)
#define BEGIN_IN_CONTEXT                                          \
  do {                                                            \
    const int planted = drawloom_stub_begin_in_context(__func__); \
    if (planted) return planted;                                  \
  } while (0)

/// This thread's; null: none.
stub_context_t* drawloom_stub_current(void);
/// 0 if work of the current CUcontext may go to the stream.
int drawloom_stub_wrong_stream(cu_stream_t stream);
void* drawloom_stub_make_stream(void* context);
void drawloom_stub_lock(void);
void drawloom_stub_unlock(void);
void drawloom_stub_pause(int ms);
void drawloom_stub_free_memory(void);
void drawloom_stub_free_modules(void);
void drawloom_stub_free_events(void);
