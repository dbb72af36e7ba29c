/// The instructions of a warp: values and the way through the program.
///
/// A warp has one program counter and a mask of lanes. Example, `if %t < 2 { A } else { B }` over lanes 0 to 3: a frame
/// keeps 1111 and the other side 1100, A runs under 0011, B under 1100, then 1111 again. A side without lanes is jumped
/// over. A loop goes on while some lane has iterations left, and lanes that are through wait in the frame.
///
/// So lanes that part meet again at the end of the statement, always. The hardware promises less (its lanes may run on
/// apart until a `sync warp`), which is why communication between lanes goes by the record of accesses, not by
/// lockstep: what only lockstep orders is reported as a race.

#include <limits>

#include "drawloom/interp/simt/device.h"
#include "drawloom/ir/build.h"

namespace drawloom::simt {
namespace {

auto touches_memory(const Code& code, const Instruction& i) -> bool {
  if (i.op == Op::Issue) return true;
  return (i.op == Op::Load || i.op == Op::Store) && code.places[static_cast<size_t>(i.place)].registers == kNone;
}
auto fits_32_bits(int64_t v) -> bool {
  return v >= std::numeric_limits<int32_t>::min() && v <= std::numeric_limits<int32_t>::max();
}

}  // namespace

void Device::run_warp(Warp& w) {
  w.state = Warp::State::ready;
  w.ready_since = ++turn_;
  while (!world_.stopped && w.state == Warp::State::ready) {
    const auto& i = code_.instructions[static_cast<size_t>(w.pc)];
    if (++world_.report.steps > world_.options.max_steps) {
      return world_.report_error(
          Diag(DiagKind::machine_budget, site(i.site).loc, world_.options.max_steps, code_.launch->name), true);
    }
    const bool may_yield = world_.options.order == WarpOrder::random && !w.yielded && touches_memory(code_, i);
    if (may_yield && world_.random.chance(6)) {
      w.yielded = true;
      return;
    }
    // Put aside once at most for each instruction.
    w.yielded = false;
    const int at = w.pc++;
    const Next next = execute(w, i);
    if (next == Next::go) continue;
    if (next == Next::blocked) {
      w.pc = at;
      w.state = Warp::State::blocked;
      w.seen_progress = progress_;
    }
    return;
  }
}

auto Device::execute(Warp& w, const Instruction& i) -> Next {
  switch (i.op) {
    case Op::Cast:
    case Op::Reinterpret:
    case Op::Unary:
    case Op::Binary:
    case Op::Select:
    case Op::Call: evaluate(w, i); return Next::go;
    case Op::Load: load(w, i); return Next::go;
    case Op::Address: address(w, i); return Next::go;
    case Op::Store: store(w, i); return Next::go;
    case Op::If:
    case Op::Else:
    case Op::EndIf:
    case Op::Loop:
    case Op::Next:
    case Op::Role:
    case Op::Elect:
    case Op::EndElect:
    case Op::End: control(w, i); return Next::go;
    case Op::Allocate:
    case Op::Sync:
    case Op::Init:
    case Op::Arrive:
    case Op::Expect:
    case Op::Wait:
    case Op::Fence:
    case Op::Issue:
    case Op::Commit:
    case Op::WaitGroup:
    case Op::SetRegisters: return execute_effect(w, i);
  }
  __builtin_unreachable();
}

auto Device::execute_effect(Warp& w, const Instruction& i) -> Next {
  switch (i.op) {
    case Op::Allocate:
      for (auto& e : w.registers[static_cast<size_t>(i.place)]) e.undefined |= w.mask, e.changed = true;
      return Next::go;
    case Op::Sync: return sync(w, i);
    case Op::Init: init(w, i); return Next::go;
    case Op::Arrive: return arrive(w, i);
    case Op::Expect: expect(w, i); return Next::go;
    case Op::Wait: return wait(w, i);
    case Op::Fence: fence(w, i); return Next::go;
    case Op::Issue: return issue(w, i);
    case Op::Commit: commit(w, i); return Next::go;
    case Op::WaitGroup: return wait_group(w, i);
    case Op::SetRegisters: return set_registers(w, i);
    default: return Next::go;
  }
}

// --- values

auto Device::value(const Warp& w, const Operand& o, int lane) const -> Value {
  if (o.where == Operand::Where::constant) return code_.constants[static_cast<size_t>(o.index)];
  Value v{.type = o.type};
  v.i = w.slots[static_cast<size_t>(o.index)].i[o.uniform ? 0 : lane];
  return v;
}
auto Device::integer(const Warp& w, const Operand& o, int lane) const -> int64_t { return value(w, o, lane).i; }
auto Device::poison(const Warp& w, const Operand& o) const -> LaneMask {
  return o.where == Operand::Where::slot ? w.poison[static_cast<size_t>(o.index)] : 0;
}

auto Device::evaluate_lane(Warp& w, const Instruction& i, int lane) -> Value {
  const Value a = value(w, i.from[0], lane);
  bool open = false;  // hardware gives one of the values allowed; which is not modelled
  switch (i.op) {
    case Op::Cast: return eval_cast(i.type, a, open);
    case Op::Reinterpret: return value_of_bits(i.type, bits_of(a));
    case Op::Unary: return eval_unary(static_cast<UnaryOp>(i.sub), a);
    case Op::Binary: return eval_binary(static_cast<BinaryOp>(i.sub), a, value(w, i.from[1], lane), open);
    case Op::Select: return value(w, i.from[a.i != 0 ? 1 : 2], lane);
    default: break;
  }
  const auto function = static_cast<Intrinsic>(i.sub);
  if (function == Intrinsic::WarpUniform) return a;
  Value args[3] = {a, {}, {}};
  for (int k = 1; k < 3; ++k) {
    if (i.from[k].defined()) args[k] = value(w, i.from[k], lane);
  }
  return eval_call(function, args);
}

void Device::evaluate(Warp& w, const Instruction& i) {
  if (i.op == Op::Call && static_cast<Intrinsic>(i.sub) == Intrinsic::WarpUniform) check_uniform(w, i);
  // What the type does not say of 16-bit floats: each operation rounds to them.
  const bool rounds = i.type.is_float() && i.type.bits == 16 && i.op != Op::Reinterpret && i.op != Op::Select;
  // Index arithmetic in a launch has 32 bits (docs/ir.md).
  const bool narrow = i.type.is_index();
  bool overflow = false;
  each_lane(i.uniform ? LaneMask{1} : w.mask, [&](int lane) {
    Value v = evaluate_lane(w, i, lane);
    if (rounds) v.f = round_float(i.type, v.f);
    overflow |= narrow && !fits_32_bits(v.i);
    set(w, i.to, lane, v);
  });
  propagate(w, i);
  if (overflow && w.poison[static_cast<size_t>(i.to)] == 0) {
    protocol({.warp = &w, .site = i.site}, "index arithmetic leaves the range of 32 bits");
  }
}

/// A lane of the result means nothing where an operand does not, which of a Select is the one taken.
void Device::propagate(Warp& w, const Instruction& i) {
  LaneMask bad = poison(w, i.from[0]);
  const LaneMask b = poison(w, i.from[1]), c = poison(w, i.from[2]);
  if (i.op == Op::Select && (b | c) != 0) {
    each_lane(w.mask, [&](int lane) {
      const bool yes = value(w, i.from[0], lane).i != 0;
      bad |= (yes ? b : c) & (LaneMask{1} << lane);
    });
  } else if (i.op != Op::Select) {
    bad |= b | c;
  }
  w.poison[static_cast<size_t>(i.to)] = bad;
  if (bad == 0) return;
  for (const auto& o : i.from) {
    if (poison(w, o) != 0) w.cause[static_cast<size_t>(i.to)] = w.cause[static_cast<size_t>(o.index)];
  }
}

void Device::check_uniform(Warp& w, const Instruction& i) {
  if (!need_whole(w, i)) return;
  const Value first = value(w, i.from[0], __builtin_ctz(w.mask));
  each_lane(w.mask, [&](int lane) {
    const Value v = value(w, i.from[0], lane);
    if (v.i == first.i || world_.stopped) return;
    protocol({.warp = &w, .lane = lane, .site = i.site},
             str("warp_uniform of {} here and {} in lane {}", v.i, first.i, __builtin_ctz(w.mask)));
  });
}

auto Device::check_defined(Warp& w, const Operand& o, LaneMask lanes, const char* use) -> bool {
  const LaneMask bad = poison(w, o) & (o.uniform ? ~LaneMask{0} : lanes);
  if (bad == 0) return true;
  const auto& cause = code_.places[static_cast<size_t>(w.cause[static_cast<size_t>(o.index)])];
  uninitialised({.warp = &w, .lane = __builtin_ctz(bad), .site = cause.site},
                str("an element of `{}` {}", cause.buffer->name, use));
  return false;
}

auto Device::need_whole(Warp& w, const Instruction& i) -> bool {
  if (w.whole()) return true;
  protocol({.warp = &w, .site = i.site}, str("{} is reached by {} of its {} threads",
                                             site(i.site).words.empty() ? "a collective" : site(i.site).words,
                                             __builtin_popcount(w.mask), __builtin_popcount(w.live)));
  return false;
}

// --- the way

void Device::control(Warp& w, const Instruction& i) {
  switch (i.op) {
    case Op::If: {
      if (!check_defined(w, i.from[0], w.mask, "that decides an if")) return;
      LaneMask yes = 0;
      each_lane(w.mask, [&](int lane) { yes |= LaneMask{integer(w, i.from[0], lane) != 0} << lane; });
      w.frames.push_back({.mask = w.mask, .other = w.mask & ~yes});
      w.mask = yes;
      if (yes == 0) w.pc = i.target;
      return;
    }
    case Op::Else:
      w.mask = w.frames.back().other;
      if (w.mask == 0) w.pc = i.target;
      return;
    case Op::EndIf:
    case Op::EndElect:
      w.mask = w.frames.back().mask;
      w.frames.pop_back();
      return;
    case Op::Elect:
      if (!need_whole(w, i)) return;
      w.frames.push_back({.mask = w.mask});
      w.mask &= 0 - w.mask;
      return;
    case Op::Loop: return loop_head(w, i);
    case Op::Next: return loop_next(w, i);
    case Op::Role: return role(w, i);
    case Op::End: return exit_warp(w);
    default: return;
  }
}

void Device::loop_head(Warp& w, const Instruction& i) {
  if (!check_defined(w, i.from[0], w.mask, "that bounds a loop") ||
      !check_defined(w, i.from[1], w.mask, "that bounds a loop"))
    return;
  LaneMask in = 0;
  each_lane(w.mask, [&](int lane) {
    in |= LaneMask{integer(w, i.from[1], lane) > 0} << lane;
    w.slots[static_cast<size_t>(i.to)].i[i.uniform ? 0 : lane] = integer(w, i.from[0], lane);
  });
  w.poison[static_cast<size_t>(i.to)] = 0;
  if (in == 0) {
    w.pc = i.target;
    return;
  }
  w.frames.push_back({.mask = w.mask});
  w.mask = in;
}

void Device::loop_next(Warp& w, const Instruction& i) {
  auto& frame = w.frames.back();
  ++frame.iteration;
  LaneMask in = 0;
  each_lane(w.mask, [&](int lane) {
    if (frame.iteration >= integer(w, i.from[1], lane)) return;
    in |= LaneMask{1} << lane;
    w.slots[static_cast<size_t>(i.to)].i[i.uniform ? 0 : lane] = integer(w, i.from[0], lane) + frame.iteration;
  });
  if (in != 0) {
    w.mask = in;
    w.pc = i.target;
    return;
  }
  w.mask = frame.mask;
  w.frames.pop_back();
}

void Device::role(Warp& w, const Instruction& i) {
  const auto& role = code_.roles[static_cast<size_t>(i.number)];
  if (w.number < role.first_warp || w.number >= role.first_warp + role.warps) {
    w.pc = i.target;
    return;
  }
  if (!need_whole(w, i)) return;
  for (int lane = 0; lane < 32; ++lane)
    w.slots[static_cast<size_t>(i.to)].i[lane] = (w.number - role.first_warp) * 32 + lane;
}

}  // namespace drawloom::simt
