// Example, h(i) = 0 with update h(im(r)) += 1, im = 3, 5, 3:
//     h(3) is asked for    left sides of r = 0, 1, 2 are evaluated: point 3 is written by 0 and 2, point 5 by 1
//     write by r = 0       reads h(3) before 0: no write, so the pure stage, 0; gives 1
//     write by r = 2       reads h(3) before 2: the write by 0; gives 2
// Nothing here walks a loop in the order of a schedule, and nothing is computed that was not asked for.
//
// Cost: every value once, plus the left sides. Depth of recursion: that of the Func calls, and for a recurrence such as
// f(x) = f(x - 1) + 1 the distance to what is known, hence the large stack of run_deep.cpp and the guards.
#include "drawloom/interp/oracle/evaluate.h"

#include <algorithm>
#include <limits>

namespace drawloom::oracle {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

auto coords_text(const int64_t* coords, size_t rank) -> std::string {
  std::vector<std::string> parts;
  for (size_t d = 0; d < rank; ++d) parts.push_back(to_text(coords[d]));
  return "(" + join(parts, ", ") + ")";
}
auto box_text(const std::vector<ArrayDim>& dims) -> std::string {
  std::vector<std::string> parts;
  for (const auto& d : dims) parts.push_back(d.extent <= 0 ? "nothing" : str("[{}, {}]", d.min, d.min + d.extent - 1));
  return join(parts, " x ");
}

}  // namespace

Evaluator::Evaluator(const PipelineCode& code, uint64_t max_steps, size_t max_stack_bytes)
    : code_(code), max_steps_(max_steps), stack_base_(static_cast<const char*>(__builtin_frame_address(0))),
      max_stack_bytes_(max_stack_bytes) {
  for (const auto& f : code.funcs) {
    FuncMemo memo{.pure = PureMemo(f.def->args.size()), .updates = {}};
    for (size_t s = 1; s < f.stages.size(); ++s) memo.updates.emplace_back(f.stages[s].pure_dims.size());
    memos_.push_back(std::move(memo));
  }
  touched_.resize(code.inputs.size());
}

auto Evaluator::value(int func, const int64_t* point, int component) -> Value {
  const auto stages = static_cast<int>(code_.funcs[static_cast<size_t>(func)].stages.size());
  return value_after(func, stages - 1, point, component);
}

// --- states

auto Evaluator::value_after(int func, int stage, const int64_t* point, int component) -> Value {
  return stage == 0 ? pure_value(func, point, component) : value_before(func, stage, kEnd, point, component);
}

auto Evaluator::pure_value(int func, const int64_t* point, int component) -> Value {
  auto& memo = memos_[static_cast<size_t>(func)].pure;
  const auto& code = code_.funcs[static_cast<size_t>(func)].stages[0];
  const size_t components = code.values.size();
  // A point seen but not done is being computed further up this stack: it needs itself.
  const uint32_t known = memo.points.size();
  const uint32_t id = memo.points.number(point);
  const size_t first = id * components;
  if (id < known) {
    if (!memo.done[id]) throw Stop{Diag(DiagKind::oracle_cycle, code.loc, point_text(func, point))};
    return memo.values[first + static_cast<size_t>(component)];
  }
  memo.values.resize(memo.values.size() + components);
  memo.done.push_back(false);
  const Frame frame{
      .func = func, .stage = 0, .code = &code, .args = point, .rvars = nullptr, .iteration = 0, .slots = 0};
  with_frame(frame, 0, [&](const Frame& f) {
    for (size_t c = 0; c < components; ++c) {
      const Value v = eval(code.values[c], f);
      memo.values[first + c] = v;  // after eval, which may have moved the values
    }
  });
  memo.done[id] = true;
  return memo.values[first + static_cast<size_t>(component)];
}

auto Evaluator::scatter_of(int func, int stage, const int64_t* point) -> Scatter& {
  const auto& code = code_.funcs[static_cast<size_t>(func)].stages[static_cast<size_t>(stage)];
  auto& memo = memos_[static_cast<size_t>(func)].updates[static_cast<size_t>(stage) - 1];
  int64_t pure[kMaxRank];
  for (size_t i = 0; i < code.pure_dims.size(); ++i) pure[i] = point[code.pure_dims[i]];
  const uint32_t id = memo.points.number(pure);
  if (id == memo.scatters.size()) memo.scatters.emplace_back(code.free_dims.size());
  return memo.scatters[id];
}

auto Evaluator::value_before(int func, int stage, int64_t iteration, const int64_t* point, int component) -> Value {
  const auto& code = code_.funcs[static_cast<size_t>(func)].stages[static_cast<size_t>(stage)];
  const Frame at{
      .func = func, .stage = stage, .code = &code, .args = point, .rvars = nullptr, .iteration = 0, .slots = 0};
  Scatter& scatter = scatter_of(func, stage, point);
  int64_t free[kMaxRank];
  for (size_t i = 0; i < code.free_dims.size(); ++i) free[i] = point[code.free_dims[i]];

  const int64_t upto = std::min(iteration, code.iterations);
  int64_t id = -1, count = 0;
  if (code.free_dims.empty()) {  // every iteration writes this point
    if (scatter.writes.empty()) scatter.writes.emplace_back();
    id = 0, count = upto;
  } else {
    build(scatter, at, upto);
    id = scatter.points.find(free);
    if (id >= 0) {
      const auto& list = scatter.writes[static_cast<size_t>(id)].iterations;
      count = std::lower_bound(list.begin(), list.end(), upto) - list.begin();
    }
  }
  if (count == 0) return value_after(func, stage - 1, point, component);

  Writes& writes = scatter.writes[static_cast<size_t>(id)];
  compute_upto(writes, count - 1, at);
  const size_t held = code.self_reads == SelfReads::elsewhere ? static_cast<size_t>(count - 1) * code.values.size() : 0;
  return writes.values[held + static_cast<size_t>(component)];
}

void Evaluator::build(Scatter& scatter, const Frame& at, int64_t upto) {
  while (scatter.built < upto) {
    const int64_t iteration = scatter.built;
    int64_t free[kMaxRank];
    with_frame(at, iteration, [&](const Frame& f) {
      for (size_t i = 0; i < f.code->lhs.size(); ++i) free[i] = eval(f.code->lhs[i], f).i;
    });
    const uint32_t id = scatter.points.number(free);
    if (id == scatter.writes.size()) scatter.writes.emplace_back();
    scatter.writes[id].iterations.push_back(iteration);
    scatter.built = iteration + 1;
  }
}

void Evaluator::compute_upto(Writes& writes, int64_t j, const Frame& at) {
  switch (at.code->self_reads) {
    case SelfReads::none:
      // No write depends on another: the one asked for is enough, and only that one is held.
      if (writes.known != j + 1) compute(writes, j, at);
      return;
    case SelfReads::same_point:
      while (writes.known <= j) compute(writes, writes.known, at);
      DRAWLOOM_CHECK(writes.known == j + 1, "an older state of an accumulation is read");
      return;
    case SelfReads::elsewhere:
      while (writes.known <= j) compute(writes, writes.known, at);
      return;
  }
}

void Evaluator::compute(Writes& writes, int64_t j, const Frame& at) {
  const int64_t iteration = at.code->free_dims.empty() ? j : writes.iterations[static_cast<size_t>(j)];
  const size_t components = at.code->values.size();
  Value values[kMaxComponents];
  with_frame(at, iteration, [&](const Frame& f) {
    for (size_t c = 0; c < components; ++c) values[c] = eval(f.code->values[c], f);
  });
  if (at.code->self_reads != SelfReads::elsewhere) writes.values.clear();
  writes.values.insert(writes.values.end(), values, values + components);
  writes.known = j + 1;
}

// --- expressions

template <typename F>
void Evaluator::with_frame(Frame frame, int64_t iteration, F&& f) {
  int64_t rvars[kMaxRank];
  int64_t rest = iteration;
  for (size_t i = 0; i < frame.code->rdom_min.size(); ++i) {
    rvars[i] = frame.code->rdom_min[i] + rest % frame.code->rdom_extent[i];
    rest /= frame.code->rdom_extent[i];
  }
  frame.rvars = rvars;
  frame.iteration = iteration;
  frame.slots = slots_.size();
  slots_.resize(frame.slots + static_cast<size_t>(frame.code->slots));
  slot_known_.resize(slots_.size());
  std::fill(slot_known_.begin() + static_cast<std::ptrdiff_t>(frame.slots), slot_known_.end(), 0);
  f(frame);
  slots_.resize(frame.slots);
  slot_known_.resize(frame.slots);
}

auto Evaluator::eval(int node, const Frame& frame) -> Value {
  const Node& n = frame.code->nodes[static_cast<size_t>(node)];
  if (n.slot == kNone) return eval_node(n, frame);
  const size_t slot = frame.slots + static_cast<size_t>(n.slot);
  if (slot_known_[slot]) return slots_[slot];
  const Value v = eval_node(n, frame);
  slots_[slot] = v;
  slot_known_[slot] = 1;
  return v;
}

auto Evaluator::eval_node(const Node& n, const Frame& frame) -> Value {
  const auto operand = [&](size_t k) { return eval(n.operands[k], frame); };
  ++steps_;
  switch (n.what) {
    case What::Constant: return n.value;
    case What::Arg: return {.type = kIndex, .i = frame.args[n.target]};
    case What::RVar: return {.type = kIndex, .i = frame.rvars[n.target]};
    case What::Cast: return eval_cast(n.type, operand(0), ambiguous_);
    case What::Unary: return eval_unary(static_cast<UnaryOp>(n.op), operand(0));
    case What::Binary: return eval_binary_node(n, frame);
    case What::Select: return operand(operand(0).i ? 1 : 2);
    case What::Call: {
      Value args[3];
      for (size_t k = 0; k < n.operands.size(); ++k) args[k] = operand(k);
      return eval_call(static_cast<Intrinsic>(n.op), args);
    }
    case What::InputRead: return read_input(n, frame);
    case What::OwnRead: {
      guard(frame, n.loc);
      int64_t point[kMaxRank];
      eval_coords(n, frame, point);
      if (frame.stage == 0) return pure_value(frame.func, point, n.component);
      return value_before(frame.func, frame.stage, frame.iteration, point, n.component);
    }
    case What::FuncRead: {
      guard(frame, n.loc);
      int64_t point[kMaxRank];
      eval_coords(n, frame, point);
      return value(n.target, point, n.component);
    }
  }
  __builtin_unreachable();
}

auto Evaluator::eval_binary_node(const Node& n, const Frame& frame) -> Value {
  const auto op = static_cast<BinaryOp>(n.op);
  const Value a = eval(n.operands[0], frame);
  if ((op == BinaryOp::And && !a.i) || (op == BinaryOp::Or && a.i)) return a;
  return eval_binary(op, a, eval(n.operands[1], frame), ambiguous_);
}

void Evaluator::eval_coords(const Node& n, const Frame& frame, int64_t* out) {
  for (size_t d = 0; d < n.operands.size(); ++d) out[d] = eval(n.operands[d], frame).i;
}

auto Evaluator::read_input(const Node& n, const Frame& frame) -> Value {
  int64_t point[kMaxRank];
  eval_coords(n, frame, point);
  const size_t rank = n.operands.size();
  const auto input = static_cast<size_t>(n.target);
  const Array& array = *code_.arrays[input];
  if (!array.contains(point)) {
    throw Stop{Diag(DiagKind::oracle_out_of_input, n.loc, place_text(frame),
                    str("`{}`{}", code_.inputs[input]->name, coords_text(point, rank)), box_text(array.dims))};
  }
  auto& touched = touched_[input];
  if (touched.lo.empty()) touched.lo.assign(point, point + rank), touched.hi = touched.lo;
  for (size_t d = 0; d < rank; ++d) {
    touched.lo[d] = std::min(touched.lo[d], point[d]);
    touched.hi[d] = std::max(touched.hi[d], point[d]);
  }
  return array.read(array.position(point));
}

void Evaluator::guard(const Frame& frame, const Loc& loc) {
  const auto* here = static_cast<const char*>(__builtin_frame_address(0));
  if (static_cast<size_t>(stack_base_ - here) > max_stack_bytes_) {
    throw Stop{Diag(DiagKind::oracle_too_deep, loc, place_text(frame), max_stack_bytes_)};
  }
  if (steps_ > max_steps_) throw Stop{Diag(DiagKind::oracle_budget, loc, max_steps_, place_text(frame))};
}

// --- results and words

auto Evaluator::reads() const -> std::vector<InputRead> {
  std::vector<InputRead> out;
  for (size_t i = 0; i < touched_.size(); ++i) {
    const auto& t = touched_[i];
    InputRead read{.buffer = code_.inputs[i], .box = ArrayBox(static_cast<size_t>(code_.inputs[i]->rank))};
    for (size_t d = 0; d < t.lo.size(); ++d) read.box[d] = {.min = t.lo[d], .extent = t.hi[d] - t.lo[d] + 1};
    out.push_back(std::move(read));
  }
  return out;
}

auto Evaluator::point_text(int func, const int64_t* point) const -> std::string {
  const auto& f = *code_.funcs[static_cast<size_t>(func)].def;
  return f.name + coords_text(point, f.args.size());
}

auto Evaluator::place_text(const Frame& frame) const -> std::string {
  const auto& f = *code_.funcs[static_cast<size_t>(frame.func)].def;
  if (frame.stage == 0) return point_text(frame.func, frame.args);
  const auto& rdom = f.stage(frame.stage).rdom;
  std::vector<std::string> parts;
  for (const size_t d : frame.code->pure_dims) parts.push_back(str("{} = {}", f.args[d]->name, frame.args[d]));
  for (size_t i = 0; i < frame.code->rdom_min.size(); ++i) {
    parts.push_back(str("{} = {}", rdom->dims[i].symbol->name, frame.rvars[i]));
  }
  return str("{}.update({}) ({})", f.name, frame.stage - 1, join(parts, ", "));
}

}  // namespace drawloom::oracle
