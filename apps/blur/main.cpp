// Blurs a picture twice, unscheduled and with the hand schedule, and says what each costs per pixel.
//
//   blur [IN.png [OUT.png [SCHEDULE.sched]]]
//
// Without IN.png (or with an empty one) it blurs a picture that it makes itself, beside OUT.png. OUT.png is `blurred.png`
// unless said.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>

#include "drawloom/driver/compile.h"
#include "pipelines.h"
#include "png_file.h"
#include "sample_picture.h"

using namespace drawloom;

namespace {

auto read_text(const std::string& path) -> std::string {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot open " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

auto scheduled(const Blur& blur, const std::string& path) -> Pipeline {
  Pipeline out = blur.pipeline;
  out.set_schedule(parse_schedule(read_text(path), path).or_throw());
  return out;
}

/// One pixel wider on every side.
auto padded(const Buffer<uint16_t>& plane) -> Buffer<uint16_t> {
  Pad pad = make_pad();
  pad.in.set(plane);
  Buffer<uint16_t> out(
      std::vector<drawloom_dim_t>{{-1, plane.width() + 2, 1}, {-1, plane.height() + 2, plane.width() + 2}});
  pad.pipeline.realize({out});
  return out;
}

/// Seconds for all planes, of each the fastest of many runs: other programs on the machine make single runs long.
auto best_seconds(Blur& blur, const Pipeline& pipeline, const std::vector<Buffer<uint16_t>>& in,
                  std::vector<Buffer<uint16_t>>& out) -> double {
  constexpr double kEnough = 0.3;  // seconds of runs
  std::vector<double> best(in.size(), 1e30);
  double spent = 0;
  for (int run = 0; run < 7 || spent < kEnough; ++run) {
    for (size_t c = 0; c < in.size(); ++c) {
      blur.in.set(in[c]);
      const auto start = std::chrono::steady_clock::now();
      pipeline.realize({out[c]});
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (run == 0) continue;  // it compiles
      best[c] = std::min(best[c], seconds);
      spent += seconds;
    }
  }
  return std::accumulate(best.begin(), best.end(), 0.0);
}

auto same_pixels(const std::vector<Buffer<uint16_t>>& a, const std::vector<Buffer<uint16_t>>& b) -> bool {
  for (size_t c = 0; c < a.size(); ++c)
    if (!std::equal(a[c].data(), a[c].data() + a[c].number_of_elements(), b[c].data())) return false;
  return true;
}

auto new_planes(const PngPicture& like) -> std::vector<Buffer<uint16_t>> {
  std::vector<Buffer<uint16_t>> out;
  for (size_t c = 0; c < like.planes.size(); ++c) out.emplace_back(like.width, like.height);
  return out;
}

void report(const char* name, double seconds, double pixels) {
  std::printf("  %-12s %8.3f ms  %7.3f ns per pixel\n", name, seconds * 1e3, seconds * 1e9 / pixels);
}

void run(const std::string& in_path, const std::string& out_path, const std::string& schedule_path) {
  const PngPicture picture = read_png(in_path);
  Blur blur = make_blur(UInt(picture.bits == 8 ? 16 : 32));
  std::vector<Buffer<uint16_t>> in;
  for (const auto& plane : picture.planes) in.push_back(padded(plane));

  auto plain = new_planes(picture), fast = new_planes(picture);
  const double pixels =
      static_cast<double>(picture.width) * picture.height * static_cast<double>(picture.planes.size());
  std::printf("%s: %d x %d, %zu planes of %d bits, target %s\n", in_path.c_str(), picture.width, picture.height,
              picture.planes.size(), picture.bits, host_target().text().c_str());
  const double slow_seconds = best_seconds(blur, scheduled(blur, BLUR_SCHEDULES "/naive.sched"), in, plain);
  report("unscheduled", slow_seconds, pixels);
  const double fast_seconds = best_seconds(blur, scheduled(blur, schedule_path), in, fast);
  report("scheduled", fast_seconds, pixels);
  std::printf("  %.1f times as fast, pixels %s\n", slow_seconds / fast_seconds,
              same_pixels(plain, fast) ? "equal" : "DIFFER");
  if (!same_pixels(plain, fast)) throw std::runtime_error("the two schedules give different pictures");
  write_png(out_path, {picture.width, picture.height, picture.bits, fast});
  std::printf("result: %s\n", out_path.c_str());
}

}  // namespace

auto main(int argc, char** argv) -> int {
  try {
    const auto out = std::filesystem::absolute(argc > 2 ? argv[2] : "blurred.png");
    std::string in = argc > 1 ? argv[1] : "";
    if (in.empty()) {
      in = (out.parent_path() / "picture.png").string();
      write_png(in, sample_picture(1920, 1440, 8));
    }
    run(in, out.string(), argc > 3 ? argv[3] : BLUR_SCHEDULES "/blur.sched");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "blur: %s\n", e.what());
    return 1;
  }
  return 0;
}
