// Errors: names, words, and the way to whoever listens. All words stand in error_codes.def.
//
// A row's text has places for what the caller gives: names ({pipeline}, {name}, {text}, {other}, told apart by their
// first letter) and numbers ({a} to {d}). Formatting allocates nothing and cuts what is too long, so that out of memory
// can be reported like everything else.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

// Errors are rare, so one lock serves the records of all contexts.
static pthread_mutex_t record_mutex = PTHREAD_MUTEX_INITIALIZER;

const char* drawloom_error_name(int code) {
  switch (code) {
    case drawloom_ok: return "ok";
#define DRAWLOOM_ERROR(number, name, text) \
  case number: return #name;
#include "drawloom/error_codes.def"
#undef DRAWLOOM_ERROR
  }
  return "unknown";
}

static const char* error_text(int code) {
  switch (code) {
#define DRAWLOOM_ERROR(number, name, text) \
  case number: return text;
#include "drawloom/error_codes.def"
#undef DRAWLOOM_ERROR
  }
  return "{pipeline}: error of an unknown kind: {text}";
}

typedef struct line_t {
  char text[drawloom_message_bytes];
  size_t length;
} line_t;

static void append(line_t* line, const char* text, size_t length) {
  size_t room = sizeof line->text - 1 - line->length;
  if (length > room) {
    memcpy(line->text + line->length, text, room);
    memcpy(line->text + sizeof line->text - 4, "...", 3);
    length = room;
  } else {
    memcpy(line->text + line->length, text, length);
  }
  line->length += length;
}

static void append_word(line_t* line, const char* text) {
  if (!text) text = "?";
  append(line, text, strlen(text));
}

static void append_integer(line_t* line, int64_t value) {
  char digits[24];
  append(line, digits, (size_t)snprintf(digits, sizeof digits, "%lld", (long long)value));
}

static void append_operand(line_t* line, const char* key, size_t length, const message_t* m) {
  if (length == 1) {
    const int64_t values[] = {m->a, m->b, m->c, m->d};
    append_integer(line, values[*key - 'a']);
    return;
  }
  switch (*key) {
    case 'p': append_word(line, m->site->pipeline); break;
    case 'n': append_word(line, m->site->name); break;
    case 't': append_word(line, m->site->text); break;
    case 'o': append_word(line, m->other); break;
  }
}

int drawloom_report(drawloom_context_t* ctx, int code, const message_t* message) {
  line_t line = {.length = 0};
  if (message->site->loc) {
    append_word(&line, message->site->loc);
    append(&line, ": ", 2);
  }
  const char* at = error_text(code);
  for (const char* brace; (brace = strchr(at, '{')); at = strchr(brace, '}') + 1) {
    append(&line, at, (size_t)(brace - at));
    append_operand(&line, brace + 1, strcspn(brace, "}") - 1, message);
  }
  append_word(&line, at);
  const int answer = ctx->table->error(ctx, code, line.text);
  return answer ? answer : code;  // callers go by it: an error is never a success
}

int drawloom_default_fail(drawloom_context_t* ctx, int code, const drawloom_site_t* site, int64_t a, int64_t b,
                          int64_t c, int64_t d) {
  const message_t message = {site, NULL, a, b, c, d};
  return drawloom_report(ctx, code, &message);
}

int drawloom_default_error(drawloom_context_t* ctx, int code, const char* message) {
  pthread_mutex_lock(&record_mutex);
  ctx->last_code = code;
  snprintf(ctx->last_message, sizeof ctx->last_message, "%s", message);
  pthread_mutex_unlock(&record_mutex);
  // Outside the lock: the callback may ask for the last error.
  if (ctx->on_error) {
    ctx->on_error(ctx, code, message);
  } else {
    fprintf(stderr, "%s [%s]\n", message, drawloom_error_name(code));
  }
  return code;
}

int drawloom_last_error(drawloom_context_t* ctx, char* out, size_t bytes) {
  pthread_mutex_lock(&record_mutex);
  int code = ctx->last_code;
  if (out && bytes) snprintf(out, bytes, "%s", ctx->last_message);
  pthread_mutex_unlock(&record_mutex);
  return code;
}

void drawloom_clear_error(drawloom_context_t* ctx) {
  pthread_mutex_lock(&record_mutex);
  ctx->last_code = drawloom_ok;
  ctx->last_message[0] = '\0';
  pthread_mutex_unlock(&record_mutex);
}

void drawloom_on_error_quiet(drawloom_context_t* ctx, int code, const char* message) {
  (void)ctx, (void)code, (void)message;
}
