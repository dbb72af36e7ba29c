/// What `issue` does, and the atoms that are done at once.
///
/// Everything that is the same for all atoms is checked here, from their rows in atoms.def: operands that mean
/// something, places aligned, registers inside their buffer, a whole warp where the warp is the owner. The families
/// then only say what they compute.
///
/// wgmma and set_registers belong to four warps, which need not run at the same time. So each warpgroup has a log of
/// what was run: the first warp that comes to a step writes the entry, the others must find their own there
/// (`same_in_group`). Example: warp 0 issues a wgmma with descriptor 0x40, warp 1 with 0x80: reported at warp 1. A warp
/// that ends with entries left did not run them at all.

#include <bit>
#include <cstring>

#include "drawloom/interp/simt/device.h"
#include "drawloom/ir/build.h"

namespace drawloom::simt {

auto Device::aligned(Warp& w, const Instruction& i, const IssueOperand& o, LaneMask lanes) -> bool {
  const bool place = o.row->kind == OperandKind::Shared || o.row->kind == OperandKind::Global;
  if (!place || o.row->alignment <= 1) return true;
  bool good = true;
  each_lane(lanes, [&](int lane) {
    const auto at = static_cast<uint64_t>(integer(w, o.values[0], lane));
    if (!good || at % static_cast<uint64_t>(o.row->alignment) == 0) return;
    good = false;
    const auto text = o.row->kind == OperandKind::Shared ? shared_text(at) : global_text(at);
    protocol({.warp = &w, .lane = lane, .site = i.site},
             str("operand {} at {} is not aligned to {} bytes", o.row->name, text, o.row->alignment));
  });
  return good;
}

auto Device::registers_exist(Warp& w, const Instruction& i, const IssueOperand& o) -> bool {
  if (o.registers == kNone) return true;
  const int64_t first = integer(w, o.first, 0);
  const auto& b = code_.registers[static_cast<size_t>(o.registers)];
  if (first >= 0 && first + o.row->count <= b.elements) return true;
  out_of_bounds({.warp = &w, .site = i.site}, "touches",
                str("`{}[{}]` to `[{}]`", b.buffer->name, first, first + o.row->count - 1),
                str("{} registers", b.elements));
  return false;
}

auto Device::issue(Warp& w, const Instruction& i) -> Next {
  const auto& c = code_.issues[static_cast<size_t>(i.number)];
  const DeviceAtom& atom = *c.atom;
  if (atom.owner != AtomOwner::Thread) {
    if (!need_whole(w, i)) return Next::go;
    if (w.live != ~LaneMask{0}) {
      protocol({.warp = &w, .site = i.site}, "needs a warp of 32 threads");
      return Next::go;
    }
  }
  // ldmatrix and stmatrix of one or two matrices look at the addresses of their rows alone.
  const bool rows = atom.family == AtomFamily::Ldmatrix || atom.family == AtomFamily::Stmatrix;
  const LaneMask used = rows && atom.k < 4 ? (LaneMask{1} << 8 * atom.k) - 1 : w.mask;
  for (const auto& o : c.operands) {
    for (const auto& v : o.values) {
      if (!check_defined(w, v, used, "as an operand")) return Next::go;
    }
    if (!aligned(w, i, o, used) || !registers_exist(w, i, o)) return Next::go;
  }
  const auto lanes = [&](auto&& f) {
    each_lane(w.mask, [&](int lane) {
      if (!world_.stopped) f(lane);
    });
  };
  switch (atom.family) {
    case AtomFamily::Wgmma:
    case AtomFamily::WgmmaRegisters: wgmma(w, i, c); break;
    case AtomFamily::Mma: mma(w, i, c); break;
    case AtomFamily::Ldmatrix: matrix_load(w, i, c, false); break;
    case AtomFamily::LdmatrixTransposed: matrix_load(w, i, c, true); break;
    case AtomFamily::Stmatrix: matrix_store(w, i, c, false); break;
    case AtomFamily::StmatrixTransposed: matrix_store(w, i, c, true); break;
    case AtomFamily::TmaLoad: lanes([&](int lane) { tma_load(w, i, c, lane, false); }); break;
    case AtomFamily::TmaMulticast: lanes([&](int lane) { tma_load(w, i, c, lane, true); }); break;
    case AtomFamily::TmaStore: lanes([&](int lane) { tma_store(w, i, c, lane); }); break;
    case AtomFamily::TmaPrefetch: break;
    case AtomFamily::BulkLoad: lanes([&](int lane) { bulk_load(w, i, c, lane); }); break;
    case AtomFamily::BulkStore: lanes([&](int lane) { bulk_store(w, i, c, lane); }); break;
    case AtomFamily::CpAsync: lanes([&](int lane) { cp_async(w, i, c, lane); }); break;
    case AtomFamily::CpAsyncArrive: lanes([&](int lane) { cp_async_arrive(w, i, c, lane); }); break;
    case AtomFamily::VectorLoad: vector_load(w, i, c); break;
    case AtomFamily::VectorStore: vector_store(w, i, c); break;
    case AtomFamily::ShuffleXor:
    case AtomFamily::ShuffleFrom:
    case AtomFamily::ShuffleUp:
    case AtomFamily::ShuffleDown: shuffle(w, i, c); break;
    case AtomFamily::Pack: pack(w, i, c); break;
  }
  settle();
  return Next::go;
}

/// The warps of a warpgroup must run the same statements with the same operands, one after the other.
auto Device::same_in_group(Warp& w, const Instruction& i, const std::string& entry) -> bool {
  auto& log = w.block->group_log[static_cast<size_t>(w.number / 4)];
  const std::pair mine{i.site, hash_text(entry)};
  const size_t step = w.group_steps++;
  if (step == log.size()) {
    log.push_back(mine);
    return true;
  }
  if (log[step] == mine) return true;
  const auto other = site(log[step].first).loc.line();
  protocol({.warp = &w, .site = i.site},
           log[step].first == i.site
               ? str("another warp of its warpgroup ran this with other operands; here: {}", entry)
               : str("another warp of its warpgroup ran line {} instead", other));
  return false;
}

/// Loads past the first cache do not see what their own launch wrote.
void Device::check_stream(const Who& who, uint64_t at, uint64_t bytes) {
  Region* r = world_.region_at(at);
  if (!r || !r->writable || at + bytes > r->base + r->bytes() ||
      !r->shadow.written_since(at - r->base, bytes, first_cluster_))
    return;
  protocol(who, str("reads {}, which this launch writes, as if it never changed", global_text(at)));
}

void Device::vector_load(Warp& w, const Instruction& i, const IssueCode& c) {
  const auto& d = operand(c, "d");
  const auto& p = operand(c, "p");
  const bool global = p.row->kind == OperandKind::Global;
  const Type t = d.row->type;
  const auto bytes = static_cast<uint64_t>(t.bytes() * d.row->count);
  std::vector<uint32_t> banks;
  const int first = first_of(w, d);
  for (int k = 0; k < d.row->count; ++k) register_of(w, d, k, true);
  each_lane(w.mask, [&](int lane) {
    if (world_.stopped) return;
    const int64_t address = integer(w, p.values[0], lane);
    const auto at = global ? static_cast<uint64_t>(address) : shared_byte(address);
    const Who who{.warp = &w, .lane = lane, .site = i.site};
    std::byte raw[16] = {};
    bool good;
    if (global) {
      // Only those of the loads with a rule of their own: the ones that go past the first cache.
      if (!c.atom->needs.empty()) check_stream(who, at, bytes);
      good = read_global(at, bytes, accessor(w, lane, true), who, raw);
    } else {
      good = read_shared(*w.block, at, bytes, accessor(w, lane, false), who, raw);
      banks.push_back(static_cast<uint32_t>(at));
    }
    const LaneMask bit = LaneMask{1} << lane;
    for (int k = 0; k < d.row->count; ++k) {
      uint64_t bits = 0;
      std::memcpy(&bits, raw + k * t.bytes(), static_cast<size_t>(t.bytes()));
      auto& e = w.registers[static_cast<size_t>(d.registers)][static_cast<size_t>(first + k)];
      e.value.i[lane] = value_of_bits(t, bits).i;
      e.undefined = good ? e.undefined & ~bit : e.undefined | bit;
    }
  });
  count_banks(w, i.site, banks, static_cast<int>(bytes));
}

void Device::vector_store(Warp& w, const Instruction& i, const IssueCode& c) {
  const auto& s = operand(c, "s");
  const auto& p = operand(c, "p");
  const bool global = p.row->kind == OperandKind::Global;
  const Type t = s.row->type;
  const auto bytes = static_cast<uint64_t>(t.bytes() * s.row->count);
  std::vector<uint32_t> banks;
  LaneMask undefined = 0;
  for (int k = 0; k < s.row->count; ++k) undefined |= register_of(w, s, k, false)->undefined;
  each_lane(w.mask, [&](int lane) {
    if (world_.stopped) return;
    const int64_t address = integer(w, p.values[0], lane);
    const auto at = global ? static_cast<uint64_t>(address) : shared_byte(address);
    const Who who{.warp = &w, .lane = lane, .site = i.site};
    const bool bad = (undefined >> lane & 1) != 0;
    if (bad && global)
      return uninitialised(who, str("`{}`", code_.registers[static_cast<size_t>(s.registers)].buffer->name));
    std::byte raw[16] = {};
    for (int k = 0; k < s.row->count; ++k) {
      Value v{.type = t};
      v.i = register_of(w, s, k, false)->value.i[lane];
      const uint64_t bits = bits_of(v);
      std::memcpy(raw + k * t.bytes(), &bits, static_cast<size_t>(t.bytes()));
    }
    if (global) {
      write_global(at, bytes, accessor(w, lane, true), who, raw);
      return;
    }
    banks.push_back(static_cast<uint32_t>(at));
    if (write_shared(*w.block, at, bytes, accessor(w, lane, false), who, raw) && bad) w.block->shadow->spoil(at, bytes);
  });
  count_banks(w, i.site, banks, static_cast<int>(bytes));
}

void Device::shuffle(Warp& w, const Instruction& i, const IssueCode& c) {
  const auto& s = operand(c, "s").values[0];
  const auto& by = operand(c, "lane").values[0];
  auto* d = register_of(w, operand(c, "d"), 0, true);
  Lanes out = d->value;
  each_lane(w.mask, [&](int lane) {
    const int64_t n = integer(w, by, lane);
    int from = lane;
    switch (c.atom->family) {
      case AtomFamily::ShuffleXor: from = lane ^ static_cast<int>(n & 31); break;
      case AtomFamily::ShuffleUp: from = lane - static_cast<int>(n & 31); break;
      case AtomFamily::ShuffleDown: from = lane + static_cast<int>(n & 31); break;
      default:
        if (n < 0 || n > 31)
          return protocol({.warp = &w, .lane = lane, .site = i.site}, str("takes the value of lane {}", n));
        from = static_cast<int>(n);
    }
    // Up and down beyond the warp: the hardware leaves a lane its own value.
    if (from < 0 || from > 31) from = lane;
    out.i[lane] = value(w, s, from).i;
  });
  d->value = out;
  d->undefined = 0;
}

void Device::pack(Warp& w, const Instruction&, const IssueCode& c) {
  const Type half = c.atom->element;
  auto* d = register_of(w, operand(c, "d"), 0, true);
  each_lane(w.mask, [&](int lane) {
    uint64_t bits = 0;
    for (const char* name : {"hi", "lo"}) {
      Value v{.type = half};
      v.f = round_float(half, value(w, operand(c, name).values[0], lane).f);
      bits = bits << 16 | bits_of(v);
    }
    d->value.i[lane] = static_cast<int64_t>(bits);
    d->undefined &= ~(LaneMask{1} << lane);
  });
}

}  // namespace drawloom::simt
