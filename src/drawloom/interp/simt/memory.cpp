/// Bytes of shared and device memory: bounds, races, and what was never written.

#include <cstring>

#include "drawloom/interp/simt/device.h"

namespace drawloom::simt {

auto World::region_at(uint64_t address) -> Region* {
  for (auto& r : regions) {
    if (address >= r.base && address < r.base + r.bytes()) return &r;
  }
  return nullptr;
}

void World::report_error(const Diag& d, bool fatal) {
  if (stopped) return;
  // A race in a loop would else be told for every iteration and lane.
  if (told.emplace(d.kind(), d.loc().text()).second) report.errors.push_back(d);
  stopped = fatal || static_cast<int>(report.errors.size()) >= options.max_errors;
}

auto Device::accessor(const Warp& w, int lane, bool global) const -> Accessor {
  const Epoch self{.cluster = w.block->cluster->serial,
                   .base = w.base,
                   .lanes = LaneMask{1} << lane,
                   .clock = w.clock,
                   .site = code_.instructions[static_cast<size_t>(w.pc - 1)].site,
                   .async = false};
  return {.self = self, .view = &w.view(lane), .first_cluster = first_cluster_, .global = global};
}
auto Device::async_accessor(Component stream, const ThreadBlock& block, uint32_t clock, const View& view, int site,
                            bool global) const -> Accessor {
  const Epoch self{.cluster = block.cluster->serial,
                   .base = stream,
                   .lanes = 1,
                   .clock = clock,
                   .site = site,
                   .async = true,
                   .proxy = true};
  return {.self = self, .view = &view, .first_cluster = first_cluster_, .global = global};
}

auto Device::read_shared(ThreadBlock& b, uint64_t at, uint64_t bytes, const Accessor& by, const Who& who,
                         std::byte* out) -> bool {
  if (at + bytes > b.shared.size()) {
    out_of_bounds(who, "reads", shared_text(at), str("the block's {} bytes", b.shared.size()));
    return false;
  }
  Conflict c;
  if (b.shadow->read(at, bytes, by, c)) race(who, false, shared_text(c.byte), c);
  std::memcpy(out, b.shared.data() + at, bytes);
  return b.shadow->filled(at, bytes);
}
auto Device::write_shared(ThreadBlock& b, uint64_t at, uint64_t bytes, const Accessor& by, const Who& who,
                          const std::byte* in) -> bool {
  if (at + bytes > b.shared.size()) {
    out_of_bounds(who, "writes", shared_text(at), str("the block's {} bytes", b.shared.size()));
    return false;
  }
  Conflict c;
  // Lanes of one instruction that write the same bytes to one place agree.
  const bool agrees = std::memcmp(b.shared.data() + at, in, bytes) == 0;
  if (b.shadow->write(at, bytes, by, c)) {
    const bool same_instruction = !by.self.async && c.with_write && c.with.base == by.self.base &&
                                  c.with.clock == by.self.clock && c.with.site == by.self.site && !c.with.async;
    if (!(agrees && same_instruction)) race(who, true, shared_text(c.byte), c);
  }
  std::memcpy(b.shared.data() + at, in, bytes);
  return true;
}
auto Device::filled_shared(ThreadBlock& b, uint64_t at, uint64_t bytes, const Who& who) -> bool {
  if (b.shadow->filled(at, bytes)) return true;
  uninitialised(who, shared_text(at));
  return false;
}

auto Device::read_global(uint64_t at, uint64_t bytes, const Accessor& by, const Who& who, std::byte* out) -> bool {
  Region* r = world_.region_at(at);
  if (!r || at + bytes > r->base + r->bytes()) {
    out_of_bounds(who, "reads", global_text(at), "every argument");
    return false;
  }
  Conflict c;
  if (r->shadow.read(at - r->base, bytes, by, c)) race(who, false, global_text(r->base + c.byte), c);
  std::memcpy(out, r->array->data.data() + (at - r->base), bytes);
  return r->shadow.filled(at - r->base, bytes);
}
auto Device::write_global(uint64_t at, uint64_t bytes, const Accessor& by, const Who& who, const std::byte* in)
    -> bool {
  Region* r = world_.region_at(at);
  if (!r || at + bytes > r->base + r->bytes()) {
    out_of_bounds(who, "writes", global_text(at), "every argument");
    return false;
  }
  if (!r->writable) {
    protocol(who, str("writes to the input `{}`", r->buffer->name));
    return false;
  }
  Conflict c;
  auto* to = r->array->data.data() + (at - r->base);
  const bool agrees = std::memcmp(to, in, bytes) == 0;
  if (r->shadow.write(at - r->base, bytes, by, c)) {
    const bool same_instruction = !by.self.async && c.with_write && c.with.cluster == by.self.cluster &&
                                  c.with.base == by.self.base && c.with.clock == by.self.clock &&
                                  c.with.site == by.self.site && !c.with.async;
    if (!(agrees && same_instruction)) race(who, true, global_text(r->base + c.byte), c);
  }
  std::memcpy(to, in, bytes);
  return true;
}

}  // namespace drawloom::simt
