#pragma once
/// The verifier: states and checks what every program must satisfy, and what passes claim to give.

#include "drawloom/ir/program.h"
#include "drawloom/support/diag.h"

namespace drawloom {

/// Facts that passes need, give and break (lower/pipeline.cpp).
enum class Invariant : uint32_t {
  UniqueNames = 1,         ///< every binder (node) binds a symbol or buffer of its own
  FlatStorage = 2,         ///< Program::flat_storage
  NoVectorLoops = 4,       ///< no For of kind Vectorized
  NoUnrolledLoops = 8,     ///< no For of kind Unrolled
  RegistersConstant = 16,  ///< subscripts of Register buffers are constants
};
using InvariantSet = uint32_t;
constexpr auto operator|(Invariant a, Invariant b) -> InvariantSet {
  return static_cast<uint32_t>(a) | static_cast<uint32_t>(b);
}
constexpr auto operator|(InvariantSet a, Invariant b) -> InvariantSet { return a | static_cast<uint32_t>(b); }

/// The name of one invariant: `unique_names`.
auto invariant_name(Invariant invariant) -> std::string_view;
inline constexpr Invariant kInvariants[] = {Invariant::UniqueNames, Invariant::FlatStorage, Invariant::NoVectorLoops,
                                            Invariant::NoUnrolledLoops, Invariant::RegistersConstant};

/// Always: operands are there and fit (type_rules.h), symbols are in scope, buffers are allocated or arguments, no store to
/// an input, no Access, Vectorized and Unrolled extents constant. Then each of `claims`. Collects all violations
/// (ir_malformed, ir_type_mismatch), each naming the offending node's text, at most one for each node.
auto verify(const Program& program, InvariantSet claims) -> std::vector<Diag>;

}  // namespace drawloom
