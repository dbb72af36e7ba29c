// Conversion plans, executed: registers are arrays in memory, shuffles and shared memory are the chip's own.
#include <algorithm>

#include "device.h"

namespace drawloom::device_check {
namespace {

/// `table`: per round three rows of one entry a thread: register offered, lane read, register received.
__global__ void run_rounds(const int* table, int rounds, const unsigned* in, int in_registers, unsigned* out,
                           int out_registers) {
  const int thread = threadIdx.x, threads = blockDim.x;
  for (int k = 0; k < rounds; ++k) {
    const int* row = table + 3 * k * threads + thread;
    const int offered = row[0], source = row[threads], received = row[2 * threads];
    const unsigned value = __shfl_sync(0xffffffffu, offered >= 0 ? in[thread * in_registers + offered] : 0u, source);
    if (received >= 0) out[thread * out_registers + received] = value;
  }
}

/// One direction of a passage: the registers of each step, and each thread's address.
struct Steps {
  const int *registers, *bytes;
  int steps, vector;
};

__global__ void run_passage(Steps store, Steps load, const unsigned* in, int in_registers, unsigned* out,
                            int out_registers) {
  extern __shared__ __align__(1024) unsigned char tile[];
  const int thread = threadIdx.x, threads = blockDim.x;
  for (int s = 0; s < store.steps; ++s) {
    auto* words = reinterpret_cast<unsigned*>(tile + store.bytes[s * threads + thread]);
    for (int e = 0; e < store.vector; ++e) words[e] = in[thread * in_registers + store.registers[s * store.vector + e]];
  }
  __syncthreads();
  for (int s = 0; s < load.steps; ++s) {
    const auto* words = reinterpret_cast<const unsigned*>(tile + load.bytes[s * threads + thread]);
    for (int e = 0; e < load.vector; ++e) out[thread * out_registers + load.registers[s * load.vector + e]] = words[e];
  }
}

auto names_of(const std::string& first, const std::vector<Dim>& threads) -> std::vector<std::string> {
  std::vector<std::string> out = {first};
  for (const auto& dim : threads) out.push_back(dim.name);
  return out;
}

/// thread * registers + register -> a number for the element.
auto elements(const Layout& layout, const std::vector<Dim>& threads) -> std::vector<unsigned> {
  const auto ordered = arrange(layout, names_of("register", threads), {"row", "col"});
  std::vector<unsigned> out;
  for (int64_t n = 0; n < point_count(ordered.from()); ++n) {
    const auto place = ordered.apply(nth_point(ordered.from(), n)).value();
    out.push_back(static_cast<unsigned>(place[0] * 1000 + place[1]));
  }
  return out;
}

auto steps_of(const VectorAccess& access, const std::vector<Dim>& threads) -> Steps {
  const auto vector = static_cast<int>(access.width / 4), steps = static_cast<int>(access.bytes.from_extent("step"));
  std::vector<int> registers;
  for (int s = 0; s < steps; ++s) {
    for (int e = 0; e < vector; ++e) registers.push_back(static_cast<int>(access.registers.value_at({e, s})));
  }
  auto names = names_of("step", threads);
  std::rotate(names.begin(), names.begin() + 1, names.end());  // threads fastest
  return {upload(registers), upload(byte_table(access.bytes, names)), steps, vector};
}

auto execute(const Conversion& plan, const std::vector<unsigned>& in, int in_registers, int out_registers)
    -> std::vector<unsigned> {
  const auto threads = static_cast<int>(point_count(plan.threads));
  const auto size = static_cast<size_t>(threads * out_registers);
  auto* out = room_for<unsigned>(size);
  if (plan.kind == ConversionKind::shuffle) {
    std::vector<int> table;
    for (const auto& round : plan.rounds) {
      for (const auto* row : {&round.offered, &round.source, &round.received}) {
        table.insert(table.end(), row->begin(), row->end());
      }
    }
    run_rounds<<<1, threads>>>(upload(table), static_cast<int>(plan.rounds.size()), upload(in), in_registers, out,
                               out_registers);
  } else {
    allow_shared(run_passage, 200 * 1024);
    run_passage<<<1, threads, plan.shared->tile.bytes>>>(steps_of(plan.shared->store, plan.threads),
                                                         steps_of(plan.shared->load, plan.threads), upload(in),
                                                         in_registers, out, out_registers);
  }
  return download(out, size);
}

void check(const std::string& name, const Layout& from, const Layout& to, ConversionKind kind) {
  const auto plan = plan_conversion(from, to, 4).value();
  const auto in = elements(from, plan.threads), want = elements(to, plan.threads);
  const auto got = kind == ConversionKind::nothing ? in
                                                   : execute(plan, in, static_cast<int>(from.from_extent("register")),
                                                             static_cast<int>(to.from_extent("register")));
  int64_t wrong = plan.kind == kind ? 0 : 1;
  for (size_t k = 0; k < want.size(); ++k) wrong += got[k] != want[k];
  verdict(name, wrong, static_cast<int64_t>(want.size()));
}

auto rows_of(int64_t columns, int64_t n) -> Layout {
  return LayoutBuilder()
      .to("row")
      .to("col")
      .map("register", columns, {{"col", 1}})
      .map("register", 2, {{"row", 8}})
      .map("lane", 4, {{"col", columns}})
      .map("lane", 8, {{"row", 1}})
      .map("register", n / (4 * columns), {{"col", 4 * columns}})
      .map("warp", 4, {{"row", 16}})
      .build();
}

auto times(const Layout& tile, const std::string& dim, const std::string& coord, int64_t count) -> Layout {
  return product(tile, LayoutBuilder().map(dim, count, {{coord, 1}}).build()).value();
}

}  // namespace

void check_conversions() {
  const auto acc = [](int64_t n) { return wgmma_accumulator(n).value(); };
  const auto operand = rename(wgmma_a_registers(2).value(), {{"k", "col"}});
  check("accumulator to A operand: nothing", acc(64), times(operand, "register", "col", 4), ConversionKind::nothing);
  check("accumulator to rows of 8 columns: shuffles", acc(32), rows_of(8, 32), ConversionKind::shuffle);
  check("176 columns to rows of 4: shuffles", acc(176), rows_of(4, 176), ConversionKind::shuffle);
  const auto by_rows = times(acc(64), "warpgroup", "row", 2);
  const auto by_columns = times(times(acc(32), "warpgroup", "col", 2), "register", "row", 2);
  check("accumulator to another split over warpgroups: shared", by_rows, by_columns, ConversionKind::shared);
  const auto plan = plan_conversion(by_rows, by_columns, 4).value();
  check_bank_cycles("its stores", by_rows, plan.shared->tile.layout, 4, plan.shared->store.width);
  check_bank_cycles("its loads", by_columns, plan.shared->tile.layout, 4, plan.shared->load.width);
}

}  // namespace drawloom::device_check
