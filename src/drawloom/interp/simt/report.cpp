/// Words for what went wrong.

#include "drawloom/interp/simt/device.h"

namespace drawloom::simt {

auto Device::block_text(const ThreadBlock& b) const -> std::string {
  return str("({}, {}, {})", b.index[0], b.index[1], b.index[2]);
}

auto Device::warp_text(const Warp& w) const -> std::string {
  const auto role = w.role == kNone ? std::string() : str(" (\"{}\")", code_.roles[static_cast<size_t>(w.role)].name);
  return str("warp {}{} of block {}", w.number, role, block_text(*w.block));
}

auto Device::who_text(const Who& who) const -> std::string {
  if (!who.warp) return str("launch \"{}\"", code_.launch->name);
  const std::string agent = who.agent;
  const auto lane = who.lane == kNone ? std::string() : str("lane {} of ", who.lane);
  return (agent.empty() ? "" : agent + " of ") + lane + warp_text(*who.warp);
}

auto Device::who_text(const Epoch& e) const -> std::string {
  // The record has the stream's number, not the lane that issued the operation.
  if (e.async) return str("{} of line {}", site(e.site).words, site(e.site).loc.line());
  for (const auto& c : running_) {
    if (c->serial != e.cluster) continue;
    for (const auto& b : c->blocks) {
      for (const auto& w : b->warps) {
        if (w->base == e.base) return str("lane {} of {}", __builtin_ctz(e.lanes), warp_text(*w));
      }
    }
  }
  return "another block";
}

auto Device::shared_text(uint64_t at) const -> std::string {
  const SharedBuffer* found = nullptr;
  for (const auto& s : code_.shared) {
    if (at >= static_cast<uint64_t>(s.at) && at < static_cast<uint64_t>(s.at + s.bytes)) found = &s;
  }
  if (!found) return str("byte {} of shared memory", at);
  const uint64_t offset = at - static_cast<uint64_t>(found->at),
                 bytes = static_cast<uint64_t>(found->buffer->element.bytes());
  return str("`{}[{}]`", found->buffer->name, offset / bytes);
}
auto Device::global_text(uint64_t at) const -> std::string {
  const Region* r = world_.region_at(at);
  if (!r) return "memory of no argument";
  return str("`{}` at element {}", r->buffer->name, (at - r->base) / static_cast<uint64_t>(r->array->element.bytes()));
}

void Device::race(const Who& who, bool writes, const std::string& place, const Conflict& c) {
  const auto& here = site(who.site);
  const Loc there = c.with.site >= 0 ? site(c.with.site).loc : Loc();
  Diag d(DiagKind::device_race, here.loc, who_text(who), writes ? "writes" : "reads", place, who_text(c.with),
         c.with_write ? "writes" : "reads");
  d = d.with_note(there, c.with_write ? "the write" : "the read");
  if (c.missing_fence)
    d = d.with_help(c.with_write ? "a proxy fence by the writer before it is waited for"
                                 : "a proxy fence by the reader before it says that it is done");
  world_.report_error(d, false);
}
void Device::protocol(const Who& who, const std::string& what) {
  world_.report_error(Diag(DiagKind::device_protocol, site(who.site).loc, who_text(who), what), true);
}
void Device::uninitialised(const Who& who, const std::string& place) {
  world_.report_error(Diag(DiagKind::device_uninitialised, site(who.site).loc, who_text(who), place), true);
}
void Device::out_of_bounds(const Who& who, const char* verb, const std::string& place, const std::string& limits) {
  world_.report_error(Diag(DiagKind::device_out_of_bounds, site(who.site).loc, who_text(who), verb, place, limits),
                      true);
}

void Device::count_banks(Warp& w, int s, const std::vector<uint32_t>& addresses, int bytes) {
  if (!world_.options.count_bank_conflicts || addresses.empty()) return;
  // A wavefront serves 128 bytes: of wider accesses, so many lanes as make up that.
  const size_t lanes = bytes <= 4 ? 32 : static_cast<size_t>(128 / bytes);
  int64_t wavefronts = 0, least = 0;
  for (size_t first = 0; first < addresses.size(); first += lanes) {
    std::set<uint32_t> words[32];
    size_t most = 0;
    for (size_t k = first; k < addresses.size() && k < first + lanes; ++k) {
      for (uint32_t word = addresses[k] / 4; word <= (addresses[k] + static_cast<uint32_t>(bytes) - 1) / 4; ++word) {
        auto& bank = words[word % 32];
        bank.insert(word);
        most = std::max(most, bank.size());
      }
    }
    wavefronts += static_cast<int64_t>(most), least += 1;
  }
  const Loc& loc = site(s).loc;
  auto& all = world_.report.bank_conflicts;
  auto row = all.begin();
  while (row != all.end() && row->loc.text() != loc.text()) ++row;
  if (row == all.end()) row = all.insert(row, {.buffer = shared_text(addresses[0]), .loc = loc});
  row->accesses += 1, row->wavefronts += wavefronts, row->least += least;
}

}  // namespace drawloom::simt
