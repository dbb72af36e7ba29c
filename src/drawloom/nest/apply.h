#pragma once
/// Shared by the apply_*.cpp files: finding what a step names, and the checks after it.

#include "drawloom/nest/nest.h"
#include "drawloom/nest/region.h"
#include "drawloom/nest/region_box.h"

namespace drawloom {

/// Index of a Func by name; refused with the nearest name.
auto find_func(const Nest& nest, std::string_view name, const Loc& loc) -> Result<int>;
/// The stages a name means (all realisations unless it says which).
auto find_stages(const Nest& nest, const StageName& name, const Loc& loc)
    -> Result<std::vector<std::pair<RealisationId, int>>>;
auto leaf_at(const Nest& nest, RealisationId what, int stage) -> const Located&;
/// The loop of that name in a stage; refused with the names there are, and with the step that consumed it.
auto find_named_loop(const Nest& nest, const StageLeaf& leaf, std::string_view loop, const Loc& loc)
    -> Result<SymbolRef>;
/// Refused when the stage has the name already (other than `consumed`).
auto check_free_name(const Nest& nest, const StageLeaf& leaf, std::string_view name, std::string_view consumed,
                     const Loc& loc) -> Status;
auto find_dim(const Nest& nest, int func, std::string_view dim, const Loc& loc) -> Result<int>;
auto amount_form(const Nest& nest, const Amount& amount, const Loc& loc) -> Result<Form>;

/// `f.update(1)`.
auto stage_text(const Nest& nest, RealisationId what, int stage) -> std::string;
/// Text of the loop `id` as its stage names it, `out.yo`; `root` for the null site.
auto site_text(const Nest& nest, const Site& site) -> std::string;

/// Changes the leaf of a stage.
auto with_leaf(const Nest& nest, RealisationId what, int stage, const StageLeaf& leaf) -> Nest;
/// Loops of the leaf that run over RVars, or over the ordered dimension of a recurrence, outermost first.
auto reduction_loops(const Nest& nest, const StageLeaf& leaf) -> std::vector<SymbolRef>;
/// Names of the other loops of the leaf, innermost first: `x`, `y`.
auto pure_loops_text(const Nest& nest, const StageLeaf& leaf) -> std::string;
/// The factor surely divides the extent.
auto divides(const Form& extent, const Form& factor) -> bool;
/// Does the leaf read Func f, itself or through an open Func with updates?
auto leaf_reads(const Graph& graph, const StageLeaf& leaf, int func) -> bool;
/// The nodes of a new realisation: its storage (unless an output) and one loop nest per stage.
auto new_realisation(const Graph& graph, RealisationId what, const Loc& loc) -> std::vector<TreeRef>;
/// A stage whose update can be done in any order with the same bits.
auto is_exact_reduction(const FunctionDef& f, int stage) -> bool;

auto apply_step(const Nest& nest, const Split& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const Fuse& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const Reorder& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const Rename& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const Unroll& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const Vectorize& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const Parallel& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const Partition& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const ComputeAt& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const StoreAt& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const ComputeRoot& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const StoreRoot& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const ComputeInline& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const Bound& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const Align& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const StoreIn& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const FoldStorage& s, const Loc& loc) -> Result<Nest>;
auto apply_step(const Nest& nest, const Nontemporal& s, const Loc& loc) -> Result<Nest>;

/// Every decision in the tree still holds (obligations.cpp). `step` is the text of the step just applied.
auto check_obligations(const Nest& nest, const Loc& loc) -> Status;

}  // namespace drawloom
