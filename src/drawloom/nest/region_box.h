#pragma once
/// Building blocks of region queries: region_box.cpp and region_forms.cpp make them, region.cpp, slide.cpp and others stand on them.

#include "drawloom/nest/form_length.h"
#include "drawloom/nest/region.h"

namespace drawloom {

auto place_of(const Nest& nest, RealisationId what) -> const RealisationPlace&;

/// The realisations of the tree, in program order of their first stage.
auto realisations(const Nest& nest) -> const std::vector<RealisationId>&;

/// Loops around the list of `site`, outermost first, the site's own loop included.
auto loops_to(const Nest& nest, const Site& site) -> std::vector<const LoopNode*>;

/// Does a tail cut off values of this dimension? A clip on a fused loop bounds both of its dimensions.
auto has_clip(const StageLeaf& leaf, size_t dim) -> bool;
/// The buffer of the first component of an output.
auto first_output_buffer(const PipelineDef& pipeline, const FunctionDef& f) -> const BufferDecl&;

/// Clips that hold inside the loop.
auto clips_of(const Nest& nest, const SymbolRef& loop) -> const std::vector<const Clip*>&;

/// Iterations before 0 of the loop in which the stage runs: those of the realisation computed in the loop that the stage belongs to,
/// or in whose loops it lies.
auto warm_iterations(const Nest& nest, const Located& leaf, const SymbolRef& loop, QueryCache& cache) -> int64_t;

/// Lowest and highest value of a pair of forms while `loops` (outermost first) run over all their iterations, those before 0
/// that `warm` names included.
struct FormRange {
  Form lo, hi;
};
using WarmLoops = std::vector<std::pair<const Symbol*, int64_t>>;
/// What the clips of a loop do to its last iteration: bound it, or nothing.
enum class Tails : uint8_t { clamp, ignore };
/// Nothing where no Form bounds them.
auto over_loops(const Nest& nest, const FormRange& range, const std::vector<const LoopNode*>& loops,
                const WarmLoops& warm, QueryCache& cache, Tails tails) -> std::optional<FormRange>;
/// Values of the dimensions of a stage during one iteration of a site.
auto box_of(const Nest& nest, const Site& site, const Located& leaf, QueryCache& cache) -> StageBox;
/// What a consumer's box reads of a producer. Unbounded ends (input buffers only) give nothing.
auto image(const std::vector<Interval<Form>>& access, const StageBox& box) -> std::optional<Region>;

/// f as the facts leave it. Deciding minima costs more than it gives where many conditions meet: such forms stay as they are.
auto simplified(const Form& f, const Facts& facts) -> Form;
/// The ends of a region simplified, its covers found, and its conditions without those that never hold.
void tidy(Region& region, const Facts& facts);

/// f with every choice on `condition` decided.
auto decide(const Form& f, const Cond& condition, bool yes) -> Form;
/// Some realisation may keep elements across iterations of the loop, so that it may get warm-up iterations before 0.
auto may_warm_up(const Nest& nest, const SymbolRef& loop) -> bool;

/// hi - lo + 1 with equal choices drawn together, so that it comes out constant where it is.
auto form_extent(const Form& lo, const Form& hi) -> Form;
/// A constant (or loop-invariant) upper bound of `extent`, or the form itself when none is found.
auto cover_of(const Form& extent, const Facts& facts) -> Form;

/// First value and last value of dimension `dim` of a stage over its whole computed region.
auto stage_dim_range(const Nest& nest, const StageLeaf& leaf, size_t dim, QueryCache& cache) -> RegionDim;

/// Finds the slides of `facts` (sites, need, stored and the warm-up of its readers are set) and sets computed and window.
void find_slides(const Nest& nest, RealisationId what, const RealisationPlace& place, RealisationFacts& facts,
                 QueryCache& cache);

/// Gives long ends of the region names, so that regions of producers do not grow from stage to stage (region_names.cpp).
void name_ends(const Nest& nest, RealisationId what, const RealisationPlace& place, RealisationFacts& facts);

/// All that is computed for `need`, which is needed at the site: of a Func with an ordered dimension the earlier steps too, as its cone widens them.
auto with_all_steps(const Nest& nest, RealisationId what, const Site& site, Region need, QueryCache& cache) -> Region;

/// A Func with an ordered dimension: computed and stored regions from its cone.
void order_region(const Nest& nest, RealisationId what, const RealisationPlace& place, RealisationFacts& facts,
                  QueryCache& cache);

}  // namespace drawloom
