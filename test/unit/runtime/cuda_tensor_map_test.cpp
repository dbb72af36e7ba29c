// Tensor maps: what reaches the driver, what is refused before it, and the cache.
#include <algorithm>
#include <cstring>

#include "with_stub_driver.h"

namespace {

constexpr drawloom_type_t kFloat16 = {drawloom_type_float, 16, 1};

/// A picture of 100 x 50 floats with rows of 416 bytes, in boxes of 32 x 8.
drawloom_tensor_map_t picture() {
  drawloom_tensor_map_t map = {};
  map.name = "in";
  map.address = 0x7000'0000'0100;
  map.type = kFloat32;
  map.rank = 2;
  map.extent[0] = 100;
  map.extent[1] = 50;
  map.stride[0] = 4;
  map.stride[1] = 416;
  map.box[0] = 32;
  map.box[1] = 8;
  map.swizzle = 128;
  map.l2_promotion = 256;
  return map;
}

/// Launches a kernel whose parameter 1 is the map.
int launch_with(ListeningContext& ctx, Kernels& kernels, const drawloom_tensor_map_t& map) {
  drawloom_launch_t launch = launch_of(kernels);
  drawloom_tensor_map_t maps[] = {map};
  maps[0].param = 1;
  int width = 100;
  void* params[] = {&width, nullptr};
  launch.params = 2;
  launch.param = params;
  launch.tensor_maps = 1;
  launch.tensor_map = maps;
  return cuda().launch(&ctx, &launch);
}

}  // namespace

TEST_CASE("a map reaches the driver in its own words and the kernel as a parameter", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  uint64_t first_word = 0;
  stub->user = &first_word;
  stub->on_launch = [](const drawloom_stub_launch_t* at, void* user) {
    CHECK(reinterpret_cast<uintptr_t>(at->params[1]) % 64 == 0);
    memcpy(user, at->params[1], sizeof(uint64_t));
  };
  CHECK(launch_with(ctx, kernels, picture()) == 0);
  CHECK(first_word == 0x7000'0000'0100);  // what the stand-in encodes
  const drawloom_stub_tensor_t& told = stub->tensor;
  CHECK(told.type == 7);  // CU_TENSOR_MAP_DATA_TYPE_FLOAT32
  CHECK(told.rank == 2);
  CHECK(told.address == 0x7000'0000'0100);
  CHECK(told.extents[0] == 100);
  CHECK(told.extents[1] == 50);
  CHECK(told.strides[0] == 416);
  CHECK(told.box[0] == 32);
  CHECK(told.box[1] == 8);
  CHECK(told.steps[0] == 1);
  CHECK(told.steps[1] == 1);
  CHECK(told.interleave == 0);
  CHECK(told.swizzle == 3);       // 128 bytes
  CHECK(told.l2_promotion == 3);  // 256 bytes
  CHECK(told.fill == 0);
}

TEST_CASE("element types, swizzles and promotions have the driver's numbers", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const struct {
    drawloom_type_t type;
    int number, tf32;
  } types[] = {
      {{drawloom_type_uint, 1, 1}, 0, 0},    {{drawloom_type_uint, 8, 1}, 0, 0},   {{drawloom_type_int, 8, 1}, 0, 0},
      {{drawloom_type_uint, 16, 1}, 1, 0},   {{drawloom_type_int, 16, 1}, 1, 0},   {{drawloom_type_uint, 32, 1}, 2, 0},
      {{drawloom_type_int, 32, 1}, 3, 0},    {{drawloom_type_uint, 64, 1}, 4, 0},  {{drawloom_type_int, 64, 1}, 5, 0},
      {{drawloom_type_float, 16, 1}, 6, 0},  {{drawloom_type_float, 32, 1}, 7, 0}, {{drawloom_type_float, 64, 1}, 8, 0},
      {{drawloom_type_bfloat, 16, 1}, 9, 0}, {{drawloom_type_float, 32, 1}, 11, 1}};
  for (const auto& row : types) {
    drawloom_tensor_map_t map = picture();
    map.type = row.type;
    map.tf32 = row.tf32;
    map.stride[0] = (row.type.bits + 7) / 8;
    map.box[0] = 16;
    CAPTURE(row.number);
    CHECK(launch_with(ctx, kernels, map) == 0);
    CHECK(stub->tensor.type == row.number);
  }
  const int sizes[] = {0, 32, 64, 128};
  for (int i = 0; i < 4; i++) {
    drawloom_tensor_map_t map = picture();
    map.swizzle = sizes[i];
    map.box[0] = 8;
    map.l2_promotion = i == 0 ? 0 : 32 << i;
    CHECK(launch_with(ctx, kernels, map) == 0);
    CHECK(stub->tensor.swizzle == i);
    CHECK(stub->tensor.l2_promotion == i);
  }
}

TEST_CASE("each constraint is checked before the driver is asked, and the dimension named", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const auto refused = [&](void (*change)(drawloom_tensor_map_t*)) {
    drawloom_tensor_map_t map = picture();
    change(&map);
    CHECK(cuda().tensor_map_fits(&ctx, &map) == 0);
    const int code = launch_with(ctx, kernels, map);
    CHECK((code == drawloom_error_bad_tensor_map || code == drawloom_error_bad_tensor_dimension));
    return ctx.message;
  };
  const std::string start = "blur: tensor map of in";
  CHECK(refused([](auto* m) { m->rank = 0; }) == start + ": the rank is 0, needs 1 to 5");
  CHECK(refused([](auto* m) { m->rank = 6; }) == start + ": the rank is 6, needs 1 to 5");
  CHECK(refused([](auto* m) { m->address += 8; }) ==
        start + ": the device address is 123145302311176, needs a multiple of 16 bytes that is not 0");
  CHECK(refused([](auto* m) { m->address = 0; }) ==
        start + ": the device address is 0, needs a multiple of 16 bytes that is not 0");
  const std::string types = "needs int or uint of 8, 16, 32 or 64, float of 16, 32 or 64, bfloat of 16";
  CHECK(refused([](auto* m) { m->type.bits = 24; }) == start + ": the number of bits of its elements is 24, " + types);
  CHECK(refused([](auto* m) { m->type = {drawloom_type_bfloat, 32, 1}; }) ==
        start + ": the number of bits of its elements is 32, " + types);
  CHECK(refused([](auto* m) { m->type.lanes = 4; }) == start + ": the number of bits of its elements is 32, " + types);
  CHECK(refused([](auto* m) {
          m->type = kInt32;
          m->tf32 = 1;
        }) == start + ": tf32 is 1, needs elements of type float32");
  CHECK(refused([](auto* m) { m->swizzle = 16; }) == start + ": the swizzle is 16, needs 0, 32, 64 or 128 bytes");
  CHECK(refused([](auto* m) { m->l2_promotion = 32; }) ==
        start + ": the L2 promotion is 32, needs 0, 64, 128 or 256 bytes");
  CHECK(refused([](auto* m) { m->fill = 2; }) == start + ": the fill is 2, needs zero (0) or NaN (1)");
  CHECK(refused([](auto* m) {
          m->type = kInt32;
          m->fill = drawloom_tensor_fill_nan;
        }) == start + ": the fill is 1, needs zero (0) where elements are integers");
  CHECK(refused([](auto* m) { m->extent[1] = 0; }) == start + ", dimension 1: the extent is 0, needs 1 to 2^32");
  CHECK(refused([](auto* m) { m->extent[0] = (INT64_C(1) << 32) + 1; }) ==
        start + ", dimension 0: the extent is 4294967297, needs 1 to 2^32");
  CHECK(refused([](auto* m) { m->stride[0] = 8; }) ==
        start + ", dimension 0: the stride in bytes is 8, needs the size of one element");
  const std::string strides = ", needs a positive multiple of 16 below 2^40";
  CHECK(refused([](auto* m) { m->stride[1] = 404; }) == start + ", dimension 1: the stride in bytes is 404" + strides);
  CHECK(refused([](auto* m) { m->stride[1] = 0; }) == start + ", dimension 1: the stride in bytes is 0" + strides);
  CHECK(refused([](auto* m) { m->stride[1] = -416; }) ==
        start + ", dimension 1: the stride in bytes is -416" + strides);
  CHECK(refused([](auto* m) { m->stride[1] = INT64_C(1) << 40; }) ==
        start + ", dimension 1: the stride in bytes is 1099511627776" + strides);
  CHECK(refused([](auto* m) { m->box[1] = 0; }) == start + ", dimension 1: the box is 0, needs 1 to 256 elements");
  CHECK(refused([](auto* m) { m->box[1] = 257; }) == start + ", dimension 1: the box is 257, needs 1 to 256 elements");
  CHECK(refused([](auto* m) { m->box[0] = 3; }) ==
        start + ", dimension 0: the box in bytes is 12, needs a multiple of 16");
  CHECK(refused([](auto* m) { m->box[0] = 36; }) ==
        start + ", dimension 0: the box in bytes is 144, needs at most the swizzle");
  CHECK(refused([](auto* m) { m->element_step[1] = 9; }) ==
        start + ", dimension 1: the element step is 9, needs 1 to 8");
  CHECK(refused([](auto* m) { m->element_step[1] = -1; }) ==
        start + ", dimension 1: the element step is -1, needs 1 to 8");
  CHECK(refused([](auto* m) { m->element_step[0] = 2; }) == start + ", dimension 0: the element step is 2, needs 1");
  CHECK(stub->calls("cuTensorMapEncodeTiled") == 0);
  CHECK(stub->calls("cuLaunchKernelEx") == 0);
}

TEST_CASE("the limits themselves are allowed", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const auto allowed = [&](void (*change)(drawloom_tensor_map_t*)) {
    drawloom_tensor_map_t map = picture();
    change(&map);
    CHECK(cuda().tensor_map_fits(&ctx, &map) == 1);
    CHECK(launch_with(ctx, kernels, map) == 0);
  };
  allowed([](auto* m) { m->extent[0] = INT64_C(1) << 32; });
  allowed([](auto* m) { m->extent[1] = 1; });
  allowed([](auto* m) { m->stride[1] = (INT64_C(1) << 40) - 16; });
  allowed([](auto* m) { m->stride[1] = 16; });  // rows may overlap
  allowed([](auto* m) { m->box[1] = 256; });
  allowed([](auto* m) {
    m->swizzle = 0;
    m->box[0] = 256;
  });
  allowed([](auto* m) { m->box[1] = 1; });
  allowed([](auto* m) { m->element_step[1] = 8; });
  allowed([](auto* m) { m->fill = drawloom_tensor_fill_nan; });
  allowed([](auto* m) { m->rank = 1; });
  allowed([](auto* m) {
    m->rank = 5;
    for (int i = 2; i < 5; i++) {
      m->extent[i] = 3;
      m->stride[i] = 416 * 64;
      m->box[i] = 1;
    }
  });
}

TEST_CASE("the stride of a dimension of one element does not matter", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  drawloom_tensor_map_t map = picture();
  map.extent[1] = 1;
  map.stride[1] = 404;
  CHECK(cuda().tensor_map_fits(&ctx, &map) == 1);
  CHECK(launch_with(ctx, kernels, map) == 0);
  CHECK(stub->tensor.strides[0] % 16 == 0);
}

TEST_CASE("whether a map fits can be asked without a driver", "[cuda]") {
  drawloom_cuda_reset("/nowhere/libcuda.so.1");
  ListeningContext ctx;
  const drawloom_tensor_map_t map = picture();
  CHECK(cuda().tensor_map_fits(&ctx, &map) == 1);
  CHECK(ctx.count == 0);
  drawloom_cuda_reset(nullptr);
}

TEST_CASE("equal maps are encoded once, whatever is not part of the value", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  drawloom_tensor_map_t map = picture();
  for (int i = 0; i < 4; i++) CHECK(launch_with(ctx, kernels, map) == 0);
  CHECK(stub->calls("cuTensorMapEncodeTiled") == 1);
  map.name = "another name";
  map.element_step[0] = map.element_step[1] = 1;  // what 0 means
  map.extent[4] = map.box[3] = 77;                // beyond the rank
  CHECK(launch_with(ctx, kernels, map) == 0);
  CHECK(stub->calls("cuTensorMapEncodeTiled") == 1);
}

TEST_CASE("maps that differ in one field are encoded each", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  int expected = 0;
  const auto encoded = [&](void (*change)(drawloom_tensor_map_t*)) {
    drawloom_tensor_map_t map = picture();
    change(&map);
    for (int i = 0; i < 2; i++) CHECK(launch_with(ctx, kernels, map) == 0);
    CHECK(stub->calls("cuTensorMapEncodeTiled") == ++expected);
  };
  encoded([](auto*) {});
  encoded([](auto* m) { m->address += 16; });
  encoded([](auto* m) { m->type = kInt32; });
  encoded([](auto* m) { m->extent[0] = 101; });
  encoded([](auto* m) { m->extent[1] = 51; });
  encoded([](auto* m) { m->stride[1] = 432; });
  encoded([](auto* m) { m->box[0] = 16; });
  encoded([](auto* m) { m->box[1] = 4; });
  encoded([](auto* m) { m->element_step[1] = 2; });
  encoded([](auto* m) { m->swizzle = 0; });
  encoded([](auto* m) { m->l2_promotion = 128; });
  encoded([](auto* m) { m->fill = drawloom_tensor_fill_nan; });
  encoded([](auto* m) { m->tf32 = 1; });
  encoded([](auto* m) { m->rank = 1; });
}

TEST_CASE("a thousand maps are each right, also when the cache is full", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  uint64_t first_word = 0;
  stub->user = &first_word;
  stub->on_launch = [](const drawloom_stub_launch_t* at, void* user) { memcpy(user, at->params[1], sizeof(uint64_t)); };
  for (int round = 0; round < 2; round++) {
    for (uint64_t i = 0; i < 1000; i++) {
      drawloom_tensor_map_t map = picture();
      map.address = 0x10000 + 4096 * i;
      REQUIRE(launch_with(ctx, kernels, map) == 0);
      REQUIRE(first_word == map.address);
    }
  }
}

TEST_CASE("a full set of the cache gives up its oldest map", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  const auto encodes = [&](uint64_t i) {
    drawloom_tensor_map_t map = picture();
    map.address = 0x10000 + 4096 * i;
    const int before = stub->calls("cuTensorMapEncodeTiled");
    REQUIRE(launch_with(ctx, kernels, map) == 0);
    return stub->calls("cuTensorMapEncodeTiled") > before;
  };
  // A map that drives map 0 out of an empty cache is of its set, whichever of the set goes first.
  std::vector<uint64_t> set = {0};
  while (set.size() < 6) {
    drawloom_forget_device_context(&ctx);
    CHECK(encodes(0));
    for (uint64_t i = 1;; i++) {
      REQUIRE(i < 10000);
      if (std::count(set.begin(), set.end(), i) > 0) continue;
      encodes(i);
      if (!encodes(0)) continue;
      set.push_back(i);
      break;
    }
  }
  drawloom_forget_device_context(&ctx);
  for (size_t k = 0; k < 5; k++) CHECK(encodes(set[k]));  // the fifth drives the first out
  for (size_t k = 1; k < 5; k++) CHECK_FALSE(encodes(set[k]));
  CHECK(encodes(set[5]));  // and the sixth the second
  for (size_t k = 2; k < 6; k++) CHECK_FALSE(encodes(set[k]));
  CHECK(encodes(set[0]));
  for (size_t k = 3; k < 6; k++) CHECK_FALSE(encodes(set[k]));
}

TEST_CASE("what the driver refuses all the same is reported and not kept", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  stub->fail("cuTensorMapEncodeTiled", 0, 1, 1);
  CHECK(launch_with(ctx, kernels, picture()) == drawloom_error_driver_failed);
  CHECK(ctx.message == "blur: cuTensorMapEncodeTiled: as planted (CUDA_ERROR_INVALID_VALUE)");
  CHECK(launch_with(ctx, kernels, picture()) == 0);
  CHECK(stub->calls("cuTensorMapEncodeTiled") == 2);
  CHECK(stub->calls("cuLaunchKernelEx") == 1);
}

TEST_CASE("a map for a parameter that the kernel has not", "[cuda]") {
  const WithStubDriver stub;
  ListeningContext ctx;
  Kernels kernels;
  for (const int param : {-1, 1}) {
    drawloom_launch_t launch = launch_of(kernels);
    drawloom_tensor_map_t map = picture();
    void* params[1] = {};
    map.param = param;
    launch.params = 1;
    launch.param = params;
    launch.tensor_maps = 1;
    launch.tensor_map = &map;
    CHECK(cuda().launch(&ctx, &launch) == drawloom_error_bad_launch);
    CHECK(ctx.message == "blur: kernel blur_y: the parameter of a tensor map is " + std::to_string(param) +
                             ", needs the number of a parameter");
  }
}
