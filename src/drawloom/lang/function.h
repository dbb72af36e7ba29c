#pragma once
/// What a Func means: its definitions, as data. The front end builds these; oracle, nest and lowering read them.

#include <string>
#include <vector>

#include "drawloom/ir/nodes.h"
#include "drawloom/steps/step.h"

namespace drawloom {

/// The box an update runs over, in lexicographic order with the first dimension fastest.
struct ReductionDomain : RefCounted {
  struct Dim {
    SymbolRef symbol;  ///< kind RVar
    Expr min, extent;  ///< scalar index, over parameters and buffer fields only
  };
  std::vector<Dim> dims;
  Loc loc;
};
using ReductionDomainRef = Ref<const ReductionDomain>;

/// One stage of a Func. The pure definition is stage 0, update(i) is stage i + 1.
/// All components are computed from the state before the point, then stored (simultaneous assignment).
struct Definition {
  /// One index expression per dimension. Pure stage: VarRefs of the Func's own args. An update's dimension d is pure when
  /// lhs[d] is the VarRef of args[d]; other expressions are over RVars, args and data.
  ExprList lhs;
  /// One per component, of the component's type, exactly as written.
  ExprList values;
  /// The same with fma nodes where contraction was decided (design section 3); used where the target has FMA.
  ExprList contracted;
  ReductionDomainRef rdom;  ///< null when the stage has none
  Loc loc;

  auto values_for(bool has_fma) const -> const ExprList& { return has_fma ? contracted : values; }
};

/// A step as the fluent API recorded it: order is restored later (order_recorded of steps/schedule.h), and names are those
/// that the Funcs have in the Pipeline by then.
struct RecordedStep {
  Step step;
  Loc loc;
  uint64_t target = 0;  ///< compute_at, store_at: `id` of the Func whose loop is named
};

/// Identity and meaning of one Func. Built by lang::Func only; frozen (no more definitions; steps may still be recorded)
/// once another Func or a Pipeline uses it.
struct FunctionDef : FuncDecl {
  using FuncDecl::FuncDecl;
  std::vector<SymbolRef> args;  ///< kind Var, one per dimension; names are unique within the Func
  std::vector<Type> types;      ///< one per component
  Definition pure;              ///< values empty: not defined yet
  std::vector<Definition> updates;
  /// Dimension that is ordered (a recurrence along it), or -1; its first step is `ordered_first`.
  int ordered_dim = -1;
  Expr ordered_first;
  std::vector<RecordedStep> recorded;
  Loc loc;
  bool frozen = false;
  Loc frozen_at;              ///< where it was used
  bool auto_named = false;    ///< the user gave no name: `name` may change until a Pipeline is made
  bool name_settled = false;  ///< a Pipeline was made of it: the name stays

  int declared_rank = -1;  ///< of a Func declared with its types before its definition; -1: not said

  auto defined() const -> bool { return !pure.values.empty(); }
  auto rank() const -> int { return static_cast<int>(args.size()); }
  auto components() const -> int { return static_cast<int>(types.size()); }
  auto stages() const -> int { return 1 + static_cast<int>(updates.size()); }
  auto stage(int i) const -> const Definition& { return i == 0 ? pure : updates[static_cast<size_t>(i) - 1]; }
};
using FunctionRef = Ref<const FunctionDef>;

/// The Func behind an Access.
inline auto function_of(const Access& a) -> const FunctionDef& { return static_cast<const FunctionDef&>(*a.func); }

/// The worst change of result bits that a pipeline allows its schedule.
enum class Effect : uint8_t { exact, reassociates, approximates };

/// A closed algorithm: immutable, what every later layer starts from.
struct PipelineDef : RefCounted {
  std::string name;
  std::vector<FunctionRef> funcs;    ///< every reachable Func, producers before consumers, deterministic order
  std::vector<FunctionRef> outputs;  ///< as given; also in funcs
  std::vector<BufferRef> inputs;     ///< Argument buffers read by any Func, in order of first use
  std::vector<SymbolRef> params;     ///< scalar parameters, in order of first use
  /// One per output component: the Argument buffer the result goes to (`f`, or `f.0`, `f.1`, ...).
  std::vector<BufferRef> output_buffers;
  Effect allowed = Effect::exact;
};
using PipelineRef = Ref<const PipelineDef>;

}  // namespace drawloom
