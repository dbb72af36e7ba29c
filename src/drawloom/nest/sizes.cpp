#include "drawloom/nest/sizes.h"

#include <algorithm>
#include <array>
#include <bitset>

#include "drawloom/analysis/interval.h"
#include "drawloom/nest/cone.h"
#include "drawloom/nest/region_box.h"

// Consumers first, as in region.cpp, and by the same rules; what is different is that loops have values. The need of r at a site is the union
// over its readers c below the site:
//
//   some loops of c stand still     base of c + rel, the loops inside the site running over all their iterations
//   all of c lies inside            the region of c over one iteration of the site: need(c, site), without what a slide has kept
//
// A slide compares need(r, compute place) with the same need one iteration of a loop earlier: `back` says which everywhere below. The new part is
// what lies above the earlier need. Where one iteration moves nothing (every other one of a downsampled Func), a longer way back says which
// dimension the loop moves.

namespace drawloom {
namespace {

auto saturating_times(int64_t a, int64_t b) -> int64_t {
  int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? INT64_MAX : out;
}

constexpr int kRoot = -1, kNone = -1;  // no loop

/// One loop stands `by` iterations before its value.
struct Back {
  int loop = kNone;
  int64_t by = 1;
  friend auto operator==(const Back&, const Back&) -> bool = default;
};

}  // namespace

class SizePass {
 public:
  SizePass(const Nest& nest, const NestSizes::Values& runtime, NestSizes& out)
      : nest_(nest), index_(index_of(nest.tree)), runtime_(runtime), out_(out) {}

  void run() {
    loops_.resize(index_.loops.entries().size());
    realisations_.resize(index_.places.size());
    add_leaves();
    find_readers();
    out_.dims_.reserve(realisations_.size() * 16);
    for (size_t r = 0; r < realisations_.size(); ++r) locate(r);
    for (size_t r = realisations_.size(); r-- > 0;) find(r);
    publish();
  }

 private:
  static constexpr size_t kMaxRank = 16;

  struct Loop {
    int64_t extent = 1, value = 0;
  };
  struct Leaf {
    const StageLeaf* leaf;
    size_t realisation;
    std::span<const int> around;  ///< numbers of the loops around it, outermost first
    int next = kNone;             ///< the next stage of the realisation
    auto own() const -> size_t { return around.size() - leaf->loops.size(); }  ///< its own are those from here on
  };
  struct Known {
    int site;
    Back back;
    size_t dims;
    int before;  ///< of the same realisation
  };
  struct Realisation {
    const GraphFunc* func = nullptr;
    int first_leaf = kNone, last_leaf = kNone;
    std::span<const int> to_compute;  ///< loops around the compute place
    size_t to_store = 0;            ///< how many of them are around the store place
    size_t need = 0, computed = 0, stored = 0;
    std::array<int, kMaxRank> slid_by{};  ///< per dimension the loop whose last iteration left elements, or kNone
    int known = kNone;              ///< the last entry of known_
    int64_t runs = 1;
    auto rank() const -> size_t { return func->def->args.size(); }
    auto compute_site() const -> int { return to_compute.empty() ? kRoot : to_compute.back(); }
    auto store_site() const -> int { return to_store == 0 ? kRoot : to_compute[to_store - 1]; }
  };

  // ---- where things are

  auto number_of(RealisationId what) const -> size_t { return index_.rank(what); }

  void add_leaves() {
    const auto& loops = index_.loops.entries();
    leaves_.resize(index_.leaves.size());
    std::vector<size_t> ends(leaves_.size());
    around_.reserve(leaves_.size() * 6);
    for (size_t i = 0; i < leaves_.size(); ++i) {
      const size_t first = around_.size();
      for (int l = index_.leaf_loops[i]; l >= 0; l = loops[static_cast<size_t>(l)].second.outer) around_.push_back(l);
      std::reverse(around_.begin() + static_cast<ptrdiff_t>(first), around_.end());
      ends[i] = around_.size();
    }
    for (size_t i = 0; i < leaves_.size(); ++i) {
      const size_t first = i == 0 ? 0 : ends[i - 1];
      Leaf& l = leaves_[i];
      l.leaf = index_.leaves[i].node->as<StageLeaf>();
      l.around = std::span<const int>(around_.data() + first, ends[i] - first);
      l.realisation = number_of(l.leaf->what);
      auto& r = realisations_[l.realisation];
      (r.first_leaf == kNone ? r.first_leaf : leaves_[static_cast<size_t>(r.last_leaf)].next) = static_cast<int>(i);
      r.last_leaf = static_cast<int>(i);
    }
  }

  void locate(size_t r) {
    auto& out = realisations_[r];
    const auto& [id, position] = index_.sorted[r];
    const auto& place = index_.places[static_cast<size_t>(position)];
    out.func = &nest_.func(id);
    DRAWLOOM_CHECK(out.rank() <= kMaxRank, "{} has more than {} dimensions", out.func->name(), kMaxRank);
    out.slid_by.fill(kNone);
    const Leaf& first = leaves_[static_cast<size_t>(out.first_leaf)];
    out.to_compute = first.around.first(first.own());
    out.to_store = place.store ? loops_on(place.store->path) : out.to_compute.size();
  }

  auto loops_on(const TreePath& path) const -> size_t {
    size_t loops = 0;
    const TreeNode* n = nest_.tree.get();
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      n = n->children[static_cast<size_t>(path[i])].get();
      loops += n->as<LoopNode>() ? 1 : 0;
    }
    return loops;
  }

  void find_readers() {
    readers_of_.assign(nest_.graph->funcs.size(), kNone);
    for (size_t i = leaves_.size(); i-- > 0;) {
      const auto& leaf = *leaves_[i].leaf;
      for (const auto& a : nest_.func(leaf.what).reads[static_cast<size_t>(leaf.stage)]) {
        if (a.func < 0) continue;
        int& first = readers_of_[static_cast<size_t>(a.func)];
        readers_.push_back({static_cast<int>(i), &a, first});
        first = static_cast<int>(readers_.size()) - 1;
      }
    }
  }

  // ---- numbers

  auto loop_value(int loop, Back back) const -> int64_t { return loops_[static_cast<size_t>(loop)].value - (loop == back.loop ? back.by : 0); }

  auto symbol_value(const Symbol& s, Back back) const -> int64_t {
    if (s.kind == SymbolKind::Loop) {
      const int n = index_.loops.number(&s);
      return n < 0 ? 0 : loop_value(n, back);
    }
    if (s.kind == SymbolKind::Let) {
      const auto region = region_symbol(s);
      if (!region.leaf) return 0;
      const SizedDim d = dim_range(*region.leaf, region.dim);
      return region.is_base ? d.lo : d.hi - d.lo + 1;
    }
    const auto* v = runtime_.find(&s);
    return v ? *v : 0;
  }

  /// Mostly of the stage whose loops are looked at: only others need the index.
  auto region_symbol(const Symbol& s) const -> RegionIndex::RegionSymbol {
    for (size_t d = 0; leaf_ && d < leaf_->dims.size(); ++d) {
      if (leaf_->dims[d].base.get() == &s) return {leaf_, d, true};
      if (leaf_->dims[d].whole.get() == &s) return {leaf_, d, false};
    }
    const auto* found = index_.regions().symbols.find(&s);
    return found ? *found : RegionIndex::RegionSymbol{nullptr, 0, false};
  }

  auto value(const Form& f, Back back = {}) const -> int64_t {
    int64_t sum = f.constant();
    for (const auto& t : f.terms()) {
      if (t.atom || t.symbols.size() != 1)
        return evaluate(f, [&](const SymbolRef& s) -> std::optional<int64_t> { return symbol_value(*s, back); }).value_or(0);
      sum += t.factor * symbol_value(*t.symbols[0], back);
    }
    return sum;
  }

  /// Interval of f while some symbols run: `range(symbol)` gives theirs, nothing for those that stand still.
  template <typename Range>
  auto interval(const Form& f, Back back, const Range& range) const -> Interval<int64_t> {
    int64_t lo = f.constant(), hi = lo;
    for (const auto& t : f.terms()) {
      if (t.atom || t.symbols.size() != 1) return interval_through_atoms(f, back, range);
      const auto r = range(*t.symbols[0]);
      if (!r) {
        const int64_t v = t.factor * symbol_value(*t.symbols[0], back);
        lo += v, hi += v;
      } else {
        lo += t.factor * (t.factor > 0 ? r->first : r->second);
        hi += t.factor * (t.factor > 0 ? r->second : r->first);
      }
    }
    return {lo, hi};
  }

  template <typename Range>
  auto interval_through_atoms(const Form& f, Back back, const Range& range) const -> Interval<int64_t> {
    std::vector<std::pair<const Symbol*, Interval<int64_t>>> env;
    for (const auto& s : symbols_of(f))
      if (const auto r = range(*s)) env.emplace_back(s.get(), Interval<int64_t>{r->first, r->second});
    return interval_of<int64_t>(
        f,
        [&](const SymbolRef& s) -> const Interval<int64_t>* {
          for (const auto& [symbol, i] : env)
            if (symbol == s.get()) return &i;
          return nullptr;
        },
        [&](const SymbolRef& s) { return symbol_value(*s, back); });
  }

  // ---- boxes of readers

  using Ends = std::optional<std::pair<int64_t, int64_t>>;

  auto arg_of(const GraphFunc& f, const SymbolRef& var) const -> size_t {
    const auto& args = f.def->args;
    return static_cast<size_t>(std::find(args.begin(), args.end(), var) - args.begin());
  }

  /// The values of a reduction variable.
  auto rvar_range(const GraphFunc& f, int stage, const SymbolRef& var, Back back) const -> SizedDim {
    for (const auto& r : f.def->stage(stage).rdom->dims)
      if (r.symbol == var) {
        const int64_t lo = value(to_form(r.min), back), hi = lo + value(to_form(r.extent), back) - 1;
        return {lo, hi, hi};
      }
    return {};
  }

  /// The values of a stage's dimension over its computed region.
  auto dim_range(const StageLeaf& leaf, size_t dim) const -> SizedDim {
    const auto& f = nest_.func(leaf.what);
    const auto& var = leaf.dims[dim].var;
    if (var->kind == SymbolKind::RVar) return rvar_range(f, leaf.stage, var, {});
    return out_.dims_[realisations_[number_of(leaf.what)].computed + arg_of(f, var)];
  }

  struct Box {
    std::array<std::pair<const Symbol*, SizedDim>, kMaxRank * 2> dims;
    size_t size = 0;
    bool empty = false;
    void add(const Symbol* s, const SizedDim& d) {
      dims[size++] = {s, d};
      empty = empty || d.hi < d.lo;
    }
    auto ends(const Symbol& s, bool free) const -> Ends {
      for (size_t i = 0; i < size; ++i)
        if (dims[i].first == &s) return std::pair(dims[i].second.lo, free ? dims[i].second.free_hi : dims[i].second.hi);
      return {};
    }
  };

  /// Values of the dimensions of a reader during one iteration of the loop at position `outer - 1` around it.
  auto box_of(const Leaf& l, size_t outer, int site, Back back) -> Box {
    const bool all_inside = l.own() >= outer;
    const auto& r = realisations_[l.realisation];
    const size_t region = all_inside ? region_inside(l.realisation, outer, site, back) : r.computed;
    Box box;
    for (const auto& d : l.leaf->dims) {
      SizedDim v = d.var->kind == SymbolKind::RVar ? rvar_range(*r.func, l.leaf->stage, d.var, back)
                                                   : out_.dims_[region + arg_of(*r.func, d.var)];
      if (!all_inside) stand_still(l, d, outer, back, v);
      box.add(d.var.get(), v);
    }
    return box;
  }

  /// base + rel where loops of the stage outside position `outer` stand still.
  void stand_still(const Leaf& l, const StageDim& d, size_t outer, Back back, SizedDim& v) {
    const auto stands = [&](const NamedLoop& n, size_t i) { return l.own() + i < outer && uses_symbol(d.rel, n.id.get()); };
    bool any = false;
    for (size_t i = 0; i < l.leaf->loops.size(); ++i) any = any || stands(l.leaf->loops[i], i);
    if (!any) return;
    const auto rel = interval(d.rel, back, [&](const Symbol& s) -> Ends {
      for (size_t i = outer; i < l.around.size(); ++i)
        if (index_.loops.entries()[static_cast<size_t>(l.around[i])].first == &s)
          return std::pair<int64_t, int64_t>(0, loops_[static_cast<size_t>(l.around[i])].extent - 1);
      return {};
    });
    const bool clipped = has_clip(*l.leaf, static_cast<size_t>(&d - l.leaf->dims.data()));
    const int64_t free_hi = v.lo + rel.hi.value_or(0);
    v = {v.lo + rel.lo.value_or(0), clipped ? std::min(free_hi, v.hi) : free_hi, free_hi};
  }

  /// The region of a realisation that lies inside the site: all it computes in one iteration of it.
  auto region_inside(size_t r, size_t outer, int site, Back back) -> size_t {
    const auto& c = realisations_[r];
    if (c.to_store >= outer) return back == Back{} && site == c.store_site() ? c.stored : need_at(r, site, back);
    if (site == c.compute_site() && back == Back{}) return c.computed;
    const size_t need = need_at(r, site, back);
    const size_t out = new_dims(c.rank());
    for (size_t d = 0; d < c.rank(); ++d) {
      SizedDim v = out_.dims_[need + d];
      const int by = c.slid_by[d];
      const bool by_loop_outside = by != kNone && std::find(c.to_compute.begin(), c.to_compute.begin() + static_cast<ptrdiff_t>(outer), by) !=
                                                      c.to_compute.begin() + static_cast<ptrdiff_t>(outer);
      if (by_loop_outside && back == Back{}) v.lo = std::max(v.lo, out_.dims_[need_at(r, site, {by}) + d].free_hi + 1);
      if (by_loop_outside && back != Back{}) v.lo += out_.dims_[c.computed + d].lo - out_.dims_[c.need + d].lo;
      out_.dims_[out + d] = v;
    }
    return out;
  }

  // ---- needs

  auto new_dims(size_t rank) -> size_t {
    out_.dims_.resize(out_.dims_.size() + rank);
    return out_.dims_.size() - rank;
  }

  /// Number of loops around the leaf up to the site; nothing where the leaf does not lie below it.
  static auto below(const Leaf& l, int site) -> std::optional<size_t> {
    if (site == kRoot) return 0;
    for (size_t i = 0; i < l.around.size(); ++i)
      if (l.around[i] == site) return i + 1;
    return {};
  }

  auto need_at(size_t r, int site, Back back) -> size_t {
    for (int k = realisations_[r].known; k != kNone; k = known_[static_cast<size_t>(k)].before) {
      const Known& known = known_[static_cast<size_t>(k)];
      if (known.site == site && known.back == back) return known.dims;
    }
    const auto& f = *realisations_[r].func;
    std::array<SizedDim, kMaxRank> need;
    if (f.is_output)
      output_region(f, need);
    else if (union_of_reads(r, site, back, need))
      add_update_needs(r, back, need);
    else
      need.fill({0, -1, -1});
    apply_decisions(f, need);
    const size_t at = new_dims(f.def->args.size());
    std::copy_n(need.begin(), f.def->args.size(), out_.dims_.begin() + static_cast<ptrdiff_t>(at));
    known_.push_back({site, back, at, realisations_[r].known});
    realisations_[r].known = static_cast<int>(known_.size()) - 1;
    return at;
  }

  void output_region(const GraphFunc& f, std::array<SizedDim, kMaxRank>& need) const {
    const auto& buffer = first_output_buffer(*nest_.graph->pipeline, *f.def);
    for (size_t d = 0; d < f.def->args.size(); ++d) {
      const int64_t lo = symbol_value(*buffer.min[d], {}), hi = lo + symbol_value(*buffer.extent[d], {}) - 1;
      need[d] = {lo, hi, hi};
    }
  }

  auto union_of_reads(size_t r, int site, Back back, std::array<SizedDim, kMaxRank>& need) -> bool {
    const RealisationId id = index_.sorted[r].first;
    bool any = false;
    for (int i = readers_of_[static_cast<size_t>(id.func)]; i != kNone; i = readers_[static_cast<size_t>(i)].next) {
      const auto* access = readers_[static_cast<size_t>(i)].access;
      const Leaf& l = leaves_[static_cast<size_t>(readers_[static_cast<size_t>(i)].leaf)];
      if (l.leaf->what == id) continue;
      const auto outer = below(l, site);
      if (!outer) continue;
      const Box box = box_of(l, *outer, site, back);
      if (box.empty) continue;
      for (const auto& b : access->boxes) {
        for (size_t d = 0; d < b.size(); ++d) join(need[d], image(b[d], box, back), any);
        any = true;
      }
    }
    return any;
  }

  static void join(SizedDim& into, const SizedDim& d, bool any) {
    into = any ? SizedDim{std::min(into.lo, d.lo), std::max(into.hi, d.hi), std::max(into.free_hi, d.free_hi)} : d;
  }

  auto image(const Interval<Form>& access, const Box& box, Back back) const -> SizedDim {
    const auto ends = [&](bool free) { return [&box, free](const Symbol& s) { return box.ends(s, free); }; };
    return {interval(*access.lo, back, ends(false)).lo.value_or(0), interval(*access.hi, back, ends(false)).hi.value_or(0),
            interval(*access.hi, back, ends(true)).hi.value_or(0)};
  }

  /// What the updates write or read at subscripts other than their own pure dimensions.
  void add_update_needs(size_t r, Back back, std::array<SizedDim, kMaxRank>& need) {
    const auto& f = *realisations_[r].func;
    for (int number = realisations_[r].first_leaf; number != kNone; number = leaves_[static_cast<size_t>(number)].next) {
      const auto& leaf = *leaves_[static_cast<size_t>(number)].leaf;
      if (leaf.stage == 0) continue;
      Box box;
      for (const auto& d : leaf.dims) {
        const size_t i = arg_of(f, d.var);
        box.add(d.var.get(), i < f.def->args.size() ? need[i] : rvar_range(f, leaf.stage, d.var, back));
      }
      if (box.empty) continue;
      for (const auto& access : f.self_accesses[static_cast<size_t>(leaf.stage)])
        for (size_t d = 0; d < access.size(); ++d)
          if (*access[d].lo != Form(f.def->args[d])) join(need[d], image(access[d], box, back), true);
    }
  }

  void apply_decisions(const GraphFunc& f, std::array<SizedDim, kMaxRank>& need) const {
    for (size_t d = 0; d < f.dims.size(); ++d) {
      if (const auto& b = f.dims[d].bound) {
        const int64_t lo = amount(b->first), hi = lo + amount(b->second) - 1;
        need[d] = {lo, hi, hi};
      }
      if (const int64_t k = f.dims[d].align; k > 1 && !f.is_output) {
        const int64_t lo = *Number<int64_t>::divide(need[d].lo, k) * k;
        const auto up = [&](int64_t hi) { return lo + *Number<int64_t>::divide(hi - lo + k, k) * k - 1; };
        need[d] = {lo, up(need[d].hi), up(need[d].free_hi)};
      }
    }
  }

  auto amount(const Amount& a) const -> int64_t {
    if (a.symbol.empty()) return a.value;
    for (const auto& p : nest_.graph->pipeline->params)
      if (p->name == a.symbol) return symbol_value(*p, {});
    return a.value;
  }

  // ---- one realisation

  void find(size_t r) {
    auto& me = realisations_[r];
    me.need = need_at(r, me.compute_site(), {});
    me.stored = me.to_store == me.to_compute.size() ? me.need : need_at(r, me.store_site(), {});
    me.computed = new_dims(me.rank());
    for (size_t d = 0; d < me.rank(); ++d) out_.dims_[me.computed + d] = out_.dims_[me.need + d];
    if (me.to_store != me.to_compute.size() && me.func->self_accesses[0].empty()) find_slides(r);
    find_loops(r);
    for (const int l : me.to_compute) me.runs = saturating_times(me.runs, std::max<int64_t>(loops_[static_cast<size_t>(l)].extent, 0));
  }

  /// Per loop between the places, innermost first: the one dimension that it moves slides. Where none moves anything, all is there already.
  void find_slides(size_t r) {
    auto& me = realisations_[r];
    std::array<int, kMaxRank> by{};
    by.fill(kNone);
    bool any = false, all_idle = true;
    for (size_t i = me.to_compute.size(); i-- > me.to_store;) {
      const int loop = me.to_compute[i];
      const int64_t value = loops_[static_cast<size_t>(loop)].value;
      if (value < 1) continue;
      any = true;
      auto moved = moved_dims(r, {loop});
      if (moved.none() && value > 1) moved = moved_dims(r, {loop, value - value / 2});
      if (moved.none()) continue;
      if (moved.count() > 1 || goes_back_) return;
      all_idle = false;
      size_t d = 0;
      while (!moved[d]) ++d;
      if (!updates_leave(*me.func, d)) return;
      if (by[d] == kNone) by[d] = loop;
    }
    me.slid_by = by;
    for (size_t d = 0; d < me.rank(); ++d)
      if (by[d] != kNone) {
        const int64_t frontier = out_.dims_[need_at(r, me.compute_site(), {by[d]}) + d].free_hi;
        auto& c = out_.dims_[me.computed + d];
        c.lo = std::max(c.lo, frontier + 1);
      }
    if (any && all_idle && me.rank() > 0) out_.dims_[me.computed].lo = out_.dims_[me.computed].hi + 1;
  }

  /// The dimensions of the need that are elsewhere than at `back`; goes_back_ if one of them moved down.
  auto moved_dims(size_t r, Back back) -> std::bitset<kMaxRank> {
    const auto& me = realisations_[r];
    const size_t earlier = need_at(r, me.compute_site(), back);
    std::bitset<kMaxRank> moved;
    goes_back_ = false;
    for (size_t d = 0; d < me.rank(); ++d) {
      const SizedDim &now = out_.dims_[me.need + d], &then = out_.dims_[earlier + d];
      if (now == then) continue;
      moved.set(d);
      goes_back_ = goes_back_ || now.lo < then.lo || now.free_hi < then.free_hi;
    }
    return moved;
  }

  static auto updates_leave(const GraphFunc& f, size_t d) -> bool {
    return std::all_of(f.def->updates.begin(), f.def->updates.end(), [&](const Definition& u) {
      const auto* v = u.lhs[d].as<VarRef>();
      return v && v->symbol == f.def->args[d];
    });
  }

  /// Extents of the loops of r, outermost first, and where they stand; a recurrence widens with each step of its ordered loop.
  void find_loops(size_t r) {
    auto& me = realisations_[r];
    const auto cone = me.func->self_accesses[0].empty() ? std::nullopt : cone_of(*me.func);
    if (cone) {
      me.stored = new_dims(me.rank());
      for (size_t d = 0; d < me.rank(); ++d) out_.dims_[me.stored + d] = out_.dims_[me.need + d];
      widen(r, *cone, me.stored);
      widen(r, *cone, me.computed);
    }
    const std::vector<SizedDim> widest(out_.dims_.begin() + static_cast<ptrdiff_t>(me.computed),
                                       out_.dims_.begin() + static_cast<ptrdiff_t>(me.computed + (cone ? me.rank() : 0)));
    for (int number = me.first_leaf; number != kNone; number = leaves_[static_cast<size_t>(number)].next) {
      const Leaf& l = leaves_[static_cast<size_t>(number)];
      leaf_ = l.leaf;
      for (size_t i = l.own(); i < l.around.size(); ++i) {
        auto& loop = loops_[static_cast<size_t>(l.around[i])];
        loop.extent = value(index_.loops.entries()[static_cast<size_t>(l.around[i])].second.node->as<LoopNode>()->extent);
        loop.value = loop.extent < 1 ? 0 : loop.extent / 2;
        if (cone && l.leaf->stage == 0) narrow(r, l, *cone, widest);
      }
    }
  }

  /// The region of all steps from the first on: the cone at distance last - first.
  void widen(size_t r, const Cone& cone, size_t dims) {
    const auto& me = realisations_[r];
    const auto t = static_cast<size_t>(me.func->def->ordered_dim);
    const int64_t first = value(to_form(me.func->def->ordered_first));
    const int64_t distance = out_.dims_[me.need + t].hi - first;
    for (size_t d = 0; d < me.rank(); ++d) {
      auto& v = out_.dims_[dims + d];
      if (d == t) {
        v = {first, out_.dims_[me.need + t].hi, out_.dims_[me.need + t].free_hi};
      } else {
        v.lo += cone.lo[d] * distance, v.hi += cone.hi[d] * distance, v.free_hi += cone.hi[d] * distance;
      }
    }
  }

  /// The region of the step at which the ordered loops stand now.
  void narrow(size_t r, const Leaf& l, const Cone& cone, const std::vector<SizedDim>& widest) {
    const auto& me = realisations_[r];
    const auto t = static_cast<size_t>(me.func->def->ordered_dim);
    int64_t steps = 0;
    for (const auto& d : l.leaf->dims)
      if (d.var == me.func->def->args[t]) steps = value(d.rel);
    for (size_t d = 0; d < me.rank(); ++d) {
      if (d == t) continue;
      const SizedDim& w = widest[d];
      out_.dims_[me.computed + d] = {w.lo - cone.lo[d] * steps, w.hi - cone.hi[d] * steps, w.free_hi - cone.hi[d] * steps};
    }
  }

  // ---- results

  auto points_of(const Leaf& l) const -> int64_t {
    const auto& r = realisations_[l.realisation];
    int64_t points = r.runs;
    for (size_t d = 0; d < l.leaf->dims.size(); ++d) points = saturating_times(points, dim_range(*l.leaf, d).extent());
    return points;
  }

  void publish() {
    const auto span = [&](size_t at, size_t rank) { return std::span<const SizedDim>(out_.dims_.data() + at, rank); };
    out_.realisations_.reserve(realisations_.size());
    for (const auto& id : index_.realisations) {
      const auto& r = realisations_[number_of(id)];
      out_.realisations_.push_back({id, span(r.need, r.rank()), span(r.computed, r.rank()), span(r.stored, r.rank()), r.runs});
    }
    out_.stages_.reserve(leaves_.size());
    for (const auto& l : leaves_) out_.stages_.push_back({l.leaf->what, l.leaf->stage, points_of(l)});
    out_.at_.reserve(loops_.size());
    for (const Loop& l : loops_) out_.at_.push_back(l.value);
  }

  const Nest& nest_;
  const TreeIndex& index_;
  const NestSizes::Values& runtime_;
  NestSizes& out_;
  std::vector<Loop> loops_;
  std::vector<Leaf> leaves_;
  struct Reader {
    int leaf;
    const AccessSummary* access;
    int next;  ///< of the same Func
  };
  std::vector<int> around_;
  std::vector<Reader> readers_;
  std::vector<int> readers_of_;  ///< the first reader of a Func
  std::vector<Known> known_;
  const StageLeaf* leaf_ = nullptr;           ///< whose loops are looked at
  bool goes_back_ = false;                    ///< of moved_dims
  std::vector<Realisation> realisations_;     ///< as in TreeIndex::sorted: producers before consumers
};

NestSizes::NestSizes(const Nest& closed, const Values& runtime) : tree_(closed.tree) { SizePass(closed, runtime, *this).run(); }

auto NestSizes::at(const Symbol* loop) const -> int64_t {
  const int n = index_of(tree_).loops.number(loop);
  return n < 0 ? 0 : at_[static_cast<size_t>(n)];
}

}  // namespace drawloom
