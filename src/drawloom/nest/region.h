#pragma once
/// Questions about a nest: regions, new parts, live windows, footprints. Answers are Forms over runtime symbols and the ids of the loops around the site
/// that is asked about. Memoised in a QueryCache that the caller passes; never stored in the nest.

#include <map>
#include <optional>
#include <tuple>

#include "drawloom/analysis/facts.h"
#include "drawloom/nest/nest.h"

namespace drawloom {

/// True when any of the conditions holds; empty: never.
struct When {
  std::vector<Cond> any;
  static auto always() -> When { return {{Cond::always()}}; }
  auto is_always() const -> bool;
  auto text() const -> std::string;
};
auto to_expr(const When& w) -> Expr;

/// One dimension: need is lo..hi. free_hi is hi without the clamps that tails put on it; cover starts at lo, has `cover` elements, constant or
/// loop-invariant where that can be shown, and contains lo..free_hi.
struct RegionDim {
  Form lo, hi, free_hi;
  Form cover;
  auto extent() const -> Form;  ///< of need; not below 0 only where `when` holds
};
struct Region {
  std::vector<RegionDim> dims;
  When when;
};

/// A slide of one dimension of a realisation (design section 5): elements computed in earlier iterations of `chain` are kept, each iteration
/// computes the new part [max(frontier + 1, need.lo), need.hi].
struct Slide {
  int dim;
  std::vector<SymbolRef> chain;  ///< loops between store and compute place, outermost first
  Form previous_hi;              ///< need.hi one iteration of the chain earlier, as if there were one
  Cond not_first;                ///< some loop of the chain is past its first iteration
  bool gradual = false;          ///< warm-up in iterations before 0 of the (single) chain loop
};

/// Everything that is asked about one realisation.
struct RealisationFacts {
  Site store_site, compute_site;
  Region need;      ///< at the compute place
  Region computed;  ///< the new part where slid, else need
  Region stored;    ///< over one run of the store place
  std::vector<Slide> slides;
  /// Iterations -warm_iterations .. -1 of the compute site's loop in which this realisation already runs, because it slides
  /// gradually or is read by one that does.
  int64_t warm_iterations = 0;
  std::string no_slide;  ///< why nothing slides, where store and compute place differ
  std::vector<std::optional<int64_t>>
      window;  ///< per dim: most elements live at once at the compute place, if constant
  /// Ends that have grown long: the base and whole symbols that stand for them in the regions above, and what they are.
  std::vector<std::pair<SymbolRef, Form>> names;

  auto slide_of(int dim) const -> const Slide*;
};

/// Values that the dimensions of a stage take; there only when the condition holds.
struct StageBox {
  std::vector<std::pair<const Symbol*, RegionDim>> dims;
  Cond when;
};

/// Memo for one thread; droppable at any time.
class QueryCache {
 public:
  /// By tree and realisation; a tree that was asked about stays alive with the cache.
  std::map<std::pair<TreeRef, RealisationId>, Ref<const struct RealisationEntry>> realisations;
  /// By the loop of the site, or none at root: stages far up a chain ask for the same need once per path that leads to it.
  std::map<std::tuple<TreeRef, RealisationId, const Symbol*>, Region> needs;
  /// By stage and the loop of the site.
  std::map<std::tuple<TreeRef, const TreeNode*, const Symbol*>, StageBox> boxes;
};

/// Everything about one realisation of a closed nest (close_nest).
auto realisation_facts(const Nest& nest, RealisationId what, QueryCache& cache) -> const RealisationFacts&;
/// Box of an input buffer that the whole pipeline reads; nothing when no bounded access reads it.
auto input_region(const Nest& nest, const BufferRef& input, QueryCache& cache) -> std::optional<Region>;
/// Box of an output that other stages of the pipeline read.
auto output_read_region(const Nest& nest, RealisationId output, QueryCache& cache) -> std::optional<Region>;
/// Boxes of an output that its own updates write and read, one per access; all steps of a recurrence.
auto output_update_regions(const Nest& nest, RealisationId output, QueryCache& cache) -> std::vector<Region>;
/// Facts that hold inside the list of `site`: runtime symbols, ranges of the loops around it, branches.
auto facts_at(const Nest& nest, const Site& site, QueryCache& cache) -> Facts;
/// need of `what` while inside one iteration of `site`: the union over the stages below that read it.
auto need_at(const Nest& nest, RealisationId what, const Site& site, QueryCache& cache) -> const Region&;
/// `f` with base and whole symbols of stages replaced by what they stand for; those that are names stay.
auto resolve(const Nest& nest, const Form& f, QueryCache& cache) -> Form;

/// All names of regions and what they stand for, each after those that it uses; over runtime symbols.
auto region_names(const Nest& nest, QueryCache& cache) -> std::vector<std::pair<SymbolRef, Form>>;
/// Values of the runtime symbols and of the names made of them.
auto with_names(const Nest& nest, FormEnv runtime, QueryCache& cache) -> FormEnv;

struct RealisationEntry : RefCounted {
  RealisationFacts facts;
};

}  // namespace drawloom
