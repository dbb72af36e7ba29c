/// What lowered loops compute, where no pipeline makes the statements: run on the machine before and after the pass.

#include "../machine/run_text.h"
#include "drawloom/lower/lower.h"
#include "drawloom/support/target.h"

using namespace drawloom;

TEST_CASE("a mask that reads memory is taken before what is stored under it", "[lower]") {
  const Program loop = program_of(R"(func @f(%in: buffer<i32, 1>, out %out: buffer<i32, 1>) {
  for %x = 0 : 4 {
    store %out[%x] = %in[%x]
  }
  vectorized for %x = 0 : 4 {
    if %out[%x] < 0:i32 {
      store %out[%x] = 5:i32
      store %out[%x] = 6:i32
      if %out[%x] == 6:i32 {
        store %out[%x] = 8:i32
        store %out[%x] = %out[%x] + 1:i32
      }
    } else {
      store %out[%x] = -7:i32
    }
  }
})");
  const Program wide = run_pass("vectorize_loops", loop, host_target()).or_throw();
  // lanes -2, -1, 0, 1: two below 0, which end at 9, and two that take the other side
  for (const Program& p : {loop, wide}) {
    auto in = filled({{.min = 0, .extent = 4}}, [](auto& at) { return at[0] - 2; });
    auto o = row(4);
    const MachineArguments arguments = {{.array = &in}, {.array = &o}};
    CHECK(errors_of(run(p, arguments, {}).or_throw()).empty());
    CHECK(ints(o) == std::vector<int64_t>{9, 9, -7, -7});
  }
}
