// Tensor maps that synthesis proposes, encoded and copied by the hardware: every element must lie where the layout
// says.
#include <cuda.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "device.h"

namespace drawloom::device_check {
namespace {

/// Copies `copies` boxes into shared memory, `step` apart in dimension `along`, then writes out what lies there.
__global__ void copy_boxes(const __grid_constant__ CUtensorMap map, int rank, int copies, int along, int step,
                           int bytes, unsigned char* out) {
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ __align__(8) uint64_t full;
  const auto barrier = static_cast<uint32_t>(__cvta_generic_to_shared(&full));
  const auto to = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
    for (int k = 0; k < copies; ++k) {
      int x[5] = {0, 0, 0, 0, 0};
      if (along >= 0) x[along] = k * step;
      const uint32_t box = to + k * (bytes / copies);
#define COPY(dims, coordinates, ...)                                                                \
  asm volatile("cp.async.bulk.tensor." dims                                                         \
               ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" coordinates \
               "}], [%2];" ::"r"(box),                                                              \
               "l"(&map), "r"(barrier), __VA_ARGS__                                                 \
               : "memory")
      if (rank == 2) COPY("2d", "%3, %4", "r"(x[0]), "r"(x[1]));
      if (rank == 3) COPY("3d", "%3, %4, %5", "r"(x[0]), "r"(x[1]), "r"(x[2]));
      if (rank == 4) COPY("4d", "%3, %4, %5, %6", "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]));
#undef COPY
    }
  }
  __syncthreads();
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }" ::"r"(barrier)
               : "memory");
  for (int k = threadIdx.x; k < bytes; k += blockDim.x) out[k] = tile[k];
}

auto encoder() -> decltype(&cuTensorMapEncodeTiled) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult result;
  must(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &result), "driver");
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
}

auto type_of(int64_t bytes) -> CUtensorMapDataType {
  if (bytes == 8) return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  return bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
}
auto mode_of(Swizzle swizzle) -> CUtensorMapSwizzle {
  switch (swizzle) {
    case Swizzle::none: return CU_TENSOR_MAP_SWIZZLE_NONE;
    case Swizzle::b32: return CU_TENSOR_MAP_SWIZZLE_32B;
    case Swizzle::b64: return CU_TENSOR_MAP_SWIZZLE_64B;
    case Swizzle::b128: return CU_TENSOR_MAP_SWIZZLE_128B;
  }
  return CU_TENSOR_MAP_SWIZZLE_NONE;
}

/// A two-dimensional tensor of `columns` x `rows`, columns contiguous.
struct Tensor {
  void* data;
  std::string column_name;
  int64_t columns, rows, element_bytes;
};

/// Lower parts of a split coordinate are as long as they are; the topmost part of the box runs to the end of the
/// tensor.
auto encode(const Tensor& tensor, const TensorMapShape& map) -> CUtensorMap {
  std::map<std::string, int64_t> top;
  for (const auto& part : map.box) top[part.coord] = std::max(top[part.coord], part.step);
  cuuint64_t dims[5], strides[5];
  cuuint32_t box[5], ones[5] = {1, 1, 1, 1, 1};
  for (size_t k = 0; k < map.box.size(); ++k) {
    const auto& part = map.box[k];
    const bool is_column = part.coord == tensor.column_name;
    const int64_t whole = is_column ? tensor.columns : tensor.rows;
    const int64_t unit = is_column ? tensor.element_bytes : tensor.columns * tensor.element_bytes;
    dims[k] = static_cast<cuuint64_t>(part.step == top[part.coord] ? whole / part.step : part.extent);
    box[k] = static_cast<cuuint32_t>(part.extent);
    if (k > 0) strides[k - 1] = static_cast<cuuint64_t>(unit * part.step);
  }
  CUtensorMap out;
  const auto code = encoder()(&out, type_of(tensor.element_bytes), static_cast<cuuint32_t>(map.box.size()), tensor.data,
                              dims, strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, mode_of(map.swizzle),
                              CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  must(code == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue, "tensor map");
  return out;
}

/// In which dimension of the box the separate copies move, and how far each.
struct Copies {
  int count = 1, along = -1, step = 0;
};
auto copies_of(const TensorMapShape& map) -> Copies {
  Copies out;
  for (const auto& part : map.copies) {
    out.count = static_cast<int>(part.extent);
    for (size_t k = 0; k < map.box.size(); ++k) {
      if (map.box[k].coord == part.coord) {  // the last one is the topmost
        out.along = static_cast<int>(k), out.step = static_cast<int>(part.step / map.box[k].step);
      }
    }
  }
  return out;
}

/// The tile at the origin of a tensor whose elements hold their own number.
void check(const std::string& name, const SharedTile& tile, const SharedLayout& found, int64_t columns) {
  const auto& [column_name, width] = tile.extents[0];
  const auto& [row_name, rows] = tile.extents[1];
  const auto bytes = static_cast<size_t>(tile.element_bytes);
  std::vector<unsigned char> global(static_cast<size_t>(columns * rows) * bytes);
  for (uint32_t n = 0; n < columns * rows; ++n) std::memcpy(&global[n * bytes], &n, std::min<size_t>(bytes, 4));
  const auto map = encode({upload(global), column_name, columns, rows, tile.element_bytes}, *found.tensor_map);
  const auto copies = copies_of(*found.tensor_map);
  const auto size = static_cast<int>(found.bytes);
  auto* out = room_for<unsigned char>(static_cast<size_t>(size));
  allow_shared(copy_boxes, 200 * 1024);
  copy_boxes<<<1, 128, size>>>(map, static_cast<int>(found.tensor_map->box.size()), copies.count, copies.along,
                               copies.step, size, out);
  const auto shared = download(out, static_cast<size_t>(size));
  const auto place = arrange(found.layout, {column_name, row_name}, {});
  int64_t wrong = 0;
  for (int64_t column = 0; column < width; ++column) {
    for (int64_t row = 0; row < rows; ++row) {
      const auto* want = &global[static_cast<size_t>(row * columns + column) * bytes];
      wrong += std::memcmp(&shared[static_cast<size_t>(place.value_at({column, row}))], want, bytes) != 0;
    }
  }
  verdict(name + ": " + found.tensor_map->text(), wrong, width * rows);
}

}  // namespace

void check_tensor_maps() {
  struct Case {
    int64_t n, element_bytes, v;
  };
  for (const auto& [n, eb, v] : std::vector<Case>{{64, 4, 4}, {64, 2, 8}, {32, 8, 2}, {64, 8, 2}, {128, 2, 8}}) {
    const SharedTile tile = {{{"y", n}, {"x", n}}, eb};
    const auto reads = transposed_reads(n, v);
    const auto found = synthesize(tile, {{"read", reads, v * eb}}, {true}).value();
    const auto name = str("tensor map, transpose {} x {}, {} B", n, n, eb);
    check(name, tile, found, 2 * n);
    check_bank_cycles(name, reads, found.layout, eb, v * eb);
  }
  const SharedTile halo = {{{"x", 34}, {"y", 34}}, 4};
  const auto along = LayoutBuilder().map("lane", 32, {{"x", 1}}).build();
  check("tensor map, 34 x 34 halo", halo, synthesize(halo, {{"along", along, 4}}, {true}).value(), 64);
}

}  // namespace drawloom::device_check
