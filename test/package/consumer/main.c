#include "drawloom/runtime.h"

int main(void) { return sizeof(drawloom_buffer_t) > 0 ? 0 : 1; }
