// The machine at work: every lane of every register is a value and a cause.
//
// A cause says why a value means nothing: its lane was masked off, its element unwritten or another one than the
// program says. That is no error yet, since tails compute lanes which nothing uses; the cause travels with the value
// until a use: a subscript, a mask, a condition, a loop bound, a size, a check, or a store to an argument. Example:
//     let %t = %a[5] + 1                      a[5] was never written: %t has the cause `unwritten`
//     store %out[0] = select(%x < 0, %t, 2)   no error for x = 3: the side taken means something
//     store %out[0] = %t                      machine_unwritten, at the load, with a note at this store
// Both sides of everything are computed, so && and || settle by the operand that decides; else the garbage lanes that a
// condition guards would be reported.
#include "drawloom/interp/machine/run.h"

namespace drawloom::machine {
namespace {

auto at(Register r, int lane) -> size_t { return static_cast<size_t>(r + lane); }

/// Whether a logical operator's result is known from one operand alone.
auto settles(BinaryOp op, const Value& v) -> bool {
  return (op == BinaryOp::And && !v.i) || (op == BinaryOp::Or && v.i);
}

}  // namespace

// --- expressions

void Run::evaluate(int first, int last) {
  for (int i = first; i < last; ++i) instruction(code_.instructions[static_cast<size_t>(i)]);
}

void Run::instruction(const Instruction& i) {
  const int lanes = i.type.lanes;
  report_.steps += static_cast<uint64_t>(lanes);
  // f(lane) gives the value and the cause of one lane.
  const auto each_lane = [&](auto&& f) {
    for (int l = 0; l < lanes; ++l) {
      bool ambiguous = false;
      CauseId cause = 0;
      values_[at(i.to, l)] = f(l, cause, ambiguous);
      causes_of_[at(i.to, l)] = cause;
      if (ambiguous && cause == 0) report_.ambiguous = true;
    }
  };
  const auto value = [&](int k, int l) -> const Value& { return values_[at(i.from[k], l)]; };
  const auto cause_of = [&](int k, int l) { return causes_of_[at(i.from[k], l)]; };

  switch (i.kind) {
    case Kind::Cast:
      return each_lane([&](int l, CauseId& cause, bool& ambiguous) {
        cause = cause_of(0, l);
        return eval_cast(i.type, value(0, l), ambiguous);
      });
    case Kind::Reinterpret:
      return each_lane([&](int l, CauseId& cause, bool&) {
        cause = cause_of(0, l);
        return value_of_bits(i.type.element(), bits_of(value(0, l)));
      });
    case Kind::Unary:
      return each_lane([&](int l, CauseId& cause, bool&) {
        cause = cause_of(0, l);
        return eval_unary(static_cast<UnaryOp>(i.op), value(0, l));
      });
    case Kind::Binary:
      return each_lane([&](int l, CauseId& cause, bool& ambiguous) {
        const auto op = static_cast<BinaryOp>(i.op);
        const CauseId a = cause_of(0, l), b = cause_of(1, l);
        const bool settled = (!a && settles(op, value(0, l))) || (!b && settles(op, value(1, l)));
        if (!settled) cause = a ? a : b;
        return eval_binary(op, value(0, l), value(1, l), ambiguous);
      });
    case Kind::Select:
      return each_lane([&](int l, CauseId& cause, bool&) {
        const int side = value(0, l).i ? 1 : 2;
        cause = cause_of(0, l) ? cause_of(0, l) : cause_of(side, l);
        return value(side, l);
      });
    case Kind::Call:
      return each_lane([&](int l, CauseId& cause, bool&) {
        Value args[3];
        for (int k = 0; k < 3 && i.from[k] != kNone; ++k) {
          args[k] = value(k, l);
          if (!cause) cause = cause_of(k, l);
        }
        return eval_call(static_cast<Intrinsic>(i.op), args);
      });
    case Kind::Ramp:
      return each_lane([&](int l, CauseId& cause, bool& ambiguous) {
        cause = cause_of(0, 0) ? cause_of(0, 0) : cause_of(1, 0);
        const Value steps = number_value(i.type, l);
        const Value offset = eval_binary(BinaryOp::Mul, steps, value(1, 0), ambiguous);
        return eval_binary(BinaryOp::Add, value(0, 0), offset, ambiguous);
      });
    case Kind::Broadcast:
      return each_lane([&](int, CauseId& cause, bool&) {
        cause = cause_of(0, 0);
        return value(0, 0);
      });
    case Kind::Load: return load(i);
    case Kind::IntImm:
    case Kind::FloatImm:
    case Kind::VarRef:
    case Kind::Access:
    case Kind::Let:
    case Kind::Address:
#include "drawloom/ir/statement_cases.def"
      break;
  }
  DRAWLOOM_CHECK(false, "{} is no instruction", kind_name(i.kind));
}

auto Run::active(const ElementAccess& a, int lane) -> bool {
  if (a.mask == kNone) return true;
  if (const CauseId c = causes_of_[at(a.mask, lane)]) use(c, "in a mask", a.loc, a.scope, a.stage);
  return values_[at(a.mask, lane)].i != 0;
}

auto Run::locate(const ElementAccess& a, int lane) -> int64_t {
  int64_t coords[16];
  DRAWLOOM_CHECK(a.index.size() <= 16, "{} subscripts", a.index.size());
  for (size_t d = 0; d < a.index.size(); ++d) {
    const size_t r = at(a.index[d], lane);
    coords[d] = values_[r].i;
    if (causes_of_[r]) {
      use(causes_of_[r], "in a subscript", a.loc, a.scope, a.stage);
      return -1;
    }
  }
  const auto& storage = storages_[static_cast<size_t>(a.storage)];
  const int64_t position = storage.position(coords, a.index.size(), code_.flat_storage);
  if (position < 0) report_bounds(a, lane);
  return position;
}

void Run::load(const Instruction& i) {
  const auto& a = code_.accesses[static_cast<size_t>(i.access)];
  for (int l = 0; l < a.lanes; ++l) {
    values_[at(i.to, l)] = {.type = i.type.element()};
    if (active(a, l)) {
      load_lane(a, i.to, l);
      continue;
    }
    auto& cause = masked_cause_[static_cast<size_t>(i.access)];
    if (!cause) cause = new_cause(Cause::Kind::masked_off, i.access, l, nullptr);
    causes_of_[at(i.to, l)] = cause;
  }
}

void Run::load_lane(const ElementAccess& a, Register to, int lane) {
  CauseId& cause = causes_of_[at(to, lane)];
  // Reported already; so it stays if the element cannot be located.
  cause = 1;
  const int64_t position = locate(a, lane);
  if (position < 0) return;
  ++moved_[static_cast<size_t>(access_id(a))];
  auto& storage = storages_[static_cast<size_t>(a.storage)];
  auto& e = storage.element(position);
  if (!e.touches.note_read(tasks_, task_)) report_race(a, lane);
  if (!e.written) {
    cause = new_cause(Cause::Kind::unwritten, access_id(a), lane, nullptr);
  } else if (!holds_wanted(a, lane, position, e)) {
    cause = new_cause(Cause::Kind::wrong_element, access_id(a), lane, storage.origin(position));
  } else {
    cause = e.cause;
  }
  if (e.written) values_[at(to, lane)] = e.value;
  if (cause > 1 && cause != e.cause && options_.error_at_load) use(cause, "at once", a.loc, a.scope, a.stage);
}

auto Run::holds_wanted(const ElementAccess& a, int lane, int64_t position, const Element& e) -> bool {
  if (!e.has_origin || a.origin.empty()) return true;
  const int64_t* held = storages_[static_cast<size_t>(a.storage)].origin(position);
  for (size_t d = 0; d < a.origin.size(); ++d) {
    if (values_[at(a.origin[d], lane)].i != held[d]) return false;
  }
  return true;
}

// --- statements

void Run::step(uint64_t count, int stage, int scope) {
  report_.steps += count;
  if (report_.steps <= options_.max_steps || stopped_) return;
  add_error(Diag(DiagKind::machine_budget, {}, options_.max_steps, place_text(stage, scope)));
  stopped_ = true;
}

auto Run::decide(Register r, const char* what, const Statement& s) -> int64_t {
  const CauseId cause = causes_of_[at(r, 0)];
  // A loop's bounds are outside of the scope that it opens.
  const int scope = s.kind == Kind::For ? code_.scopes[static_cast<size_t>(s.scope)].parent : s.scope;
  if (cause) use(cause, what, s.loc, scope, s.stage);
  return values_[at(r, 0)].i;
}

void Run::statement(int id) {
  if (stopped_) return;
  const auto& s = code_.statements[static_cast<size_t>(id)];
  evaluate(s.first, s.last);
  switch (s.kind) {
    case Kind::Block:
      for (const int child : s.children) statement(child);
      return;
    case Kind::For: return loop(s);
    case Kind::If: {
      const int side = s.children[decide(s.operands[0], "in a condition", s) ? 0 : 1];
      if (side != kNone) statement(side);
      return;
    }
    case Kind::LetStmt:
      for (int l = 0; l < s.type.lanes; ++l) {
        values_[at(s.symbol, l)] = values_[at(s.operands[0], l)];
        causes_of_[at(s.symbol, l)] = causes_of_[at(s.operands[0], l)];
      }
      return statement(s.children[0]);
    case Kind::Allocate: return allocate(s);
    case Kind::Store: return store(code_.accesses[static_cast<size_t>(s.access)]);
    case Kind::Check: return check(s);
    case Kind::StoreFence:
    case Kind::Stage:
#define NODE(name, family) case Kind::name:
#include "drawloom/ir/device_nodes.def"
#undef NODE
#include "drawloom/ir/expression_cases.def"
      return;  // the compiler lets no device code through
  }
}

void Run::loop(const Statement& s) {
  const int64_t min = decide(s.operands[0], "in a loop bound", s);
  const int64_t extent = decide(s.operands[1], "in a loop bound", s);
  switch (s.how) {
    case ForKind::Parallel: return parallel_iterations(s, min, extent);
    case ForKind::Serial:
    case ForKind::Block:
    case ForKind::Thread:
    case ForKind::Vectorized:
    case ForKind::Unrolled: return iterations(s, min, extent);
  }
}

void Run::iterations(const Statement& s, int64_t min, int64_t extent) {
  for (int64_t k = 0; k < extent && !stopped_; ++k) {
    values_[at(s.symbol, 0)] = {.type = kIndex, .i = min + k};
    step(1, s.stage, s.scope);
    statement(s.children[0]);
  }
}

void Run::parallel_iterations(const Statement& s, int64_t min, int64_t extent) {
  std::vector<int64_t> order;
  // Shuffled while it is filled: element k swaps with one of 0 .. k.
  if (options_.parallel_seed != 0) {
    for (int64_t k = 0; k < extent; ++k) {
      order.push_back(k);
      std::swap(order.back(), order[static_cast<size_t>(random_.uniform(0, k))]);
    }
  }
  const TaskId parent = task_;
  const uint32_t loop_run = tasks_.new_loop_run();
  for (int64_t k = 0; k < extent && !stopped_; ++k) {
    task_ = tasks_.add(parent, loop_run);
    values_[at(s.symbol, 0)] = {.type = kIndex, .i = min + (order.empty() ? k : order[static_cast<size_t>(k)])};
    step(1, s.stage, s.scope);
    statement(s.children[0]);
  }
  task_ = parent;
}

void Run::allocate(const Statement& s) {
  std::vector<int64_t> extents;
  for (const Register r : s.operands) extents.push_back(decide(r, "in the size of an allocation", s));
  auto& storage = storages_[static_cast<size_t>(s.storage)];
  storage.allocate(std::move(extents));
  auto& peak = peak_bytes_[static_cast<size_t>(s.storage)];
  if (storage.bytes() > peak) peak = storage.bytes();
  statement(s.children[0]);
}

void Run::check(const Statement& s) {
  if (decide(s.operands[0], "in a check", s)) return;
  std::vector<std::string> args;
  for (size_t k = 1; k < s.operands.size(); ++k) args.push_back(values_[at(s.operands[k], 0)].text());
  report_.check_failure = {s.check->code, format_pieces(s.check->message, args.data(), args.size())};
  stopped_ = true;
}

void Run::store(const ElementAccess& a) {
  report_.steps += static_cast<uint64_t>(a.lanes);
  if (!storages_[static_cast<size_t>(a.storage)].decl().writable) return report_store_to_input(a);
  for (int l = 0; l < a.lanes; ++l) {
    if (active(a, l)) store_lane(a, l);
  }
}

void Run::store_lane(const ElementAccess& a, int lane) {
  const int64_t position = locate(a, lane);
  if (position < 0) return;
  ++moved_[static_cast<size_t>(access_id(a))];
  auto& storage = storages_[static_cast<size_t>(a.storage)];
  auto& e = storage.element(position);
  if (!e.touches.note_write(tasks_, task_)) report_race(a, lane);
  e.value = values_[at(a.value, lane)];
  e.cause = causes_of_[at(a.value, lane)];
  e.written = true;
  e.has_origin = !a.origin.empty();
  int64_t* held = storage.origin(position);
  for (size_t d = 0; d < a.origin.size(); ++d) held[d] = values_[at(a.origin[d], lane)].i;
  if (e.cause && storage.decl().argument != kNone) {
    use(e.cause, str("in {}", element_text(a, lane)), a.loc, a.scope, a.stage);
  }
}

void Run::execute() { statement(code_.root); }

}  // namespace drawloom::machine
