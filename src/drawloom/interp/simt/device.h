#pragma once
/// One launch while it runs.

#include <deque>
#include <functional>

#include "drawloom/interp/simt/block.h"
#include "drawloom/interp/simt/world.h"

namespace drawloom::simt {

/// Something that an asynchronous agent will do. Operations of one `stream` run in the order of their issue.
struct AsyncOp {
  std::function<void()> run;
  const void* stream = nullptr;
  uint64_t number = 0;
};

class Device {
 public:
  Device(World& world, const Code& code, const int64_t* grid);
  void run();

 private:
  /// What a warp does after an instruction: goes on, or lets others run, then (after `blocked`) tries it again.
  enum class Next : uint8_t { go, yield, blocked };
  /// Somebody touching memory, for messages.
  struct Who {
    const Warp* warp = nullptr;
    int lane = kNone;        ///< kNone: the warp
    const char* agent = "";  ///< of asynchronous operations: what they are
    int site = 0;
  };

  // schedule.cpp
  void place_clusters();
  auto place_cluster(int64_t number) -> bool;
  void make_warps(ThreadBlock& block);
  auto choose_warp() -> Warp*;
  auto perform_async() -> bool;
  void start(AsyncOp op);
  void settle() {
    if (world_.options.moment == AsyncMoment::earliest)
      while (perform_async()) {
      }
  }
  void exit_warp(Warp& w);
  void exit_block(ThreadBlock& b);
  void check_touched(ThreadBlock& b);
  void report_deadlock();
  auto waiting_text(const Warp& w) -> std::string;

  // execute.cpp
  void run_warp(Warp& w);
  auto execute(Warp& w, const Instruction& i) -> Next;
  auto execute_effect(Warp& w, const Instruction& i) -> Next;
  void control(Warp& w, const Instruction& i);
  void loop_head(Warp& w, const Instruction& i);
  void loop_next(Warp& w, const Instruction& i);
  void role(Warp& w, const Instruction& i);
  void evaluate(Warp& w, const Instruction& i);
  auto evaluate_lane(Warp& w, const Instruction& i, int lane) -> Value;
  void check_uniform(Warp& w, const Instruction& i);
  void propagate(Warp& w, const Instruction& i);
  auto value(const Warp& w, const Operand& o, int lane) const -> Value;
  auto integer(const Warp& w, const Operand& o, int lane) const -> int64_t;
  auto poison(const Warp& w, const Operand& o) const -> LaneMask;
  void set(Warp& w, int slot, int lane, const Value& v) { w.slots[static_cast<size_t>(slot)].i[lane] = v.i; }
  /// Reports an operand that means nothing in a lane that uses it.
  auto check_defined(Warp& w, const Operand& o, LaneMask lanes, const char* use) -> bool;
  /// A collective needs all lanes of its warp.
  auto need_whole(Warp& w, const Instruction& i) -> bool;

  // access.cpp
  auto linear(const Warp& w, const Place& p, int lane, int64_t& out) const -> bool;
  auto shared_address(Warp& w, const Place& p, int lane, int site, uint32_t& out) -> bool;
  void load(Warp& w, const Instruction& i);
  void store(Warp& w, const Instruction& i);
  auto load_register(Warp& w, const Place& p, int lane, Value& out) -> bool;
  void store_register(Warp& w, const Place& p, int lane, const Value& v, bool undefined);
  void address(Warp& w, const Instruction& i);
  auto element_address(Warp& w, const Place& p, int lane, uint64_t& out) -> bool;
  auto touch_register(Warp& w, int array, int64_t element, bool write) -> RegisterElement*;
  void count_banks(Warp& w, int site, const std::vector<uint32_t>& addresses, int bytes);

  // memory.cpp: bytes, with the shadow asked; false: outside, reported
  auto accessor(const Warp& w, int lane, bool global) const -> Accessor;
  auto async_accessor(Component stream, const ThreadBlock& block, uint32_t clock, const View& view, int site,
                      bool global) const -> Accessor;
  auto read_shared(ThreadBlock& b, uint64_t at, uint64_t bytes, const Accessor& by, const Who& who, std::byte* out)
      -> bool;
  auto write_shared(ThreadBlock& b, uint64_t at, uint64_t bytes, const Accessor& by, const Who& who,
                    const std::byte* in) -> bool;
  auto read_global(uint64_t at, uint64_t bytes, const Accessor& by, const Who& who, std::byte* out) -> bool;
  auto write_global(uint64_t at, uint64_t bytes, const Accessor& by, const Who& who, const std::byte* in) -> bool;
  auto filled_shared(ThreadBlock& b, uint64_t at, uint64_t bytes, const Who& who) -> bool;

  // mbarrier.cpp
  void init(Warp& w, const Instruction& i);
  auto arrive(Warp& w, const Instruction& i) -> Next;
  void expect(Warp& w, const Instruction& i);
  auto wait(Warp& w, const Instruction& i) -> Next;
  auto find_barrier(Warp& w, ThreadBlock& b, uint32_t address, int lane, int site) -> Mbarrier*;
  void arrive_at(ThreadBlock& b, Mbarrier& m, int64_t count, const View& view, bool remote, const Who& who);
  void expect_bytes(ThreadBlock& b, Mbarrier& m, int64_t bytes, const Who& who);
  void complete_bytes(ThreadBlock& b, Mbarrier& m, int64_t bytes, const Who& who);
  void finish_phase(ThreadBlock& b, Mbarrier& m, const Who& who);
  auto phase_ready(Warp& w, Mbarrier& m, int lane, int64_t parity, int site) -> bool;
  auto barrier_text(const ThreadBlock& b, const Mbarrier& m) const -> std::string;

  // sync.cpp
  auto sync(Warp& w, const Instruction& i) -> Next;
  auto sync_named(Warp& w, const Instruction& i, int id, int threads, bool waits) -> Next;
  auto join_group(Warp& w, NamedBarrier& n, int id, int threads, int site) -> bool;
  auto sync_cluster(Warp& w, const Instruction& i, bool arrives, bool waits) -> Next;
  void cluster_check(Cluster& c);
  void fence(Warp& w, const Instruction& i);
  auto set_registers(Warp& w, const Instruction& i) -> Next;

  // groups.cpp
  auto stream(Warp& w, int lane, AsyncGroup group) -> Stream&;
  void commit(Warp& w, const Instruction& i);
  auto wait_group(Warp& w, const Instruction& i) -> Next;
  auto wait_wgmma(Warp& w, const Instruction& i) -> Next;
  void check_exit(Warp& w);

  // atoms*.cpp
  auto issue(Warp& w, const Instruction& i) -> Next;
  void check_stream(const Who& who, uint64_t at, uint64_t bytes);
  void vector_load(Warp& w, const Instruction& i, const IssueCode& c);
  void vector_store(Warp& w, const Instruction& i, const IssueCode& c);
  void shuffle(Warp& w, const Instruction& i, const IssueCode& c);
  void pack(Warp& w, const Instruction& i, const IssueCode& c);
  void matrix_load(Warp& w, const Instruction& i, const IssueCode& c, bool transposed);
  void matrix_store(Warp& w, const Instruction& i, const IssueCode& c, bool transposed);
  void mma(Warp& w, const Instruction& i, const IssueCode& c);
  void wgmma(Warp& w, const Instruction& i, const IssueCode& c);
  auto same_in_group(Warp& w, const Instruction& i, const std::string& entry) -> bool;
  void run_wgmma(Warp& w, int site, const struct WgmmaJob& job);
  void read_piece(const struct WgmmaRun& r, uint32_t at, double* to, int step);
  void gather_a(const struct WgmmaRun& r, double* a);
  void gather_b(const struct WgmmaRun& r, double* b);
  void tma_load(Warp& w, const Instruction& i, const IssueCode& c, int lane, bool multicast);
  void tma_store(Warp& w, const Instruction& i, const IssueCode& c, int lane);
  void bulk_load(Warp& w, const Instruction& i, const IssueCode& c, int lane);
  void bulk_store(Warp& w, const Instruction& i, const IssueCode& c, int lane);
  void cp_async(Warp& w, const Instruction& i, const IssueCode& c, int lane);
  void cp_async_arrive(Warp& w, const Instruction& i, const IssueCode& c, int lane);
  void fill_box(const struct TmaJob& job, const Accessor& by,
                const std::function<void(int64_t, std::byte*, bool)>& put);
  void run_tma_load(const struct TmaJob& job);
  void read_box(const struct TmaJob& job, std::vector<std::byte>& box, std::vector<bool>& filled);
  void write_box(const struct TmaJob& job, const std::vector<std::byte>& box, const std::vector<bool>& filled);
  auto copy_barrier(Warp& w, ThreadBlock& b, uint32_t at, int lane, int site) -> Mbarrier*;
  auto begin_copy(ThreadBlock& b, const Who& who) -> bool;
  auto aligned(Warp& w, const Instruction& i, const IssueOperand& o, LaneMask lanes) -> bool;
  auto first_of(const Warp& w, const IssueOperand& o) const -> int { return static_cast<int>(integer(w, o.first, 0)); }
  auto registers_exist(Warp& w, const Instruction& i, const IssueOperand& o) -> bool;
  auto register_of(Warp& w, const IssueOperand& o, int k, bool write) -> RegisterElement* {
    return touch_register(w, o.registers, first_of(w, o) + k, write);
  }

  // report.cpp
  auto who_text(const Who& who) const -> std::string;
  auto who_text(const Epoch& e) const -> std::string;
  auto warp_text(const Warp& w) const -> std::string;
  auto block_text(const ThreadBlock& b) const -> std::string;
  auto shared_text(uint64_t at) const -> std::string;
  auto global_text(uint64_t at) const -> std::string;
  void race(const Who& who, bool writes, const std::string& place, const Conflict& c);
  void protocol(const Who& who, const std::string& what);
  void uninitialised(const Who& who, const std::string& place);
  void out_of_bounds(const Who& who, const char* verb, const std::string& place, const std::string& limits);
  auto site(int s) const -> const Site& { return code_.sites[static_cast<size_t>(s)]; }

  World& world_;
  const Code& code_;
  int64_t grid_[3];
  int64_t clusters_ = 0, next_cluster_ = 0;
  uint32_t first_cluster_ = 0;
  int warps_per_block_ = 0, multiprocessors_ = 0;
  std::vector<std::unique_ptr<Cluster>> running_;
  std::vector<Warp*> warps_;  ///< of resident blocks
  std::deque<AsyncOp> pending_;
  uint64_t progress_ = 1, turn_ = 0, next_async_ = 0;
};

/// A shared address has the rank of its block in the cluster from this bit on (seen on an H200): what takes only its low
/// bits, as a matrix descriptor does, must be given those.
inline constexpr int kRankShift = 24;
/// The byte in the block's own shared memory.
inline auto shared_byte(int64_t address) -> uint32_t {
  return static_cast<uint32_t>(address) & ((uint32_t{1} << kRankShift) - 1);
}

/// The operand of an atom by its name in atoms.def.
inline auto operand(const IssueCode& c, std::string_view name) -> const IssueOperand& {
  for (const auto& o : c.operands) {
    if (o.row->name == name) return o;
  }
  __builtin_unreachable();
}

}  // namespace drawloom::simt
