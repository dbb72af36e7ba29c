#include <catch2/catch.hpp>

#include "drawloom/drawloom.h"
#include "drawloom/driver/aot.h"
#include "drawloom/driver/generator.h"
#include "drawloom/lang/dl_text.h"

// Mistakes around a pipeline that is right by itself: its files, its schedule's header, its arguments. The process lives.

namespace drawloom {
namespace {

auto case_of(std::string_view text) -> DlCase { return parse_case(text, "case.dl").or_throw(); }

auto plain_case() -> DlCase {
  return case_of("drawloom-pipeline 1 f\nparam k: i32 in [0, 9]\nfunc f(x): i32 = cast<i32>(x) + k\noutput f\n");
}

/// The Diag that `action` throws.
template <typename Action>
auto thrown(Action&& action) -> Diag {
  try {
    action();
  } catch (const Error& e) {
    return e.diag();
  }
  FAIL("nothing was thrown");
  return Diag(DiagKind::call_failed, {}, "", "");
}

auto has(const Diag& d, std::string_view words) -> bool {
  INFO(d.text());
  const bool found = d.text().find(words) != std::string::npos;
  CHECK(found);
  return found;
}

TEST_CASE("a schedule written for another pipeline is not applied") {
  const auto c = plain_case();
  const auto nest = scheduled_nest(c.pipeline, Schedule{"g", "", {}}, host_target());
  REQUIRE(!nest.ok());
  CHECK(nest.diag().kind() == DiagKind::compile_other_pipeline);
  CHECK(has(nest.diag(), "`g`"));
  CHECK(has(nest.diag(), "`f`"));
  CHECK(scheduled_nest(c.pipeline, Schedule{"f", "", {}}, host_target()).ok());
}

TEST_CASE("files that cannot be written or read are named with the reason") {
  const auto c = plain_case();
  AotOptions options;
  options.object = options.static_library = options.header = false;
  options.directory = "/proc/no such folder";
  const auto written = compile_to_files({{c.pipeline, c.schedule}}, host_target(), options);
  REQUIRE(!written.ok());
  CHECK(written.diag().kind() == DiagKind::compile_file);
  CHECK(has(written.diag(), "/proc/no such folder/f.sched"));
  CHECK(has(written.diag(), "No such file"));

  const auto read = read_text_file("/proc/no such file");
  REQUIRE(!read.ok());
  CHECK(read.diag().kind() == DiagKind::compile_file);
  CHECK(has(read.diag(), "/proc/no such file"));
}

TEST_CASE("an input whose place depends on its own size is not guessed") {
  ImageParam image(Int(32), 1, "image");
  Var x("x");
  Func mirrored("mirrored");
  mirrored(x) = image(image.dim(0).max() - x);
  const auto open = thrown([&] { mirrored.infer_input_bounds({4}); });
  CHECK(open.kind() == DiagKind::bounds_unknown);
  CHECK(has(open, "what mirrored reads of image in dimension 0 is not known before the call"));
  CHECK(has(open, "it depends on data, or on the input's own size"));
  CHECK(open.loc().file().find("mistakes_test.cpp") != std::string_view::npos);

  Buffer<int32_t> data(4);
  for (int i = 0; i < 4; ++i) data(i) = i;
  image.set(data);
  const Buffer<int32_t> out = mirrored.realize({4});
  CHECK(out(0) == 3);
}

TEST_CASE("a call says what it lacks, and the next call works") {
  Param<int32_t> gain("gain");
  ImageParam image(Int(32), 1, "image");
  Var x("x");
  Func f("f");
  f(x) = image(x) * gain;
  const Pipeline p(f);

  gain.set(3);
  const auto no_image = thrown([&] { (void)p.realize(std::vector<int64_t>{4}); });
  CHECK(no_image.kind() == DiagKind::call_unset);
  CHECK(has(no_image, "image `image` has no value for this call"));
  CHECK(has(no_image, "call image.set(buffer)"));
  CHECK(no_image.loc().file().find("mistakes_test.cpp") != std::string_view::npos);

  Buffer<int32_t> data(4);
  for (int i = 0; i < 4; ++i) data(i) = i + 1;
  image.set(data);
  const auto no_outputs = thrown([&] { p.realize(std::vector<AnyBuffer>{}); });
  CHECK(no_outputs.kind() == DiagKind::call_arguments);
  CHECK(has(no_outputs, "f takes 1 output buffer, not 0"));

  const auto wrong_rank = thrown([&] { p.realize(std::vector<AnyBuffer>{Buffer<int32_t>(4, 4)}); });
  CHECK(wrong_rank.kind() == DiagKind::call_failed);
  CHECK(has(wrong_rank, "buffer f: needs 1 dimensions, has 2"));
  CHECK(has(wrong_rank, "wrong_rank"));

  const auto too_large = thrown([&] { (void)p.realize(std::vector<int64_t>{5}); });
  CHECK(too_large.kind() == DiagKind::call_failed);
  CHECK(has(too_large, "input image is used from 0 to 4 in dimension 0, but holds 0 to 3"));

  const Buffer<int32_t> out = p.realize({4});
  for (int i = 0; i < 4; ++i) CHECK(out(i) == 3 * (i + 1));
}

TEST_CASE("a parameter without a value is named") {
  Param<int32_t> gain("gain");
  Var x("x");
  Func f("f");
  f(x) = cast<int32_t>(x) * gain;
  const auto no_value = thrown([&] { (void)f.realize({4}); });
  CHECK(no_value.kind() == DiagKind::call_unset);
  CHECK(has(no_value, "parameter `gain` has no value for this call"));
  CHECK(has(no_value, "call gain.set(value)"));
}

TEST_CASE("the arguments of a compiled pipeline are counted") {
  const auto c = plain_case();
  const auto compiled = compile(c.pipeline, c.schedule, host_target()).or_throw();
  const auto status = compiled->run({});
  REQUIRE(!status.ok());
  CHECK(status.diag().kind() == DiagKind::call_arguments);
  CHECK(has(status.diag(), "f takes 2 arguments, not 0"));
}

}  // namespace
}  // namespace drawloom
