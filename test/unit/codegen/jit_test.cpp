/// Programs as text, compiled into this process: loops, storage, parallel tasks, errors.

#include "jit_text.h"

namespace drawloom {
namespace {

TEST_CASE("a loop computes and both entry points agree", "[codegen][jit]") {
  const auto module = compile(R"(
func @add(%in: buffer<f32, 1>, %bias: f32, out %out: buffer<f32, 1>) {
  for %x = 0 : extent(%out, 0) {
    store %out[%x] = %in[%x] + %bias
  }
})");
  Array<float> in({5}), out({5}), again({5});
  for (size_t i = 0; i < 5; i++) in[i] = static_cast<float>(i) * 0.5f;
  const float bias = 10;
  CHECK(run(*module, "add", nullptr, in, &bias, out) == 0);
  using Add = int(drawloom_context_t*, const drawloom_buffer_t*, float, drawloom_buffer_t*);
  CHECK(reinterpret_cast<Add*>(module->entry("add"))(nullptr, in.buffer(), bias, again.buffer()) == 0);
  for (size_t i = 0; i < 5; i++) {
    CHECK(out[i] == 10 + static_cast<float>(i) * 0.5f);
    CHECK(again[i] == out[i]);
  }
  CHECK(module->entry("none") == nullptr);
  CHECK(module->argv("none") == nullptr);
}

}  // namespace
}  // namespace drawloom
