/// Loads and stores of single elements.
///
/// A value that means nothing is no error yet: lanes of a tail compute with what they did not load and throw it away.
/// So a slot has a mask of poisoned lanes, registers and shared memory remember them too, and the error comes at the
/// use that shows: a subscript, a mask, a condition, an operand of an atom or a barrier, or a store to device memory.
/// It names the load that gave the value (`cause`).
///
/// Example, a load whose mask leaves out lanes 30 and 31: they are poisoned. Stored to shared memory they spoil two
/// elements, which poison whoever loads them; stored to device memory they are reported, at the load.

#include <algorithm>
#include <cstring>

#include "drawloom/interp/simt/device.h"

namespace drawloom::simt {
namespace {

auto bytes_of(const Value& v, std::byte* out) -> uint64_t {
  const uint64_t bits = bits_of(v);
  const auto n = static_cast<uint64_t>(v.type.bytes());
  std::memcpy(out, &bits, n);
  return n;
}
auto value_at(Type t, const std::byte* in) -> Value {
  uint64_t bits = 0;
  std::memcpy(&bits, in, static_cast<size_t>(t.bytes()));
  return value_of_bits(t, bits);
}

}  // namespace

/// The number of an element of a Register or Shared buffer; false outside.
auto Device::linear(const Warp& w, const Place& p, int lane, int64_t& out) const -> bool {
  int64_t total = 1;
  for (const int64_t e : p.extents) total *= e;
  if (p.index.size() == 1 && p.extents.size() != 1) {
    out = integer(w, p.index[0], lane);
    return out >= 0 && out < total;
  }
  out = 0;
  int64_t stride = 1;
  for (size_t d = 0; d < p.index.size(); ++d) {
    const int64_t x = integer(w, p.index[d], lane);
    if (x < 0 || x >= p.extents[d]) return false;
    out += x * stride;
    stride *= p.extents[d];
  }
  return true;
}

auto Device::shared_address(Warp& w, const Place& p, int lane, int site, uint32_t& out) -> bool {
  int64_t n = 0;
  if (linear(w, p, lane, n)) {
    out = static_cast<uint32_t>(p.buffer->at + n * p.buffer->element.bytes());
    return true;
  }
  std::vector<std::string> index, limits;
  for (const auto& o : p.index) index.push_back(to_text(integer(w, o, lane)));
  for (const int64_t e : p.extents) limits.push_back(str("[0, {}]", e - 1));
  out_of_bounds({.warp = &w, .lane = lane, .site = site}, "touches", str("{}[{}]", p.buffer->name, join(index, ", ")),
                join(limits, " x "));
  return false;
}

/// The address of an element of an argument; false outside. The address is set in any case.
auto Device::element_address(Warp& w, const Place& p, int lane, uint64_t& out) -> bool {
  const auto& r = world_.regions[static_cast<size_t>(p.argument)];
  int64_t position = r.array->first;
  bool inside = true;
  if (code_.flat_storage) {
    position += integer(w, p.index[0], lane);
    inside = position >= 0 && position < static_cast<int64_t>(r.bytes()) / r.array->element.bytes();
  } else {
    for (size_t d = 0; d < p.index.size(); ++d) {
      const auto& dim = r.array->dims[d];
      const int64_t x = integer(w, p.index[d], lane) - dim.min;
      inside = inside && x >= 0 && x < dim.extent;
      position += x * dim.stride;
    }
  }
  out = r.address(position);
  return inside;
}

void Device::address(Warp& w, const Instruction& i) {
  const auto& p = code_.places[static_cast<size_t>(i.place)];
  LaneMask bad = 0;
  for (const auto& o : p.index) bad |= poison(w, o);
  w.poison[static_cast<size_t>(i.to)] = bad;
  if (bad != 0) w.cause[static_cast<size_t>(i.to)] = i.place;
  each_lane(w.mask, [&](int lane) {
    uint64_t at = 0;
    if (p.argument != kNone) {
      element_address(w, p, lane, at);
    } else {
      int64_t n = 0;
      linear(w, p, lane, n);
      at = static_cast<uint32_t>(p.buffer->at + n * p.buffer->element.bytes()) | static_cast<uint32_t>(w.block->rank)
                                                                                     << kRankShift;
    }
    w.slots[static_cast<size_t>(i.to)].i[lane] = static_cast<int64_t>(at);
  });
}

/// The register element, unless a tensor core is at it or it does not exist.
auto Device::touch_register(Warp& w, int array, int64_t element, bool write) -> RegisterElement* {
  auto& elements = w.registers[static_cast<size_t>(array)];
  auto& e = elements[static_cast<size_t>(element)];
  const bool busy = e.written_by > w.wgmma.waited || (write && e.read_by > w.wgmma.waited);
  if (busy) {
    const auto& i = code_.instructions[static_cast<size_t>(w.pc - 1)];
    protocol({.warp = &w, .site = i.site},
             str("{} `{}[{}]` while a wgmma {} it: wait_group wgmma comes first", write ? "writes" : "reads",
                 code_.registers[static_cast<size_t>(array)].buffer->name, element,
                 e.written_by > w.wgmma.waited ? "writes" : "reads"));
  }
  if (write) e.changed = true;
  return &e;
}

auto Device::load_register(Warp& w, const Place& p, int lane, Value& out) -> bool {
  int64_t n = 0;
  if (!linear(w, p, lane, n)) {
    out_of_bounds({.warp = &w, .lane = lane, .site = p.site}, "reads", str("{}[{}]", p.buffer->name, n),
                  str("{} registers", w.registers[static_cast<size_t>(p.registers)].size()));
    return false;
  }
  const auto* e = touch_register(w, p.registers, n, false);
  out.i = e->value.i[lane];
  return (e->undefined >> lane & 1) == 0;
}
void Device::store_register(Warp& w, const Place& p, int lane, const Value& v, bool undefined) {
  int64_t n = 0;
  if (!linear(w, p, lane, n)) {
    return out_of_bounds({.warp = &w, .lane = lane, .site = p.site}, "writes", str("{}[{}]", p.buffer->name, n),
                         str("{} registers", w.registers[static_cast<size_t>(p.registers)].size()));
  }
  auto* e = touch_register(w, p.registers, n, true);
  e->value.i[lane] = v.i;
  const LaneMask bit = LaneMask{1} << lane;
  e->undefined = undefined ? e->undefined | bit : e->undefined & ~bit;
}

void Device::load(Warp& w, const Instruction& i) {
  const auto& p = code_.places[static_cast<size_t>(i.place)];
  LaneMask lanes = w.mask;
  if (i.from[0].defined()) {
    if (!check_defined(w, i.from[0], w.mask, "that masks a load")) return;
    each_lane(w.mask, [&](int lane) {
      if (integer(w, i.from[0], lane) == 0) lanes &= ~(LaneMask{1} << lane);
    });
  }
  LaneMask bad = w.mask & ~lanes;
  for (const auto& o : p.index) {
    if (!check_defined(w, o, lanes, "as a subscript")) return;
  }
  std::vector<uint32_t> banks;
  each_lane(lanes, [&](int lane) {
    if (world_.stopped) return;
    const Who who{.warp = &w, .lane = lane, .site = i.site};
    Value v{.type = i.type};
    bool good = false;
    std::byte raw[8] = {};
    const auto bytes = static_cast<uint64_t>(i.type.bytes());
    if (p.registers != kNone) {
      good = load_register(w, p, lane, v);
    } else if (p.argument != kNone) {
      uint64_t at = 0;
      if (!element_address(w, p, lane, at))
        return out_of_bounds(who, "reads", global_text(at), str("`{}`", p.buffer->name));
      good = read_global(at, bytes, accessor(w, lane, true), who, raw);
      v = value_at(i.type, raw);
    } else {
      uint32_t at = 0;
      if (!shared_address(w, p, lane, i.site, at)) return;
      banks.push_back(at);
      good = read_shared(*w.block, at, bytes, accessor(w, lane, false), who, raw);
      v = value_at(i.type, raw);
    }
    set(w, i.to, lane, v);
    if (!good) bad |= LaneMask{1} << lane;
  });
  w.poison[static_cast<size_t>(i.to)] = bad;
  if (bad != 0) w.cause[static_cast<size_t>(i.to)] = i.place;
  count_banks(w, i.site, banks, i.type.bytes());
}

void Device::store(Warp& w, const Instruction& i) {
  const auto& p = code_.places[static_cast<size_t>(i.place)];
  LaneMask lanes = w.mask;
  if (i.from[0].defined()) {
    if (!check_defined(w, i.from[0], w.mask, "that masks a store")) return;
    each_lane(w.mask, [&](int lane) {
      if (integer(w, i.from[0], lane) == 0) lanes &= ~(LaneMask{1} << lane);
    });
  }
  for (const auto& o : p.index) {
    if (!check_defined(w, o, lanes, "as a subscript")) return;
  }
  if (p.argument != kNone && !check_defined(w, i.from[1], lanes, "and stores it to device memory")) return;
  const LaneMask bad = poison(w, i.from[1]);
  std::vector<uint32_t> banks;
  each_lane(lanes, [&](int lane) {
    if (world_.stopped) return;
    const Who who{.warp = &w, .lane = lane, .site = i.site};
    const Value v = value(w, i.from[1], lane);
    const bool undefined = (bad >> lane & 1) != 0;
    if (p.registers != kNone) return store_register(w, p, lane, v, undefined);
    std::byte raw[8] = {};
    const uint64_t bytes = bytes_of(v, raw);
    if (p.argument != kNone) {
      uint64_t at = 0;
      if (!element_address(w, p, lane, at))
        return out_of_bounds(who, "writes", global_text(at), str("`{}`", p.buffer->name));
      write_global(at, bytes, accessor(w, lane, true), who, raw);
      return;
    }
    uint32_t at = 0;
    if (!shared_address(w, p, lane, i.site, at)) return;
    banks.push_back(at);
    if (write_shared(*w.block, at, bytes, accessor(w, lane, false), who, raw) && undefined)
      w.block->shadow->spoil(at, bytes);
  });
  count_banks(w, i.site, banks, i.type.bytes());
}

}  // namespace drawloom::simt
