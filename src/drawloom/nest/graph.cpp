#include "drawloom/nest/graph.h"

#include <algorithm>
#include <unordered_set>

#include "drawloom/ir/rewrite.h"
#include "drawloom/nest/cone.h"
#include "drawloom/nest/form_length.h"

// What each stage reads, as boxes of Forms over its own dimensions: all that regions need to know of the definitions.
//
//   b(x) = in(x - 1) + in(x + 1)     in: [x - 1, x + 1]         boxes become one where it is known which end is lower
//   c(x) = b(2*x), b inlined         in: [2*x - 1, 2*x + 1]     the box of b over the box at which it is read
//   d(x) = in(a(x)), a u8            in: [0, 255], a: [x, x]    data may have any value of its range
//
// Accesses as written are summed up once per definition, so that queries never walk expressions. What is read through
// inlined Funcs follows from them, and is found when a query asks: each step of a schedule that places a Func changes it
// for all that looked through that Func, and few steps ask for more than who reads whom.
//
// in(x) + in(n - x) stay two boxes, since nothing says which end is lower. More than a few boxes multiply in every union
// of regions, so from the fifth on they are joined by min and max; long ones are joined before they are composed.

namespace drawloom {
namespace {

constexpr size_t kMaxBoxes = 4;

using Env = std::vector<std::pair<const Symbol*, Interval<Form>>>;

auto lookup(const Env& env, const SymbolRef& s) -> const Interval<Form>* {
  for (const auto& [symbol, interval] : env)
    if (symbol == s.get()) return &interval;
  return nullptr;
}

auto form_interval(const Form& f, const Env& env) -> Interval<Form> {
  return interval_of<Form>(
      f, [&](const SymbolRef& s) { return lookup(env, s); }, [](const SymbolRef& s) { return Form(s); });
}

/// Ends of a subscript over all values of the data in it: what a region is made of is known before any data is.
auto subscript_interval(const Form& f) -> Interval<Form> {
  Env data;
  std::vector<SymbolRef> kept;
  const Form plain = replace_atoms(f, [&](const Atom& a, const auto&) -> std::optional<Form> {
    if (a.kind != AtomKind::Opaque) return {};
    // A symbol for each atom: data that are equal, but not one atom, may then differ, which only widens the box.
    const auto stand_in = make_symbol(SymbolKind::Let, "data");
    Interval<Form> range;
    if (a.range.lo) range.lo = Form(*a.range.lo);
    if (a.range.hi) range.hi = Form(*a.range.hi);
    kept.push_back(stand_in);
    data.emplace_back(stand_in.get(), range);
    return Form(stand_in);
  });
  return form_interval(plain, data);
}

/// No buffer is longer: a subscript that may be any value of a 32-bit type has no range to speak of.
constexpr int64_t kMaxSpread = int64_t{1} << 31;

auto has_range(const Interval<Form>& i) -> bool {
  if (!i.lo || !i.hi) return false;
  const auto spread = (*i.hi - *i.lo).as_constant();
  return !spread || *spread < kMaxSpread;
}

/// The smaller (or larger) of two ends where it is known which that is.
auto pick_end(const std::optional<Form>& a, const std::optional<Form>& b, bool smaller)
    -> std::optional<std::optional<Form>> {
  if (!a || !b) return std::optional<Form>{};
  const Form picked = smaller ? min(*a, *b) : max(*a, *b);
  if (picked != *a && picked != *b) return {};
  return std::optional<Form>(picked);
}

/// Hull by min and max of ends: always possible, less tidy.
auto force_merge(const Box& a, const Box& b) -> Box {
  Box out;
  for (size_t d = 0; d < a.size(); ++d) {
    Interval<Form> i;
    if (a[d].lo && b[d].lo) i.lo = min(*a[d].lo, *b[d].lo);
    if (a[d].hi && b[d].hi) i.hi = max(*a[d].hi, *b[d].hi);
    out.push_back(i);
  }
  return out;
}

/// Into the first box whose ends are a constant away, else beside them, else into the last by force.
void add_box(std::vector<Box>& boxes, const Box& box) {
  for (auto& b : boxes)
    if (auto merged = merge_boxes(b, box)) {
      b = *merged;
      return;
    }
  if (boxes.size() < kMaxBoxes)
    boxes.push_back(box);
  else
    boxes.back() = force_merge(boxes.back(), box);
}

void add_access(std::vector<AccessSummary>& list, int func, const BufferRef& input, const Box& box, const Loc& loc) {
  AccessSummary key;
  key.func = func, key.input = input, key.loc = loc;
  auto found = std::find_if(list.begin(), list.end(), [&](const AccessSummary& s) { return s.same_producer(key); });
  if (found == list.end()) found = list.insert(list.end(), key);
  add_box(found->boxes, box);
}

/// Collects what the expressions of one definition read, each shared node once.
class Collector {
 public:
  Collector(const Graph& graph, int self) : graph_(graph), self_(self) {}
  std::vector<AccessSummary> found;
  std::vector<Box> self;

  auto visit(const Expr& e) -> Status {
    if (!e || !seen_.insert(e.get()).second) return Done{};
    if (const auto* access = e.as<Access>()) {
      const int func = graph_.find(access->func->name);
      DRAWLOOM_CHECK(func >= 0, "access to {} which is not in the pipeline", access->func->name);
      DRAWLOOM_REQUIRE(func == self_ ? add_self(access->args, access->loc) : add(func, {}, access->args, access->loc));
    } else if (const auto* l = e.as<Load>()) {
      DRAWLOOM_REQUIRE(add(-1, l->buffer, l->index, l->loc));
    }
    Status status = Done{};
    each_child(*e.get(), [&](const auto& child) {
      if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>)
        if (status.ok()) status = visit(child);
    });
    return status;
  }

  auto add_self(const ExprList& subscripts, const Loc& loc) -> Status {
    Box box;
    for (size_t d = 0; d < subscripts.size(); ++d) {
      box.push_back(subscript_interval(to_form(subscripts[d])));
      if (!has_range(box.back())) return unbounded(graph_.func(self_).name(), d, loc);
    }
    self.push_back(std::move(box));
    return Done{};
  }

 private:
  auto unbounded(const std::string& producer, size_t d, const Loc& loc) -> Diag {
    return Diag(DiagKind::unbounded_access, loc, d, producer)
        .with_help("wrap the subscript in clamp(subscript, lo, hi), so that the region it can reach is known");
  }

  auto add(int func, const BufferRef& input, const ExprList& args, const Loc& loc) -> Status {
    Box box;
    for (size_t d = 0; d < args.size(); ++d) {
      const Form f = to_form(args[d]);
      const Interval<Form> i = subscript_interval(f);
      if (!has_range(i)) return unbounded(func >= 0 ? graph_.func(func).name() : input->name, d, loc);
      box.push_back(i);
    }
    add_access(found, func, input, box, loc);
    return Done{};
  }

  const Graph& graph_;
  int self_;
  std::unordered_set<const ExprNode*> seen_;
};

/// A recurrence reads itself at constant distances: what its earlier steps are needed for grows by them.
auto check_cone(const GraphFunc& f) -> Status {
  if (f.self_accesses[0].empty() || cone_of(f)) return Done{};
  for (const auto& box : f.self_accesses[0])
    for (size_t d = 0; d < box.size(); ++d) {
      if (*box[d].lo == *box[d].hi && (*box[d].lo - Form(f.def->args[d])).is_constant()) continue;
      return Diag(DiagKind::unbounded_access, f.def->pure.loc, d, f.name())
          .with_help(str("a recurrence reads itself at constant distances from {}, as in {} - 1", f.def->args[d]->name,
                         f.def->args[d]->name));
    }
  return Done{};
}

auto any_long(const std::vector<Box>& boxes) -> bool {
  const auto long_end = [](const std::optional<Form>& end) { return end && is_long(*end); };
  const auto long_box = [&](const Box& b) {
    return std::any_of(b.begin(), b.end(), [&](const auto& i) { return long_end(i.lo) || long_end(i.hi); });
  };
  return std::any_of(boxes.begin(), boxes.end(), long_box);
}

auto joined(const std::vector<Box>& boxes) -> std::vector<Box> {
  Box hull = boxes.at(0);
  for (size_t i = 1; i < boxes.size(); ++i) hull = force_merge(hull, boxes[i]);
  return {hull};
}

/// What is read through `via`, an inlined producer: at its boxes, what it reads itself. Boxes multiply here: m at each of
/// n levels of inlined Funcs are m^n, each a form as deep as the levels. Long ones are joined first, so that a level adds
/// to them and does not multiply them.
void compose(std::vector<AccessSummary>& out, const GraphFunc& inlined, const std::vector<AccessSummary>& reads,
             const AccessSummary& via) {
  for (const auto& inner : reads) {
    const auto inner_boxes = any_long(inner.boxes) ? joined(inner.boxes) : inner.boxes;
    const bool join = any_long(inner_boxes) || any_long(via.boxes);
    for (const auto& at : join ? joined(via.boxes) : via.boxes) {
      Env env;
      for (size_t d = 0; d < at.size(); ++d) env.emplace_back(inlined.def->args[d].get(), at[d]);
      for (const auto& box : inner_boxes) {
        Box mapped;
        for (const auto& i : box) {
          Interval<Form> m;
          // The lower end of a lower end: each end of the inner box is itself an interval over the outer one.
          if (i.lo) m.lo = form_interval(*i.lo, env).lo;
          if (i.hi) m.hi = form_interval(*i.hi, env).hi;
          mapped.push_back(m);
        }
        add_access(out, inner.func, inner.input, mapped, via.loc);
      }
    }
  }
}

auto compute_reads(const Graph& graph, const GraphFunc& f) -> std::vector<std::vector<AccessSummary>> {
  std::vector<std::vector<AccessSummary>> reads;
  for (const auto& stage : f.written) {
    auto& out = reads.emplace_back();
    for (const auto& access : stage) {
      if (access.func >= 0 && graph.func(access.func).is_inlined()) {
        compose(out, graph.func(access.func), graph.reads(access.func, 0), access);
        continue;
      }
      for (const auto& box : access.boxes) add_access(out, access.func, access.input, box, access.loc);
    }
  }
  return reads;
}

auto compute_producers(const Graph& graph, const GraphFunc& f) -> std::vector<std::vector<int>> {
  std::vector<std::vector<int>> all;
  for (const auto& stage : f.written) {
    auto& out = all.emplace_back();
    const auto add = [&](int p) {
      if (std::find(out.begin(), out.end(), p) == out.end()) out.push_back(p);
    };
    for (const auto& access : stage) {
      if (access.func < 0) continue;
      if (!graph.func(access.func).is_inlined())
        add(access.func);
      else
        for (const int p : graph.func(access.func).producers[0]) add(p);
    }
  }
  return all;
}

auto reads_through(const GraphFunc& f, int producer) -> bool {
  for (const auto& stage : f.written)
    for (const auto& a : stage)
      if (a.func == producer) return true;
  return false;
}

}  // namespace

auto Graph::find(std::string_view name) const -> int {
  for (size_t i = 0; i < funcs.size(); ++i)
    if (funcs[i]->name() == name) return static_cast<int>(i);
  return -1;
}

auto Graph::reads(int func, int stage) const -> const std::vector<AccessSummary>& {
  const auto& wanted = *funcs[static_cast<size_t>(func)];
  if (!wanted.summaries.known()) {
    // Inlined Funcs that it looks through, and these through others: producers first, so that nothing recurses.
    std::vector<bool> missing(static_cast<size_t>(func) + 1, false);
    missing.back() = true;
    for (size_t i = missing.size(); i-- > 0;) {
      if (!missing[i]) continue;
      for (const auto& s : funcs[i]->written)
        for (const auto& a : s)
          if (a.func >= 0 && this->func(a.func).is_inlined() && !this->func(a.func).summaries.known())
            missing[static_cast<size_t>(a.func)] = true;
    }
    for (size_t i = 0; i < missing.size(); ++i)
      if (missing[i]) funcs[i]->summaries.get([&] { return compute_reads(*this, *funcs[i]); });
  }
  return (*wanted.summaries.known())[static_cast<size_t>(stage)];
}

auto merge_boxes(const Box& a, const Box& b) -> std::optional<Box> {
  Box out;
  for (size_t d = 0; d < a.size(); ++d) {
    const auto lo = pick_end(a[d].lo, b[d].lo, true);
    const auto hi = pick_end(a[d].hi, b[d].hi, false);
    if (!lo || !hi) return {};
    out.push_back({*lo, *hi});
  }
  return out;
}

auto make_graph(const PipelineRef& pipeline) -> Result<GraphRef> {
  auto graph = make_ref<Graph>();
  graph->pipeline = pipeline;
  for (const auto& def : pipeline->funcs) {
    auto f = make_ref<GraphFunc>();
    f->def = def;
    f->is_output = std::find(pipeline->outputs.begin(), pipeline->outputs.end(), def) != pipeline->outputs.end();
    f->placement = f->is_output ? PlacementState::Placed : PlacementState::Open;
    f->placement_loc = def->loc;
    f->dims.resize(def->args.size());
    graph->funcs.push_back(f);
    for (int s = 0; s < def->stages(); ++s) {
      Collector collector(*graph, static_cast<int>(graph->funcs.size()) - 1);
      const auto& stage = def->stage(s);
      // subscripts read too: hist(in(r)) needs in
      for (const auto& e : stage.lhs) DRAWLOOM_REQUIRE(collector.visit(e));
      for (const auto& e : stage.values) DRAWLOOM_REQUIRE(collector.visit(e));
      // where an update writes counts like what it reads of itself: both must lie in the Func's region
      if (s > 0) DRAWLOOM_REQUIRE(collector.add_self(stage.lhs, stage.loc));
      f->self_accesses.push_back(std::move(collector.self));
      f->written.push_back(std::move(collector.found));
    }
    DRAWLOOM_REQUIRE(check_cone(*f));
    f->producers = compute_producers(*graph, *f);
  }
  return GraphRef(graph);
}

auto with_func(const GraphRef& graph, int i, GraphFuncRef changed) -> GraphRef {
  auto out = make_ref<Graph>(*graph);
  std::vector<bool> stale(graph->funcs.size(), false);
  const bool look_through_changed = graph->func(i).is_inlined() != changed->is_inlined();
  out->funcs[static_cast<size_t>(i)] = std::move(changed);
  // A bound changes no summary: only whether readers look through the Func does.
  if (!look_through_changed) return out;
  stale[static_cast<size_t>(i)] = true;
  // producers stand before consumers, so one pass reaches everybody
  for (size_t k = static_cast<size_t>(i) + 1; k < out->funcs.size(); ++k) {
    bool reads_stale = false;
    for (size_t p = static_cast<size_t>(i); p < k && !reads_stale; ++p)
      reads_stale = stale[p] && reads_through(*out->funcs[k], static_cast<int>(p));
    if (!reads_stale) continue;
    auto f = make_ref<GraphFunc>(*out->funcs[k]);
    f->producers = compute_producers(*out, *f);
    out->funcs[k] = f;
    stale[k] = f->is_inlined();  // whoever is placed hides what it reads
  }
  return out;
}

}  // namespace drawloom
