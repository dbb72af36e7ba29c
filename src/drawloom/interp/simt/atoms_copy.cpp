/// Copies by asynchronous agents: TMA boxes and bulk copies.
///
/// Each copy is checked when it is issued and put on the list of pending operations; it touches memory when the
/// schedule says so, as an agent with the clock of its stream and with what the issuing lane knew then. So a copy that
/// reads what a thread wrote after the issue, or before it without a proxy fence, is a race.
///
/// A load ends by completing its bytes at an mbarrier, in the phase that runs then. A store has two ends, since shared
/// memory may be written again earlier than the result can be read: it is two operations, one that reads the box and
/// one that writes the tensor, with a component each (`wait_group bulk_read` waits for the first only).
///
/// A box may hang over the tensor. Example, rows of 12 elements of 4 bytes and a box of 8 at column 8: of each row
/// bytes 0 to 15 lie inside, 16 to 31 are filled by a load and left out by a store. Boxes lie row after row; a swizzle
/// moves pieces of 16 bytes inside what it permutes, and nothing else.

#include <algorithm>
#include <cstring>

#include "drawloom/interp/simt/device.h"

namespace drawloom::simt {

struct TmaJob {
  const MapValue* map = nullptr;
  int64_t at[5] = {};
  uint32_t shared = 0;               ///< where the box lies
  std::vector<ThreadBlock*> blocks;  ///< whose shared memory
  uint32_t barrier = 0;
  Stream* stream = nullptr;
  uint32_t number = 0;
  View view;
  Warp* warp = nullptr;
  int lane = 0, site = 0;

  /// Byte of shared memory where 16 bytes of the box lie, `offset` bytes from its start: swizzles exclusive-or address
  /// bits from 4 on with those from 7 on.
  auto place(int64_t offset) const -> uint64_t {
    const uint64_t a = shared + static_cast<uint64_t>(offset);
    const uint64_t bits = map->swizzle == 0 ? 0 : static_cast<uint64_t>(map->swizzle) / 16 - 1;
    return a ^ ((a >> 7 & bits) << 4);
  }
  /// Calls `f(offset in the box, address, first byte, end)` for each row of the box along dimension 0; the bytes
  /// between first and end of the row lie inside the tensor, at address and after.
  template <typename F>
  void each_row(F&& f) const {
    const auto& m = *map;
    const int64_t row = m.box[0] * m.element_bytes;
    const int64_t lo = std::clamp<int64_t>(-at[0], 0, m.box[0]),
                  hi = std::clamp<int64_t>(m.dims[0] - at[0], lo, m.box[0]);
    int64_t offset = 0, p[5] = {};
    for (p[4] = 0; p[4] < m.box[4]; ++p[4]) {
      for (p[3] = 0; p[3] < m.box[3]; ++p[3]) {
        for (p[2] = 0; p[2] < m.box[2]; ++p[2]) {
          for (p[1] = 0; p[1] < m.box[1]; ++p[1], offset += row) {
            bool inside = true;
            int64_t address = static_cast<int64_t>(m.base) + (at[0] + lo) * m.element_bytes;
            for (int d = 1; d < 5; ++d) {
              inside = inside && at[d] + p[d] >= 0 && at[d] + p[d] < m.dims[d];
              address += (at[d] + p[d]) * m.strides[d];
            }
            if (inside) {
              f(offset, static_cast<uint64_t>(address), lo * m.element_bytes, hi * m.element_bytes);
            } else {
              f(offset, uint64_t{0}, int64_t{0}, int64_t{0});
            }
          }
        }
      }
    }
  }
};

namespace {

void fill_outside(const MapValue& m, std::vector<std::byte>& row) {
  std::fill(row.begin(), row.end(), std::byte{0});
  if (m.fill != TensorFill::Nan || !m.element.is_float()) return;
  // All bits but the sign.
  const auto n = static_cast<size_t>(m.element_bytes);
  for (size_t i = 0; i < row.size(); ++i) row[i] = i % n == n - 1 ? std::byte{0x7F} : std::byte{0xFF};
}

auto make_job(const MapValue& m, const IssueOperand& coordinates, auto&& value) -> TmaJob {
  TmaJob job{.map = &m};
  for (size_t d = 0; d < coordinates.values.size(); ++d) job.at[d] = value(coordinates.values[d]);
  return job;
}

/// Empty, or why a tensor map cannot be used like this. Seen on an H200: a box whose rows start between pieces of 16
/// bytes is an illegal instruction wherever the box lies, and so is a store below the tensor; a load may hang over
/// every end.
auto map_problem(const MapValue& m, const IssueCode& c, const TmaJob& job) -> std::string {
  if (m.rank != c.atom->n) return str("tensor map {} has rank {}", m.name, m.rank);
  for (size_t d = 0; d < 5 && c.atom->family == AtomFamily::TmaStore; ++d) {
    if (job.at[d] < 0) return str("a store to tensor map {} at {} in dimension {}, below 0", m.name, job.at[d], d);
  }
  if (job.at[0] * m.element_bytes % 16 == 0) return {};
  return str("a box of tensor map {} at {} in dimension 0 starts within 16 bytes: legal are multiples of {}", m.name,
             job.at[0], 16 / m.element_bytes);
}

}  // namespace

/// The mbarrier that a copy is to complete on: it must be one that the agent sees.
auto Device::copy_barrier(Warp& w, ThreadBlock& b, uint32_t at, int lane, int s) -> Mbarrier* {
  auto* m = find_barrier(w, b, at, lane, s);
  if (m && !m->fenced) {
    protocol({.warp = &w, .lane = lane, .site = s},
             str("{} counts a copy without `fence mbarrier_init` after its initialisation", barrier_text(b, *m)));
    return nullptr;
  }
  return m;
}

/// False, and reported, where the block whose memory is copied to or from has ended.
auto Device::begin_copy(ThreadBlock& b, const Who& who) -> bool {
  --b.pending;
  if (!b.exited) return true;
  protocol(who, str("touches shared memory of block {}, which has ended", block_text(b)));
  return false;
}

void Device::tma_load(Warp& w, const Instruction& i, const IssueCode& c, int lane, bool multicast) {
  const Who who{.warp = &w, .lane = lane, .site = i.site};
  const auto& m = world_.maps.at(operand(c, "m").map);
  TmaJob job = make_job(m, operand(c, "c"), [&](const Operand& o) { return integer(w, o, lane); });
  if (const auto problem = map_problem(m, c, job); !problem.empty()) return protocol(who, problem);
  job.shared = shared_byte(integer(w, operand(c, "to").values[0], lane));
  job.barrier = shared_byte(integer(w, operand(c, "b").values[0], lane));
  job.warp = &w, job.lane = lane, job.site = i.site;
  auto& blocks = w.block->cluster->blocks;
  const int64_t mask = multicast ? integer(w, operand(c, "mask").values[0], lane) : int64_t{1} << w.block->rank;
  if (mask == 0 || mask >> blocks.size() != 0)
    return protocol(who, str("mask {} in a cluster of {} blocks", mask, blocks.size()));
  for (const auto& b : blocks) {
    if ((mask >> b->rank & 1) == 0) continue;
    if (!copy_barrier(w, *b, job.barrier, lane, i.site)) return;
    job.blocks.push_back(b.get());
  }
  job.view = w.release(LaneMask{1} << lane);
  // A block must not end while a copy is under way to its memory, whoever issued it.
  for (auto* b : job.blocks) ++b->pending;
  start({.run = [this, job = std::move(job)] { run_tma_load(job); }});
}

void Device::run_tma_load(const TmaJob& job) {
  const auto& m = *job.map;
  const Who who{.warp = job.warp, .lane = job.lane, .agent = "the TMA load", .site = job.site};
  for (auto* b : job.blocks) {
    if (!begin_copy(*b, who)) return;
  }
  const auto accessor_of = [&](ThreadBlock& b, bool global) {
    const auto& barrier = b.mbarriers[job.barrier];
    return async_accessor(barrier.component, b, static_cast<uint32_t>(barrier.phase) + 1, job.view, job.site, global);
  };
  const Accessor reader = accessor_of(*job.blocks[0], true);
  std::vector<std::byte> row(static_cast<size_t>(m.box[0] * m.element_bytes));
  job.each_row([&](int64_t offset, uint64_t address, int64_t first, int64_t end) {
    if (world_.stopped) return;
    fill_outside(m, row);
    bool known = true;
    if (first < end) known = read_global(address, static_cast<uint64_t>(end - first), reader, who, row.data() + first);
    for (auto* b : job.blocks) {
      const Accessor by = accessor_of(*b, false);
      for (int64_t at = 0; at < static_cast<int64_t>(row.size()); at += 16) {
        const uint64_t to = job.place(offset + at);
        if (!write_shared(*b, to, 16, by, who, row.data() + at)) return;
        if (!known) b->shadow->spoil(to, 16);
      }
    }
  });
  for (auto* b : job.blocks) {
    if (!world_.stopped) complete_bytes(*b, b->mbarriers[job.barrier], m.box_bytes(), who);
  }
}

void Device::tma_store(Warp& w, const Instruction& i, const IssueCode& c, int lane) {
  const auto& m = world_.maps.at(operand(c, "m").map);
  TmaJob job = make_job(m, operand(c, "c"), [&](const Operand& o) { return integer(w, o, lane); });
  if (const auto problem = map_problem(m, c, job); !problem.empty())
    return protocol({.warp = &w, .lane = lane, .site = i.site}, problem);
  job.shared = shared_byte(integer(w, operand(c, "from").values[0], lane));
  job.warp = &w, job.lane = lane, job.site = i.site;
  job.blocks = {w.block};
  job.stream = &stream(w, lane, AsyncGroup::Bulk);
  job.number = job.stream->issue();
  job.view = w.release(LaneMask{1} << lane);
  ++w.block->pending;
  start({.run = [this, job = std::move(job)] {
    std::vector<std::byte> box(static_cast<size_t>(job.map->box_bytes()));
    std::vector<bool> filled(box.size() / 16);
    read_box(job, box, filled);
    job.stream->read[job.number - 1] = true;
    start({.run = [this, job, box = std::move(box), filled = std::move(filled)] {
      write_box(job, box, filled);
      job.stream->done[job.number - 1] = true;
    }});
  }});
}

void Device::read_box(const TmaJob& job, std::vector<std::byte>& box, std::vector<bool>& filled) {
  const Who who{.warp = job.warp, .lane = job.lane, .agent = "the TMA store", .site = job.site};
  ThreadBlock& b = *job.blocks[0];
  if (!begin_copy(b, who)) return;
  const Accessor by = async_accessor(job.stream->component, b, job.number, job.view, job.site, false);
  for (size_t at = 0; at < box.size() && !world_.stopped; at += 16) {
    filled[at / 16] = read_shared(b, job.place(static_cast<int64_t>(at)), 16, by, who, box.data() + at);
  }
}

void Device::write_box(const TmaJob& job, const std::vector<std::byte>& box, const std::vector<bool>& filled) {
  const Who who{.warp = job.warp, .lane = job.lane, .agent = "the TMA store", .site = job.site};
  const Accessor by =
      async_accessor(job.stream->write_component, *job.warp->block, job.number, job.view, job.site, true);
  const int64_t row = job.map->dims[0] * job.map->element_bytes;
  const bool clipped = job.at[0] + job.map->box[0] > job.map->dims[0];
  if (clipped && row % 16 != 0) {
    // Seen on an H200: what lies behind the row, up to 16 bytes, is overwritten.
    return protocol(
        who, str("writes whole pieces of 16 bytes, but rows of tensor map {} have {} bytes", job.map->name, row));
  }
  job.each_row([&](int64_t offset, uint64_t address, int64_t first, int64_t end) {
    if (world_.stopped || first >= end) return;
    for (int64_t at = first; at < end; ++at) {
      if (!filled[static_cast<size_t>(offset + at) / 16])
        return uninitialised(who, shared_text(job.place((offset + at) / 16 * 16)));
    }
    write_global(address, static_cast<uint64_t>(end - first), by, who, box.data() + offset + first);
  });
}

void Device::bulk_load(Warp& w, const Instruction& i, const IssueCode& c, int lane) {
  const Who who{.warp = &w, .lane = lane, .agent = "the bulk load", .site = i.site};
  const uint64_t to = shared_byte(integer(w, operand(c, "to").values[0], lane));
  const auto from = static_cast<uint64_t>(integer(w, operand(c, "from").values[0], lane));
  const int64_t bytes = integer(w, operand(c, "bytes").values[0], lane);
  const auto barrier = shared_byte(integer(w, operand(c, "b").values[0], lane));
  if (bytes < 0 || bytes % 16 != 0) return protocol(who, str("{} bytes, no multiple of 16", bytes));
  if (!copy_barrier(w, *w.block, barrier, lane, i.site)) return;
  ThreadBlock* b = w.block;
  ++b->pending;
  start({.run = [this, b, to, from, bytes, barrier, who, s = i.site, view = w.release(LaneMask{1} << lane)] {
    if (!begin_copy(*b, who)) return;
    auto& m = b->mbarriers[barrier];
    const auto phase = static_cast<uint32_t>(m.phase) + 1;
    std::vector<std::byte> data(static_cast<size_t>(bytes));
    const bool known =
        read_global(from, data.size(), async_accessor(m.component, *b, phase, view, s, true), who, data.data());
    if (world_.stopped ||
        !write_shared(*b, to, data.size(), async_accessor(m.component, *b, phase, view, s, false), who, data.data()))
      return;
    if (!known) b->shadow->spoil(to, data.size());
    complete_bytes(*b, m, bytes, who);
  }});
}

void Device::bulk_store(Warp& w, const Instruction& i, const IssueCode& c, int lane) {
  const Who who{.warp = &w, .lane = lane, .agent = "the bulk store", .site = i.site};
  const auto to = static_cast<uint64_t>(integer(w, operand(c, "to").values[0], lane));
  const uint64_t from = shared_byte(integer(w, operand(c, "from").values[0], lane));
  const int64_t bytes = integer(w, operand(c, "bytes").values[0], lane);
  if (bytes < 0 || bytes % 16 != 0) return protocol(who, str("{} bytes, no multiple of 16", bytes));
  Stream* s = &stream(w, lane, AsyncGroup::Bulk);
  const uint32_t number = s->issue();
  ThreadBlock* b = w.block;
  ++b->pending;
  start({.run = [this, b, s, number, to, from, bytes, who, st = i.site, view = w.release(LaneMask{1} << lane)] {
    if (!begin_copy(*b, who)) return;
    std::vector<std::byte> data(static_cast<size_t>(bytes));
    const bool known =
        read_shared(*b, from, data.size(), async_accessor(s->component, *b, number, view, st, false), who, data.data());
    if (!known && !world_.stopped) return uninitialised(who, shared_text(from));
    s->read[number - 1] = true;
    start({.run = [this, b, s, number, to, who, st, view, data = std::move(data)] {
      write_global(to, data.size(), async_accessor(s->write_component, *b, number, view, st, true), who, data.data());
      s->done[number - 1] = true;
    }});
  }});
}

/// Goes through the ordinary proxy: no fences, but a completion of its own. Those of one thread are done in order here,
/// so that an arrival comes after them.
void Device::cp_async(Warp& w, const Instruction& i, const IssueCode& c, int lane) {
  const Who who{.warp = &w, .lane = lane, .agent = "the cp.async", .site = i.site};
  const uint64_t to = shared_byte(integer(w, operand(c, "to").values[0], lane));
  const auto from = static_cast<uint64_t>(integer(w, operand(c, "from").values[0], lane));
  const int64_t bytes = integer(w, operand(c, "bytes").values[0], lane);
  const int whole = c.atom->k;
  if (bytes < 0 || bytes > whole) return protocol(who, str("{} bytes of {}", bytes, whole));
  Stream* s = &stream(w, lane, AsyncGroup::CpAsync);
  const uint32_t number = s->issue();
  ThreadBlock* b = w.block;
  ++b->pending;
  start({.run =
             [this, b, s, number, to, from, bytes, whole, who, st = i.site, view = w.release(LaneMask{1} << lane)] {
               if (!begin_copy(*b, who)) return;
               std::byte data[16] = {};
               auto by = async_accessor(s->component, *b, number, view, st, true);
               by.self.proxy = false;
               const bool known = bytes == 0 || read_global(from, static_cast<uint64_t>(bytes), by, who, data);
               by.global = false;
               if (world_.stopped || !write_shared(*b, to, static_cast<uint64_t>(whole), by, who, data)) return;
               if (!known) b->shadow->spoil(to, static_cast<uint64_t>(whole));
               s->read[number - 1] = s->done[number - 1] = true;
             },
         .stream = s});
}

void Device::cp_async_arrive(Warp& w, const Instruction& i, const IssueCode& c, int lane) {
  const Who who{.warp = &w, .lane = lane, .agent = "the cp.async", .site = i.site};
  const auto barrier = shared_byte(integer(w, operand(c, "b").values[0], lane));
  if (!find_barrier(w, *w.block, barrier, lane, i.site)) return;
  Stream* s = &stream(w, lane, AsyncGroup::CpAsync);
  const uint32_t last = s->issued();
  ThreadBlock* b = w.block;
  auto view = w.release(LaneMask{1} << lane);
  view.order.raise(s->component, last);
  ++b->pending;
  start({.run =
             [this, b, barrier, who, view] {
               if (begin_copy(*b, who)) arrive_at(*b, b->mbarriers[barrier], 1, view, false, who);
             },
         .stream = s});
}

}  // namespace drawloom::simt
