#pragma once
/// What a peer's library offers to the benchmark. It is loaded with dlopen, so that a peer's own LLVM stays out of ours.

#include <cstddef>
#include <cstdint>

extern "C" {
struct PeerImage {
  uint16_t* pixels;
  int width, height;
  ptrdiff_t pitch;  ///< in pixels
};
/// Number of schedules, and the name of each.
int peer_count();
const char* peer_name(int schedule);
/// From definition and schedule to machine code, anew; seconds.
double peer_compile(int schedule);
/// The last compiled code of that schedule; `in` is two wider and higher than `out`.
int peer_run(int schedule, const PeerImage* in, const PeerImage* out);
void peer_set_threads(int n);
}
