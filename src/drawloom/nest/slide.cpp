#include <algorithm>

#include "drawloom/nest/chain.h"
#include "drawloom/support/fault.h"

// Slides. Store place outside the compute place means that elements of earlier iterations are still there. Along one
// dimension d of the need, the loops between the two places (the chain C) move it upwards, lexicographically; what was
// computed so far then ends at the frontier, need.hi one iteration of C earlier, and only what lies above is new:
//
//   by(x, y) at out.y, stored at root, reads bx(x, y - 1 .. y + 1)
//     need of bx in y   [y - 1, y + 1]
//     frontier          y            (need.hi with y - 1 for y)
//     new part          [y + 1, y + 1]; in the first iteration the whole need (warm-up `whole`), or the same formula in
//                       iterations before 0 (warm-up `gradual`), where each stage runs from the iteration in which its
//                       own formula first reaches need.lo of the whole
//
// Gradual keeps windows small: a consumer that computes one row per iteration from the start asks for the rows around
// that row, while one that computes all its rows at once in iteration 0 asks for all of theirs at once.
// Cost: a few Forms per dimension. Rejected: a running scalar for every frontier (opaque to the consumers' regions).

namespace drawloom {
namespace {

constexpr int64_t kMaxWarmUp = 4096;

auto shifted(const Form& f, const SymbolRef& s, const Form& value) -> Form {
  return substitute(f, [&](const SymbolRef& t) -> std::optional<Form> {
    if (t == s) return value;
    return {};
  });
}

auto uses(const RegionDim& r, const SymbolRef& s) -> bool {
  return uses_symbol(r.lo, s.get()) || uses_symbol(r.hi, s.get()) || uses_symbol(r.free_hi, s.get());
}

/// Conditions of choices inside f, outermost first.
auto choice_of(const Form& f) -> std::optional<Cond> {
  for (const auto& t : f.node().terms)
    if (t.atom && t.atom->kind == AtomKind::Choose) return t.atom->condition;
  return {};
}

class SlideFinder {
 public:
  SlideFinder(const Nest& nest, RealisationId what, const RealisationPlace& place, RealisationFacts& facts,
              QueryCache& cache)
      : nest_(nest), what_(what), place_(place), facts_(facts), cache_(cache) {}

  void run() {
    facts_.computed = facts_.need;
    if (!nest_.func(what_).self_accesses[0].empty())
      none("it is a recurrence, which runs from its first step each time");
    else if (facts_.store_site != facts_.compute_site)
      find();
    for (size_t d = 0; d < facts_.need.dims.size(); ++d) {
      const bool kept_whole = facts_.slide_of(static_cast<int>(d)) && !moves_first(d);
      facts_.window.push_back((kept_whole ? facts_.stored : facts_.need).dims[d].cover.as_constant());
    }
  }

 private:
  /// The loops that move dimension d stand outside all others of the chain. Where they do not, an iteration of an outer
  /// loop comes back to elements of d that were computed in an earlier one, so all of d stays live.
  auto moves_first(size_t d) const -> bool {
    bool others_began = false;
    for (const auto* l : chain_) {
      const bool moves = uses(facts_.need.dims[d], l->id);
      if (moves && others_began) return false;
      others_began |= !moves;
    }
    return true;
  }

  auto reads(const StageLeaf& leaf) const -> bool { return nest_.func(leaf.what).reads_func(leaf.stage, what_.func); }

  void find() {
    const size_t outer = loops_to(nest_, facts_.store_site).size();
    const auto all = loops_to(nest_, facts_.compute_site);
    chain_.assign(all.begin() + static_cast<std::ptrdiff_t>(outer), all.end());
    known_ = facts_at(nest_, facts_.compute_site, cache_);
    for (const auto* l : chain_)
      if (l->how != ForKind::Serial && l->how != ForKind::Unrolled)
        return none(str("loop {} between store and compute place is not serial", l->id->name));

    std::vector<int> owner(chain_.size(), -1);
    for (size_t i = 0; i < chain_.size(); ++i)
      for (size_t d = 0; d < facts_.need.dims.size(); ++d) {
        if (!uses(facts_.need.dims[d], chain_[i]->id)) continue;
        // What is new along a diagonal is no box.
        if (owner[i] >= 0) return none(str("loop {} moves two dimensions at once", chain_[i]->id->name));
        owner[i] = static_cast<int>(d);
      }
    assign_idle_loops(owner);
    if (const auto why = uneven_ranges(owner)) return none(*why);
    for (size_t d = 0; d < facts_.need.dims.size(); ++d)
      if (std::count(owner.begin(), owner.end(), static_cast<int>(d)) != 0 && !slide_along(static_cast<int>(d), owner))
        return;
    for (auto& c : facts_.computed.when.any) c = whatever_iteration(c);
    // all or nothing: the chain of one dimension counts on those of the others
    for (const auto& s : found_) apply(s);
    facts_.slides = std::move(found_);
  }

  /// What a loop's iteration leaves out no later one computes: those before it must have covered the other dimensions
  /// as far. So no loop of another dimension inside may run further later on.
  auto uneven_ranges(const std::vector<int>& owner) const -> std::optional<std::string> {
    for (size_t inner = 0; inner < chain_.size(); ++inner) {
      const Form extent = resolve(nest_, chain_[inner]->extent, cache_);
      for (size_t outer = 0; outer < inner; ++outer)
        if (owner[outer] != owner[inner] && uses_symbol(extent, chain_[outer]->id.get()))
          return str("the range of loop {} varies with loop {}", chain_[inner]->id->name, chain_[outer]->id->name);
    }
    return {};
  }

  void none(std::string why) { facts_.no_slide = std::move(why); }

  /// Loops that move nothing: all but their first iteration find everything computed. They join the chain of a
  /// dimension.
  void assign_idle_loops(std::vector<int>& owner) const {
    int home = 0;
    for (int o : owner)
      if (o >= 0) home = o;
    for (auto& o : owner)
      if (o < 0 && !facts_.need.dims.empty()) o = home;
  }

  auto slide_along(int d, const std::vector<int>& owner) -> bool {
    Chain chain(nest_, known_, cache_);
    Slide s;
    s.dim = d;
    for (size_t i = 0; i < chain_.size(); ++i)
      if (owner[i] == d) chain.add(chain_[i], first_iteration(chain_[i]->id)), s.chain.push_back(chain_[i]->id);
    const auto& need = facts_.need.dims[static_cast<size_t>(d)];
    if (!updates_leave_pure(d)) return none(str("an update does not leave dimension {} alone", arg_name(d))), false;
    const auto last = frontier(need, chain);
    if (!last) return none(str("no formula says which rows of {} were computed before", arg_name(d))), false;
    if (!never_moves_down(need, chain))
      return none(str("the need of dimension {} does not only grow along its loops", arg_name(d))), false;

    s.not_first = chain.not_first();
    s.previous_hi = *last;
    s.gradual = wants_gradual(s, need, chain);
    found_.push_back(std::move(s));
    return true;
  }

  /// Before 0 where this realisation already runs in the warm-up of a consumer.
  auto first_iteration(const SymbolRef& loop) const -> int64_t {
    return -(loop == facts_.compute_site ? facts_.warm_iterations
                                         : warm_iterations(nest_, place_.leaves.front(), loop, cache_));
  }

  auto arg_name(int d) const -> const std::string& { return nest_.func(what_).def->args[static_cast<size_t>(d)]->name; }

  /// An update that writes elsewhere in d may change elements that an earlier iteration has handed out.
  auto updates_leave_pure(int d) const -> bool {
    const auto& f = *nest_.func(what_).def;
    for (const auto& u : f.updates) {
      const auto* v = u.lhs[static_cast<size_t>(d)].as<VarRef>();
      if (!v || v->symbol != f.args[static_cast<size_t>(d)]) return false;
    }
    return true;
  }

  auto never_moves_down(const RegionDim& need, const Chain& chain) const -> bool {
    if (DRAWLOOM_FAULT(slide_goes_anywhere)) return true;
    return chain.is_monotone(need.free_hi) && (tail_only_stops(need, chain) || chain.is_monotone(need.hi)) &&
           monotone_lo(need.lo, chain);
  }

  /// A consumer's own warm-up makes a choice in lo: the first value must not be above the later ones.
  auto monotone_lo(const Form& lo, const Chain& chain) const -> bool {
    const auto choice = choice_of(lo);
    if (!choice) return chain.is_monotone(lo);
    const Form later = decide(lo, *choice, true), first = decide(lo, *choice, false);
    return monotone_lo(later, chain) && monotone_lo(first, chain) && known_.with(*choice).proves_le(first, later);
  }

  /// need.hi one iteration earlier. Without the clamps of tails where these only end the dimension: what they cut off
  /// no later iteration needs either. Where hi jumps over what a clamp cut off (a second consumer goes further up than
  /// the tail of the first), with them.
  auto frontier(const RegionDim& need, const Chain& chain) const -> std::optional<Form> {
    return chain.previous(tail_only_stops(need, chain) ? need.free_hi : need.hi);
  }

  auto tail_only_stops(const RegionDim& need, const Chain& chain) const -> bool {
    if (need.hi == need.free_hi) return true;
    // the frontier without clamps must not be above what the clamped need has reached, as far as it still matters
    const auto free = chain.previous(need.free_hi), clamped = chain.previous(need.hi);
    return !free || !clamped || known_.proves_le(min(need.hi, *free), *clamped);
  }

  auto wants_gradual(const Slide& s, const RegionDim& need, const Chain& chain) -> bool {
    const auto* store = place_.store ? place_.store->node->as<StoreNode>() : nullptr;
    // one loop, all of it along this dimension: with more, iterations before 0 of one lie among those of another
    if (!store || store->warm == WarmUp::whole || chain.size() != 1 || chain_.size() != 1) return false;
    if (chain.loop(0).how != ForKind::Serial || consumer_starts_whole(chain.loop(0).id)) return false;
    const Form total_lo = facts_.stored.dims[static_cast<size_t>(s.dim)].lo;
    const Facts later = known_.with(s.not_first);
    if (!later.proves_le(need.lo, s.previous_hi + 1)) return false;  // rows would be computed that nobody needs
    for (int64_t w = 0; w <= kMaxWarmUp; ++w) {
      // Back from iteration 0, as long as an iteration still reaches something of the whole region.
      const Form at = shifted(need.free_hi, chain.loop(0).id, Form(-w)) - total_lo;
      const auto c = at.as_constant();
      if (!c) return false;
      if (*c >= 0) continue;
      facts_.warm_iterations = std::max(facts_.warm_iterations, w - 1);
      return true;
    }
    return false;
  }

  /// Such a consumer asks for all of its first region in iteration 0 and does not run before: there is nothing to start
  /// early for.
  auto consumer_starts_whole(const SymbolRef& loop) const -> bool {
    for (const auto& at : stage_leaves(nest_.tree)) {
      const auto& leaf = *at.node->as<StageLeaf>();
      if (leaf.what == what_ || !reads(leaf)) continue;
      for (const auto& s : realisation_facts(nest_, leaf.what, cache_).slides)
        if (!s.gradual && std::find(s.chain.begin(), s.chain.end(), loop) != s.chain.end()) return true;
    }
    return false;
  }

  /// Later iterations count on what this one computes, also where its reader has nothing to do in this one: it may
  /// start later.
  auto whatever_iteration(const Cond& c) const -> Cond {
    if (c.is_never()) return c;
    Cond out;
    for (const auto& f : c.terms())
      if (std::none_of(chain_.begin(), chain_.end(), [&](const LoopNode* l) { return uses_symbol(f, l->id.get()); }))
        out = out && Cond::nonnegative(f);
    return out;
  }

  void apply(const Slide& s) {
    auto& d = facts_.computed.dims[static_cast<size_t>(s.dim)];
    const Form next = s.previous_hi + (DRAWLOOM_FAULT(new_part_off_by_one) ? 2 : 1);
    if (s.gradual) {
      // Nothing below the first element of the whole is ever needed; far enough back the new part is empty.
      d.lo = known_.simplify(max(next, facts_.stored.dims[static_cast<size_t>(s.dim)].lo));
    } else {
      const Form lo = decide(d.lo, s.not_first, true);
      d.lo = choose(s.not_first, known_.with(s.not_first).simplify(max(next, lo)), decide(d.lo, s.not_first, false));
    }
    d.cover = cover_of(form_extent(d.lo, d.free_hi), known_);
    for (auto& c : facts_.computed.when.any) c = known_.simplify(c && Cond::nonnegative(form_extent(d.lo, d.hi) - 1));
  }

  const Nest& nest_;
  RealisationId what_;
  const RealisationPlace& place_;
  RealisationFacts& facts_;
  QueryCache& cache_;
  std::vector<const LoopNode*> chain_;
  Facts known_;
  std::vector<Slide> found_;
};

}  // namespace

auto may_warm_up(const Nest& nest, const SymbolRef& loop) -> bool {
  return index_of(nest.tree).regions().warm_loops.find(loop.get()) != nullptr;
}

void find_slides(const Nest& nest, RealisationId what, const RealisationPlace& place, RealisationFacts& facts,
                 QueryCache& cache) {
  SlideFinder(nest, what, place, facts, cache).run();
}

}  // namespace drawloom
