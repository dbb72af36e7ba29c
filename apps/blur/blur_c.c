/* Calls the blur from plain C: linked with gcc against blur.a and the C runtime, and nothing of the compiler. */

#include <stdio.h>
#include <stdlib.h>

#include "blur.h"

enum { width = 1000, height = 700, pitch = width + 2 };

static uint16_t in[(height + 2) * pitch], out[height * width];

static unsigned third_of_row(int x, int y) {
  const uint16_t* p = in + y * pitch + x;
  return (p[0] + p[1] + p[2]) / 3u;
}

/* Where the blurred picture differs from the definition. */
static long wrong_pixels(void) {
  long wrong = 0;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      const unsigned want = (third_of_row(x, y) + third_of_row(x, y + 1) + third_of_row(x, y + 2)) / 3;
      wrong += out[y * width + x] != want;
    }
  return wrong;
}

int main(void) {
  for (int i = 0; i < (height + 2) * pitch; i++) in[i] = (uint16_t)((unsigned)i * 2654435761u >> 19);

  const drawloom_type_t u16 = {drawloom_type_uint, 16, 1};
  drawloom_dim_t in_dim[2], out_dim[2];
  drawloom_buffer_t in_buffer, out_buffer;
  drawloom_buffer_init(&in_buffer, in, u16, 2, in_dim, (const int64_t[]){width + 2, height + 2});
  drawloom_buffer_init(&out_buffer, out, u16, 2, out_dim, (const int64_t[]){width, height});
  in_dim[0].min = in_dim[1].min = -1; /* one pixel more on every side */

  if (blur(NULL, &in_buffer, &out_buffer)) return EXIT_FAILURE; /* the message is on stderr */
  const long wrong = wrong_pixels();
  printf("blur_c: %d x %d, %ld pixels wrong\n", width, height, wrong);

  /* An input without its border is refused, with a message and no crash. */
  drawloom_context_t context;
  drawloom_context_init(&context, NULL, NULL);
  context.on_error = drawloom_on_error_quiet;
  in_dim[0].min = 0;
  char message[drawloom_message_bytes];
  const int code = blur(&context, &in_buffer, &out_buffer);
  drawloom_last_error(&context, message, sizeof message);
  printf("blur_c: %s (%s)\n", message, drawloom_error_name(code));
  return wrong == 0 && code == drawloom_error_out_of_bounds ? EXIT_SUCCESS : EXIT_FAILURE;
}
