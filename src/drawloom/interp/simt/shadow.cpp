// Races: for every byte who wrote it last and who has read it since, by vector clocks.
//
// Each thread is a component with a clock that rises whenever it releases something. Example:
//   thread 3 writes a byte            the record says: write by component 3 at clock 1
//   thread 3 arrives at an mbarrier   what it releases knows component 3 at 1; its clock is 2 from now on
//   thread 7 reads without waiting    its view knows component 3 at 0 < 1: a race
//   thread 7 waits first              its view knows component 3 at 1: ordered
// Nothing depends on what ran first in this run: the race is found in either order, since the later of the two accesses
// finds the other one in the record.
//
// A record holds one write and the reads after it. That is enough: the write was checked against all that came before,
// so whoever is ordered after it is ordered after that too. Lanes of a warp that read a byte in one statement share an
// entry with a lane mask.
//
// Asynchronous agents (TMA, tensor cores) look through another proxy: being ordered is not enough for them, the writer
// must also have run a proxy fence (`fenced`). cp.async goes through the ordinary one.
//
// Cost: one record for 16 bytes that are always touched together, which matrices and boxes are, and one per granule
// else.
#include "drawloom/interp/simt/shadow.h"

#include <algorithm>
#include <bit>

namespace drawloom::simt {
namespace {

/// The lanes of an epoch in turn, all known by a clock?
auto known(const Clock& clock, const Epoch& e) -> bool {
  for (uint32_t rest = e.lanes; rest != 0; rest &= rest - 1) {
    if (clock.at(e.base + static_cast<uint32_t>(std::countr_zero(rest))) < e.clock) return false;
  }
  return true;
}

/// Would an asynchronous agent that starts now come after it, given that it is over for `now`?
auto fenced(const Epoch& before, const Accessor& now) -> bool {
  return before.proxy || known(now.global ? now.view->proxy_global : now.view->proxy_shared, before);
}

void note_read(Granule& g, const Accessor& by) {
  for (auto& r : g.reads) {
    if (r.base != by.self.base || r.cluster != by.self.cluster || r.async != by.self.async) continue;
    if (r.clock == by.self.clock && r.site == by.self.site) {
      r.lanes |= by.self.lanes;
      return;
    }
    // Whoever is ordered after a lane's newer read is ordered after its older one.
    if ((r.lanes & ~by.self.lanes) == 0) {
      r = by.self;
      return;
    }
  }
  // Reads that the new one is ordered after are told by it. Not done each time: most granules have few readers.
  if (g.reads.size() > 12) std::erase_if(g.reads, [&](const Epoch& r) { return ordered(r, by) && fenced(r, by); });
  g.reads.push_back(by.self);
}

auto write_conflicts(const Granule& g, const Accessor& by, Conflict& out) -> bool {
  if (ordered_across(g.write, by)) return false;
  out = {.with = g.write, .with_write = true, .missing_fence = ordered(g.write, by)};
  return true;
}
auto read_conflicts(const Granule& g, const Accessor& by, Conflict& out) -> bool {
  for (const auto& r : g.reads) {
    if (ordered_across(r, by)) continue;
    out = {.with = r, .missing_fence = ordered(r, by)};
    return true;
  }
  return false;
}

}  // namespace

auto ordered(const Epoch& before, const Accessor& now) -> bool {
  if (before.lanes == 0 || before.cluster < now.first_cluster) return true;
  if (before.cluster != now.self.cluster) return false;
  // A thread runs in order; the operations of a stream do not.
  const bool own = !now.self.async && !before.async && before.base == now.self.base;
  if (own && (before.lanes & ~now.self.lanes) == 0) return true;
  return known(now.view->order, before);
}

auto ordered_across(const Epoch& before, const Accessor& now) -> bool {
  if (!ordered(before, now)) return false;
  return before.lanes == 0 || before.cluster < now.first_cluster || !now.self.proxy || fenced(before, now);
}

Shadow::Shadow(uint64_t bytes, int granule, bool filled) : granule_(granule), lines_((bytes + kLine - 1) / kLine) {
  for (auto& l : lines_) l.whole.filled = filled;
}

/// Calls `f(granule, byte)` for each record that the bytes touch; splits lines that are touched in part.
template <typename F>
void Shadow::each(uint64_t at, uint64_t bytes, F&& f) {
  const uint64_t end = at + bytes;
  const auto step = static_cast<uint64_t>(granule_);
  while (at < end) {
    const uint64_t first = at / kLine * kLine, stop = std::min(end, first + kLine);
    Line& line = lines_[at / kLine];
    if (line.parts.empty() && at == first && stop == first + kLine) {
      f(line.whole, at);
      at = stop;
      continue;
    }
    if (line.parts.empty()) line.parts.assign(kLine / step, line.whole);
    for (; at < stop; at += step) f(line.parts[(at - first) / step], at);
    at = stop;
  }
}

auto Shadow::read(uint64_t at, uint64_t bytes, const Accessor& by, Conflict& out) -> bool {
  // A conflict is reported for the first granule only, but every granule gets the read.
  bool bad = false;
  each(at, bytes, [&](Granule& g, uint64_t byte) {
    if (!bad && write_conflicts(g, by, out)) bad = true, out.byte = byte;
    note_read(g, by);
  });
  return bad;
}

auto Shadow::look(uint64_t at, uint64_t bytes, const Accessor& by, Conflict& out) -> bool {
  bool bad = false;
  each(at, bytes, [&](Granule& g, uint64_t byte) {
    if (!bad && write_conflicts(g, by, out)) bad = true, out.byte = byte;
  });
  return bad;
}

auto Shadow::write(uint64_t at, uint64_t bytes, const Accessor& by, Conflict& out) -> bool {
  bool bad = false;
  each(at, bytes, [&](Granule& g, uint64_t byte) {
    if (!bad && (write_conflicts(g, by, out) || read_conflicts(g, by, out))) bad = true, out.byte = byte;
    g.write = by.self;
    g.reads.clear();
    g.filled = true;
  });
  // A line written as a whole is one record again.
  for (uint64_t l = (at + kLine - 1) / kLine; (l + 1) * kLine <= at + bytes; ++l) {
    if (lines_[l].parts.empty()) continue;
    lines_[l].whole = lines_[l].parts[0];
    lines_[l].parts.clear();
  }
  return bad;
}

auto Shadow::filled(uint64_t at, uint64_t bytes) const -> bool {
  const auto step = static_cast<uint64_t>(granule_);
  for (uint64_t b = at; b < at + bytes;) {
    const Line& line = lines_[b / kLine];
    if (line.parts.empty()) {
      if (!line.whole.filled) return false;
      b = (b / kLine + 1) * kLine;
      continue;
    }
    if (!line.parts[b % kLine / step].filled) return false;
    b += step;
  }
  return true;
}

auto Shadow::written_since(uint64_t at, uint64_t bytes, uint32_t cluster) -> bool {
  bool found = false;
  each(at, bytes,
       [&](const Granule& g, uint64_t) { found = found || (g.write.lanes != 0 && g.write.cluster >= cluster); });
  return found;
}

void Shadow::spoil(uint64_t at, uint64_t bytes) {
  each(at, bytes, [](Granule& g, uint64_t) { g.filled = false; });
}

}  // namespace drawloom::simt
